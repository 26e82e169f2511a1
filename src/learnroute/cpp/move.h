#pragma once

#include "matrix_view.h"
#include "reconnection.h"

#include <array>

namespace learnroute {
/// Vertices at consecutive positions of a tour that a move writes elsewhere, possibly reversed.
struct Segment {
    Index begin; // position in the tour before the move
    Index length;
    bool reversed;
};

/// A k-opt move: the removed edges, and the tour that results from reconnecting their ends.
///
/// Removing k edges leaves k segments. One of them is not moved; the others are written behind it.
struct Move {
    static constexpr int most_edges = 10;

    /// A removed edge t(2i+1)-t(2i+2). Added edges join the second vertex of each removed edge to the first of the
    /// next.
    struct Edge {
        Index one;
        Index two;
        Index cut; // position of the left end
    };

    int edges = 0;
    std::array<Edge, most_edges> removed{};

    Index first = 0;   // first position that is written
    Index written = 0; // number of positions that are written
    std::array<Segment, most_edges> segments{};

    /// Determine the segments to be written if the first k edges are removed.
    ///
    /// The unmoved segment is the longest one or, if the tour is anchored, the one across the ends of the array.
    template <int k> void join(Reconnection<k> const &joined, Index size, bool anchored) {
        auto const cut = [&](int rank) { return removed[joined.edges[rank]].cut; };
        std::array<Index, k> length;
        auto unmoved = k - 1;
        Index longest = 0;
        for (int r = 0; r < k; ++r) {
            length[r] = r + 1 < k ? cut(r + 1) - cut(r) : cut(0) - cut(r) + size;
            if (!anchored && length[r] > longest) {
                unmoved = r;
                longest = length[r];
            }
        }
        auto at = k - 1;
        while (joined.cycle[at].segment != unmoved)
            --at;
        auto const backwards = joined.cycle[at].reversed; // the unmoved segment keeps its direction
        for (int i = 0; i + 1 < k; ++i) {
            at = backwards ? (at > 0 ? at - 1 : k - 1) : (at + 1 < k ? at + 1 : 0);
            auto const &[segment, reversed] = joined.cycle[at];
            segments[i] = {cut(segment) + 1, length[segment], reversed != backwards};
        }
        edges = k;
        first = cut(unmoved + 1 < k ? unmoved + 1 : 0) + 1;
        written = size - length[unmoved];
    }
};
} // namespace learnroute
