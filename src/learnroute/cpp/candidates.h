#pragma once

#include "costs.h"

#include <algorithm>
#include <span>
#include <vector>

namespace learnroute {
/// A vertex of a candidate list and the cost of the edge to it.
struct Candidate {
    double distance;
    Index vertex;
};

/// For each vertex, the vertices that a move may join it to, nearest first. Ties keep their given order.
class Candidates {
    std::vector<Candidate> entries_;
    std::size_t length_;

public:
    Candidates(Costs const &costs, MatrixView<std::int64_t> lists) : length_(lists.columns()) {
        entries_.reserve(lists.rows() * length_);
        for (std::size_t a = 0; a < lists.rows(); ++a) {
            for (auto const b : lists[a]) {
                auto const vertex = static_cast<Index>(b);
                entries_.push_back({costs(static_cast<Index>(a), vertex), vertex});
            }
            std::stable_sort(entries_.end() - static_cast<std::ptrdiff_t>(length_), entries_.end(),
                             [](auto const &one, auto const &two) { return one.distance < two.distance; });
        }
    }

    /// Entries per list.
    [[nodiscard]] std::size_t length() const { return length_; }
    /// All lists, one after the other.
    [[nodiscard]] std::span<Candidate const> entries() const { return entries_; }
    [[nodiscard]] std::span<Candidate const> operator[](Index vertex) const {
        return {entries_.data() + static_cast<std::size_t>(vertex) * length_, length_};
    }
};
} // namespace learnroute
