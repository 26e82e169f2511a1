#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <vector>

namespace learnroute {
/// A sparse graph with each edge in both directions. The edges of vertex v are start[v] to start[v + 1] - 1.
struct SparseGraph {
    std::vector<Index> start;
    std::vector<Index> target;
    std::vector<double> cost;

    [[nodiscard]] std::size_t vertices() const { return start.size() - 1; }
};
} // namespace learnroute
