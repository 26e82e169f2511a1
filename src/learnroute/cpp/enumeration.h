#pragma once

#include "instance.h"
#include "merge_weights.h"
#include "routes.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace learnroute {
/// The best routes, by complete enumeration in depth-first order.
///
/// Vehicles are filled one after another. Symmetry between vehicles and between models is broken: routes are sorted by
/// their first region, and models are numbered in the order of their first trainings. A node is pruned if its travel
/// exceeds the limits or if too few visits remain for the required regions.
class Enumeration {
    /// The parts of the error over all regions.
    struct Sums {
        double own;
        double common;
    };

    /// The expected errors of all models, split as in `learnroute.model.law`, or the sums of the absolute values of
    /// their terms. There is one row per model and number of its trainings, so that a node changes one row.
    struct Errors {
        std::vector<double> own;
        std::vector<Sums> sums;
        std::vector<double> between; // distances between models, one matrix per node; empty if they do not matter
    };

    /// Partial routes.
    struct Node {
        Visit visit; // the last one
        Index vehicle = 0;
        Index begin = -1;      // first region of that vehicle, or -1 if it has none yet
        Index after = 0;       // lower limit on its first region, for symmetry breaking
        Index made = 0;        // number of visits so far
        Index missing = 0;     // number of required regions not yet visited
        Index trained = 0;     // number of trained models
        double travel = 0.0;   // of that vehicle
        double finished = 0.0; // total travel of the vehicles before it
        double longest = 0.0;  // longest route of the vehicles before it
        std::size_t next = 0;  // the choice to be tried next
    };

    std::shared_ptr<Instance const> instance_;
    double relative_;
    std::vector<Visit> choices_; // of the next visit, and beginning with the next vehicle
    Errors errors_;
    Errors sizes_;
    std::vector<Node> nodes_;
    std::size_t depth_ = 0;
    std::vector<Index> left_;      // visits to each region that are left, and vehicles
    std::vector<Index> trainings_; // number per model
    MergeWeights merging_;
    std::vector<double> means_;
    std::vector<double> between_;
    Routes best_;
    double value_ = inf;
    double low_ = inf;

    [[nodiscard]] Errors first_errors() const;
    [[nodiscard]] std::size_t row(std::size_t model) const;
    [[nodiscard]] double travel_back(Node const &node) const;
    [[nodiscard]] double total(Sums const &errors) const { return errors.own + instance_->count * errors.common; }
    void train(Visit visit, bool last);
    void measure(Errors &errors, ErrorUpdate const &update, Visit visit) const;
    bool enter(Visit visit);
    bool add(Visit visit);
    bool start_next_vehicle();
    void leave();
    void evaluate();
    std::pair<double, double> error(Node const &node);
    std::pair<double, double> served_error() const;
    std::pair<double, double> merged_error(Node const &node);

public:
    /// `relative` is the maximum rounding error of a value, relative to the sizes of its terms.
    Enumeration(std::shared_ptr<Instance const> instance, double relative);

    /// Process up to `nodes` more nodes. Return whether all routes have been enumerated.
    bool advance(std::int64_t nodes);

    /// The best routes; empty if there are no feasible ones.
    [[nodiscard]] Routes const &best() const { return best_; }
    /// A lower bound on all values that accounts for rounding.
    [[nodiscard]] double low() const { return low_; }
};
} // namespace learnroute
