#pragma once

#include "route_move.h"

namespace learnroute {
/// Training of another model by a few consecutive visits, if one vehicle has several models.
class Relabel final : public RouteMove {
    Index models_;

public:
    explicit Relabel(Instance const &instance) : models_(instance.models) {}

    [[nodiscard]] bool supports(Instance const &instance) const override {
        return instance.vehicles == 1 && instance.models > 1;
    }
    [[nodiscard]] double weight() const override { return 0.5; }
    bool apply(Routes &routes, VisitPlaces const &places, Rng &rng) override;
};
} // namespace learnroute
