#pragma once

#include "layered_network.h"
#include "matrix_view.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace learnroute {
/// A set of regions, one bit each.
template <std::size_t Words> using RegionSet = std::array<std::uint64_t, Words>;

/// A partial route from one end to a node, with the data that its completion depends on.
template <std::size_t Words> struct Label {
    double cost;
    Index parent; // the label that it was extended from, or -1
    Index region;
    RegionSet<Words> forbidden;
};

/// Labels by position (from the end that they start from), region and cost.
template <std::size_t Words> struct LabelStore {
    std::size_t regions = 0;
    std::vector<Label<Words>> labels;
    std::vector<std::size_t> start; // labels of step t and region v are start[t·T + v] to start[t·T + v + 1] - 1
};

/// How a labelling ended: complete, with too many labels (full), or out of work units (late).
enum class LabellingOutcome { complete, full, late };

/// The cheapest route of a labelling and its cost; empty and inf if there is none.
struct CheapestRoute {
    double cost;
    std::vector<Index> regions;
};

/// The labels of one direction.
class Labels {
public:
    // By the number of words per forbidden set, for up to 64, 128, 256, 1024 and 4096 regions.
    using Store = std::variant<LabelStore<1>, LabelStore<2>, LabelStore<4>, LabelStore<16>, LabelStore<64>>;

private:
    Store store_;
    LabellingOutcome outcome_;
    std::int64_t work_;

public:
    Labels(Store store, LabellingOutcome outcome, std::int64_t work)
        : store_(std::move(store)), outcome_(outcome), work_(work) {}

    [[nodiscard]] Store const &store() const { return store_; }
    [[nodiscard]] LabellingOutcome outcome() const { return outcome_; }

    /// Units of work that the labelling took.
    [[nodiscard]] std::int64_t work() const { return work_; }

    /// Number of labels; 0 if incomplete.
    [[nodiscard]] std::size_t size() const;

    /// The cheapest route through all positions, in the direction of the labels.
    [[nodiscard]] CheapestRoute cheapest_route() const;
};

/// Limits on the labels and the work of a labelling.
struct LabellingLimits {
    std::int64_t labels_in_layer; // before dominance
    std::int64_t labels_in_all;
    std::int64_t work; // units: one per arc or label examined, more per hash table lookup
};

/// Labelling: the cheapest ng-routes through a layered network, by dynamic programming over labels.
///
/// An *ng-route* (Baldacci, Mingozzi and Roberti 2011) may return to a region unless it is in the forbidden set. On
/// arrival at w, the forbidden set is intersected with the ng-set of w at the position, and w is added. Every order is
/// an ng-route, so the cheapest ng-route costs no more than the best order. With empty ng-sets, ng-routes are q-routes;
/// with all regions in all ng-sets, they are the orders.
///
/// `ng_sets` has the words of one set per position and region. Labels are dropped by *completion bounds* (Righini and
/// Salani 2006), the larger of two: the cost of the cheapest q-route from the other end, and the cost of the cheapest
/// label of `other` (the opposite direction, if given) at the same node whose forbidden set has no other region in
/// common. Labels are also dropped by *dominance*, if the forbidden set of a cheaper label of the same node is a
/// subset. If the labelling is complete, arcs that no label uses are fixed to 0.
Labels label_ng_routes(LayeredNetwork &network, std::span<double const> multipliers,
                       std::span<std::uint64_t const> ng_sets, Labels const *other, Direction direction, double limit,
                       LabellingLimits const &limits);
} // namespace learnroute
