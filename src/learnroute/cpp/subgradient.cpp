#include "subgradient.h"

#include "matrix_view.h"

#include <cmath>
#include <cstddef>

namespace learnroute {
SubgradientAscent::SubgradientAscent(std::span<double const> multipliers, double target, AscentRule const &rule)
    : multipliers_(multipliers.begin(), multipliers.end()), best_(multipliers_), direction_(multipliers_.size(), 0.0),
      rule_(rule), target_(target), bound_(-inf), pace_(rule.pace) {}

bool SubgradientAscent::advance(std::span<double const> subgradient, double bound) {
    auto const progress = bound > bound_ + rule_.least_rise * std::abs(target_ - bound_);
    stalled_ = progress ? 0 : stalled_ + 1;
    if (bound > bound_) {
        bound_ = bound;
        best_ = multipliers_;
    }
    if (bound >= target_) {
        pace_ = 0.0;
        return false;
    }
    if (stalled_ >= rule_.patience) {
        stalled_ = 0;
        pace_ *= rule_.fall;
        multipliers_ = best_;
    }
    auto square = 0.0;
    auto optimal = true; // a subgradient of 0
    for (std::size_t v = 0; v < multipliers_.size(); ++v) {
        optimal = optimal && subgradient[v] == 0.0;
        direction_[v] = subgradient[v] + rule_.momentum * direction_[v];
        square += direction_[v] * direction_[v];
    }
    auto const step = pace_ * (target_ - bound) / square;
    if (optimal || pace_ < rule_.slowest || !(step > 0.0 && step < inf)) {
        pace_ = 0.0;
        return false;
    }
    for (std::size_t v = 0; v < multipliers_.size(); ++v)
        multipliers_[v] += step * direction_[v];
    return true;
}
} // namespace learnroute
