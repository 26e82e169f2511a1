#include "greedy_edge.h"

#include "candidate_lists.h"

#include <algorithm>
#include <numeric>

namespace learnroute {
GreedyPaths::GreedyPaths(std::size_t size) : links_(size, {-1, -1}), other_end_(size) {
    std::iota(other_end_.begin(), other_end_.end(), 0);
}

void GreedyPaths::link(Index from, Index to) {
    links_[from][links_[from][0] < 0 ? 0 : 1] = to;
}

std::size_t GreedyPaths::join(std::span<std::int64_t const> one, std::span<std::int64_t const> two) {
    std::size_t joined = 0;
    for (std::size_t k = 0; k < one.size(); ++k) {
        auto const a = static_cast<Index>(one[k]);
        auto const b = static_cast<Index>(two[k]);
        if (!is_end(a) || !is_end(b) || other_end_[a] == b || a == b)
            continue;
        link(a, b);
        link(b, a);
        auto const first = other_end_[a];
        auto const last = other_end_[b];
        other_end_[first] = last;
        other_end_[last] = first;
        ++joined;
    }
    return joined;
}

std::vector<Index> GreedyPaths::ends() const {
    std::vector<Index> found;
    for (std::size_t v = 0; v < links_.size(); ++v)
        if (is_end(static_cast<Index>(v)))
            found.push_back(static_cast<Index>(v));
    return found;
}

std::vector<Index> GreedyPaths::path() const {
    std::vector<Index> found;
    Index before = -1;
    for (auto here = ends().front(); here >= 0;) {
        found.push_back(here);
        auto const [one, two] = links_[here];
        auto const after = one != before ? one : two;
        before = here;
        here = after;
    }
    return found;
}

std::vector<std::int64_t> nearest_among(MatrixView<double> travel, std::span<std::int64_t const> regions,
                                        std::size_t count) {
    std::vector<std::int64_t> lists(regions.size() * count);
    if (count == 0)
        return lists;
    std::vector<double> apart(count);
    for (std::size_t i = 0; i < regions.size(); ++i) {
        auto const way = [row = travel[regions[i]], regions](std::size_t j) { return row[regions[j]]; };
        fill_nearest(way, regions.size(), i, std::span{lists}.subspan(i * count, count), apart);
    }
    return lists;
}
} // namespace learnroute
