#pragma once

#include "candidates.h"
#include "move.h"
#include "tour.h"

#include <span>

namespace learnroute {
/// Limits on the extent and the cost of a double bridge.
struct PerturbationParams {
    int walk;             // number of steps of the random walks that find its vertices
    Index segment;        // maximum number of positions between edges that are chosen along the tour
    Index longest_bridge; // maximum number of positions that it may write ...
    Index far_bridge;     // ... and the same if the caller chooses its vertices
    double most_worse;    // upper limit on its cost
};

/// The double bridge (Martin, Otto and Felten 1991): reconnects four segments A, B, C, D as A, D, C, B.
///
/// No sequential move of three edges can undo it. Its edges are near each other: their vertices are found by short
/// random walks through the candidate lists (Applegate, Cook and Rohe 2003), or a few positions further along the tour
/// (Johnson and McGeoch 1997).
class DoubleBridge {
    PerturbationParams params_;

public:
    explicit DoubleBridge(PerturbationParams params) : params_(params) {}

    /// Find a double bridge at a vertex and three others that depend on `bits`, or at the four `chosen` vertices unless
    /// these are negative.
    ///
    /// Returns the increase of the edge costs, or infinity if the move is not allowed.
    double find(Tour const &tour, Candidates const &candidates, bool anchored, Index vertex, std::int64_t bits,
                std::span<std::int64_t const> chosen, Move &move) const;
};
} // namespace learnroute
