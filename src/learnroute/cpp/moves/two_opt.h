#pragma once

#include "route_move.h"

namespace learnroute {
/// Exchange of two edges, which makes two visits neighbours: 2-opt within a route; 2-opt* between two routes, which
/// exchanges their ends, or reverses the end of one and the beginning of the other.
class TwoOpt final : public RouteMove {
public:
    [[nodiscard]] double weight() const override { return 0.38; }
    bool apply(Routes &routes, VisitPlaces const &places, Rng &rng) override;
};
} // namespace learnroute
