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

/// A traversal of a tour, vertex by vertex.
class Walk {
    std::span<Neighbours const> neighbours_;
    Index before_, here_;

public:
    /// Start at `here` and move away from `before`.
    Walk(std::span<Neighbours const> neighbours, Index before, Index here)
        : neighbours_(neighbours), before_(before), here_(here) {}

    /// Return the current vertex and advance to the next.
    Index next() {
        auto const after = neighbours_[here_].other_than(before_);
        before_ = here_;
        here_ = after;
        return before_;
    }
};

/// Set the neighbours of all vertices of a tour.
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
