#pragma once

#include "costs.h"
#include "layout.h"
#include "move.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace learnroute {
/// A cycle of vertices in an array, with an undo journal.
///
/// Vertices may be absent from it: the position of one that is not on the tour is -1.
class Tour {
public:
    /// A vertex, and what the edge to the one behind it costs.
    struct Stop {
        Index vertex;
        double cost;
    };

private:
    /// A stretch of the array that a move wrote; what stood there is in `journal_`.
    struct Change {
        Index first;
        Index length;
    };

    std::shared_ptr<Costs const> costs_;
    std::vector<Stop> stops_;     // by position
    std::vector<Index> position_; // by vertex
    std::vector<Stop> journal_;
    std::vector<Change> changes_;

    /// Look up what the edge behind this position costs.
    void update_cost(Index position) {
        auto &[vertex, cost] = stops_[position];
        cost = (*costs_)(vertex, at(after(position)));
    }

public:
    explicit Tour(std::shared_ptr<Costs const> costs) : costs_(std::move(costs)), position_(layout().vertices(), -1) {}

    /// Write a cycle of vertices, all others are absent; nothing can be undone then.
    void assign(std::span<std::int64_t const> order);

    /// How many vertices are on the tour.
    [[nodiscard]] Index size() const { return static_cast<Index>(stops_.size()); }
    [[nodiscard]] std::span<Stop const> stops() const { return stops_; }
    /// Positions of all vertices.
    [[nodiscard]] std::span<Index const> positions() const { return position_; }
    [[nodiscard]] Costs const &costs() const { return *costs_; }
    [[nodiscard]] Layout const &layout() const { return costs_->layout(); }
    [[nodiscard]] Index at(Index position) const { return stops_[position].vertex; }
    [[nodiscard]] Index position(Index vertex) const { return position_[vertex]; }
    [[nodiscard]] Index after(Index position) const { return position + 1 < size() ? position + 1 : 0; }
    [[nodiscard]] Index before(Index position) const { return position > 0 ? position - 1 : size() - 1; }

    /// The vertices as they are written.
    [[nodiscard]] std::vector<Index> order() const;
    /// The regions in the order of visits: from `start` to `end`, or once around.
    [[nodiscard]] std::vector<Index> regions() const;

    /// Write the segments of a move; what stood there goes into the journal.
    void rearrange(Move const &move);

    /// Take the last change back and return where it was: first position and length.
    std::pair<Index, Index> undo();
    [[nodiscard]] bool has_changes() const { return !changes_.empty(); }
    /// Numbers in the journal.
    [[nodiscard]] std::size_t journal_size() const { return journal_.size() + changes_.size(); }
    /// Keep all changes for good.
    void forget_changes();
};
} // namespace learnroute
