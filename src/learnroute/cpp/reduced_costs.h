#pragma once

#include "edge_status.h"
#include "matrix_view.h"

#include <span>

namespace learnroute {
/// A vertex to branch on and the other ends of one or two of its edges, -1 for none.
struct Branch {
    Index vertex = -1;
    Index one = -1;
    Index two = -1;
};

/// What reduced-cost fixing found: the bound of the minimum 1-tree, inf where no tour is left below the limit, and a
/// branch: no vertex where the 1-tree is a tour, one edge where another edge of the vertex is fixed to 1 already.
struct ReducedCostFixing {
    double bound;
    Branch branch;
};

/// Reduced-cost fixing by 1-trees, and an edge to branch on (Volgenant and Jonker 1982).
///
/// An edge outside of the minimum 1-tree is fixed to 0 if the 1-tree that has to take it reaches `limit`: it would
/// replace the dearest edge on the way between its ends. An edge of the 1-tree is fixed to 1 if no other edge can
/// replace it below the limit.
ReducedCostFixing fix_by_reduced_cost(MatrixView<double> costs, MutableStatus status,
                                      std::span<double const> multipliers, double limit);
} // namespace learnroute
