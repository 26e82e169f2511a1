#pragma once

#include "dont_look_queue.h"
#include "k_opt.h"
#include "perturbation.h"
#include "score_terms.h"
#include "tour.h"

#include <memory>
#include <span>

namespace learnroute {
/// A tour under iterated local search: descent by k-opt moves, perturbations, acceptance.
///
/// Vertices whose edges changed are queued for another look. Where scores count, the tour is anchored: the positions of
/// its array are those of the order. Copies share what is only read: costs and candidate lists.
class LocalSearch {
    KOpt k_opt_;
    DoubleBridge double_bridge_;
    std::size_t journal_; // numbers that the undo journal may hold
    Tour tour_;
    std::shared_ptr<ScoreTerms> terms_; // no other search's; none where travel alone counts
    DontLookQueue queue_;
    Move move_;

    void make_move();

public:
    LocalSearch(std::shared_ptr<Costs const> costs, ScoreTerms const *terms, KOptLimits limits,
                PerturbationParams perturbation, std::size_t journal);
    LocalSearch(LocalSearch const &other);

    [[nodiscard]] KOpt &k_opt() { return k_opt_; }
    [[nodiscard]] Tour const &tour() const { return tour_; }
    [[nodiscard]] std::shared_ptr<ScoreTerms> const &terms() const { return terms_; }
    [[nodiscard]] std::size_t queued() const { return queue_.size(); }

    /// Start from a cycle of vertices; with scores, from the first position on. No vertex is queued.
    void set_tour(std::span<std::int64_t const> order);
    /// Add running sums up afresh.
    void update_terms();
    /// See travel alone from now on: moves may turn any segment.
    void drop_scores() { terms_.reset(); }

    void queue_all();
    void clear_queue() { queue_.clear(); }
    /// Make moves until no queued vertex has one, or so many of them were looked at; return the gain.
    ///
    /// If not `undoable`, the journal is not kept.
    double descend(std::int64_t looks, bool undoable = false);
    /// Make the first move found that removes an edge of a vertex; return its gain, 0 if there is none.
    double improve(Index vertex);
    /// Make a double bridge (see `DoubleBridge`); return what it costs, infinity if it is not made.
    double perturb_at(Index vertex, std::int64_t bits, std::span<std::int64_t const> chosen);
    /// Undo all changes since they were last kept for good.
    void undo();
    void keep_changes() { tour_.forget_changes(); }
    /// Perturb and descend, once per row of random numbers; what is worse than accepted is undone.
    ///
    /// A row of `draws` says where, how the walks go, and how much worse an accepted tour may be; a row of `chosen` at
    /// which vertices to cut, unless these are negative.
    void perturb(MatrixView<double> draws, MatrixView<std::int64_t> chosen);
};
} // namespace learnroute
