#include "enumeration.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace learnroute {
Enumeration::Enumeration(std::shared_ptr<Instance const> instance, double relative)
    : instance_(std::move(instance)), relative_(relative), errors_(first_errors()), sizes_(errors_),
      nodes_(instance_->at_most + instance_->vehicles + 1), left_(instance_->repeats), trainings_(instance_->models),
      means_(instance_->models), between_(static_cast<std::size_t>(instance_->models) * instance_->models) {
    auto const outside = instance_->outside();
    nodes_[0].visit = {outside, 0};
    nodes_[0].missing = std::accumulate(instance_->required.begin(), instance_->required.end(), 0);
    for (Index region = 0; region < outside; ++region)
        for (Index model = 0; model < (instance_->vehicles > 1 ? 1 : instance_->models); ++model)
            choices_.push_back({region, model});
    if (instance_->vehicles > 1)
        choices_.push_back({outside, 0});
    left_.push_back(instance_->vehicles - 1);
}

Enumeration::Errors Enumeration::first_errors() const {
    auto const models = static_cast<std::size_t>(instance_->models);
    auto const regions = static_cast<std::size_t>(instance_->regions);
    auto const rows = models * (instance_->at_most + 1);
    Errors found{std::vector<double>(rows * regions), std::vector<Sums>(rows, {instance_->total, 0.0}), {}};
    for (std::size_t row = 0; row < rows; ++row)
        std::ranges::copy(instance_->initial, found.own.begin() + static_cast<std::ptrdiff_t>(row * regions));
    if (instance_->merged && models > 1)
        found.between.resize((instance_->at_most + instance_->vehicles + 1) * models * models);
    return found;
}

/// Return the row of the errors of a model.
std::size_t Enumeration::row(std::size_t model) const {
    return model * (instance_->at_most + 1) + trainings_[model];
}

double Enumeration::travel_back(Node const &node) const {
    return instance_->travel(node.visit.region, instance_->cyclic ? node.begin : instance_->outside());
}

/// Add the errors after one more training. Own errors by region are omitted if they are not needed any more.
void Enumeration::train(Visit visit, bool last) {
    auto const regions = static_cast<std::size_t>(instance_->regions);
    auto const now = row(visit.model);
    auto const score = instance_->scores[visit.region];
    auto const *const towards = instance_->dissimilarities_from(visit.region);
    auto const &update = instance_->update(trainings_[visit.model], visit.region);
    auto const add = [&](Errors &errors, ErrorUpdate const &change) {
        if (!errors.between.empty())
            measure(errors, change, visit);
        auto const *const own = errors.own.data() + now * regions;
        auto &[all, common] = errors.sums[now + 1];
        all = change.retention * errors.sums[now].own + change.plasticity * score;
        common = change.second * errors.sums[now].common - change.coupling * own[visit.region] + change.noise;
        if (last && instance_->merged)
            return;
        auto *const next = errors.own.data() + (now + 1) * regions;
        for (std::size_t j = 0; j < regions; ++j)
            next[j] = change.retention * own[j] + change.plasticity * towards[j];
    };
    add(errors_, update);
    add(sizes_, update.of_sizes());
}

/// Add the distances between models after one more training.
void Enumeration::measure(Errors &errors, ErrorUpdate const &update, Visit visit) const {
    auto const models = trainings_.size();
    auto const model = static_cast<std::size_t>(visit.model);
    auto const error = [&](std::size_t of) {
        return errors.own[row(of) * instance_->regions + visit.region] + errors.sums[row(of)].common;
    };
    auto const *const before = errors.between.data() + depth_ * models * models;
    auto *const between = errors.between.data() + (depth_ + 1) * models * models;
    std::copy_n(before, models * models, between);
    auto const shift = update.noise - update.coupling * error(model);
    for (std::size_t other = 0; other < models; ++other)
        if (other != model)
            between[model * models + other] = between[other * models + model] =
                update.retention * before[model * models + other] + update.plasticity * error(other) + shift;
}

bool Enumeration::enter(Visit visit) {
    if (left_[visit.region] == 0)
        return false;
    if (visit.region == instance_->outside())
        return start_next_vehicle();
    if (instance_->vehicles > 1)
        visit.model = nodes_[depth_].vehicle;
    return add(visit);
}

bool Enumeration::add(Visit visit) {
    auto const &instance = *instance_;
    auto const &before = nodes_[depth_];
    auto const region = visit.region;
    auto const first = before.begin < 0;
    auto const fresh = trainings_[visit.model] == 0;
    if ((first && (region < before.after || !instance.may_begin(region))) ||
        (fresh && instance.vehicles == 1 && visit.model != before.trained))
        return false;
    auto const way = first && instance.cyclic ? 0.0 : instance.travel(before.visit.region, region);
    auto const travel = before.travel + way;
    auto const missing =
        before.missing - (instance.required[region] && left_[region] == instance.repeats[region] ? 1 : 0);
    if (travel > instance.limit || before.finished + travel > instance.budget ||
        missing > instance.at_most - before.made - 1)
        return false;
    auto const last = before.made + 1 == instance.at_most;
    train(visit, last);
    auto &node = nodes_[depth_ + 1];
    node = before;
    node.visit = visit;
    node.begin = first ? region : before.begin;
    ++node.made;
    node.missing = missing;
    node.trained += fresh ? 1 : 0;
    node.travel = travel;
    node.next = 0;
    ++trainings_[visit.model];
    --left_[region];
    ++depth_;
    return true;
}

