#pragma once

#include "matrix_view.h"
#include "spanning_forest.h"
#include "sparse_graph.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace learnroute {
/// α-nearness on a sparse graph (Helsgaun 2000): which edges are nearly in a minimum 1-tree.
///
/// A 1-tree has about three quarters of its edges in common with a shortest tour, more if multipliers at its vertices
/// make all degrees about 2: a short subgradient ascent finds such multipliers (Held and Karp 1971). The α-value of an
/// edge is what the tree costs more if it must contain the edge: its own cost less that of the dearest edge on the way
/// through the tree between its ends.
class AlphaNearness {
    SparseGraph graph_;
    SpanningForest forest_;
    std::vector<double> multipliers_;
    std::vector<double> best_;
    std::vector<double> last_direction_;
    double bound_ = -std::numeric_limits<double>::infinity();
    double step_;
    int period_;        // steps between two changes of `step_`, ...
    int in_period_ = 0; // ... and those taken of them
    bool is_beginning_ = true;
    bool has_ended_ = false;

    double one_tree_bound(std::vector<double> &direction);
    void take_step();

public:
    /// `first_step` is how far the first step of the ascent moves a multiplier.
    AlphaNearness(SparseGraph graph, double first_step);

    /// Raise the 1-tree bound by at most so many subgradient steps; return whether the ascent is over.
    ///
    /// Steps are as long as in Helsgaun's ascent: doubled as long as the first ones raise the bound, then halved after
    /// periods that get shorter, with three tenths of the last direction in each.
    bool ascend(int steps);

    /// The best bound found.
    [[nodiscard]] double bound() const { return bound_; }

    /// The multipliers of the best bound.
    [[nodiscard]] std::span<double const> multipliers() const { return best_; }

    /// Candidate lists at some multipliers: for each vertex a row of the `most` others of least α-value, the shorter
    /// edge first where values are equal. The last one fills up where a vertex has too few edges.
    std::vector<std::int64_t> candidate_lists(std::span<double const> multipliers, std::size_t most);
};
} // namespace learnroute
