#pragma once

#include "candidates.h"
#include "move.h"
#include "score_terms.h"
#include "tour.h"

#include <memory>
#include <vector>

namespace learnroute {
/// What moves are looked for.
struct KOptLimits {
    double least_gain;   // what is less is taken for rounding
    double credit;       // what a move may lose on the way for the sake of scores; any loss ...
    Index end_positions; // ... where it begins within so many positions of the end
    Index longest;       // positions that a move may write
};

/// Lin–Kernighan moves: sequential k-opt moves on candidate lists (Lin and Kernighan 1973; Helsgaun 2000).
///
/// A move is found edge by edge: remove t1-t2, add t2-t3 to a vertex of the candidate list of t2, remove an edge t3-t4
/// at either side of t3, add t4-t5, and so on, as long as what was removed costs more than what was added (the gain
/// criterion), in depth-first order. The edge back to t1 closes the tour. The first move that gains and makes one tour
/// is taken: 2-opt (Croes 1958), 3-opt with Or-opt (Or 1976), or more edges. Where scores count, a move may lose as
/// much on the way as they may bring in.
class KOpt {
    KOptLimits limits_;
    std::shared_ptr<Candidates const> candidates_;
    std::vector<std::size_t> breadth_;
    bool only_listed_ = false;

    template <typename Cost, bool scored> friend class MoveSearch;

public:
    explicit KOpt(KOptLimits limits) : limits_(limits) {}

    /// Take candidate lists: the second edge of a move looks at `breadth[0]` entries, the third at `breadth[1]`, ...
    ///
    /// If `only_listed`, moves add no other edges: not even to close the tour, which the first two entries of a list
    /// are looked at for (tour merging, Cook and Seymour 2003), nor to vertices where orders may begin and end.
    void use_candidates(std::shared_ptr<Candidates const> candidates, std::vector<std::size_t> breadth,
                        bool only_listed);

    [[nodiscard]] Candidates const &candidates() const { return *candidates_; }
    [[nodiscard]] KOptLimits const &limits() const { return limits_; }

    /// Find a move that gains and removes an edge of vertex t1; return its gain, 0 if there is none.
    double find(Tour const &tour, ScoreTerms *terms, Index t1, Move &move) const;
};
} // namespace learnroute
