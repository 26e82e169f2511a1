#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <vector>

namespace learnroute {
/// A visit to a region and the model that it trains.
struct Visit {
    Index region;
    Index model;

    bool operator==(Visit const &) const = default;
};

/// The visits of each vehicle.
using Routes = std::vector<std::vector<Visit>>;

/// Let the visits of each vehicle train its own model if there are several vehicles.
inline void set_models(Routes &routes) {
    for (std::size_t vehicle = 0; routes.size() > 1 && vehicle < routes.size(); ++vehicle)
        for (auto &visit : routes[vehicle])
            visit.model = static_cast<Index>(vehicle);
}

/// How models serve the regions: by their weighted average, or each region by one of the models.
struct Service {
    std::vector<double> weights;
    std::vector<Index> served_by; // a model per region, or -1 for the untrained initial model
};
} // namespace learnroute
