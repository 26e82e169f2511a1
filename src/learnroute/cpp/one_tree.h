#pragma once

#include "edge_status.h"
#include "matrix_view.h"
#include "subgradient.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// A minimum 1-tree of a tour graph at Lagrangian multipliers (Held and Karp 1970).
///
/// The vertices of a tour graph are the regions, `home` (the last but one) and `out` (the last). A 1-tree is a spanning
/// tree of all vertices but `out`, plus two edges of `out`: the one to `home` and the cheapest one to a region. The
/// multiplier of a vertex is subtracted from the costs of its edges and added twice to the total, so that the costs of
/// tours do not change.
class OneTree {
    double total_ = 0;
    Index last_ = -1;
    std::vector<Index> parent_;
    std::vector<Index> joined_;
    std::vector<Index> degree_;

    /// A vertex outside the tree, its cheapest edge to the tree, and whether that edge is fixed to 1.
    struct Outside {
        double near;
        double multiplier;
        Index vertex;
        Index parent;
        bool forced;
    };

    std::vector<Outside> outside_;

public:
    explicit OneTree(std::size_t vertices);

    /// Find the cheapest 1-tree without edges that are fixed to 0, by Prim's algorithm, with edges that are fixed to 1
    /// first. Return false, with a total of inf, if there is none.
    bool find(MatrixView<double> costs, StatusView status, std::span<double const> multipliers);

    /// The cost of the 1-tree, including twice the sum of the multipliers.
    [[nodiscard]] double total() const { return total_; }

    /// The region before `out`.
    [[nodiscard]] std::size_t last() const { return static_cast<std::size_t>(last_); }

    /// For each vertex but `out`, the next vertex towards `home`; -1 for `home`.
    [[nodiscard]] std::span<Index const> parent() const { return parent_; }

    /// `home` and the regions, in the order in which they joined the tree.
    [[nodiscard]] std::span<Index const> joined() const { return joined_; }

    [[nodiscard]] std::span<Index const> degree() const { return degree_; }
};

/// Raise the 1-tree bound by subgradient steps (Held and Karp 1971): the multiplier of a vertex increases if its degree
/// is less than 2, and decreases if it is more. The bound becomes inf if there is no 1-tree.
void ascend(MatrixView<double> costs, StatusView status, SubgradientAscent &ascent, int steps);
} // namespace learnroute
