#include "fleet_enumeration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace learnroute {
void FleetEnumeration::Errors::train(FleetProblem const &problem, VisitProblem::Update const &update,
                                     FleetVisit visit) {
    auto const regions = static_cast<std::size_t>(problem.visits->regions);
    auto const models = common.size();
    auto const model = static_cast<std::size_t>(visit.model);
    auto const region = static_cast<std::size_t>(visit.region);
    auto *const row = own.data() + model * regions;
    auto const here = row[region];
    if (problem.merged) {
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
    auto const *const towards = problem.visits->dissimilarities_from(visit.region);
    for (std::size_t j = 0; j < regions; ++j)
        row[j] = update.retention * row[j] + update.plasticity * towards[j];
}

FleetEnumeration::FleetEnumeration(std::shared_ptr<FleetProblem const> problem, double relative)
    : problem_(std::move(problem)), relative_(relative), counts_(visits().regions), means_(problem_->models),
      between_(static_cast<std::size_t>(problem_->models) * problem_->models) {
    auto const models = static_cast<std::size_t>(problem_->models);
    Node node{};
    for (std::size_t model = 0; model < models; ++model)
        node.errors.own.insert(node.errors.own.end(), visits().initial.begin(), visits().initial.end());
    node.errors.common.resize(models);
    node.errors.between.resize(models * models);
    node.sizes = node.errors;
    node.trainings.resize(models);
    node.visit = {visits().outside(), 0};
    node.begin = -1;
    node.missing = std::accumulate(visits().required.begin(), visits().required.end(), 0);
    nodes_.assign(visits().at_most + problem_->vehicles + 1, node);
}

Index FleetEnumeration::choices() const {
    return problem_->vehicles > 1 ? visits().regions + 1 : visits().regions * problem_->models;
}

double FleetEnumeration::travel_back(Node const &node) const {
    return visits().travel(node.visit.region, visits().cyclic ? node.begin : visits().outside());
}

bool FleetEnumeration::enter(Index choice) {
    if (problem_->vehicles == 1)
        return visit({choice / problem_->models, choice % problem_->models});
    return choice == visits().regions ? start_next_vehicle() : visit({choice, nodes_[depth_].vehicle});
}

bool FleetEnumeration::visit(FleetVisit visit) {
    auto const &before = nodes_[depth_];
    auto const first = before.begin < 0;
    auto const region = visit.region;
    auto const way = first && visits().cyclic ? 0.0 : visits().travel(before.visit.region, region);
    auto const travel = before.travel + way;
    auto const missing = before.missing - (visits().required[region] && counts_[region] == 0 ? 1 : 0);
    auto const fresh = before.trainings[visit.model] == 0;
    if (counts_[region] == visits().repeats[region] || before.made == visits().at_most || travel > problem_->limit ||
        before.finished + travel > visits().budget || missing > visits().at_most - before.made - 1)
        return false;
    if (first && (region < before.after || !visits().may_begin(region)))
        return false;
    if (problem_->vehicles == 1 && fresh && visit.model != before.trained)
        return false;
    auto &node = nodes_[depth_ + 1];
    auto const &update = visits().update(before.trainings[visit.model], region);
    node = before;
    node.errors.train(*problem_, update, visit);
    node.sizes.train(*problem_, update.of_sizes(), visit);
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
    if (before.begin < 0 || before.vehicle + 1 == problem_->vehicles || !visits().may_end(before.visit.region))
        return false;
    auto const travel = before.travel + travel_back(before);
    if (travel > problem_->limit || before.finished + travel > visits().budget)
        return false;
    auto &node = nodes_[depth_ + 1];
    node = before;
    node.after = before.begin;
    node.begin = -1;
    node.visit = {visits().outside(), before.vehicle + 1};
    ++node.vehicle;
    node.finished += travel;
    node.longest = std::max(node.longest, travel);
    node.travel = 0.0;
    node.next = 0;
    ++depth_;
    return true;
}

void FleetEnumeration::leave() {
    if (auto const region = nodes_[depth_].visit.region; region < visits().outside())
        --counts_[region];
    --depth_;
}

/// Return the error of the partial routes, and the amount by which rounding may make it too large.
std::pair<double, double> FleetEnumeration::error(Node const &node) {
    auto const regions = static_cast<std::size_t>(visits().regions);
    auto const &importance = problem_->importance;
    auto found = 0.0;
    if (!problem_->merged) {
        auto low = 0.0;
        for (std::size_t j = 0; j < regions; ++j) {
            auto least = visits().initial[j];
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
    auto const models = static_cast<std::size_t>(std::min(problem_->models, node.trained + 1));
    auto const stride = node.errors.common.size();
    auto size = 0.0;
    means_.resize(models);
    between_.resize(models * models);
    for (std::size_t model = 0; model < models; ++model) {
        auto const row = [&](Errors const &errors) {
            auto const *const own = errors.own.data() + model * regions;
            return std::inner_product(own, own + regions, importance.begin(), 0.0) +
                   visits().count * errors.common[model];
        };
        means_[model] = row(node.errors);
        size = std::max(size, row(node.sizes));
        for (std::size_t other = 0; other < models; ++other) {
            between_[model * models + other] = visits().count * node.errors.between[model * stride + other];
            size = std::max(size, visits().count * node.sizes.between[model * stride + other]);
        }
    }
    MatrixView<double> const apart(between_.data(), models, models);
    if (!problem_->equal) {
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
    if (node.missing > 0 || node.made < visits().at_least || node.begin < 0 || !visits().may_end(node.visit.region))
        return;
    auto const travel = node.travel + travel_back(node);
    if (travel > problem_->limit || node.finished + travel > visits().budget)
        return;
    auto const paid = visits().rate * (problem_->longest ? std::max(node.longest, travel) : node.finished + travel);
    auto const [errors, off] = error(node);
    low_ = std::min(low_, paid + errors - relative_ * paid - off);
    if (paid + errors >= value_)
        return;
    value_ = paid + errors;
    best_.assign(problem_->vehicles, {});
    for (std::size_t depth = 1; depth <= depth_; ++depth)
        if (auto const &[region, model] = nodes_[depth].visit; region < visits().outside())
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
