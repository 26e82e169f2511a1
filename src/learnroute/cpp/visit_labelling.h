#pragma once

#include "visit_problem.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace learnroute {
/// The best sequence of visits where errors are not coupled, by labels of (multiset of visits to come, first of them).
///
/// Built from the end, as Held–Karp is, since what a visit counts is decided by those that follow. A state keeps the
/// Pareto front of travel and value, or without a travel budget the least value. Labels that cannot be completed within
/// the budget, or to a value below `bound`, are dropped. Closed sequences must have a fixed end.
class VisitLabelling {
    using Code = std::uint64_t; // of a multiset: how often each region is in it, in `bits_` bits each

    struct Label {
        double travel; // from its first visit to the end
        double value;  // of that travel, and of what its trainings count
        std::uint32_t next;
        Index first;
    };

    /// A multiset of visits to come.
    struct Multiset {
        Code code;
        std::uint32_t labels;   // where its labels begin
        double retention = 1.0; // what its trainings leave of the regions' own errors ...
        double second = 1.0;    // ... and of the common one
    };

    std::shared_ptr<VisitProblem const> problem_;
    double bound_;
    std::size_t most_labels_;
    int bits_;
    double floor_;              // of the sum of own errors
    std::vector<double> reach_; // the least travel with which each region can be reached
    std::vector<std::vector<Label>> layers_;
    std::vector<Multiset> before_; // those of the last layer, in the order of their codes
    std::vector<Code> codes_;      // of those to be made from them
    std::vector<Multiset> made_;
    std::vector<Label> front_;
    std::size_t labels_ = 0;
    double value_;
    std::vector<Index> best_;

    [[nodiscard]] Index count(Code code, Index region) const;
    void next_layer();
    /// Make the labels of a multiset; return how many were looked at.
    std::size_t make(Code code);
    /// Keep the Pareto-optimal labels of `front_`.
    void keep_front();
    void complete(Multiset const &members, Label const &label);

public:
    VisitLabelling(std::shared_ptr<VisitProblem const> problem, double bound, std::size_t most_labels);

    /// Look at about so many labels; return whether all were made, or too many.
    bool advance(std::int64_t looks);

    /// Whether labels are incomplete because there would be too many.
    [[nodiscard]] bool full() const { return labels_ > most_labels_; }
    /// The share of lengths that are done.
    [[nodiscard]] double done() const;
    /// The best sequence; empty where none below the bound keeps the rules.
    [[nodiscard]] std::vector<Index> const &best() const { return best_; }
};
} // namespace learnroute
