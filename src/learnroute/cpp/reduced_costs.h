#pragma once

#include "edge_status.h"
#include "matrix_view.h"

#include <span>

namespace learnroute {
/// A vertex to branch on and the other ends of one or two of its edges; -1 if absent.
struct Branch {
    Index vertex = -1;
    Index one = -1;
    Index two = -1;
};

/// The result of reduced-cost fixing. `bound` is that of the minimum 1-tree, or inf if no tour below the limit remains.
/// `branch` has no vertex if the 1-tree is a tour, and one edge if another edge of the vertex is already fixed to 1.
struct ReducedCostFixing {
    double bound;
    Branch branch;
};

/// Reduced-cost fixing by 1-trees, and an edge to branch on (Volgenant and Jonker 1982).
///
/// An edge outside the minimum 1-tree is fixed to 0 if the minimum 1-tree that contains it costs at least `limit`. In
/// that 1-tree it replaces the most expensive edge on the path between its ends. An edge of the 1-tree is fixed to 1 if
/// no other edge can replace it below the limit.
ReducedCostFixing fix_by_reduced_cost(MatrixView<double> costs, MutableStatus status,
                                      std::span<double const> multipliers, double limit);
} // namespace learnroute
