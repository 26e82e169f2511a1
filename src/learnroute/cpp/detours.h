#pragma once

#include "matrix_view.h"

#include <cstdint>
#include <span>

namespace learnroute {
/// Looks at detours whose first leg is less than half of the direct way, for the triangle inequality.
///
/// One of the two legs of a detour that saves something is that short. `travel_back` is travel by the region gone to;
/// `near` has, for each region, all regions by how far they are. Lowers `shortest` to the cheapest ways found from the
/// regions `first` to `last` - 1, and returns how many detours save more than `slack`, each counted twice if its
/// second leg is not short too.
std::int64_t find_detours(MatrixView<double> travel, MatrixView<double> travel_back, MatrixView<std::int64_t> near,
                          double slack, std::span<double> shortest, std::size_t first, std::size_t last);
} // namespace learnroute
