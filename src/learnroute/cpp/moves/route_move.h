#pragma once

#include "least_loss.h"
#include "visit_places.h"

namespace learnroute {
/// A random change of routes that keeps the number of visits to each region.
class RouteMove {
public:
    virtual ~RouteMove() = default;

    /// Whether the move can change routes of an instance.
    [[nodiscard]] virtual bool supports(Instance const &instance) const { return instance.at_most > 1; }
    /// Its frequency, relative to that of other moves.
    [[nodiscard]] virtual double weight() const = 0;
    /// Apply the move to random visits. Return whether there was one.
    virtual bool apply(Routes &routes, VisitPlaces const &places, Rng &rng) = 0;
    /// Return a lower bound on the cost increase, before the routes are priced.
    [[nodiscard]] virtual double evaluate(LeastLoss const &least_loss, Routes const &before,
                                          Routes const &after) const {
        return least_loss(before, after);
    }
};
} // namespace learnroute
