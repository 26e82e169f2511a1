#pragma once

#include "matrix_view.h"
#include "spanning_forest.h"
#include "sparse_graph.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// α-nearness on a sparse graph (Helsgaun 2000): ranks edges by how close they are to being in a minimum 1-tree.
///
/// A 1-tree has about three quarters of its edges in common with a shortest tour, and more if vertex multipliers make
/// all degrees about 2. A short subgradient ascent finds such multipliers (Held and Karp 1971). The α-value of an edge
/// is the increase in the cost of the tree if it must contain the edge: the cost of the edge minus the cost of the most
/// expensive edge on the tree path between its ends.
class AlphaNearness {
    SparseGraph graph_;
    SpanningForest forest_;
    std::vector<double> multipliers_;
    std::vector<double> best_;
    std::vector<double> last_direction_;
    double bound_ = -inf;
    double step_;
    int period_;        // number of steps between two changes of `step_` ...
    int in_period_ = 0; // ... and number of steps taken since the last change
    bool is_beginning_ = true;
    bool has_ended_ = false;

    double one_tree_bound(std::vector<double> &direction);
    void take_step();

public:
    /// `first_step` is the length of the first step of the ascent.
    AlphaNearness(SparseGraph graph, double first_step);

    /// Raise the 1-tree bound by at most `steps` subgradient steps. Return whether the ascent has ended.
    ///
    /// Step lengths are those of Helsgaun's ascent: they are doubled as long as the first steps raise the bound, then
    /// halved after ever shorter periods. Directions include three tenths of the previous one.
    bool ascend(int steps);

    /// The best bound found.
    [[nodiscard]] double bound() const { return bound_; }

    /// The multipliers of the best bound.
    [[nodiscard]] std::span<double const> multipliers() const { return best_; }

    /// Return candidate lists at some multipliers: for each vertex, a row of the `most` vertices with the lowest
    /// α-values. Ties are broken by edge cost. If a vertex has too few edges, its row is padded with the last one.
    std::vector<std::int64_t> candidate_lists(std::span<double const> multipliers, std::size_t most);
};
} // namespace learnroute
