#pragma once

#include "matrix_view.h"

#include <span>
#include <vector>

namespace learnroute {
/// A replacement of one neighbour of a vertex. Exchanging edges replaces neighbours at both ends of each edge.
struct Change {
    Index vertex;
    Index removed, added;
    bool before; ///< whether the neighbour before the vertex is replaced
};

/// The number of tours of a population that contain each edge, and their entropy (Nagata and Kobayashi 2013).
class EdgeCounts {
    struct Edge {
        Index to;
        Index count;
    };

    std::vector<std::vector<Edge>> edges_; ///< by the smaller end; a vertex has few edges in a population
    std::vector<double> entropies_;        ///< of an edge, by the number of tours that contain it

public:
    EdgeCounts(Index size, std::vector<double> entropies);

    [[nodiscard]] Index count(Index v, Index w) const;
    void add(Index v, Index w);
    void remove(Index v, Index w);
    void add_tour(std::span<Index const> tour);
    void apply(std::span<Change const> changes);

    /// Return the decrease of the entropy by these changes. Changes that cancel each other are not netted.
    [[nodiscard]] double entropy_lost(std::span<Change const> changes) const;
};
} // namespace learnroute
