#pragma once

#include "matrix_view.h"

namespace learnroute {
/// The vertices that represent an order of regions as a cycle with symmetric costs.
///
/// Unless orders are cycles themselves, two vertices separate the last region from the first: `end` and `start`. If
/// travel is asymmetric, a region has an entry vertex (its own number) and an exit vertex (its number plus the number
/// of regions), joined by a fixed edge (Jonker and Volgenant 1983).
struct Layout {
    Index regions = 0;
    bool directed = false;
    bool has_ends = false;

    /// Number of vertices per region.
    [[nodiscard]] Index each() const { return directed ? 2 : 1; }
    /// Number of vertices before the first region if the tour is written from `start` to `end`.
    [[nodiscard]] Index before() const { return has_ends ? 1 : 0; }
    [[nodiscard]] Index vertices() const { return each() * regions + (has_ends ? 2 : 0); }
    [[nodiscard]] Index start() const { return each() * regions; }
    [[nodiscard]] Index end() const { return each() * regions + 1; }

    /// Whether the edge between two vertices is fixed, so that no move may remove it: the edge between `end` and
    /// `start`, or an edge within a region.
    [[nodiscard]] bool fixed(Index a, Index b) const {
        if (a >= start() || b >= start())
            return a >= start() && b >= start();
        return directed && (a - b == regions || b - a == regions);
    }
};
} // namespace learnroute
