#pragma once

#include "matrix_view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Paths of the greedy edge heuristic (Bentley 1992), which repeatedly joins the two nearest ends of paths until a
/// single path remains.
class GreedyPaths {
    std::vector<std::array<Index, 2>> links_; ///< neighbours, or -1
    std::vector<Index> other_end_;            ///< the other end of the path, by end

    [[nodiscard]] bool is_end(Index v) const { return links_[v][1] < 0; }
    void link(Index from, Index to);

public:
    /// Start with one path per region.
    explicit GreedyPaths(std::size_t size);

    /// Join paths along these edges, in their order, if they join the ends of two paths. Return the number of joins.
    std::size_t join(std::span<std::int64_t const> one, std::span<std::int64_t const> two);

    /// The ends of all paths.
    [[nodiscard]] std::vector<Index> ends() const;

    /// The regions along the path that has the first end.
    [[nodiscard]] std::vector<Index> path() const;
};

/// Return, for each of these regions, the `count` nearest others among them, as indices into `regions`, one row per
/// region.
///
/// Ties are broken by the smallest index.
std::vector<std::int64_t> nearest_among(MatrixView<double> travel, std::span<std::int64_t const> regions,
                                        std::size_t count);
} // namespace learnroute
