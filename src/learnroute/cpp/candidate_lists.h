#pragma once

#include "kd_tree.h"
#include "matrix_view.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Fill `near` with the nearest regions other than i, nearest first, ties by number, and `apart` with their distances
/// `ways`, which are finite. As there are only a few, insertion is faster than std::partial_sort_copy.
void fill_nearest(std::span<double const> ways, std::size_t i, std::span<std::int64_t> near, std::span<double> apart);

/// Insert the two nearest places of each quadrant (Johnson and McGeoch 1997) into candidate lists. They replace the
/// farthest entries.
///
/// `lists` has one row of `most` entries per place, nearest first.
void insert_quadrant_neighbours(KdTree const &tree, std::span<std::int64_t> lists, std::size_t most);

/// Return candidate lists of the regions `first` to `last` - 1: first relative neighbours (Toussaint 1980), then the
/// nearest regions.
///
/// A region is a relative neighbour if at most one nearer entry of the list is closer to it than the owner of the list
/// is. Each row has `most` entries; there must be that many other regions.
std::vector<std::int64_t> relative_neighbours(MatrixView<double> travel, std::size_t most, std::size_t first,
                                              std::size_t last);
} // namespace learnroute
