#pragma once

#include "matrix_view.h"

#include <span>
#include <vector>

namespace learnroute {
/// The two neighbours of a vertex in a tour.
struct Neighbours {
    Index before, after;

    [[nodiscard]] bool has(Index vertex) const { return before == vertex || after == vertex; }
    [[nodiscard]] Index other_than(Index vertex) const { return before == vertex ? after : before; }
};

/// A way along a tour, vertex by vertex, by their neighbours.
class Walk {
    std::span<Neighbours const> neighbours_;
    Index before_, here_;

public:
    /// From `here` on, away from `before`.
    Walk(std::span<Neighbours const> neighbours, Index before, Index here)
        : neighbours_(neighbours), before_(before), here_(here) {}

    /// The vertex that it is at; then it goes on to the next.
    Index next() {
        auto const after = neighbours_[here_].other_than(before_);
        before_ = here_;
        here_ = after;
        return before_;
    }
};

/// Fill in the neighbours of all vertices of a tour.
inline void link(std::span<Index const> tour, std::vector<Neighbours> &neighbours) {
    neighbours.resize(tour.size());
    auto last = tour.back();
    for (auto const here : tour) {
        neighbours[here].before = last;
        neighbours[last].after = here;
        last = here;
    }
}
} // namespace learnroute
