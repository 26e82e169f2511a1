#pragma once

#include "blossom.h"
#include "distance.h"
#include "matrix_view.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Pricing: finds the edges of a complete graph with negative reduced cost (Cook and Rohe 1999) at the dual values of a
/// matching on a subset of its edges.
///
/// `dual` of a vertex is the sum over all sets that contain it, including its own value. An edge does not leave the
/// sets that contain both its ends, so their lifts must be added back for each end: its reduced cost is
/// weight - dual - dual + 2·(common lifts).
class Pricing {
public:
    explicit Pricing(MinimumWeightMatching const &matching);

    /// Return pairs (i, j) of negative reduced cost with first <= i < last and i < j, concatenated: for each i, up to
    /// `most` pairs with the lowest reduced costs. The result is empty only if there are no such pairs. Weights are
    /// multiplied by `scale`, rounded and doubled.
    [[nodiscard]] std::vector<std::int64_t> negative_pairs(MatrixView<double> weights, double scale, std::size_t first,
                                                           std::size_t last, std::size_t most) const;

    /// Return the same if weights are distances. An additional vertex of the matching, if any, is ignored.
    [[nodiscard]] std::vector<std::int64_t> negative_pairs(Places const &places, double scale, std::size_t first,
                                                           std::size_t last, std::size_t most) const;

private:
    using Weight = MinimumWeightMatching::Weight;

    /// A blossom.
    struct Level {
        Index parent;
        Index depth = -1; // number of blossoms that contain it
        Weight lifts = 0; // sum of their lifts and its own
    };

    std::vector<Weight> duals_;
    std::vector<Level> levels_; // by node of the matching

    [[nodiscard]] Weight common_lifts(std::size_t i, std::size_t j) const;

    template <typename RowOf, typename WeightOf>
    [[nodiscard]] std::vector<std::int64_t> collect(RowOf row_of, WeightOf weight_of, std::size_t size, double scale,
                                                    std::size_t first, std::size_t last, std::size_t most) const;
};
} // namespace learnroute
