#include "fleet_enumeration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace learnroute {
void FleetEnumeration::Errors::train(Instance const &instance, ErrorUpdate const &update, FleetVisit visit) {
    auto const regions = static_cast<std::size_t>(instance.regions);
    auto const models = common.size();
    auto const model = static_cast<std::size_t>(visit.model);
    auto const region = static_cast<std::size_t>(visit.region);
    auto *const row = own.data() + model * regions;
    auto const here = row[region];
    if (instance.merged) {
        auto const shift = update.noise - update.coupling * (here + common[model]);
        for (std::size_t other = 0; other < models; ++other)
            if (other != model) {
                auto const towards = own[other * regions + region] + common[other];
                auto &apart = between[model * models + other];
                apart = update.retention * apart + update.plasticity * towards + shift;
                between[other * models + model] = apart;
            }
    }
    common[model] = update.second * common[model] - update.coupling * here + update.noise;
    auto const *const towards = instance.dissimilarities_from(visit.region);
    for (std::size_t j = 0; j < regions; ++j)
        row[j] = update.retention * row[j] + update.plasticity * towards[j];
}

FleetEnumeration::FleetEnumeration(std::shared_ptr<Instance const> instance, double relative)
    : instance_(std::move(instance)), relative_(relative), counts_(instance_->regions), means_(instance_->models),
      between_(static_cast<std::size_t>(instance_->models) * instance_->models) {
    auto const models = static_cast<std::size_t>(instance_->models);
    Node node{};
    for (std::size_t model = 0; model < models; ++model)
        node.errors.own.insert(node.errors.own.end(), instance_->initial.begin(), instance_->initial.end());
    node.errors.common.resize(models);
    node.errors.between.resize(models * models);
    node.sizes = node.errors;
    node.trainings.resize(models);
    node.visit = {instance_->outside(), 0};
    node.begin = -1;
    node.missing = std::accumulate(instance_->required.begin(), instance_->required.end(), 0);
    nodes_.assign(instance_->at_most + instance_->vehicles + 1, node);
}

Index FleetEnumeration::choices() const {
    return instance_->vehicles > 1 ? instance_->regions + 1 : instance_->regions * instance_->models;
}

double FleetEnumeration::travel_back(Node const &node) const {
    return instance_->travel(node.visit.region, instance_->cyclic ? node.begin : instance_->outside());
}

bool FleetEnumeration::enter(Index choice) {
    if (instance_->vehicles == 1)
        return visit({choice / instance_->models, choice % instance_->models});
    return choice == instance_->regions ? start_next_vehicle() : visit({choice, nodes_[depth_].vehicle});
}

bool FleetEnumeration::visit(FleetVisit visit) {
    auto const &before = nodes_[depth_];
    auto const first = before.begin < 0;
    auto const region = visit.region;
    auto const way = first && instance_->cyclic ? 0.0 : instance_->travel(before.visit.region, region);
    auto const travel = before.travel + way;
    auto const missing = before.missing - (instance_->required[region] && counts_[region] == 0 ? 1 : 0);
    auto const fresh = before.trainings[visit.model] == 0;
    if (counts_[region] == instance_->repeats[region] || before.made == instance_->at_most ||
        travel > instance_->limit || before.finished + travel > instance_->budget ||
        missing > instance_->at_most - before.made - 1)
        return false;
    if (first && (region < before.after || !instance_->may_begin(region)))
        return false;
    if (instance_->vehicles == 1 && fresh && visit.model != before.trained)
        return false;
    auto &node = nodes_[depth_ + 1];
    auto const &update = instance_->update(before.trainings[visit.model], region);
    node = before;
    node.errors.train(*instance_, update, visit);
    node.sizes.train(*instance_, update.of_sizes(), visit);
    ++node.trainings[visit.model];
    node.visit = visit;
    node.begin = first ? region : before.begin;
    node.made = before.made + 1;
    node.missing = missing;
    node.trained = before.trained + (fresh ? 1 : 0);
    node.travel = travel;
    node.next = 0;
    ++counts_[region];
    ++depth_;
    return true;
}

