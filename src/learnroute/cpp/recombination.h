#pragma once

#include "rng.h"

#include <algorithm>
#include <array>
#include <vector>

namespace learnroute {
/// Return three places to cut a sequence, in order, from 0 to the number of lengths. `lengths` is the cumulative length
/// up to each place. The chance of an edge is proportional to its length; the beginning and the end are cut as often as
/// an edge of length `longest`.
inline std::array<Index, 3> draw_cuts(std::vector<double> const &lengths, double longest, Rng &rng) {
    std::array<Index, 3> cuts{};
    for (auto &cut : cuts) {
        auto const at = rng.uniform() * (lengths.back() + 2 * longest) - longest;
        cut = static_cast<Index>(std::ranges::upper_bound(lengths, at) - lengths.begin());
    }
    std::ranges::sort(cuts);
    return cuts;
}

/// Reverse the first of two adjacent parts (`turned` is 1), the second one (2) or both (3), and maybe swap them.
template <class Place> void join(Place from, Place middle, Place to, Index turned, bool swapped) {
    if (turned & 1)
        std::reverse(from, middle);
    if (turned & 2)
        std::reverse(middle, to);
    if (swapped)
        std::rotate(from, middle, to);
}
} // namespace learnroute
