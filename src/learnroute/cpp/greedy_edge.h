#pragma once

#include "matrix_view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Paths that greedy edges (Bentley 1992) join: the two nearest ends of paths, again and again, until one is left.
class GreedyPaths {
    std::vector<std::array<Index, 2>> links_; ///< neighbours, or -1
    std::vector<Index> other_end_;            ///< of the path that an end belongs to

    [[nodiscard]] bool is_end(Index v) const { return links_[v][1] < 0; }
    void link(Index from, Index to);

public:
    /// Each of so many regions is a path of its own.
    explicit GreedyPaths(std::size_t size);

    /// Join paths along these edges, in their order, where both ends are free; return how many were joined.
    std::size_t join(std::span<std::int64_t const> one, std::span<std::int64_t const> two);

    /// The ends of all paths.
    [[nodiscard]] std::vector<Index> ends() const;

    /// The regions along the path that the first end belongs to.
    [[nodiscard]] std::vector<Index> path() const;
};

/// For each of these regions the `count` nearest others of them, as places in their list, row by row.
///
/// The first one comes first among those that are equally near.
std::vector<std::int64_t> nearest_among(MatrixView<double> travel, std::span<std::int64_t const> regions,
                                        std::size_t count);
} // namespace learnroute
