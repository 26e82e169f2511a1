#pragma once

#include "matrix_view.h"

namespace learnroute {
/// The vertices that an order of regions is made of, as a cycle with symmetric costs.
///
/// Unless orders are cycles themselves, two vertices stand between the last region and the first: `end` and `start`.
/// Where travel differs by direction, a region is two vertices, one to enter by (its own number) and one to leave by
/// (its number plus that of all regions): Jonker and Volgenant (1983). These pairs are joined by fixed edges.
struct Layout {
    Index regions = 0;
    bool directed = false;
    bool has_ends = false;

    /// Vertices per region.
    [[nodiscard]] Index each() const { return directed ? 2 : 1; }
    /// Vertices before the first region, where the tour is written from `start` to `end`.
    [[nodiscard]] Index before() const { return has_ends ? 1 : 0; }
    [[nodiscard]] Index vertices() const { return each() * regions + (has_ends ? 2 : 0); }
    [[nodiscard]] Index start() const { return each() * regions; }
    [[nodiscard]] Index end() const { return each() * regions + 1; }

    /// Whether no move may remove the edge between two vertices: that of `end` and `start`, or those within regions.
    [[nodiscard]] bool fixed(Index a, Index b) const {
        if (a >= start() || b >= start())
            return a >= start() && b >= start();
        return directed && (a - b == regions || b - a == regions);
    }
};
} // namespace learnroute
