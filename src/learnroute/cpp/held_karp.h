#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// The cost of an order: travel, plus the score of each region times the weight of its position.
struct OrderCosts {
    MatrixView<double> travel;
    std::span<double const> scores;
    std::span<double const> weights; // weight of a score, by position
    std::span<double const> factors; // if given, the weight is the product of the factors of the regions that follow
    std::span<double const> noise;   // if given, added to the score, but weighted by `noise_factors`
    std::span<double const> noise_factors;
    std::span<double const> last_costs; // cost of ending at each region, including its score
    MatrixView<bool> positions;         // whether a region (column) is allowed at a position (row)
};

/// Held–Karp: dynamic programming over sets of regions (Held and Karp 1962, Bellman 1962), with weighted scores.
///
/// A set is a number with one bit per region. Its regions are the last ones of an order: orders are built from the end,
/// because the weight of a score depends on the regions that follow. 2^(T-1)·T values are stored.
class HeldKarp {
    std::size_t size_;
    std::vector<double> travel_to_; // one row per destination
    std::vector<double> scores_;
    std::vector<double> weights_;  // by the number of regions that follow
    std::vector<double> products_; // by the set of regions that follow, if there are factors
    std::vector<double> noise_;
    std::vector<double> noise_products_;
    std::vector<double> last_costs_;
    std::vector<std::uint8_t> open_; // one row per number of regions that follow

    /// For the high bits of a set: their number of regions, and the number of values of all sets with lower high bits.
    struct HighBits {
        std::size_t regions;
        std::size_t below;
    };

    std::vector<HighBits> high_;
    std::vector<std::size_t> low_;     // for the low bits of a set: the total number of regions in all lower sets
    std::unique_ptr<double[]> values_; // for each set, the lowest cost from each of its regions to the end
    std::size_t done_ = 0;             // number of extended sets

    /// Index of the first value of a set.
    [[nodiscard]] std::size_t first(std::size_t set) const;

    /// Extend a set by each region that is not in it. Subsets have smaller numbers, so their values are known.
    void prolong(std::size_t set);

public:
    explicit HeldKarp(OrderCosts const &costs);

    /// The set of all regions.
    [[nodiscard]] std::size_t all() const { return (std::size_t{1} << size_) - 1; }

    /// Extend the next `sets` sets by one region. Return the share of all sets that is done.
    double fill(std::size_t sets);

    /// Return the set of `at_least` to `at_most` regions with the cheapest order, among sets that contain all required
    /// regions.
    ///
    /// The cost of an order includes `total` times the product of its factors. Returns 0 if no set has an order.
    [[nodiscard]] std::size_t best_set(std::span<double const> begin, std::size_t required, int at_least, int at_most,
                                       double total) const;

    /// Trace the best order of a set; ties are broken by the smallest index. `begin` has the cost of beginning at each
    /// region.
    [[nodiscard]] std::vector<Index> order(std::span<double const> begin, std::size_t set) const;

    /// The values of all sets, by set and region.
    [[nodiscard]] std::span<double const> values() const { return {values_.get(), size_ << (size_ - 1)}; }
};
} // namespace learnroute
