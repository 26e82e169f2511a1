#pragma once

#include "instance.h"

#include <memory>
#include <vector>

namespace learnroute {
/// The best sequence of visits, by complete enumeration in depth-first order.
///
/// A node is pruned if its travel exceeds the budget or if too few visits remain for the required regions. Closed
/// sequences must have a fixed end (see `Instance::cyclic`).
class VisitEnumeration {
    /// The expected errors, split as in `learnroute.model.law`, or the sums of the absolute values of their terms.
    struct Errors {
        std::vector<double> own;
        double sum;
        double common;

        void train(Errors const &before, Instance const &instance, Index region, ErrorUpdate const &update);
    };

    /// A partial sequence.
    struct Node {
        Errors errors;
        Errors sizes;
        double travel;
        Index region;
        Index next; // the region to be tried next after it
        Index missing;
    };

    std::shared_ptr<Instance const> instance_;
    double relative_;
    std::vector<Node> nodes_; // by the number of visits
    std::vector<Index> counts_;
    Index depth_ = 0;
    std::vector<Index> best_;
    double value_ = inf;
    double low_ = inf;

    [[nodiscard]] bool enter(Index region);
    void leave();
    void evaluate();

public:
    /// `relative` is the maximum rounding error of a value, relative to the sizes of its terms.
    VisitEnumeration(std::shared_ptr<Instance const> instance, double relative);

    /// Process up to `nodes` more nodes. Return whether all sequences have been enumerated.
    bool advance(std::int64_t nodes);

    /// The best sequence; empty if there is no feasible one.
    [[nodiscard]] std::vector<Index> const &best() const { return best_; }
    /// A lower bound on all values that accounts for rounding.
    [[nodiscard]] double low() const { return low_; }
};
} // namespace learnroute