bool FleetEnumeration::start_next_vehicle() {
    auto const &before = nodes_[depth_];
    if (before.begin < 0 || before.vehicle + 1 == instance_->vehicles || !instance_->may_end(before.visit.region))
        return false;
    auto const travel = before.travel + travel_back(before);
    if (travel > instance_->limit || before.finished + travel > instance_->budget)
        return false;
    auto &node = nodes_[depth_ + 1];
    node = before;
    node.after = before.begin;
    node.begin = -1;
    node.visit = {instance_->outside(), before.vehicle + 1};
    ++node.vehicle;
    node.finished += travel;
    node.longest = std::max(node.longest, travel);
    node.travel = 0.0;
    node.next = 0;
    ++depth_;
    return true;
}

void FleetEnumeration::leave() {
    if (auto const region = nodes_[depth_].visit.region; region < instance_->outside())
        --counts_[region];
    --depth_;
}

/// Return the error of the partial routes, and the amount by which rounding may make it too large.
std::pair<double, double> FleetEnumeration::error(Node const &node) {
    auto const regions = static_cast<std::size_t>(instance_->regions);
    auto const &importance = instance_->importance;
    auto found = 0.0;
    if (!instance_->merged) {
        auto low = 0.0;
        for (std::size_t j = 0; j < regions; ++j) {
            auto least = instance_->initial[j];
            auto lowest = least - relative_ * least;
            for (std::size_t model = 0; model < node.errors.common.size(); ++model) {
                auto const here = node.errors.own[model * regions + j] + node.errors.common[model];
                auto const size = node.sizes.own[model * regions + j] + node.sizes.common[model];
                least = std::min(least, here);
                lowest = std::min(lowest, here - relative_ * size);
            }
            found += importance[j] * least;
            low += importance[j] * lowest;
        }
        return {found, found - low};
    }
    // trained models come first; all untrained ones are equivalent
    auto const models = static_cast<std::size_t>(std::min(instance_->models, node.trained + 1));
    auto const stride = node.errors.common.size();
    auto size = 0.0;
    means_.resize(models);
    between_.resize(models * models);
    for (std::size_t model = 0; model < models; ++model) {
        auto const row = [&](Errors const &errors) {
            auto const *const own = errors.own.data() + model * regions;
            return std::inner_product(own, own + regions, importance.begin(), 0.0) +
                   instance_->count * errors.common[model];
        };
        means_[model] = row(node.errors);
        size = std::max(size, row(node.sizes));
        for (std::size_t other = 0; other < models; ++other) {
            between_[model * models + other] = instance_->count * node.errors.between[model * stride + other];
            size = std::max(size, instance_->count * node.sizes.between[model * stride + other]);
        }
    }
    MatrixView<double> const apart(between_.data(), models, models);
    if (!instance_->equal) {
        auto const scale =
            between_.empty() ? 0.0
                             : std::abs(*std::ranges::max_element(between_, {}, [](double x) { return std::abs(x); }));
        auto const reached = MergeWeights::value(means_, apart, merging_.best(means_, apart));
        return {reached, 2 * relative_ * size + MergeWeights::flat * (scale + std::abs(reached))};
    }
    std::vector<double> weights(models, 0.0);
    auto const trained = static_cast<std::size_t>(node.trained);
    std::fill_n(weights.begin(), trained, 1.0 / static_cast<double>(trained));
    return {MergeWeights::value(means_, apart, weights), 2 * relative_ * size};
}

void FleetEnumeration::evaluate() {
    auto const &node = nodes_[depth_];
    if (node.missing > 0 || node.made < instance_->at_least || node.begin < 0 || !instance_->may_end(node.visit.region))
        return;
    auto const travel = node.travel + travel_back(node);
    if (travel > instance_->limit || node.finished + travel > instance_->budget)
        return;
    auto const paid = instance_->rate * (instance_->longest ? std::max(node.longest, travel) : node.finished + travel);
    auto const [errors, off] = error(node);
    low_ = std::min(low_, paid + errors - relative_ * paid - off);
    if (paid + errors >= value_)
        return;
    value_ = paid + errors;
    best_.assign(instance_->vehicles, {});
    for (std::size_t depth = 1; depth <= depth_; ++depth)
        if (auto const &[region, model] = nodes_[depth].visit; region < instance_->outside())
            best_[nodes_[depth].vehicle].push_back({region, model});
}

bool FleetEnumeration::advance(std::int64_t nodes) {
    for (; nodes > 0; --nodes) {
        auto &node = nodes_[depth_];
        if (node.next == choices()) {
            if (depth_ == 0)
                return true;
            leave();
        } else if (enter(node.next++)) {
            evaluate();
        }
    }
    return false;
}
} // namespace learnroute
