#pragma once

#include "rng.h"

#include <algorithm>
#include <array>
#include <vector>

// Random moves within a sequence of visits.

namespace learnroute {
constexpr std::size_t short_segment = 3;

/// Draw the length of a segment to be moved: short ones are as frequent as all others.
inline Index segment_length(Rng &rng) {
    constexpr std::size_t longest_segment = 50;
    return 1 + rng.below(rng.coin() ? short_segment : longest_segment);
}

/// Reverse the beginning or the end of a sequence at a place, or rotate it to begin there. Only the visits from `begin`
/// to `end` - 1 may move.
template <class Visit> void turn_at(std::vector<Visit> &visits, Index begin, Index end, Index here, Rng &rng) {
    auto const at = [&](Index place) { return visits.begin() + place; };
    auto const turn = rng.below(3);
    if (turn == 0)
        std::reverse(at(begin), at(here + 1));
    else if (turn == 1)
        std::reverse(at(here), at(end));
    else
        std::rotate(at(begin), at(here), at(end));
}

/// Apply a 2-opt or Or-opt move that makes the visits at two places neighbours, or reverses the part between them. Only
/// the visits from `begin` to `end` - 1 may move.
template <class Visit>
void move_between(std::vector<Visit> &visits, Index begin, Index end, Index here, Index there, Rng &rng) {
    auto const at = [&](Index place) { return visits.begin() + place; };
    auto const turned = rng.coin();
    auto const [one, two] = std::minmax(here, there);
    if (turned && rng.coin()) // 2-opt: the two become neighbours
        std::reverse(at(one + 1), at(two + 1));
    else if (turned)
        std::reverse(at(one), at(two));
    else { // Or-opt: move a segment across the visits in between
        auto const length = segment_length(rng);
        if (here < there)
            std::rotate(at(here + 1), at(there), at(std::min(end, there + length)));
        else
            std::rotate(at(std::max(begin, there + 1 - length)), at(there + 1), at(here));
    }
}

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
