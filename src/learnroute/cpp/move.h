#pragma once

#include "matrix_view.h"

#include <array>

namespace learnroute {
/// Vertices at neighbouring positions of a tour, to be written elsewhere, perhaps in reverse.
struct Segment {
    Index begin; // position in the tour before the move
    Index length;
    bool reversed;
};

/// A k-opt move: the edges that it removes, and the tour that joining their ends anew makes.
///
/// Removing k edges leaves k segments. One of them is not moved; the others are written behind it.
struct Move {
    static constexpr int most_edges = 10;

    /// A removed edge t(2i+1)-t(2i+2): added edges go from the second vertex of each to the first one of the next.
    struct Edge {
        Index one;
        Index two;
        Index cut;       // position of the left end
        bool from_right; // whether `one` is the right end
    };

    int edges = 0;
    std::array<Edge, most_edges> removed{};

    Index first = 0;   // position from which on segments are written
    Index written = 0; // positions that are written
    std::array<Segment, most_edges> segments{};

    /// Follow the tour that the move makes, segment by segment, and fill in what is written; false if it is no tour.
    ///
    /// The unmoved segment is the longest one; but the one across the ends of the array where the tour is anchored.
    bool trace(Index size, bool anchored);
};
} // namespace learnroute
