#include "held_karp.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace learnroute {
namespace {
constexpr auto inf = std::numeric_limits<double>::infinity();
constexpr std::size_t block = 4;     // regions whose minima are in registers at the same time
constexpr std::size_t low_bits = 10; // of sets, whose counts are kept apart from those of the others

template <typename T> std::vector<T> copy_of(std::span<T const> values) {
    return {values.begin(), values.end()};
}
} // namespace

HeldKarp::HeldKarp(OrderCosts const &costs)
    : size_(costs.scores.size()), travel_to_(size_ * size_), scores_(copy_of(costs.scores)), weights_(size_),
      last_costs_(copy_of(costs.last_costs)), open_(size_ * size_), high_((all() >> low_bits) + 1),
      low_(std::size_t{1} << low_bits), values_(std::make_unique_for_overwrite<double[]>(size_ << (size_ - 1))) {
    for (std::size_t v = 0; v < size_; ++v)
        for (std::size_t u = 0; u < size_; ++u) {
            travel_to_[v * size_ + u] = costs.travel(u, v);
            open_[v * size_ + u] = costs.positions(size_ - 1 - v, u);
        }
    std::ranges::reverse_copy(costs.weights, weights_.begin());
    if (!costs.factors.empty()) {
        products_.resize(all() + 1);
        products_[0] = 1.0;
        for (std::size_t set = 1; set < products_.size(); ++set) {
            auto const highest = std::bit_floor(set);
            products_[set] = products_[set ^ highest] * costs.factors[std::countr_zero(highest)];
        }
    }
    for (std::size_t set = 1; set < low_.size(); ++set)
        low_[set] = low_[set - 1] + static_cast<std::size_t>(std::popcount(set - 1));
    for (std::size_t set = 0; set < high_.size(); ++set) {
        high_[set].regions = static_cast<std::size_t>(std::popcount(set));
        if (set > 0) // below are all sets of low bits, with the high bits before
            high_[set].below = high_[set - 1].below + high_[set - 1].regions * low_.size() + low_.back() + low_bits;
    }
}

std::size_t HeldKarp::first(std::size_t set) const {
    auto const [regions, below] = high_[set >> low_bits];
    auto const low = set & (low_.size() - 1);
    return below + regions * low + low_[low];
}

double HeldKarp::fill(std::size_t sets) {
    auto const end = std::min(done_ + sets, all());
    for (; done_ < end; ++done_)
        prolong(done_);
    return static_cast<double>(done_) / static_cast<double>(all());
}

void HeldKarp::prolong(std::size_t set) {
    std::array<double const *, 64> ways;        // to each region of the set
    std::array<std::size_t, 64 + block> others; // regions that are not in it, filled up with the first one
    std::array<double, 64 + block> best;        // of each of those, the least cost of going on from there
    std::size_t following = 0;
    std::size_t many = 0;
    for (auto left = set; left != 0; left &= left - 1)
        ways[following++] = &travel_to_[static_cast<std::size_t>(std::countr_zero(left)) * size_];
    for (auto left = ~set & all(); left != 0; left &= left - 1)
        others[many++] = static_cast<std::size_t>(std::countr_zero(left));
    std::fill_n(others.begin() + static_cast<std::ptrdiff_t>(many), block, others[0]);
    auto const *rest = &values_[first(set)];
    for (std::size_t k = 0; k < many; k += block) {
        std::array<double, block> least; // in registers
        for (std::size_t x = 0; x < block; ++x)
            least[x] = following == 0 ? last_costs_[others[k + x]] : inf;
        for (std::size_t y = 0; y < following; ++y)
            for (std::size_t x = 0; x < block; ++x)
                least[x] = std::min(least[x], ways[y][others[k + x]] + rest[y]);
        std::ranges::copy(least, best.begin() + static_cast<std::ptrdiff_t>(k));
    }
    auto const weight = set == 0 ? 0.0 : products_.empty() ? weights_[following] : products_[set];
    auto const *open = &open_[following * size_];
    for (std::size_t k = 0; k < many; ++k) {
        auto const here = others[k];
        auto const place = first(set | std::size_t{1} << here) + here - k; // here - k regions of the set are before it
        values_[place] = open[here] != 0 ? best[k] + weight * scores_[here] : inf;
    }
}

std::vector<Index> HeldKarp::order(std::span<double const> begin) const {
    std::vector<Index> found;
    auto left = all();
    auto costs = begin; // of going to each region
    std::vector<double> onward(size_);
    while (left != 0) {
        auto const *rest = &values_[first(left)];
        auto least = inf;
        auto best = std::countr_zero(left);
        for (auto members = left; members != 0; members &= members - 1, ++rest) {
            auto const v = std::countr_zero(members);
            if (auto const cost = costs[v] + *rest; cost < least) {
                least = cost;
                best = v;
            }
        }
        found.push_back(best);
        left &= ~(std::size_t{1} << best);
        for (std::size_t v = 0; v < size_; ++v)
            onward[v] = travel_to_[v * size_ + best];
        costs = onward;
    }
    return found;
}
} // namespace learnroute
