#pragma once

#include "matrix_view.h"

#include <cstdint>
#include <span>

namespace learnroute {
/// Check the triangle inequality for detours whose first leg is shorter than half of the direct travel.
///
/// A detour that saves travel has at least one such leg. `travel_back` is the transposed travel matrix; `near` has, for
/// each region, all regions sorted by distance. Lowers `shortest` to the cheapest travel found from the regions `first`
/// to `last` - 1. Returns the number of detours that save more than `slack`; a detour whose second leg is not short is
/// counted twice.
std::int64_t find_detours(MatrixView<double> travel, MatrixView<double> travel_back, MatrixView<std::int64_t> near,
                          double slack, std::span<double> shortest, std::size_t first, std::size_t last);
} // namespace learnroute
