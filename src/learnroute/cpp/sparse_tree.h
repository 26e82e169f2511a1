#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute
{
/// A sparse graph, each edge once in each direction: those of vertex v are start[v] to start[v + 1] - 1.
struct SparseGraph
{
    std::vector<Index> start;
    std::vector<Index> target;
    std::vector<double> cost;

    [[nodiscard]] std::size_t vertices() const { return start.size() - 1; }
};

/// A minimum spanning forest of a sparse graph whose vertices have prices (Prim's rule with a binary heap).
class SparseTree
{
    std::vector<Index> parent_;
    std::vector<Index> degree_;
    std::vector<double> key_;  // cost of the edge to the parent
    std::vector<Index> heap_;  // vertices beside the tree, by key
    std::vector<Index> place_; // where in the heap a vertex stands, or one of the two below
    std::size_t trees_ = 0;

    static constexpr Index outside = -1;
    static constexpr Index joined = -2;

    void rise(std::size_t place, Index v);
    void sink(std::size_t filled, Index v);

public:
    explicit SparseTree(std::size_t vertices);

    /// Find the forest; an edge costs its own cost and the prices of its ends. Returns its cost.
    double find(SparseGraph const &graph, std::span<double const> prices);

    /// How many trees it has: 1 where the graph is connected.
    [[nodiscard]] std::size_t trees() const { return trees_; }

    [[nodiscard]] std::span<Index const> degree() const { return degree_; }
};
} // namespace learnroute
