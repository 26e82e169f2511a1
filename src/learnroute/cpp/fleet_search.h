#pragma once

#include "dice.h"
#include "fleet.h"
#include "median.h"
#include "visit_search.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// Ruin and recreate of the routes of a fleet, accepted by simulated annealing.
///
/// Slack induction by string removals (Christiaens and Vanden Berghe 2020), as in `VisitSearch`: strings of visits near
/// each other are removed from all routes; they and some absent regions are put back one by one, each where it costs
/// least, with the model that this is best for. Random 2-opt, 2-opt*, Or-opt and exchange moves change what strings are
/// too short for. After each change, models serve as is best. Required regions without a place within all limits are
/// kept aside, and tried again.
class FleetSearch {
    /// The routes of a fleet, how its models serve, and what that costs.
    struct Solution {
        FleetRoutes routes;
        Service service;
        std::vector<Index> missing; // required regions without a place
        double value = std::numeric_limits<double>::infinity();
    };

    /// A visit that may be moved.
    struct Place {
        Index vehicle = -1;
        Index at = -1;
    };

    Fleet fleet_;
    std::vector<Index> near_; // of each region the nearest others, nearest first, one row each
    std::size_t listed_;      // entries per row
    RuinParams params_;
    Dice dice_;
    Solution current_;
    Solution best_;
    FleetRoutes trial_;
    std::vector<Index> counts_; // visits to each region, in `trial_`
    bool is_located_ = false;   // whether these are known for the present routes:
    std::vector<Place> places_; // of a visit to each region
    std::vector<Place> movable_;
    std::vector<Index> absent_; // regions that are to be put in
    std::vector<double> worse_;

    [[nodiscard]] VisitProblem const &visits() const { return *fleet_.problem().visits; }
    void count();
    void locate();
    bool rearrange();
    bool relabel();
    bool rearrange_within(Place here, Place there);
    bool rearrange_between(Place here, Place there);
    void ruin();
    void add_others(Index seed);
    std::vector<Index> recreate(double contrary);
    [[nodiscard]] double value();
    void keep(double value, std::vector<Index> missing);
    void look(double temperature);

public:
    FleetSearch(std::shared_ptr<FleetProblem const> problem, MatrixView<std::int64_t> near, RuinParams params,
                std::uint64_t seed);

    /// Start from routes and from a model that serves each region, or weights of all models. Routes must begin and end
    /// where they must, and be within all limits; required visits may be missing.
    void start(FleetRoutes routes, Service service);
    /// Put in regions that are required or pay, one by one.
    void insert(std::span<Index const> regions);
    /// Ruin and recreate so many times.
    void run(std::int64_t iterations, double temperature);

    /// The best routes since the start that keep all rules; empty where there were none.
    [[nodiscard]] FleetRoutes const &best() const { return best_.routes; }
    [[nodiscard]] double best_value() const { return best_.value; }
    /// How many required regions have no place in the present routes.
    [[nodiscard]] std::size_t missing() const { return current_.missing.size(); }
    /// The median of what the last iterations cost, of those that made the routes worse; 0 where none did.
    [[nodiscard]] double typical_loss() const { return median(worse_); }
};
} // namespace learnroute
