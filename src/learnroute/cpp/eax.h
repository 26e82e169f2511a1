#pragma once

#include "ab_cycles.h"
#include "candidates.h"
#include "costs.h"
#include "edge_counts.h"
#include "k_opt.h"
#include "neighbours.h"
#include "random_bits.h"
#include "score_terms.h"
#include "subtours.h"

#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace learnroute {
/// Edge assembly crossover (Nagata and Kobayashi 2013): of two tours, makes one that is better than the first.
///
/// Edges that only one of two tours has make up AB-cycles. Along one of them (the single strategy), the first tour
/// gives up its edges for those of the second. That may leave subtours; the smallest one is joined to another by the
/// best exchange of two edges, until one tour is left. Of several children made in that way, the one that gains most
/// per entropy that the edges of the population lose takes the place of the first tour: gains that make all tours alike
/// are dear, and a population that stays diverse goes further.
///
/// Making a child takes time for what changes, not for the whole tour. Scores are added up from the end of a tour as
/// far back as they reach, and only if something changed there.
class EdgeAssembly {
    std::shared_ptr<Costs const> costs_;
    std::unique_ptr<ScoreTerms> terms_; ///< none where travel alone counts
    KOptLimits limits_;                 ///< what a child must gain, and what its travel may lose for the sake of scores
    std::shared_ptr<Candidates const> candidates_; ///< what subtours may be joined to ...
    std::size_t joining_;                          ///< ... by so many entries per list
    EdgeCounts counts_;
    Layout layout_;
    Index size_;
    AbCycles cycles_;
    Subtours subtours_;
    std::vector<Index> tour_, positions_, untried_;
    std::vector<Neighbours> neighbours_, other_;
    std::vector<Change> changes_, kept_; ///< of the child at hand, and of the best one of a batch

    void replace(Index vertex, Index removed, Index added);
    void undo();
    void exchange(Index a, Index next_a, Index b, Index next_b);
    double make_child(std::span<Index const> cycle, double score);
    template <typename Cost> double join_subtours(Cost const &cost, double least);
    double improve(std::size_t children, std::size_t &tried, RandomBits &random);
    void rewrite();

    [[nodiscard]] double credit() const;
    std::pair<double, Index> score_part();

public:
    /// The tours, whose edges are counted in `counts`, have all vertices.
    EdgeAssembly(std::shared_ptr<Costs const> costs, ScoreTerms const *terms, KOptLimits limits,
                 std::shared_ptr<Candidates const> candidates, std::size_t joining, EdgeCounts counts);

    /// Put the best of the children of two tours in the place of the first, if it is better; return the gain.
    ///
    /// That is repeated with AB-cycles that are left, up to `batches` times.
    double cross(std::vector<Index> &tour, std::span<Index const> other, std::size_t children, std::size_t batches,
                 RandomBits random);

    [[nodiscard]] EdgeCounts &counts() { return counts_; }

    /// The changes of the last batch in which a child was better.
    [[nodiscard]] std::span<Change const> kept() const { return kept_; }
};
} // namespace learnroute
