#pragma once

#include "matrix_view.h"

#include <span>
#include <vector>

namespace learnroute {
/// A neighbour of a vertex that is replaced by another one. Exchanging edges replaces neighbours of both ends of each.
struct Change {
    Index vertex;
    Index removed, added;
    bool before; ///< whether it is the neighbour before the vertex
};

/// How many tours of a population have each edge, and the entropy of that (Nagata and Kobayashi 2013).
class EdgeCounts {
    struct Edge {
        Index to;
        Index count;
    };

    std::vector<std::vector<Edge>> edges_; ///< by their lesser end: each has few in a population
    std::vector<double> entropies_;        ///< of an edge, by the number of tours that it is in

public:
    EdgeCounts(Index size, std::vector<double> entropies);

    [[nodiscard]] Index count(Index v, Index w) const;
    void add(Index v, Index w);
    void remove(Index v, Index w);
    void add_tour(std::span<Index const> tour);
    void apply(std::span<Change const> changes);

    /// What the entropy falls by if these changes are made. They are not netted.
    [[nodiscard]] double entropy_lost(std::span<Change const> changes) const;
};
} // namespace learnroute
