#pragma once

#include "candidates.h"
#include "move.h"
#include "score_terms.h"
#include "tour.h"

#include <memory>
#include <vector>

namespace learnroute {
/// Limits on the moves that are searched.
struct KOptLimits {
    double least_gain;   // smaller gains are attributed to rounding
    double credit;       // maximum intermediate travel loss that scores may make up for; unlimited ...
    Index end_positions; // ... if the move begins within this many positions of the end
    Index longest;       // maximum number of positions that a move may write
};

/// Lin–Kernighan moves: sequential k-opt moves on candidate lists (Lin and Kernighan 1973; Helsgaun 2000).
///
/// A move is found edge by edge: remove t1-t2, add t2-t3 to a vertex of the candidate list of t2, remove an edge t3-t4
/// at either side of t3, add t4-t5, and so on in depth-first order, as long as the removed edges cost more than the
/// added ones (the gain criterion). The edge back to t1 closes the tour. The search returns the first improving move
/// that yields a single tour: 2-opt (Croes 1958), 3-opt with Or-opt (Or 1976), or more edges. If scores count, the
/// partial gain may be negative by as much as the scores could still gain.
class KOpt {
    KOptLimits limits_;
    std::shared_ptr<Candidates const> candidates_;
    std::vector<std::size_t> breadth_;
    bool only_listed_ = false;

    template <typename Cost, bool scored> friend class MoveSearch;

public:
    explicit KOpt(KOptLimits limits) : limits_(limits) {}

    /// Set the candidate lists. The search tries `breadth[0]` entries for the second edge of a move, `breadth[1]` for
    /// the third, and so on.
    ///
    /// If `only_listed`, moves add only edges of the candidate lists (tour merging, Cook and Seymour 2003). The edge
    /// that closes the tour must then be one of the first two entries of a list, and no edges to `start` and `end` are
    /// added besides.
    void use_candidates(std::shared_ptr<Candidates const> candidates, std::vector<std::size_t> breadth,
                        bool only_listed);

    [[nodiscard]] Candidates const &candidates() const { return *candidates_; }
    [[nodiscard]] KOptLimits const &limits() const { return limits_; }

    /// Find an improving move that removes an edge of vertex t1. Return its gain, or 0 if there is none.
    double find(Tour const &tour, ScoreTerms *terms, Index t1, Move &move) const;
};
} // namespace learnroute
