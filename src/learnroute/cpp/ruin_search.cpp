#include "ruin_search.h"

#include <algorithm>
#include <utility>

namespace learnroute {
namespace {
constexpr std::size_t neighbours = 10; // number of nearest regions that local moves consider
} // namespace

RuinSearch::RuinSearch(Index regions, MatrixView<std::int64_t> near, RuinParams params, std::uint64_t seed)
    : listed_(near.columns()), params_(params), rng_(seed), counts_(regions) {
    for (std::size_t row = 0; row < near.rows(); ++row)
        for (auto const region : near[row])
            near_.push_back(static_cast<Index>(region));
}

Index RuinSearch::draw_near(Index region) {
    auto const choice = rng_.coin() ? std::min(listed_, neighbours) : listed_; // farther ones lead to other clusters
    return near_[region * listed_ + rng_.below(choice)];
}

void RuinSearch::add_others(Instance const &instance, Index seed) {
    auto const added = rng_.below(params_.added + 1);
    for (Index i = 0; i < added; ++i) {
        auto const is_near = listed_ > 0 && rng_.coin();
        auto const region = is_near
                                ? near_[seed * listed_ + rng_.below(std::min<std::size_t>(listed_, 2 * params_.added))]
                                : rng_.below(instance.regions);
        auto const times = std::ranges::count(absent_, region);
        if (counts_[region] + times < instance.repeats[region])
            absent_.push_back(region);
    }
}

void RuinSearch::shuffle_absent(Instance const &instance, bool required_first) {
    for (auto left = absent_.size(); left > 1; --left)
        std::swap(absent_[left - 1], absent_[rng_.below(left)]);
    if (required_first)
        std::ranges::stable_partition(absent_, [&](Index region) { return instance.required[region] != 0; });
}

bool RuinSearch::has_required(Instance const &instance) const {
    for (Index region = 0; region < instance.regions; ++region)
        if (instance.required[region] != 0 && counts_[region] == 0)
            return false;
    return true;
}
} // namespace learnroute
