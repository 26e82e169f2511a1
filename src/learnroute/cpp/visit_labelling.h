#pragma once

#include "instance.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace learnroute {
/// The best sequence of visits if errors are not coupled, by labelling over states (multiset of remaining visits, first
/// of them).
///
/// As in Held–Karp, labels are built from the end, because the weight of a visit depends on the visits that follow. A
/// state keeps the Pareto front of travel and value, or the lowest value if there is no travel budget. Labels that
/// cannot be completed within the budget, or to a value below `bound`, are dropped. Closed sequences must have a fixed
/// end.
class VisitLabelling {
    using Code = std::uint64_t; // code of a multiset: the multiplicity of each region, in `bits_` bits each

    struct Label {
        double travel; // from its first visit to the end
        double value;  // cost of that travel and of its trainings
        std::uint32_t next;
        Index first;
    };

    /// A multiset of remaining visits.
    struct Multiset {
        Code code;
        std::uint32_t labels;   // index of its first label
        double retention = 1.0; // share of the regions' own errors that remains after its trainings ...
        double second = 1.0;    // ... and of the common error
    };

    std::shared_ptr<Instance const> instance_;
    double bound_;
    std::size_t most_labels_;
    int bits_;
    double floor_;              // lower bound on the sum of own errors
    std::vector<double> reach_; // minimum travel to reach each region
    std::vector<std::vector<Label>> layers_;
    std::vector<Multiset> before_; // multisets of the previous layer, sorted by code
    std::vector<Code> codes_;      // codes of the multisets to be built from them
    std::vector<Multiset> made_;
    std::vector<Label> front_;
    std::size_t labels_ = 0;
    double value_ = inf;
    std::vector<Index> best_;

    [[nodiscard]] Index count(Code code, Index region) const;
    void next_layer();
    /// Build the labels of a multiset. Return the number of labels examined.
    std::size_t make(Code code);
    /// Keep the Pareto-optimal labels of `front_`.
    void keep_front();
    void complete(Multiset const &members, Label const &label);

public:
    VisitLabelling(std::shared_ptr<Instance const> instance, double bound, std::size_t most_labels);

    /// Examine about `looks` labels. Return whether the labelling has ended: complete, or with too many labels.
    bool advance(std::int64_t looks);

    /// Whether the labelling is incomplete because the limit on labels was exceeded.
    [[nodiscard]] bool full() const { return labels_ > most_labels_; }
    /// The share of sequence lengths that are done.
    [[nodiscard]] double done() const;
    /// The best sequence; empty if no feasible one has a value below the bound.
    [[nodiscard]] std::vector<Index> const &best() const { return best_; }
};
} // namespace learnroute
