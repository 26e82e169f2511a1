#include "held_karp.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace learnroute
{
namespace
{
constexpr auto inf = std::numeric_limits<double>::infinity();

template <typename T> std::vector<T> copy_of(std::span<T const> values)
{
    return {values.begin(), values.end()};
}
} // namespace

HeldKarp::HeldKarp(OrderCosts const &costs)
    : size_(costs.scores.size()), stride_(size_ + size_ % 2), travel_to_(size_ * stride_, inf),
      scores_(copy_of(costs.scores)), weights_(size_), last_costs_(copy_of(costs.last_costs)), open_(size_ * size_),
      first_(std::size_t{1} << size_), values_(size_ << (size_ - 1))
{
    for (std::size_t v = 0; v < size_; ++v)
        for (std::size_t u = 0; u < size_; ++u)
        {
            travel_to_[v * stride_ + u] = costs.travel(u, v);
            open_[v * size_ + u] = costs.positions(size_ - 1 - v, u);
        }
    std::reverse_copy(costs.weights.begin(), costs.weights.end(), weights_.begin());
    if (!costs.factors.empty())
    {
        products_.resize(first_.size());
        products_[0] = 1.0;
        for (std::size_t set = 1; set < products_.size(); ++set)
        {
            auto const highest = std::bit_floor(set);
            products_[set] = products_[set ^ highest] * costs.factors[std::countr_zero(highest)];
        }
    }
    for (std::size_t set = 1; set < first_.size(); ++set)
        first_[set] = first_[set - 1] + static_cast<std::size_t>(std::popcount(set - 1));
}

double HeldKarp::fill(std::size_t sets)
{
    auto const all = first_.size() - 1;
    auto const end = std::min(done_ + sets, all);
    std::vector<double> best(stride_);
    for (; done_ < end; ++done_)
        prolong(done_, best);
    return static_cast<double>(done_) / static_cast<double>(all);
}

void HeldKarp::prolong(std::size_t set, std::vector<double> &best)
{
    if (set == 0)
        std::ranges::copy(last_costs_, best.begin());
    else
        std::ranges::fill(best, inf);
    auto const *rest = &values_[first_[set]];
    for (auto members = set; members != 0; members &= members - 1, ++rest)
    {
        auto const *ways = &travel_to_[static_cast<std::size_t>(std::countr_zero(members)) * stride_];
        auto const onward = *rest;
        for (std::size_t here = 0; here < stride_; ++here)
            best[here] = std::min(best[here], ways[here] + onward);
    }
    auto const following = static_cast<std::size_t>(std::popcount(set));
    auto const weight = set == 0 ? 0.0 : products_.empty() ? weights_[following] : products_[set];
    auto const *open = &open_[following * size_];
    for (auto others = ~set & (first_.size() - 1); others != 0; others &= others - 1)
    {
        auto const here = static_cast<std::size_t>(std::countr_zero(others));
        auto const bit = std::size_t{1} << here;
        auto const before = static_cast<std::size_t>(std::popcount(set & (bit - 1)));
        values_[first_[set | bit] + before] = open[here] ? best[here] + weight * scores_[here] : inf;
    }
}

std::vector<Index> HeldKarp::order(std::span<double const> begin) const
{
    std::vector<Index> found;
    auto left = first_.size() - 1;
    auto costs = begin; // of going to each region
    std::vector<double> onward(size_);
    while (left != 0)
    {
        auto const *rest = &values_[first_[left]];
        auto least = inf;
        auto best = std::countr_zero(left);
        for (auto members = left; members != 0; members &= members - 1, ++rest)
        {
            auto const v = std::countr_zero(members);
            if (auto const cost = costs[v] + *rest; cost < least)
            {
                least = cost;
                best = v;
            }
        }
        found.push_back(best);
        left &= ~(std::size_t{1} << best);
        for (std::size_t v = 0; v < size_; ++v)
            onward[v] = travel_to_[v * stride_ + best];
        costs = onward;
    }
    return found;
}
} // namespace learnroute
