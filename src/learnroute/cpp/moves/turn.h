#pragma once

#include "route_move.h"

namespace learnroute {
/// Reversal of the beginning or the end of a route, or rotation: a change of its first or last visit.
class Turn final : public RouteMove {
public:
    [[nodiscard]] double weight() const override { return 0.04; }
    bool apply(Routes &routes, VisitPlaces const &places, Rng &rng) override;
};
} // namespace learnroute
