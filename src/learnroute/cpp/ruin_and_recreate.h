#pragma once

#include "fleet.h"
#include "ruin_search.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// Ruin and recreate of the routes of a fleet, accepted by simulated annealing.
///
/// Slack induction by string removals (Christiaens and Vanden Berghe 2020), as in `VisitSearch`: strings of visits near
/// each other are removed from all routes. They and some absent regions are inserted again one by one, each at the
/// cheapest place and for the best model. Random 2-opt, 2-opt*, Or-opt and exchange moves change segments that are
/// longer than strings. The service of the models is optimised after each change. Travel beyond limits is penalised;
/// the penalty is adapted so that about half of the routes are feasible (Vidal and others 2012).
class RuinAndRecreate : public RuinSearch {
    /// The routes of a fleet, the service of its models, and their value.
    struct Solution {
        Routes routes;
        Service service;
        double value = inf;
        double excess = 0.0; // travel beyond limits
    };

    /// A visit that may be moved.
    struct Place {
        Index vehicle = -1;
        Index at = -1;
    };

    Fleet fleet_;
    Solution current_;
    Solution best_;
    Routes trial_;
    std::vector<Place> places_; // place of a visit to each region
    std::vector<Place> movable_;
    std::vector<Visit> joined_;   // all routes, concatenated
    std::vector<double> lengths_; // cumulative travel up to each place of them
    double least_penalty_ = 0.0;
    double penalty_ = 0.0; // per unit of travel beyond limits
    std::int64_t looks_ = 0;
    std::int64_t within_ = 0;  // number of recent routes that kept all limits
    std::vector<double> sway_; // maximum influence of earlier visits on the error, by the number of visits that follow

    [[nodiscard]] Instance const &instance() const { return fleet_.instance(); }
    void count();
    void locate();
    bool rearrange();
    bool relabel();
    bool recombine();
    void set_models();
    void find_sway();
    [[nodiscard]] double least_loss() const;
    void rearrange_between(Place here, Place there);
    void ruin();
    bool recreate(double contrary);
    [[nodiscard]] double value();
    [[nodiscard]] double cost(double value, double excess) const { return value + penalty_ * excess; }
    void accept(double value);
    void try_change(double temperature);
    void adapt_penalty();

public:
    RuinAndRecreate(std::shared_ptr<Instance const> instance, MatrixView<std::int64_t> near, RuinParams params,
                    std::uint64_t seed);

    /// Start from routes and a service: the model that serves each region, or the weights of all models. Routes must
    /// begin and end at the fixed regions, if any. Required visits may be missing; they must then be inserted.
    void start(Routes routes, Service service);
    /// Insert regions that are required or pay, one by one.
    void insert(std::span<Index const> regions);
    /// Ruin and recreate `iterations` times.
    void run(std::int64_t iterations, double temperature);

    /// The best feasible routes since the start; empty if there were none.
    [[nodiscard]] Routes const &best() const { return best_.routes; }
    [[nodiscard]] double best_value() const { return best_.value; }
};
} // namespace learnroute
