#include "visit_enumeration.h"

#include <numeric>
#include <utility>

namespace learnroute {
void VisitEnumeration::Errors::train(Errors const &before, VisitProblem const &problem, Index region,
                                     VisitProblem::Update const &update) {
    common = update.second * before.common - update.coupling * before.own[region] + update.noise;
    sum = update.retention * before.sum + update.plasticity * problem.scores[region];
    auto const *const towards = problem.dissimilarities_from(region);
    for (std::size_t j = 0; j < own.size(); ++j)
        own[j] = update.retention * before.own[j] + update.plasticity * towards[j];
}

VisitEnumeration::VisitEnumeration(std::shared_ptr<VisitProblem const> problem, double relative)
    : problem_(std::move(problem)), relative_(relative), nodes_(problem_->at_most + 1), counts_(problem_->regions) {
    for (auto &node : nodes_)
        node.errors = node.sizes = {problem_->initial, problem_->total, 0.0};
    nodes_[0].region = problem_->outside();
    nodes_[0].missing = std::accumulate(problem_->required.begin(), problem_->required.end(), 0);
}

bool VisitEnumeration::enter(Index region) {
    auto const &problem = *problem_;
    auto const &before = nodes_[depth_];
    auto const travel = before.travel + problem.travel(before.region, region);
    auto const missing = before.missing - (problem.required[region] && counts_[region] == 0 ? 1 : 0);
    if (counts_[region] == problem.repeats[region] || travel > problem.budget ||
        missing > problem.at_most - depth_ - 1 || (depth_ == 0 && !problem.may_begin(region)))
        return false;
    auto &node = nodes_[depth_ + 1];
    auto const &update = problem.update(depth_, region);
    node.errors.train(before.errors, problem, region, update);
    node.sizes.train(before.sizes, problem, region, update.of_sizes());
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
    auto const travel = way + problem_->travel(region, problem_->outside());
    if (missing > 0 || depth_ < problem_->at_least || !problem_->may_end(region) || travel > problem_->budget)
        return;
    auto const value = problem_->rate * travel + errors.sum + problem_->count * errors.common;
    auto const size = problem_->rate * travel + sizes.sum + problem_->count * sizes.common;
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
        if (depth_ == problem_->at_most || node.next == problem_->regions) {
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
