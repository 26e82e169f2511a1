#pragma once

#include "visit_problem.h"

#include <memory>
#include <vector>

namespace learnroute {
/// The best of all sequences of visits, by depth-first search through every one of them.
///
/// Pruned where travel exceeds its budget, and where too few visits are left for those that are required. Sequences
/// that are closed must have a fixed end (see `VisitProblem::cyclic`).
class VisitEnumeration {
    /// The expected errors, as `learnroute.model.law` splits them; and the sizes of all terms they are made of.
    struct Errors {
        std::vector<double> own;
        double sum;
        double common;

        void train(Errors const &before, VisitProblem const &problem, Index region, VisitProblem::Update const &update);
    };

    /// A sequence so far.
    struct Node {
        Errors errors;
        Errors sizes;
        double travel;
        Index region;
        Index next; // the region to be tried next behind it
        Index missing;
    };

    std::shared_ptr<VisitProblem const> problem_;
    double relative_;
    std::vector<Node> nodes_; // by the number of visits
    std::vector<Index> counts_;
    Index depth_ = 0;
    std::vector<Index> best_;
    double value_;
    double low_;

    [[nodiscard]] bool enter(Index region);
    void leave();
    void look();

public:
    /// `relative`: what rounding can do to a value, relative to the sizes of its terms.
    VisitEnumeration(std::shared_ptr<VisitProblem const> problem, double relative);

    /// Go on by so many nodes; return whether all sequences were seen.
    bool advance(std::int64_t nodes);

    /// The best sequence; empty where none keeps the rules.
    [[nodiscard]] std::vector<Index> const &best() const { return best_; }
    /// A lower bound of all values, rounding included.
    [[nodiscard]] double low() const { return low_; }
};
} // namespace learnroute
