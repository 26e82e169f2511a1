#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// What an order costs: travel, and of each region its score times what a score counts at its place.
struct OrderCosts {
    MatrixView<double> travel;
    std::span<double const> scores;
    std::span<double const> weights; // what a score counts, by position
    std::span<double const> factors; // where given, it counts the product of these of the regions that follow
    std::span<double const> noise;   // where given, added to the score: it counts by factors of its own
    std::span<double const> noise_factors;
    std::span<double const> last_costs; // what ending at each region costs, its score included
    MatrixView<bool> positions;         // which positions (rows) are open to which regions
};

/// Held–Karp: dynamic programming over sets of regions (Held and Karp 1962, Bellman 1962), with weighted scores.
///
/// A set, a number with a bit for each region, is visited to the end of an order. Built from the end, because what a
/// score counts is decided by the regions that follow. 2^(T-1)·T values are kept.
class HeldKarp {
    std::size_t size_;
    std::vector<double> travel_to_; // one row for each region gone to
    std::vector<double> scores_;
    std::vector<double> weights_;  // by how many regions follow
    std::vector<double> products_; // by the set of regions that follow, where there are factors
    std::vector<double> noise_;
    std::vector<double> noise_products_;
    std::vector<double> last_costs_;
    std::vector<std::uint8_t> open_; // one row for each number of regions that follow

    /// Of the high bits of a set: how many regions they are, and how many are in all sets below, low bits aside.
    struct HighBits {
        std::size_t regions;
        std::size_t below;
    };

    std::vector<HighBits> high_;
    std::vector<std::size_t> low_;     // of the low bits of a set: how many regions are in all sets below
    std::unique_ptr<double[]> values_; // of each set: the least cost from each of its regions to the end
    std::size_t done_ = 0;             // sets that were prolonged

    /// Where the values of a set begin.
    [[nodiscard]] std::size_t first(std::size_t set) const;

    /// Put each region that is not in a set before it; sets that it is made of have lesser numbers.
    void prolong(std::size_t set);

public:
    explicit HeldKarp(OrderCosts const &costs);

    /// The set of all regions.
    [[nodiscard]] std::size_t all() const { return (std::size_t{1} << size_) - 1; }

    /// Put one region before each of the next so many sets; returns the share of all that is done.
    double fill(std::size_t sets);

    /// The set of `at_least` to `at_most` regions, those required among them, whose best order costs least.
    ///
    /// An order costs `total` times the product of its factors besides. Nothing (0) where no set has an order.
    [[nodiscard]] std::size_t best_set(std::span<double const> begin, std::size_t required, int at_least, int at_most,
                                       double total) const;

    /// Trace the best order of a set, of the smallest index where orders tie; `begin` has the cost of beginning at each
    /// region.
    [[nodiscard]] std::vector<Index> order(std::span<double const> begin, std::size_t set) const;

    /// The values of all sets, by set and region.
    [[nodiscard]] std::span<double const> values() const { return {values_.get(), size_ << (size_ - 1)}; }
};
} // namespace learnroute
