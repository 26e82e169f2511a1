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
/// Edge assembly crossover (Nagata and Kobayashi 2013): improves the first of two tours with edges of the second.
///
/// Edges that only one of two tours has form AB-cycles. Along one of them (the single strategy), the edges of the first
/// tour are replaced by those of the second. This may create subtours; the smallest one is joined to another by the
/// best exchange of two edges, until a single tour remains. The first tour is replaced by the child with the highest
/// gain per loss of edge entropy of the population. This criterion preserves the diversity of the population, which
/// leads to better tours in the end.
///
/// The time to make a child depends on the number of changed edges, not on the size of the tour. Scores are summed from
/// the end of a tour as far back as they reach, and only if something has changed there.
class EdgeAssembly {
    std::shared_ptr<Costs const> costs_;
    std::unique_ptr<ScoreTerms> terms_; ///< null if only travel counts
    KOptLimits limits_;                 ///< minimum gain of a child, and travel loss that scores may make up for
    std::shared_ptr<Candidates const> candidates_; ///< vertices that subtours may be joined to, ...
    std::size_t joining_;                          ///< ... with this number of entries per list
    EdgeCounts counts_;
    Layout layout_;
    Index size_;
    AbCycles cycles_;
    Subtours subtours_;
    std::vector<Index> tour_, positions_, untried_;
    std::vector<Neighbours> neighbours_, other_;
    std::vector<Change> changes_, kept_; ///< of the current child, and of the best one of a batch

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
    /// `counts` has the edge counts of the population, whose tours contain all vertices.
    EdgeAssembly(std::shared_ptr<Costs const> costs, ScoreTerms const *terms, KOptLimits limits,
                 std::shared_ptr<Candidates const> candidates, std::size_t joining, EdgeCounts counts);

    /// Replace the first of two tours by the best of their children, if that is better. Return the gain.
    ///
    /// This is repeated with the remaining AB-cycles, up to `batches` times.
    double cross(std::vector<Index> &tour, std::span<Index const> other, std::size_t children, std::size_t batches,
                 RandomBits random);

    [[nodiscard]] EdgeCounts &counts() { return counts_; }

    /// The changes of the last batch that improved the tour.
    [[nodiscard]] std::span<Change const> kept() const { return kept_; }
};
} // namespace learnroute
