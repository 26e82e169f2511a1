#pragma once

#include "kd_tree.h"
#include "matrix_view.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Fill `near` with the nearest of `size` regions other than i, nearest first, ties by number, and `apart` with their
/// distances `way(j)`, which are finite. As there are only a few, insertion is faster than std::partial_sort_copy.
template <typename Way> void fill_nearest(Way const &way, std::size_t size, std::size_t i, std::span<std::int64_t> near,
                                          std::span<double> apart) {
    std::ranges::fill(apart, inf);
    for (std::size_t j = 0; j < size; ++j) {
        double const here = way(j);
        if (!(here < apart.back()) || j == i)
            continue;
        auto place = near.size() - 1;
        for (; place > 0 && apart[place - 1] > here; --place) {
            apart[place] = apart[place - 1];
            near[place] = near[place - 1];
        }
        apart[place] = here;
        near[place] = static_cast<std::int64_t>(j);
    }
}

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
