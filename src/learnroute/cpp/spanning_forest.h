#pragma once

#include "indexed_heap.h"
#include "matrix_view.h"
#include "sparse_graph.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// A minimum spanning forest of a sparse graph, by Prim's algorithm (1957) with a heap. It can be recomputed for other
/// multipliers.
class SpanningForest {
public:
    static constexpr Index none = -1;

    struct Vertex {
        Index parent = none; // `none` for a root
        Index degree = 0;
        double cost = 0.0; // reduced cost of the edge to the parent
        bool has_joined = false;
    };

private:
    std::vector<Vertex> vertices_;
    std::vector<Index> joined_;
    std::size_t trees_ = 0;
    IndexedHeap<double> beside_; // vertices next to the tree

public:
    explicit SpanningForest(std::size_t size);

    /// Find the forest with multipliers[u] + multipliers[v] added to the cost of each edge u-v. Return its cost.
    double span(SparseGraph const &graph, std::span<double const> multipliers);

    [[nodiscard]] Vertex const &operator[](Index vertex) const { return vertices_[vertex]; }

    /// Number of trees; 1 if the graph is connected.
    [[nodiscard]] std::size_t trees() const { return trees_; }

    /// The vertices in the order in which they joined the forest. Parents come before their children.
    [[nodiscard]] std::span<Index const> joined() const { return joined_; }
};
} // namespace learnroute
