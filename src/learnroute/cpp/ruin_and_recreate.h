#pragma once

#include "fleet.h"
#include "least_loss.h"
#include "median.h"
#include "moves/moves.h"
#include "visit_places.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// Parameters of ruin and recreate.
struct RuinParams {
    double rearranged; // share of iterations that apply a move instead
    double removed;    // maximum average number of visits removed per iteration
    Index string;      // maximum length of a removed string of visits
    Index added;       // maximum number of absent regions tried in addition
    double blink;      // share of places that are skipped
    double contrary;   // share of visits inserted although they do not pay, or left out although they do
};

/// Ruin and recreate of routes, accepted by simulated annealing.
///
/// Slack induction by string removals (Christiaens and Vanden Berghe 2020): strings of visits near each other are
/// removed from all routes. They and some absent regions are inserted again one by one, each at the cheapest place and
/// for the best model, with blinks. Optional visits are inserted only if they pay. Random moves (`moves/`) change
/// segments that are longer than strings. The service of the models is optimised after each change. Travel beyond
/// limits is penalised; the penalty is adapted so that about half of the routes are feasible (Vidal and others 2012).
class RuinAndRecreate {
    /// Routes, the service of their models, and their value.
    struct Solution {
        Routes routes;
        Service service;
        double value = inf;
        double excess = 0.0; // travel beyond limits
    };

    Fleet fleet_;
    RuinParams params_;
    Rng rng_;
    LeastLoss least_loss_;
    Moves moves_;
    VisitPlaces places_;
    bool is_located_ = false; // whether places are those of the current routes
    Solution current_;
    Solution best_;
    Routes trial_;
    std::vector<Index> counts_; // visits to each region, in the trial
    std::vector<Index> absent_; // regions to be inserted
    std::vector<double> worse_;
    double least_penalty_ = 0.0;
    double penalty_ = 0.0; // per unit of travel beyond limits
    std::int64_t looks_ = 0;
    std::int64_t within_ = 0; // number of recent routes that kept all limits

    [[nodiscard]] Instance const &instance() const { return fleet_.instance(); }
    [[nodiscard]] bool has_required() const;
    [[nodiscard]] double value();
    [[nodiscard]] double cost(double value, double excess) const { return value + penalty_ * excess; }
    void count();
    void ruin();
    void remove_strings(Index seed);
    bool remove_string(Index region, Index longest);
    void add_others(Index seed);
    void shuffle_absent();
    bool recreate(double contrary);
    bool rearrange(double tolerance);
    void accept(double value);
    void try_change(double temperature);
    void adapt_penalty();

public:
    /// `near` lists the nearest other regions of each, nearest first.
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
    /// The median cost increase of the last iterations that made the routes worse; 0 if none did.
    [[nodiscard]] double typical_loss() const { return median(worse_); }
};
} // namespace learnroute
