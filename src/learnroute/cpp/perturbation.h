#pragma once

#include "candidates.h"
#include "move.h"
#include "tour.h"

#include <span>

namespace learnroute {
/// How far apart the edges of a double bridge may be.
struct PerturbationParams {
    int walk;             // steps of the random walks that find its vertices
    Index segment;        // positions between two of its edges, where they follow each other along the tour
    Index longest_bridge; // positions that it may write ...
    Index far_bridge;     // ... where its vertices are chosen by the caller
    double most_worse;    // what it may cost
};

/// The double bridge (Martin, Otto and Felten 1991): join four segments A, B, C, D anew as A, D, C, B.
///
/// No sequential move of three edges takes that back. Its edges are near each other: their vertices are found by short
/// random walks through the candidate lists (Applegate, Cook and Rohe 2003), or a few positions further along the tour
/// (Johnson and McGeoch 1997).
class DoubleBridge {
    PerturbationParams params_;

public:
    explicit DoubleBridge(PerturbationParams params) : params_(params) {}

    /// Find one at a vertex and at three others, as `bits` decide; or at four `chosen` ones, unless these are negative.
    ///
    /// Returns what edges cost more after it; infinity if it is not allowed.
    double find(Tour const &tour, Candidates const &candidates, bool anchored, Index vertex, std::int64_t bits,
                std::span<std::int64_t const> chosen, Move &move) const;
};
} // namespace learnroute
