#include "subtours.h"

#include <algorithm>

namespace learnroute {
namespace {
/// Return the position of the left end of the edge between two positions of a cycle; -1 if there is no such edge.
Index left_end(Index p, Index q, Index size) {
    if (q == (p + 1 < size ? p + 1 : 0))
        return p;
    return p == (q + 1 < size ? q + 1 : 0) ? q : -1;
}
} // namespace

bool Subtours::cut(std::span<Index const> cycle, std::span<Index const> positions) {
    size_ = static_cast<Index>(positions.size());
    auto const count = static_cast<Index>(cycle.size() / 2);
    removed_.clear();
    for (Index i = 0; i < count; ++i) {
        auto const p = positions[cycle[2 * i]];
        auto const q = positions[cycle[2 * i + 1]];
        auto const added = positions[cycle[i + 1 < count ? 2 * i + 2 : 0]];
        auto const position = left_end(p, q, size_);
        if (position < 0 || left_end(q, added, size_) >= 0)
            return false;
        removed_.push_back({position, i, {}, {}});
    }
    std::ranges::sort(removed_, {}, &Removed::position); // no two are at the same position
    ranks_.resize(count);
    cuts_.resize(count);
    for (Index rank = 0; rank < count; ++rank) {
        ranks_[removed_[rank].number] = rank;
        cuts_[rank] = removed_[rank].position;
    }
    for (Index i = 0; i < count; ++i) {
        auto const j = i + 1 < count ? i + 1 : 0;
        auto const end_at = [&](Index rank, Index vertex) { return End{rank, positions[vertex] != cuts_[rank]}; };
        auto const join = [&](End one, End two) {
            (one.right ? removed_[one.edge].right : removed_[one.edge].left) = two;
        };
        auto const one = end_at(ranks_[i], cycle[2 * i + 1]);
        auto const two = end_at(ranks_[j], cycle[2 * j]);
        join(one, two);
        join(two, one);
    }
    return true;
}

void Subtours::find() {
    labels_.assign(removed_.size(), -1);
    sizes_.clear();
    for (Index first = 0; first < segments(); ++first) {
        if (labels_[first] >= 0)
            continue;
        auto const label = count();
        sizes_.push_back(0);
        auto segment = first;
        auto backwards = false;
        do {
            labels_[segment] = label;
            sizes_[label] += length(segment);
            auto const end = backwards ? removed_[segment].right : removed_[next(segment)].left;
            backwards = !end.right;
            segment = end.edge;
            if (backwards)
                segment = segment > 0 ? segment - 1 : segments() - 1;
        } while (segment != first);
    }
}

Index Subtours::length(Index segment) const {
    auto const distance = cuts_[next(segment)] - cuts_[segment];
    return segment + 1 < segments() ? distance : distance + size_;
}

Index Subtours::of_position(Index position) const {
    auto const segment = std::ranges::lower_bound(cuts_, position) - cuts_.begin();
    return segment > 0 ? labels_[segment - 1] : labels_.back();
}

Index Subtours::smallest() const {
    Index found = 0;
    for (Index i = 0; i < count(); ++i)
        if (sizes_[i] > 0 && (sizes_[found] == 0 || sizes_[i] < sizes_[found]))
            found = i;
    return found;
}

void Subtours::merge(Index one, Index other) {
    std::ranges::replace(labels_, one, other);
    sizes_[other] += sizes_[one];
    sizes_[one] = 0;
}
} // namespace learnroute
