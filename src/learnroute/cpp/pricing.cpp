#include "pricing.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

namespace learnroute {
namespace {
/// Round to the nearest integer, halves to even, for numbers below 2^51 in size: adding 3·2^51 pushes the fraction out
/// of the significand, which then holds the integer. Compilers call a function for std::nearbyint, and do not
/// vectorise.
std::int64_t round_to_integer(double x) {
    constexpr auto shift = 0x1.8p52;
    return std::bit_cast<std::int64_t>(x + shift) - std::bit_cast<std::int64_t>(shift);
}
} // namespace

Pricing::Pricing(MinimumWeightMatching const &matching) {
    for (Index v = 0; v < matching.size(); ++v)
        duals_.push_back(matching.dual(v));
    for (Index node = 0; node < matching.node_count(); ++node)
        levels_.push_back({matching.parent(node)});
    std::vector<Index> way;
    for (Index start = 0; start < matching.node_count(); ++start) {
        auto b = start;
        for (; b >= 0 && levels_[b].depth < 0; b = levels_[b].parent) // go up to the first known node or to the top
            way.push_back(b);
        for (; !way.empty(); way.pop_back()) // go down again
        {
            auto &level = levels_[way.back()];
            level.depth = b >= 0 ? levels_[b].depth + 1 : 0;
            level.lifts = matching.lift(way.back()) + (b >= 0 ? levels_[b].lifts : 0);
            b = way.back();
        }
    }
}

/// Return the sum of the lifts of all blossoms that contain both vertices.
Pricing::Weight Pricing::common_lifts(std::size_t i, std::size_t j) const {
    auto a = levels_[i].parent;
    auto b = levels_[j].parent;
    while (a != b) {
        if (a < 0 || b < 0)
            return 0;
        auto &deeper = levels_[a].depth >= levels_[b].depth ? a : b;
        deeper = levels_[deeper].parent;
    }
    return a >= 0 ? levels_[a].lifts : 0;
}

/// `row_of(i)` returns lower bounds, up to rounding, on the weights of the pairs of vertex i with later vertices.
/// `weight_of(i, j)`, which may be slow, returns the weight itself.
template <typename RowOf, typename WeightOf>
std::vector<std::int64_t> Pricing::collect(RowOf row_of, WeightOf weight_of, std::size_t size, double scale,
                                           std::size_t first, std::size_t last, std::size_t most) const {
    constexpr Weight rounding = 4; // exceeds the rounding error of a reduced cost
    auto const reduced = [&](double weight, std::size_t i, std::size_t j) {
        return 2 * round_to_integer(weight * scale) - duals_[i] - duals_[j];
    };
    std::vector<std::int64_t> found;
    std::vector<Weight> slacks(size);
    std::vector<std::pair<Weight, std::size_t>> negative;
    for (auto i = first; i < std::min(last, size); ++i) {
        std::span<double const> const row = row_of(i);
        for (auto j = i + 1; j < size; ++j)
            slacks[j] = reduced(row[j], i, j);
        negative.clear();
        for (auto j = i + 1; j < size; ++j) {
            if (slacks[j] >= rounding)
                continue;
            auto slack = reduced(weight_of(i, j), i, j);
            if (slack < 0)
                slack += 2 * common_lifts(i, j);
            if (slack < 0)
                negative.emplace_back(slack, j);
        }
        auto const taken = negative.begin() + std::min(most, negative.size());
        std::partial_sort(negative.begin(), taken, negative.end());
        for (auto edge = negative.begin(); edge != taken; ++edge)
            found.insert(found.end(), {static_cast<std::int64_t>(i), static_cast<std::int64_t>(edge->second)});
    }
    return found;
}

std::vector<std::int64_t> Pricing::negative_pairs(MatrixView<double> weights, double scale, std::size_t first,
                                                  std::size_t last, std::size_t most) const {
    auto const row_of = [&](std::size_t i) { return weights[i]; };
    return collect(row_of, weights, weights.rows(), scale, first, last, most);
}

std::vector<std::int64_t> Pricing::negative_pairs(Places const &places, double scale, std::size_t first,
                                                  std::size_t last, std::size_t most) const {
    std::vector<double> chords(places.size());
    auto const row_of = [&](std::size_t i) {
        for (auto j = i + 1; j < chords.size(); ++j)
            chords[j] = places.unit * std::sqrt(places.square(i, j)); // no great circle is shorter
        return std::span<double const>{chords};
    };
    auto const length = [&](std::size_t i, std::size_t j) { return places.length(i, j); };
    return collect(row_of, length, places.size(), scale, first, last, most);
}
} // namespace learnroute
