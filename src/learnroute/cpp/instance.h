#pragma once

#include "matrix_view.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace learnroute {
/// How a training changes expected errors; the members are those of `learnroute.model.law.Updates`.
struct ErrorUpdate {
    double retention;
    double plasticity;
    double coupling;
    double second;
    double noise;

    /// Return the update of the sums of the absolute values of the terms of all errors.
    [[nodiscard]] ErrorUpdate of_sizes() const {
        return {std::abs(retention), std::abs(plasticity), -std::abs(coupling), std::abs(second), std::abs(noise)};
    }
};

/// A problem by indices: one or more vehicles visit regions and train models, each visit one model.
///
/// There is one additional stop, `outside`, at which routes start and end: the costs of beginning and ending at a
/// region are the travel from and to this stop. Regions that no visit may train and no model has to serve can be left
/// out; their errors are then included in `scores`, `total` and `count`.
struct Instance {
    Index regions;
    double rate;                      // cost per unit of travel
    std::vector<double> from;         // travel from stop u to stop v, one row per u ...
    std::vector<double> to;           // ... and one row per v; empty if travel is symmetric
    std::vector<ErrorUpdate> updates; // by position and region, by region alone if `steady`, by position if `uniform`
    bool steady;
    bool uniform;
    bool coupled;                   // whether errors in pairs of regions are coupled
    std::vector<double> towards;    // Δ[k, j], one row per k ...
    std::vector<double> transposed; // ... and one row per j; empty if Δ is symmetric
    std::vector<double> initial;    // errors of the initial model
    std::vector<double> scores;     // sum of the errors of the true model of each region
    double total;                   // sum of the errors of the initial model
    double count;                   // sum of the weights in these sums
    std::vector<std::uint8_t> required;
    std::vector<Index> repeats; // maximum number of visits per region
    Index at_least;             // limits on the number of all visits
    Index at_most;
    double budget; // maximum travel of all vehicles
    Index first;   // the region that routes must begin with, or -1
    Index last;
    bool cyclic; // whether travel from the last visit to the first replaces that from and to `outside`
    std::vector<double> importance; // weight of the error in each region
    Index vehicles;
    Index models; // one per vehicle, or all models of the only vehicle
    bool merged;  // whether models are averaged at the end; otherwise the best model serves each region
    bool equal;   // whether all trained models have the same weight in the average
    bool longest; // whether the longest route is paid for instead of the travel of all vehicles
    double limit; // maximum travel per vehicle

    [[nodiscard]] Index outside() const { return regions; }
    [[nodiscard]] std::size_t row(Index stop) const { return static_cast<std::size_t>(stop) * (regions + 1); }
    [[nodiscard]] double travel(Index u, Index v) const { return from[row(u) + v]; }
    [[nodiscard]] double const *travel_from(Index u) const { return from.data() + row(u); }
    [[nodiscard]] double const *travel_to(Index v) const { return (to.empty() ? from : to).data() + row(v); }
    [[nodiscard]] ErrorUpdate const &update(Index position, Index region) const {
        return updates[static_cast<std::size_t>(steady ? 0 : position) * (uniform ? 1 : regions) +
                       (uniform ? 0 : region)];
    }
    [[nodiscard]] double const *dissimilarities_from(Index region) const {
        return towards.data() + static_cast<std::size_t>(region) * regions;
    }
    [[nodiscard]] double const *dissimilarities_to(Index region) const {
        return (transposed.empty() ? towards : transposed).data() + static_cast<std::size_t>(region) * regions;
    }
    [[nodiscard]] bool may_begin(Index region) const { return first < 0 || first == region; }
    [[nodiscard]] bool may_end(Index region) const { return last < 0 || last == region; }
    /// Whether one model serves all regions, so that there is no service to choose.
    [[nodiscard]] bool has_one_model() const { return merged && models == 1; }
    /// Return the nearest others of each region by travel there and back, nearest first, ties by number.
    [[nodiscard]] std::vector<std::int64_t> nearest(std::size_t most) const;
};
} // namespace learnroute
