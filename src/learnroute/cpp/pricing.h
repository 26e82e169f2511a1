#pragma once

#include "blossom.h"
#include "distance.h"
#include "matrix_view.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Pricing: which edges of a complete graph have a negative reduced cost (Cook and Rohe 1999) at the dual values of a
/// matching on some of its edges.
///
/// `dual` of a vertex is the sum over all sets around it, its own value included. An edge does not leave the sets that
/// contain both its ends, so their lifts count twice too much: its reduced cost is
/// weight - dual - dual + 2·(common lifts).
class Pricing {
public:
    explicit Pricing(MinimumWeightMatching const &matching);

    /// Pairs (i, j), first <= i < last, i < j, of negative reduced cost, one after the other; none only if there are
    /// none. At most `most` of each i, those of least reduced cost. Weights count as twice their product with `scale`,
    /// rounded.
    [[nodiscard]] std::vector<std::int64_t> negative_pairs(MatrixView<double> weights, double scale, std::size_t first,
                                                           std::size_t last, std::size_t most) const;

    /// The same where weights are distances; a further vertex, if there is one, is not looked at.
    [[nodiscard]] std::vector<std::int64_t> negative_pairs(Places const &places, double scale, std::size_t first,
                                                           std::size_t last, std::size_t most) const;

private:
    using Weight = MinimumWeightMatching::Weight;

    /// A blossom.
    struct Level {
        Index parent;
        Index depth = -1; // how many blossoms are around it
        Weight lifts = 0; // the sum of their lifts and its own
    };

    std::vector<Weight> duals_;
    std::vector<Level> levels_; // of all nodes of the matching

    [[nodiscard]] Weight common_lifts(std::size_t i, std::size_t j) const;

    template <typename RowOf, typename WeightOf>
    [[nodiscard]] std::vector<std::int64_t> collect(RowOf row_of, WeightOf weight_of, std::size_t size, double scale,
                                                    std::size_t first, std::size_t last, std::size_t most) const;
};
} // namespace learnroute
