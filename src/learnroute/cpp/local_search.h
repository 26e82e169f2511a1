#pragma once

#include "dont_look_queue.h"
#include "k_opt.h"
#include "perturbation.h"
#include "score_terms.h"
#include "tour.h"

#include <memory>
#include <span>

namespace learnroute {
/// Iterated local search on a tour: descent by k-opt moves, perturbation and acceptance.
///
/// Vertices whose edges have changed are queued to be searched again. If scores count, the tour is anchored: positions
/// in its array are positions in the order. Copies share read-only data (costs and candidate lists).
class LocalSearch {
    KOpt k_opt_;
    DoubleBridge double_bridge_;
    std::size_t journal_; // maximum size of the undo journal
    Tour tour_;
    std::shared_ptr<ScoreTerms> terms_; // not shared with other searches; null if only travel counts
    DontLookQueue queue_;
    Move move_;

    void make_move();

public:
    LocalSearch(std::shared_ptr<Costs const> const &costs, ScoreTerms const *terms, KOptLimits limits,
                PerturbationParams perturbation, std::size_t journal);
    LocalSearch(LocalSearch const &other);

    [[nodiscard]] KOpt &k_opt() { return k_opt_; }
    [[nodiscard]] Tour const &tour() const { return tour_; }
    [[nodiscard]] std::shared_ptr<ScoreTerms> const &terms() const { return terms_; }
    [[nodiscard]] std::size_t queued() const { return queue_.size(); }

    /// Start from a cycle of vertices. If scores count, the order begins at the first position. No vertex is queued.
    void set_tour(std::span<std::int64_t const> order);
    /// Recompute the running sums.
    void update_terms();
    /// Ignore scores from now on, so that moves may reverse any segment.
    void drop_scores() { terms_.reset(); }

    void queue_all();
    void clear_queue() { queue_.clear(); }
    /// Apply moves until no queued vertex has an improving one, or until `looks` vertices were searched. Return the
    /// gain.
    ///
    /// Unless `undoable`, the journal is not kept, so that the moves cannot be undone.
    double descend(std::int64_t looks, bool undoable = false);
    /// Apply the first improving move that removes an edge of a vertex. Return its gain, or 0 if there is none.
    double improve(Index vertex);
    /// Apply a double bridge (see `DoubleBridge`). Return its cost, or infinity if it is not applied.
    double perturb_at(Index vertex, std::int64_t bits, std::span<std::int64_t const> chosen);
    /// Undo all changes that have not been made permanent.
    void undo();
    void keep_changes() { tour_.forget_changes(); }
    /// Perturb and descend, once per row of random numbers. Undo the result unless it is accepted.
    ///
    /// A row of `draws` determines the vertex, the random walks, and how much worse an accepted tour may be. A row of
    /// `chosen` has the vertices at which to cut, unless they are negative.
    void perturb(MatrixView<double> draws, MatrixView<std::int64_t> chosen);
};
} // namespace learnroute
