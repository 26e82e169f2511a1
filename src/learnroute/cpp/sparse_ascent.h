#pragma once

#include "sparse_graph.h"
#include "subgradient.h"

#include <vector>

namespace learnroute {
/// 1-trees of a tour graph (see OneTree) on a sparse subset of its edges, to find multipliers for many regions.
///
/// `graph` has the regions and, as its last vertex, `home`. `out` has the costs of the edges from `out` to each of
/// them. Good multipliers for these edges are good for all edges, but a valid bound must be computed with all edges.
class SparseOneTrees {
    SparseGraph graph_;
    std::vector<double> out_;

public:
    SparseOneTrees(SparseGraph graph, std::vector<double> out);

    /// Take up to `steps` subgradient steps; stop early if the ascent ends or if these edges contain no 1-tree.
    void ascend(SubgradientAscent &ascent, int steps) const;
};
} // namespace learnroute
