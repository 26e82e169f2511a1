#pragma once

#include <span>
#include <vector>

namespace learnroute {
/// Step size rule of a subgradient ascent.
struct AscentRule {
    double pace;       // share of the gap between bound and target that the first step aims at
    double momentum;   // share of the last direction that is kept in the next one
    int patience;      // steps without progress after which the pace decreases and the best multipliers are restored
    double fall;       // factor by which the pace is then multiplied
    double slowest;    // pace at which the ascent ends
    double least_rise; // share of the gap by which a bound must rise to count as progress
};

/// A subgradient ascent for Lagrangian relaxations (Held, Wolfe and Crowder 1974).
///
/// The caller solves the relaxation at `multipliers()` and passes its bound and a subgradient to `advance`, which takes
/// a step. A step aims at a share (the pace) of the gap between the bound and a target (Polyak 1969). Its direction
/// includes a share (the momentum) of the previous one (Camerini, Fratta and Maffioli 1975).
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

    /// The multipliers at which the relaxation is to be solved next.
    [[nodiscard]] std::span<double const> multipliers() const { return multipliers_; }

    /// The multipliers of the best bound so far.
    [[nodiscard]] std::span<double const> best() const { return best_; }

    /// The best bound so far.
    [[nodiscard]] double bound() const { return bound_; }

    /// Whether the ascent has ended.
    [[nodiscard]] bool ended() const { return pace_ == 0; }

    [[nodiscard]] double target() const { return target_; }
    void set_target(double target) { target_ = target; }

    /// Set the share of the gap that the next step aims at.
    void set_pace(double pace) { pace_ = pace; }

    /// Overwrite the best bound so far: with -inf if the relaxation has changed, so that any next bound is the best
    /// one, or with inf if the relaxation is infeasible.
    void set_bound(double bound) { bound_ = bound; }

    /// Take a step from multipliers with this bound and subgradient. Return false if the ascent has ended: at the
    /// target or an optimum, at the slowest pace, or if the step is 0 or not finite.
    bool advance(std::span<double const> subgradient, double bound);
};
} // namespace learnroute
