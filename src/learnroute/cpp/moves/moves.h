#pragma once

#include "route_move.h"

#include <memory>
#include <vector>

namespace learnroute {
/// The moves that support an instance.
class Moves {
    std::vector<std::unique_ptr<RouteMove>> moves_;
    std::vector<double> weights_; // cumulative

public:
    explicit Moves(Instance const &instance);
    Moves(Moves &&) = default;

    [[nodiscard]] bool empty() const { return moves_.empty(); }
    /// Draw a move, by its weight.
    [[nodiscard]] RouteMove &draw(Rng &rng) const;
};
} // namespace learnroute
