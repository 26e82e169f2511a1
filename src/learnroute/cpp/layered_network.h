#pragma once

#include "matrix_view.h"
#include "subgradient.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// The direction in which routes are built: from the first position or from the last.
enum class Direction { forward, backward };

[[nodiscard]] inline Direction opposite(Direction direction) {
    return direction == Direction::forward ? Direction::backward : Direction::forward;
}

/// The layered network of routes: one layer per position, with one node per region.
///
/// Also known as the time-expanded network of the time-dependent TSP (Picard and Queyranne 1978). A route consists of
/// one node per layer and the arcs between them. If multipliers are given, the multiplier of a region is subtracted
/// from the cost of each visit (Lagrangian relaxation). A *q-route* (Christofides, Mingozzi and Toth 1981) may return
/// to any region.
class LayeredNetwork {
    std::size_t size_;
    std::vector<double> arc_costs_;  // region, region
    std::vector<double> node_costs_; // position, region
    std::vector<std::uint8_t> free_; // position, region, region at the next position; 0 if an arc is fixed to 0

    void cheapest_q_route(std::span<double const> costs, std::vector<Index> &route) const;

public:
    LayeredNetwork(MatrixView<double> arc_costs, MatrixView<double> node_costs, std::span<bool const> free);

    /// Number of regions, which is also the number of positions.
    [[nodiscard]] std::size_t size() const { return size_; }

    [[nodiscard]] std::vector<double> const &arc_costs() const { return arc_costs_; }
    [[nodiscard]] std::vector<double> const &node_costs() const { return node_costs_; }

    [[nodiscard]] double arc_cost(std::size_t i, std::size_t j) const { return arc_costs_[i * size_ + j]; }
    [[nodiscard]] double node_cost(std::size_t position, std::size_t v) const {
        return node_costs_[position * size_ + v];
    }

    /// The number of the arc from region i at a position to region j at the next one.
    [[nodiscard]] std::size_t arc(std::size_t position, std::size_t i, std::size_t j) const {
        return (position * size_ + i) * size_ + j;
    }

    /// Number of arcs, including those fixed to 0.
    [[nodiscard]] std::size_t arcs() const { return free_.size(); }
    [[nodiscard]] bool is_free(std::size_t arc) const { return free_[arc] != 0; }

    /// The share of arcs that are not fixed to 0.
    [[nodiscard]] double free_share() const;

    /// Fix unused arcs to 0.
    void keep_only(std::span<std::uint8_t const> used);

    /// Return, for each position and region, the cost of the cheapest q-route from one end to this node, including the
    /// node.
    [[nodiscard]] std::vector<double> q_route_costs(std::span<double const> multipliers, Direction direction) const;

    /// Fix arcs to 0 that no q-route cheaper than `limit` uses.
    void fix_by_q_routes(std::span<double const> multipliers, double limit);

    /// Raise the q-route bound by subgradient steps: the multiplier of a region increases if it is left out, and
    /// decreases if it is visited twice.
    void ascend(SubgradientAscent &ascent, int steps) const;
};
} // namespace learnroute
