#pragma once

#include <span>
#include <vector>

namespace learnroute {
/// How a subgradient ascent takes its steps.
struct AscentRule {
    double pace;       // share of the gap between bound and target that the first step aims at
    double momentum;   // share of the last direction that is kept in the next one
    int patience;      // steps without progress after which the pace falls and the best multipliers are restored
    double fall;       // what the pace is multiplied by then
    double slowest;    // pace at which the ascent ends
    double least_rise; // share of the gap by which a bound must rise to count as progress
};

/// A subgradient ascent for Lagrangian relaxations (Held, Wolfe and Crowder 1974).
///
/// The relaxation is solved at `multipliers()`; its bound and a subgradient there are given to `advance`, which takes
/// a step. A step aims at a share of the gap between the bound and a target (Polyak 1969), the pace; its direction
/// keeps a part of the last one, the momentum (Camerini, Fratta and Maffioli 1975).
class SubgradientAscent {
    std::vector<double> multipliers_;
    std::vector<double> best_;
    std::vector<double> direction_;
    AscentRule rule_;
    double target_;
    double bound_;
    double pace_;
    int stalled_ = 0; // steps since the bound rose

public:
    SubgradientAscent(std::span<double const> multipliers, double target, AscentRule const &rule);

    /// Where the relaxation is to be solved next.
    [[nodiscard]] std::span<double const> multipliers() const { return multipliers_; }

    /// The multipliers of the best bound so far.
    [[nodiscard]] std::span<double const> best() const { return best_; }

    /// The best bound so far.
    [[nodiscard]] double bound() const { return bound_; }

    /// Whether nothing is left to gain.
    [[nodiscard]] bool ended() const { return pace_ == 0; }

    [[nodiscard]] double target() const { return target_; }
    void set_target(double target) { target_ = target; }

    /// Let the next step aim at this share of the gap.
    void set_pace(double pace) { pace_ = pace; }

    /// Take whatever bound comes next for the best so far: -inf where the relaxation has become another one, inf where
    /// it is infeasible.
    void set_bound(double bound) { bound_ = bound; }

    /// Take a step from multipliers with this bound and subgradient; false where the ascent ends.
    bool advance(std::span<double const> subgradient, double bound);
};
} // namespace learnroute
