#pragma once

// Conversion of fleet routes from and to Python.

#include "routes.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

namespace learnroute {
using Rows = std::vector<std::vector<Index>>;

/// Return the regions and the models of the visits, one row per vehicle.
inline std::pair<Rows, Rows> to_rows(Routes const &routes) {
    std::pair<Rows, Rows> found;
    for (auto const &route : routes) {
        auto &regions = found.first.emplace_back();
        auto &models = found.second.emplace_back();
        for (auto const &visit : route) {
            regions.push_back(visit.region);
            models.push_back(visit.model);
        }
    }
    return found;
}

inline Routes from_rows(Rows const &regions, Rows const &models) {
    Routes found(regions.size());
    for (std::size_t vehicle = 0; vehicle < regions.size(); ++vehicle)
        for (std::size_t place = 0; place < regions[vehicle].size(); ++place)
            found[vehicle].push_back({regions[vehicle][place], models[vehicle][place]});
    return found;
}
} // namespace learnroute
