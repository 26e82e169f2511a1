#pragma once

#include "costs.h"
#include "layout.h"
#include "move.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace learnroute {
/// A cycle of vertices, stored in an array, with an undo journal.
///
/// Vertices may be absent from the tour. Their position is -1.
class Tour {
public:
    /// A vertex and the cost of the edge to its successor.
    struct Stop {
        Index vertex;
        double cost;
    };

private:
    /// A range of the array that a move has overwritten. Its previous content is in `journal_`.
    struct Change {
        Index first;
        Index length;
    };

    std::shared_ptr<Costs const> costs_;
    std::vector<Stop> stops_;     // by position
    std::vector<Index> position_; // by vertex
    std::vector<Stop> journal_;
    std::vector<Change> changes_;

    /// Look up the cost of the edge that leaves this position.
    void update_cost(Index position) {
        auto &[vertex, cost] = stops_[position];
        cost = (*costs_)(vertex, at(after(position)));
    }

public:
    explicit Tour(std::shared_ptr<Costs const> costs) : costs_(std::move(costs)), position_(layout().vertices(), -1) {}

    /// Set the tour to a cycle of vertices and clear the journal. All other vertices are absent.
    void assign(std::span<std::int64_t const> order);

    /// Number of vertices on the tour.
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

    /// The vertices in the order of the array.
    [[nodiscard]] std::vector<Index> order() const;
    /// The regions in the order of visits, from `start` to `end` or once around the cycle.
    [[nodiscard]] std::vector<Index> regions() const;

    /// Apply a move: write its segments, and save the overwritten stops in the journal.
    void rearrange(Move const &move);

    /// Undo the last change and return its first position and its length.
    std::pair<Index, Index> undo();
    [[nodiscard]] bool has_changes() const { return !changes_.empty(); }
    /// Number of entries in the journal.
    [[nodiscard]] std::size_t journal_size() const { return journal_.size() + changes_.size(); }
    /// Make all changes permanent by clearing the journal.
    void forget_changes();
};
} // namespace learnroute
