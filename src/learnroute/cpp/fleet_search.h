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
/// too short for. After each change, models serve as is best. Travel beyond limits is penalised, so much that about
/// half of the routes keep them (Vidal and others 2012).
class FleetSearch {
    /// The routes of a fleet, how its models serve, and what that costs.
    struct Solution {
        FleetRoutes routes;
        Service service;
        double value = std::numeric_limits<double>::infinity();
        double excess = 0.0; // travel beyond limits
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
    std::vector<Index> absent_;      // regions that are to be put in
    std::vector<FleetVisit> joined_; // all routes, one behind the other
    std::vector<double> lengths_;    // of the ways up to each place there
    std::vector<double> worse_;
    double least_penalty_ = 0.0;
    double penalty_ = 0.0; // of a unit of travel beyond limits
    std::int64_t looks_ = 0;
    std::int64_t within_ = 0; // how many of the last routes kept all limits

    [[nodiscard]] VisitProblem const &visits() const { return *fleet_.problem().visits; }
    void count();
    void locate();
    bool rearrange();
    bool relabel();
    bool recombine();
    void set_models();
    bool rearrange_within(Place here, Place there);
    bool rearrange_between(Place here, Place there);
    void ruin();
    void add_others(Index seed);
    bool recreate(double contrary);
    [[nodiscard]] double value();
    [[nodiscard]] double cost(double value, double excess) const { return value + penalty_ * excess; }
    void keep(double value);
    void look(double temperature);
    void adapt_penalty();

public:
    FleetSearch(std::shared_ptr<FleetProblem const> problem, MatrixView<std::int64_t> near, RuinParams params,
                std::uint64_t seed);

    /// Start from routes and from a model that serves each region, or weights of all models. Routes must begin and end
    /// where they must; required visits may be missing, and are then to be inserted.
    void start(FleetRoutes routes, Service service);
    /// Put in regions that are required or pay, one by one.
    void insert(std::span<Index const> regions);
    /// Ruin and recreate so many times.
    void run(std::int64_t iterations, double temperature);

    /// The best routes since the start that keep all rules; empty where there were none.
    [[nodiscard]] FleetRoutes const &best() const { return best_.routes; }
    [[nodiscard]] double best_value() const { return best_.value; }
    /// The median of what the last iterations cost, of those that made the routes worse; 0 where none did.
    [[nodiscard]] double typical_loss() const { return median(worse_); }
};
} // namespace learnroute
