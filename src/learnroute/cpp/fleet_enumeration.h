#pragma once

#include "fleet.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace learnroute {
/// The best of all routes of a fleet, by depth-first search through every one of them.
///
/// Vehicles are filled one after another. Of vehicles and models that are alike, one order is tried: routes begin with
/// regions in increasing order, and models are numbered in the order of their first trainings. Pruned where travel
/// exceeds its limits, and where too few visits are left for those that are required.
class FleetEnumeration {
    /// The expected errors of all models, as `learnroute.model.law` splits them; or the sizes of all terms of these.
    struct Errors {
        std::vector<double> own; // one row per model
        std::vector<double> common;
        std::vector<double> between; // distances between models, one row each

        void train(FleetProblem const &problem, VisitProblem::Update const &update, FleetVisit visit);
    };

    /// The routes so far.
    struct Node {
        Errors errors;
        Errors sizes;
        std::vector<Index> trainings; // of each model
        FleetVisit visit;             // the last one
        Index vehicle;
        Index begin;     // the first region of that vehicle; -1 before it has one
        Index after;     // the region that its first one must not come before
        Index made;      // visits
        Index missing;   // required regions
        Index trained;   // models
        double travel;   // of that vehicle
        double finished; // of those before it
        double longest;  // of these
        Index next;      // what is to be tried next behind it
    };

    std::shared_ptr<FleetProblem const> problem_;
    double relative_;
    std::vector<Node> nodes_;
    std::vector<Index> counts_; // visits to each region
    std::size_t depth_ = 0;
    MergeWeights merging_;
    std::vector<double> means_;
    std::vector<double> between_;
    FleetRoutes best_;
    double value_;
    double low_;

    [[nodiscard]] VisitProblem const &visits() const { return *problem_->visits; }
    [[nodiscard]] Index choices() const;
    [[nodiscard]] double way_home(Node const &node) const;
    bool enter(Index choice);
    bool visit(FleetVisit visit);
    bool send_next();
    void leave();
    void look();
    std::pair<double, double> error(Node const &node);

public:
    /// `relative`: what rounding can do to a value, relative to the sizes of its terms.
    FleetEnumeration(std::shared_ptr<FleetProblem const> problem, double relative);

    /// Go on by so many nodes; return whether all routes were seen.
    bool advance(std::int64_t nodes);

    /// The best routes; empty where none keep the rules.
    [[nodiscard]] FleetRoutes const &best() const { return best_; }
    /// A lower bound of all values, rounding included.
    [[nodiscard]] double low() const { return low_; }
};
} // namespace learnroute
