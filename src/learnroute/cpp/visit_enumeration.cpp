#include "visit_enumeration.h"

#include <numeric>
#include <utility>

namespace learnroute {
void VisitEnumeration::Errors::train(Errors const &before, Instance const &instance, Index region,
                                     ErrorUpdate const &update) {
    common = update.second * before.common - update.coupling * before.own[region] + update.noise;
    sum = update.retention * before.sum + update.plasticity * instance.scores[region];
    auto const *const towards = instance.dissimilarities_from(region);
    for (std::size_t j = 0; j < own.size(); ++j)
        own[j] = update.retention * before.own[j] + update.plasticity * towards[j];
}

VisitEnumeration::VisitEnumeration(std::shared_ptr<Instance const> instance, double relative)
    : instance_(std::move(instance)), relative_(relative), nodes_(instance_->at_most + 1), counts_(instance_->regions) {
    for (auto &node : nodes_)
        node.errors = node.sizes = {instance_->initial, instance_->total, 0.0};
    nodes_[0].region = instance_->outside();
    nodes_[0].missing = std::accumulate(instance_->required.begin(), instance_->required.end(), 0);
}

bool VisitEnumeration::enter(Index region) {
    auto const &instance = *instance_;
    auto const &before = nodes_[depth_];
    auto const travel = before.travel + instance.travel(before.region, region);
    auto const missing = before.missing - (instance.required[region] && counts_[region] == 0 ? 1 : 0);
    if (counts_[region] == instance.repeats[region] || travel > instance.budget ||
        missing > instance.at_most - depth_ - 1 || (depth_ == 0 && !instance.may_begin(region)))
        return false;
    auto &node = nodes_[depth_ + 1];
    auto const &update = instance.update(depth_, region);
    node.errors.train(before.errors, instance, region, update);
    node.sizes.train(before.sizes, instance, region, update.of_sizes());
    node.travel = travel;
    node.region = region;
    node.next = 0;
    node.missing = missing;
    ++counts_[region];
    ++depth_;
    return true;
}

void VisitEnumeration::leave() {
    --counts_[nodes_[depth_].region];
    --depth_;
}

void VisitEnumeration::evaluate() {
    auto const &[errors, sizes, way, region, next, missing] = nodes_[depth_];
    auto const travel = way + instance_->travel(region, instance_->outside());
    if (missing > 0 || depth_ < instance_->at_least || !instance_->may_end(region) || travel > instance_->budget)
        return;
    auto const value = instance_->rate * travel + errors.sum + instance_->count * errors.common;
    auto const size = instance_->rate * travel + sizes.sum + instance_->count * sizes.common;
    low_ = std::min(low_, value - relative_ * size);
    if (value < value_) {
        value_ = value;
        best_.clear();
        for (Index t = 1; t <= depth_; ++t)
            best_.push_back(nodes_[t].region);
    }
}

bool VisitEnumeration::advance(std::int64_t nodes) {
    for (; nodes > 0; --nodes) {
        auto &node = nodes_[depth_];
        if (depth_ == instance_->at_most || node.next == instance_->regions) {
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
