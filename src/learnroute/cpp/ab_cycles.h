#pragma once

#include "matrix_view.h"
#include "neighbours.h"
#include "random_bits.h"

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// AB-cycles of two tours (Nagata and Kobayashi 2013): cycles in which edges of the first and the second tour
/// alternate.
///
/// They are found by random alternating paths, and contain every edge that only one of the tours has.
class AbCycles {
    /// Edges of a vertex in one tour that are not in an AB-cycle yet.
    struct Unused {
        std::array<Index, 2> to;
        int count = 0;

        void take(Index vertex) {
            if (to[0] == vertex)
                to[0] = to[1];
            --count;
        }
    };

    std::array<std::vector<Unused>, 2> unused_; ///< of the first and of the second tour
    std::array<std::vector<Index>, 2> steps_;   ///< the even and the odd step at which the path visits a vertex, or -1
    std::vector<Index> path_, vertices_;
    std::vector<std::size_t> starts_;

    void collect_unused(std::span<Neighbours const> tour, std::span<Neighbours const> other);
    void follow_path(Index start, RandomBits &random);

public:
    void find(std::span<Neighbours const> tour, std::span<Neighbours const> other, RandomBits random);

    [[nodiscard]] std::size_t size() const { return starts_.size() - 1; }

    /// The vertices of a cycle. The first edge belongs to the first tour.
    [[nodiscard]] std::span<Index const> operator[](std::size_t cycle) const {
        return std::span{vertices_}.subspan(starts_[cycle], starts_[cycle + 1] - starts_[cycle]);
    }
};
} // namespace learnroute
