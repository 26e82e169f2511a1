#pragma once

#include "matrix_view.h"

#include <span>
#include <vector>

namespace learnroute {
/// The subtours that result from exchanging the edges of an AB-cycle in a tour.
///
/// They consist of the segments between removed edges. Therefore the time to find them depends on the length of the
/// cycle, not of the tour.
class Subtours {
    /// An end of a removed edge: the rank of the edge along the tour, and whether it is the right end.
    struct End {
        Index edge;
        bool right;
    };

    /// A removed edge: the position of its left end, and its number in the AB-cycle.
    struct Removed {
        Index position;
        Index number;
        End left, right; ///< the ends that its own ends are joined to
    };

    Index size_ = 0;
    std::vector<Removed> removed_; ///< along the tour
    std::vector<Index> cuts_;      ///< their positions, contiguous for binary search
    std::vector<Index> ranks_;     ///< of the edges of the AB-cycle, along the tour
    std::vector<Index> labels_;    ///< the subtour of the segment behind each removed edge
    std::vector<Index> sizes_;     ///< of subtours; 0 for those merged into others

    [[nodiscard]] Index next(Index segment) const { return segment + 1 < segments() ? segment + 1 : 0; }

public:
    /// Sort the edges that an AB-cycle removes along the tour, and determine which of their ends are joined.
    ///
    /// `positions` has the position of each vertex. Returns false if the cycle is out of date because the tour has
    /// changed since.
    bool cut(std::span<Index const> cycle, std::span<Index const> positions);

    /// Find the subtours that the segments form.
    void find();

    /// Number of subtours found, including those that were merged into others.
    [[nodiscard]] Index count() const { return static_cast<Index>(sizes_.size()); }

    [[nodiscard]] Index segments() const { return static_cast<Index>(removed_.size()); }

    /// The position before a segment.
    [[nodiscard]] Index cut_before(Index segment) const { return cuts_[segment]; }

    [[nodiscard]] Index last_cut() const { return cuts_.back(); }
    [[nodiscard]] Index length(Index segment) const;
    [[nodiscard]] bool contains(Index segment, Index position) const {
        if (segment + 1 < segments())
            return cuts_[segment] < position && position <= cuts_[segment + 1];
        return cuts_[segment] < position || position <= cuts_[0];
    }
    [[nodiscard]] Index of_segment(Index segment) const { return labels_[segment]; }
    [[nodiscard]] Index of_position(Index position) const;
    [[nodiscard]] Index smallest() const;

    /// Make one subtour part of another.
    void merge(Index one, Index other);
};
} // namespace learnroute
