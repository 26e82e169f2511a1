#pragma once

#include "fleet.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace learnroute {
/// The best routes of a fleet, by complete enumeration in depth-first order.
///
/// Vehicles are filled one after another. Symmetry between vehicles and between models is broken: routes are sorted by
/// their first region, and models are numbered in the order of their first trainings. A node is pruned if its travel
/// exceeds the limits or if too few visits remain for the required regions.
class FleetEnumeration {
    /// The expected errors of all models, split as in `learnroute.model.law`, or the sums of the absolute values of
    /// their terms.
    struct Errors {
        std::vector<double> own; // one row per model
        std::vector<double> common;
        std::vector<double> between; // distances between models, one row per model

        void train(Instance const &instance, ErrorUpdate const &update, FleetVisit visit);
    };

    /// Partial routes.
    struct Node {
        Errors errors;
        Errors sizes;
        std::vector<Index> trainings; // number per model
        FleetVisit visit;             // the last visit
        Index vehicle;
        Index begin;     // first region of that vehicle, or -1 if it has none yet
        Index after;     // lower limit on its first region, for symmetry breaking
        Index made;      // number of visits so far
        Index missing;   // number of required regions not yet visited
        Index trained;   // number of trained models
        double travel;   // of that vehicle
        double finished; // total travel of the vehicles before it
        double longest;  // longest route of the vehicles before it
        Index next;      // the choice to be tried next
    };

    std::shared_ptr<Instance const> instance_;
    double relative_;
    std::vector<Node> nodes_;
    std::vector<Index> counts_; // visits to each region
    std::size_t depth_ = 0;
    MergeWeights merging_;
    std::vector<double> means_;
    std::vector<double> between_;
    FleetRoutes best_;
    double value_ = inf;
    double low_ = inf;

    [[nodiscard]] Index choices() const;
    [[nodiscard]] double travel_back(Node const &node) const;
    bool enter(Index choice);
    bool visit(FleetVisit visit);
    bool start_next_vehicle();
    void leave();
    void evaluate();
    std::pair<double, double> error(Node const &node);

public:
    /// `relative` is the maximum rounding error of a value, relative to the sizes of its terms.
    FleetEnumeration(std::shared_ptr<Instance const> instance, double relative);

    /// Process up to `nodes` more nodes. Return whether all routes have been enumerated.
    bool advance(std::int64_t nodes);

    /// The best routes; empty if there are no feasible ones.
    [[nodiscard]] FleetRoutes const &best() const { return best_; }
    /// A lower bound on all values that accounts for rounding.
    [[nodiscard]] double low() const { return low_; }
};
} // namespace learnroute
