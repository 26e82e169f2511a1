#pragma once

#include "kd_tree.h"
#include "matrix_view.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Puts the two nearest places of each quadrant (Johnson and McGeoch 1997) into candidate lists, in the place of the
/// farthest others.
///
/// `lists` has one row of `most` per place, nearest first.
void put_quadrant_neighbours(KdTree const &tree, std::span<std::int64_t> lists, std::size_t most);

/// Candidate lists of the regions `first` to `last` - 1: relative neighbours (Toussaint 1980), the nearest regions that
/// at most one nearer entry is nearer to; then the nearest ones.
///
/// Returns one row of `most` per region; there must be that many others.
std::vector<std::int64_t> relative_neighbours(MatrixView<double> travel, std::size_t most, std::size_t first,
                                              std::size_t last);
} // namespace learnroute
