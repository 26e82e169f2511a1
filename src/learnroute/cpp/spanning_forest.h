#pragma once

#include "indexed_heap.h"
#include "matrix_view.h"
#include "sparse_graph.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// A minimum spanning forest of a sparse graph: Prim's rule (1957) with a heap. It can be found again and again, for
/// other multipliers.
class SpanningForest {
public:
    static constexpr Index none = -1;

    struct Vertex {
        Index parent = none; // `none` for a root
        Index degree = 0;
        double cost = 0.0; // reduced, of the edge to the parent
        bool has_joined = false;
    };

private:
    std::vector<Vertex> vertices_;
    std::vector<Index> joined_;
    std::size_t trees_ = 0;
    IndexedHeap<double> beside_; // vertices next to the tree

public:
    explicit SpanningForest(std::size_t size);

    /// Find the forest where an edge u-v costs multipliers[u] + multipliers[v] more; return its cost.
    double span(SparseGraph const &graph, std::span<double const> multipliers);

    [[nodiscard]] Vertex const &operator[](Index vertex) const { return vertices_[vertex]; }

    /// How many trees it has: 1 where the graph is connected.
    [[nodiscard]] std::size_t trees() const { return trees_; }

    /// The vertices in the order in which they joined the forest: each behind its parent.
    [[nodiscard]] std::span<Index const> joined() const { return joined_; }
};
} // namespace learnroute
