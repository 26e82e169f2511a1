#pragma once

#include "matrix_view.h"
#include "pair_terms.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// A problem with optional and repeated visits (see `learnroute.model.visit_objective`). Regions that may not be
/// visited are left out; their errors are included in `scores`, `total` and `count`.
///
/// There is one additional stop, `outside`, at which routes start and end: the costs of beginning and ending at a
/// region are the travel from and to this stop.
struct VisitProblem {
    using Update = ErrorUpdates::Update;

    Index regions;
    double rate;              // cost per unit of travel
    std::vector<double> from; // travel from stop u to stop v, one row per u ...
    std::vector<double> to;   // ... and one row per v; empty if travel is symmetric
    std::vector<Update>
        updates; // by position and region, by region alone if `steady`, or by position alone if `uniform`
    bool steady;
    bool uniform;
    bool coupled;
    std::vector<double> towards;    // Δ[k, j], one row per k ...
    std::vector<double> transposed; // ... and one row per j; empty if Δ is symmetric
    std::vector<double> initial;
    std::vector<double> scores;
    double total;
    double count;
    std::vector<std::uint8_t> required;
    std::vector<Index> repeats; // maximum number of visits per region
    Index at_least;
    Index at_most;
    double budget;
    Index first; // the region that sequences must begin with, or -1
    Index last;
    bool cyclic; // whether travel from the last visit to the first replaces travel from and to `outside`

    [[nodiscard]] Index outside() const { return regions; }
    [[nodiscard]] std::size_t row(Index stop) const { return static_cast<std::size_t>(stop) * (regions + 1); }
    [[nodiscard]] double travel(Index u, Index v) const { return from[row(u) + v]; }
    [[nodiscard]] double const *travel_from(Index u) const { return from.data() + row(u); }
    [[nodiscard]] double const *travel_to(Index v) const { return (to.empty() ? from : to).data() + row(v); }
    [[nodiscard]] Update const &update(Index position, Index region) const {
        return updates[static_cast<std::size_t>(steady ? 0 : position) * (uniform ? 1 : regions) +
                       (uniform ? 0 : region)];
    }
    [[nodiscard]] double const *dissimilarities_from(Index region) const {
        return towards.data() + static_cast<std::size_t>(region) * regions;
    }
    [[nodiscard]] double const *dissimilarities_to(Index region) const {
        return (transposed.empty() ? towards : transposed).data() + static_cast<std::size_t>(region) * regions;
    }
    /// Return the nearest others of each region by travel there and back, nearest first, ties by number.
    [[nodiscard]] std::vector<std::int64_t> nearest(std::size_t most) const;
    [[nodiscard]] bool may_begin(Index region) const { return first < 0 || first == region; }
    [[nodiscard]] bool may_end(Index region) const { return last < 0 || last == region; }
};
} // namespace learnroute
