#include "layered_network.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace learnroute {
LayeredNetwork::LayeredNetwork(MatrixView<double> arc_costs, MatrixView<double> node_costs, std::span<bool const> free)
    : size_(arc_costs.rows()), free_(free.begin(), free.end()) {
    for (std::size_t i = 0; i < size_; ++i) {
        arc_costs_.insert(arc_costs_.end(), arc_costs[i].begin(), arc_costs[i].end());
        node_costs_.insert(node_costs_.end(), node_costs[i].begin(), node_costs[i].end());
    }
}

double LayeredNetwork::free_share() const {
    return static_cast<double>(std::ranges::count(free_, std::uint8_t{1})) / static_cast<double>(free_.size());
}

void LayeredNetwork::keep_only(std::span<std::uint8_t const> used) {
    for (std::size_t arc = 0; arc < free_.size(); ++arc)
        free_[arc] &= used[arc];
}

std::vector<double> LayeredNetwork::q_route_costs(std::span<double const> multipliers, Direction direction) const {
    std::vector<double> costs(size_ * size_, inf);
    auto const add_nodes = [&](std::size_t position) {
        for (std::size_t v = 0; v < size_; ++v)
            costs[position * size_ + v] += node_cost(position, v) - multipliers[v];
    };
    if (direction == Direction::forward) {
        std::fill_n(costs.begin(), size_, 0.0);
        add_nodes(0);
        for (std::size_t position = 1; position < size_; ++position) {
            auto *onward = &costs[position * size_];
            for (std::size_t i = 0; i < size_; ++i) {
                auto const here = costs[(position - 1) * size_ + i];
                auto const *ways = &arc_costs_[i * size_];
                auto const *free = &free_[arc(position - 1, i, 0)];
                for (std::size_t j = 0; j < size_; ++j) {
                    auto const cost = here + ways[j];
                    onward[j] = std::min(onward[j], free[j] != 0 ? cost : inf);
                }
            }
            add_nodes(position);
        }
        return costs;
    }
    std::fill_n(costs.end() - static_cast<std::ptrdiff_t>(size_), size_, 0.0);
    add_nodes(size_ - 1);
    for (auto position = size_ - 1; position-- > 0;) {
        auto const *onward = &costs[(position + 1) * size_];
        for (std::size_t i = 0; i < size_; ++i) {
            auto const *ways = &arc_costs_[i * size_];
            auto const *free = &free_[arc(position, i, 0)];
            std::array<double, 4> best{inf, inf, inf, inf}; // four independent minima, to shorten the dependency chain
            for (std::size_t j = 0; j < size_; ++j) {
                auto const cost = onward[j] + ways[j];
                best[j % 4] = std::min(best[j % 4], free[j] != 0 ? cost : inf);
            }
            costs[position * size_ + i] = std::ranges::min(best);
        }
        add_nodes(position);
    }
    return costs;
}

void LayeredNetwork::fix_by_q_routes(std::span<double const> multipliers, double limit) {
    auto const forward = q_route_costs(multipliers, Direction::forward);
    auto const backward = q_route_costs(multipliers, Direction::backward);
    for (std::size_t position = 0; position + 1 < size_; ++position)
        for (std::size_t i = 0; i < size_; ++i) {
            auto const here = forward[position * size_ + i];
            auto const *onward = &backward[(position + 1) * size_];
            auto *free = &free_[arc(position, i, 0)];
            for (std::size_t j = 0; j < size_; ++j)
                if (here + arc_cost(i, j) + onward[j] >= limit)
                    free[j] = 0;
        }
}

/// Trace the cheapest q-route back through the costs of forward q-routes.
void LayeredNetwork::cheapest_q_route(std::span<double const> costs, std::vector<Index> &route) const {
    auto const last = costs.last(size_);
    route[size_ - 1] = static_cast<Index>(std::ranges::min_element(last) - last.begin());
    for (auto position = size_ - 1; position-- > 0;) {
        auto const j = static_cast<std::size_t>(route[position + 1]);
        auto best = inf;
        for (std::size_t i = 0; i < size_; ++i) {
            auto const cost = costs[position * size_ + i] + arc_cost(i, j);
            if (free_[arc(position, i, j)] != 0 && cost < best) {
                best = cost;
                route[position] = static_cast<Index>(i);
            }
        }
    }
}

void LayeredNetwork::ascend(SubgradientAscent &ascent, int steps) const {
    std::vector<double> subgradient(size_);
    std::vector<Index> route(size_);
    for (int step = 0; step < steps; ++step) {
        auto const multipliers = ascent.multipliers();
        auto const costs = q_route_costs(multipliers, Direction::forward);
        cheapest_q_route(costs, route);
        std::ranges::fill(subgradient, 1.0);
        for (auto const v : route)
            subgradient[static_cast<std::size_t>(v)] -= 1.0;
        auto const cost = costs[(size_ - 1) * size_ + static_cast<std::size_t>(route.back())];
        if (!ascent.advance(subgradient, std::accumulate(multipliers.begin(), multipliers.end(), cost)))
            return;
    }
}
} // namespace learnroute