bool Enumeration::start_next_vehicle() {
    auto const &before = nodes_[depth_];
    if (before.begin < 0 || !instance_->may_end(before.visit.region))
        return false;
    auto const travel = before.travel + travel_back(before);
    if (travel > instance_->limit || before.finished + travel > instance_->budget)
        return false;
    for (auto *errors : {&errors_, &sizes_}) {
        auto const size = static_cast<std::ptrdiff_t>(errors->between.size() / nodes_.size());
        auto const here = errors->between.begin() + static_cast<std::ptrdiff_t>(depth_) * size;
        std::copy(here, here + size, here + size);
    }
    auto &node = nodes_[depth_ + 1];
    node = before;
    node.visit = {instance_->outside(), before.vehicle + 1};
    ++node.vehicle;
    node.after = before.begin;
    node.begin = -1;
    node.finished += travel;
    node.longest = std::max(node.longest, travel);
    node.travel = 0.0;
    node.next = 0;
    --left_[instance_->outside()];
    ++depth_;
    return true;
}

void Enumeration::leave() {
    auto const [region, model] = nodes_[depth_--].visit;
    ++left_[region];
    if (region != instance_->outside())
        --trainings_[model];
}

/// Return the error of the partial routes, and the amount by which rounding may make it too large.
std::pair<double, double> Enumeration::error(Node const &node) {
    if (instance_->has_one_model()) {
        auto const at = row(0);
        return {total(errors_.sums[at]), relative_ * total(sizes_.sums[at])};
    }
    return instance_->merged ? merged_error(node) : served_error();
}

std::pair<double, double> Enumeration::served_error() const {
    auto const regions = static_cast<std::size_t>(instance_->regions);
    auto found = 0.0;
    auto low = 0.0;
    for (std::size_t j = 0; j < regions; ++j) {
        auto least = instance_->initial[j];
        auto lowest = least - relative_ * least;
        for (std::size_t model = 0; model < trainings_.size(); ++model) {
            auto const at = row(model);
            auto const here = errors_.own[at * regions + j] + errors_.sums[at].common;
            auto const size = sizes_.own[at * regions + j] + sizes_.sums[at].common;
            least = std::min(least, here);
            lowest = std::min(lowest, here - relative_ * size);
        }
        found += instance_->importance[j] * least;
        low += instance_->importance[j] * lowest;
    }
    return {found, found - low};
}

std::pair<double, double> Enumeration::merged_error(Node const &node) {
    // trained models come first; all untrained ones are equivalent
    auto const models = static_cast<std::size_t>(std::min(instance_->models, node.trained + 1));
    auto const stride = trainings_.size();
    auto const matrix = depth_ * stride * stride;
    auto const count = instance_->count;
    auto size = 0.0;
    means_.resize(models);
    between_.resize(models * models);
    for (std::size_t model = 0; model < models; ++model) {
        auto const at = row(model);
        means_[model] = total(errors_.sums[at]);
        size = std::max(size, total(sizes_.sums[at]));
        for (std::size_t other = 0; other < models; ++other) {
            auto const pair = matrix + model * stride + other;
            between_[model * models + other] = count * errors_.between[pair];
            size = std::max(size, count * sizes_.between[pair]);
        }
    }
    MatrixView<double> const apart(between_.data(), models, models);
    if (!instance_->equal) {
        auto const scale = std::abs(*std::ranges::max_element(between_, {}, [](double x) { return std::abs(x); }));
        auto const reached = MergeWeights::value(means_, apart, merging_.best(means_, apart));
        return {reached, 2 * relative_ * size + MergeWeights::flat * (scale + std::abs(reached))};
    }
    std::vector<double> weights(models, 0.0);
    auto const trained = static_cast<std::size_t>(node.trained);
    std::fill_n(weights.begin(), trained, 1.0 / static_cast<double>(trained));
    return {MergeWeights::value(means_, apart, weights), 2 * relative_ * size};
}

void Enumeration::evaluate() {
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
        if (auto const &visit = nodes_[depth].visit; visit.region < instance_->outside())
            best_[nodes_[depth].vehicle].push_back(visit);
}

bool Enumeration::advance(std::int64_t nodes) {
    for (; nodes > 0; --nodes) {
        auto &node = nodes_[depth_];
        if (node.made == instance_->at_most || node.next == choices_.size()) {
            if (depth_ == 0)
                return true;
            leave();
        } else if (enter(choices_[node.next++])) {
            evaluate();
        }
    }
    return false;
}
} // namespace learnroute
