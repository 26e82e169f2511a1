#include "alpha_nearness.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

namespace learnroute {
AlphaNearness::AlphaNearness(SparseGraph graph, double first_step)
    : graph_(std::move(graph)), forest_(graph_.vertices()), multipliers_(graph_.vertices()), best_(graph_.vertices()),
      last_direction_(graph_.vertices()), step_(first_step),
      period_(static_cast<int>(std::clamp<std::size_t>(graph_.vertices() / 2, 20, 100))),
      has_ended_(!(first_step > 0.0)) {}

/// Return the cost of a minimum 1-tree at the current multipliers minus twice their sum. Sets `direction` to the
/// degrees minus 2.
///
/// The edge added to the tree is the second cheapest edge of a leaf, for the leaf at which it is the most expensive.
double AlphaNearness::one_tree_bound(std::vector<double> &direction) {
    auto total = forest_.span(graph_, multipliers_);
    auto extra = -inf;
    auto leaf = SpanningForest::none;
    for (std::size_t i = 0; i < graph_.vertices(); ++i) {
        auto const v = static_cast<Index>(i);
        direction[v] = forest_[v].degree - 2.0;
        if (forest_[v].degree != 1)
            continue;
        auto second = inf;
        for (auto e = graph_.start[v]; e < graph_.start[v + 1]; ++e)
            if (auto const u = graph_.target[e]; forest_[v].parent != u && forest_[u].parent != v)
                second = std::min(second, graph_.cost[e] + multipliers_[u] + multipliers_[v]);
        if (extra < second && second < inf) {
            extra = second;
            leaf = v;
        }
    }
    if (leaf != SpanningForest::none) {
        direction[leaf] += 1.0;
        total += extra;
    }
    for (auto const multiplier : multipliers_)
        total -= 2.0 * multiplier;
    return total;
}

void AlphaNearness::take_step() {
    ++in_period_;
    std::vector<double> direction(multipliers_.size());
    auto const bound = one_tree_bound(direction);
    if (bound > bound_) {
        if (is_beginning_ && bound_ > -inf)
            step_ *= 2.0;
        bound_ = bound;
        best_ = multipliers_;
        if (in_period_ == period_)
            period_ *= 2;
    } else if (is_beginning_ && in_period_ > period_ / 2) {
        is_beginning_ = false;
        in_period_ = 0;
        step_ *= 0.75;
    }
    if (std::ranges::all_of(direction, [](double wrong) { return wrong == 0.0; })) {
        has_ended_ = true; // the 1-tree is a tour
        return;
    }
    for (std::size_t v = 0; v < multipliers_.size(); ++v)
        multipliers_[v] += step_ * (0.7 * direction[v] + 0.3 * last_direction_[v]);
    last_direction_.swap(direction);
    if (in_period_ == period_) {
        in_period_ = 0;
        period_ /= 2;
        step_ *= 0.5;
        is_beginning_ = false;
        has_ended_ = period_ == 0 || !(step_ > 0.0);
    }
}

bool AlphaNearness::ascend(int steps) {
    for (; steps > 0 && !has_ended_; --steps)
        take_step();
    return has_ended_;
}

std::vector<std::int64_t> AlphaNearness::candidate_lists(std::span<double const> multipliers, std::size_t most) {
    forest_.span(graph_, multipliers);
    std::vector<Index> depth(graph_.vertices(), 0);
    for (auto const v : forest_.joined())
        if (forest_[v].parent != SpanningForest::none)
            depth[v] = depth[forest_[v].parent] + 1;
    std::vector<std::int64_t> lists;
    lists.reserve(depth.size() * most);
    std::vector<std::tuple<double, double, Index>> ranked; // α-value, cost and number of edges
    for (std::size_t i = 0; i < depth.size(); ++i) {
        auto const v = static_cast<Index>(i);
        ranked.clear();
        for (auto e = graph_.start[v]; e < graph_.start[v + 1]; ++e) {
            auto a = v;
            auto b = graph_.target[e];
            auto dearest = -inf;
            while (a != b && a != SpanningForest::none) {
                if (depth[a] < depth[b])
                    std::swap(a, b);
                dearest = std::max(dearest, forest_[a].cost);
                a = forest_[a].parent;
            }
            auto const reduced = graph_.cost[e] + multipliers[v] + multipliers[graph_.target[e]];
            ranked.emplace_back(a == b ? std::max(0.0, reduced - dearest) : inf, graph_.cost[e], e);
        }
        auto const taken = ranked.begin() + std::min(most, ranked.size());
        std::partial_sort(ranked.begin(), taken, ranked.end());
        for (auto edge = ranked.begin(); edge != taken; ++edge)
            lists.push_back(graph_.target[std::get<Index>(*edge)]);
        lists.resize((i + 1) * most, lists.back());
    }
    return lists;
}
} // namespace learnroute
