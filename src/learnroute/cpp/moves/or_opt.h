#pragma once

#include "route_move.h"

namespace learnroute {
/// Move of a segment next to a visit near it: Or-opt within a route; between two routes, the segment may be reversed,
/// and may be exchanged for a segment of the other route.
class OrOpt final : public RouteMove {
public:
    [[nodiscard]] double weight() const override { return 0.38; }
    bool apply(Routes &routes, VisitPlaces const &places, Rng &rng) override;
};
} // namespace learnroute
