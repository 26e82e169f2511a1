#pragma once

#include "sparse_graph.h"
#include "subgradient.h"

#include <vector>

namespace learnroute {
/// The 1-trees of a tour graph (see OneTree) on few of its edges, for the multipliers of many regions.
///
/// `graph` joins the regions and `home`, its last vertex; `out` has the costs of the edges of `out`, to each of them.
/// Multipliers that are good on these edges are good on all; the bound on all edges is to be computed from them.
class SparseOneTrees {
    SparseGraph graph_;
    std::vector<double> out_;

public:
    SparseOneTrees(SparseGraph graph, std::vector<double> out);

    /// Take subgradient steps; fewer where the ascent ends or there is no 1-tree on these edges.
    void ascend(SubgradientAscent &ascent, int steps) const;
};
} // namespace learnroute
