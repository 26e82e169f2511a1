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

/// A route from one end to a node, as far as its completion depends on it.
template <std::size_t Words> struct Label {
    double cost;
    Index parent; // the label that it was extended from, -1 for none
    Index region;
    RegionSet<Words> forbidden;
};

/// Labels by position (from the end that they start from), region and cost.
template <std::size_t Words> struct LabelStore {
    std::size_t regions = 0;
    std::vector<Label<Words>> labels;
    std::vector<std::size_t> start; // labels of step t and region v are start[t·T + v] to start[t·T + v + 1] - 1
};

/// How a labelling ended: with all labels, with more than allowed, or with the work that was allowed used up.
enum class LabellingOutcome { complete, full, late };

/// A route of labels, and its cost: inf, without a route, where none is left.
struct CheapestRoute {
    double cost;
    std::vector<Index> regions;
};

/// The labels of one direction.
class Labels {
public:
    // by the number of words of their forbidden sets: for up to 64, 128, 256, 1024 and 4096 regions
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

    /// Units of work that making them took.
    [[nodiscard]] std::int64_t work() const { return work_; }

    /// How many there are; 0 if incomplete.
    [[nodiscard]] std::size_t size() const;

    /// The cheapest route through all positions, in the direction of the labels.
    [[nodiscard]] CheapestRoute cheapest_route() const;
};

/// What a labelling may use up.
struct LabellingLimits {
    std::int64_t labels_in_layer; // before dominance
    std::int64_t labels_in_all;
    std::int64_t work; // units: one for an arc or a label that is looked at, more for one that is looked up
};

/// Labelling: the cheapest ng-routes through a layered network, by dynamic programming over labels.
///
/// An *ng-route* (Baldacci, Mingozzi and Roberti 2011) may return to a region unless that one is in its forbidden set.
/// Arriving at w, this keeps the regions in the ng-set of w at the position, and takes in w. Every order is an
/// ng-route, so the cheapest ng-route costs no more than the best order. With no ng-sets it is a q-route; with all
/// regions in all ng-sets, the ng-routes are the orders.
///
/// `ng_sets` has, for each position and region, the words of a set. Labels are dropped by *completion bounds* (Righini
/// and Salani 2006), the larger of two: what the cheapest q-route from the other end costs, and the cheapest label of
/// `other`, the opposite direction if there is one, at the same node whose forbidden set shares no other region. They
/// are dropped by *dominance*, too: where a cheaper label of the same node forbids less. If all labels are made, arcs
/// that none of them takes are fixed to 0.
Labels label_ng_routes(LayeredNetwork &network, std::span<double const> multipliers,
                       std::span<std::uint64_t const> ng_sets, Labels const *other, Direction direction, double limit,
                       LabellingLimits const &limits);
} // namespace learnroute
