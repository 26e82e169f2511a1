#include "held_karp.h"

#include <algorithm>
#include <array>
#include <bit>

namespace learnroute {
namespace {
constexpr std::size_t block = 4;     // number of regions whose minima are in registers at the same time
constexpr std::size_t low_bits = 10; // number of low bits of a set, which have a separate table of counts

template <typename T> std::vector<T> copy_of(std::span<T const> values) {
    return {values.begin(), values.end()};
}

/// Return the product of factors of each set of regions; empty if there are no factors.
std::vector<double> products_of(std::span<double const> factors) {
    if (factors.empty())
        return {};
    std::vector<double> products(std::size_t{1} << factors.size(), 1.0);
    for (std::size_t set = 1; set < products.size(); ++set) {
        auto const highest = std::bit_floor(set);
        products[set] = products[set ^ highest] * factors[std::countr_zero(highest)];
    }
    return products;
}
} // namespace

HeldKarp::HeldKarp(OrderCosts const &costs)
    : size_(costs.scores.size()), travel_to_(size_ * size_), scores_(copy_of(costs.scores)), weights_(size_),
      products_(products_of(costs.factors)), noise_(copy_of(costs.noise)),
      noise_products_(products_of(costs.noise_factors)), last_costs_(copy_of(costs.last_costs)), open_(size_ * size_),
      high_((all() >> low_bits) + 1), low_(std::size_t{1} << low_bits),
      values_(std::make_unique_for_overwrite<double[]>(size_ << (size_ - 1))) {
    for (std::size_t v = 0; v < size_; ++v)
        for (std::size_t u = 0; u < size_; ++u) {
            travel_to_[v * size_ + u] = costs.travel(u, v);
            open_[v * size_ + u] = costs.positions(size_ - 1 - v, u);
        }
    std::ranges::reverse_copy(costs.weights, weights_.begin());
    for (std::size_t set = 1; set < low_.size(); ++set)
        low_[set] = low_[set - 1] + static_cast<std::size_t>(std::popcount(set - 1));
    for (std::size_t set = 0; set < high_.size(); ++set) {
        high_[set].regions = static_cast<std::size_t>(std::popcount(set));
        if (set > 0) // below are all sets with the previous high bits
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
    std::array<double const *, 64> ways;        // travel to each region of the set
    std::array<std::size_t, 64 + block> others; // regions that are not in the set, padded with the first one
    std::array<double, 64 + block> best;        // for each of those, the lowest cost from there to the end
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
        if (set != 0 && !noise_.empty())
            best[k] += noise_products_[set] * noise_[here];
        auto const place =
            first(set | std::size_t{1} << here) + here - k; // the set has here - k regions with smaller numbers
        values_[place] = open[here] != 0 ? best[k] + weight * scores_[here] : inf;
    }
}

std::size_t HeldKarp::best_set(std::span<double const> begin, std::size_t required, int at_least, int at_most,
                               double total) const {
    auto least = inf;
    std::size_t best = 0;
    for (std::size_t set = 1; set <= all(); ++set) {
        if ((set & required) != required || std::popcount(set) < at_least || std::popcount(set) > at_most)
            continue;
        auto const *rest = &values_[first(set)];
        auto const untrained = products_[set] * total;
        for (auto members = set; members != 0; members &= members - 1, ++rest)
            if (auto const cost = begin[std::countr_zero(members)] + *rest + untrained; cost < least) {
                least = cost;
                best = set;
            }
    }
    return best;
}

std::vector<Index> HeldKarp::order(std::span<double const> begin, std::size_t left) const {
    std::vector<Index> found;
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
