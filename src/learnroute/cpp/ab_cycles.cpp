#include "ab_cycles.h"

namespace learnroute {
void AbCycles::find(std::span<Neighbours const> tour, std::span<Neighbours const> other, RandomBits random) {
    auto const size = static_cast<Index>(tour.size());
    collect_unused(tour, other);
    for (auto &steps : steps_)
        steps.assign(tour.size(), -1);
    vertices_.clear();
    starts_.assign(1, 0);
    auto const shift = static_cast<Index>(random.below(size));
    for (Index k = 0; k < size; ++k)
        follow_path(k + shift < size ? k + shift : k + shift - size, random);
}

void AbCycles::collect_unused(std::span<Neighbours const> tour, std::span<Neighbours const> other) {
    auto const only_in_first = [](Neighbours const &one, Neighbours const &two) {
        Unused found{};
        for (auto const vertex : {one.before, one.after})
            if (!two.has(vertex))
                found.to[found.count++] = vertex;
        return found;
    };
    for (auto &unused : unused_)
        unused.resize(tour.size());
    for (std::size_t vertex = 0; vertex < tour.size(); ++vertex) {
        unused_[0][vertex] = only_in_first(tour[vertex], other[vertex]);
        unused_[1][vertex] = only_in_first(other[vertex], tour[vertex]);
    }
}

void AbCycles::follow_path(Index start, RandomBits &random) {
    path_.assign(1, start);
    while (unused_[0][start].count > 0 || path_.size() > 1) {
        if (path_.size() == 1)
            steps_[0][start] = 0;
        auto const here = path_.back();
        auto &unused = unused_[(path_.size() - 1) % 2];
        auto const coin = random.coin();
        auto const next = unused[here].to[unused[here].count == 2 && coin ? 1 : 0];
        unused[here].take(next);
        unused[next].take(here);
        auto const step = static_cast<Index>(path_.size());
        path_.push_back(next);
        auto const first = steps_[step % 2][next];
        if (first < 0) {
            steps_[step % 2][next] = step;
            continue;
        }
        // the path was here an even number of steps ago: remove this AB-cycle and continue with the rest of the path
        auto const odd = first % 2;
        vertices_.insert(vertices_.end(), path_.begin() + first + odd, path_.begin() + step + odd);
        starts_.push_back(vertices_.size());
        for (auto j = first + 1; j < step; ++j)
            steps_[j % 2][path_[j]] = -1;
        path_.resize(first + 1);
    }
    steps_[0][start] = -1;
}
} // namespace learnroute
