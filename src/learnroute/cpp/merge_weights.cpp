#include "merge_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <utility>

namespace learnroute {
namespace {
constexpr auto settled = 1e-10;    // minimum gain of a sweep, relative to the value; otherwise it is the last one
constexpr auto negligible = 1e-13; // minimum gain of a larger face, relative to the terms of the value
} // namespace

double MergeWeights::value(std::span<double const> linear, MatrixView<double> quadratic,
                           std::span<double const> weights) {
    auto found = 0.0;
    for (std::size_t a = 0; a < linear.size(); ++a) {
        auto apart = 0.0;
        for (std::size_t b = 0; b < linear.size(); ++b)
            apart += quadratic(a, b) * weights[b];
        found += weights[a] * (linear[a] - 0.5 * apart);
    }
    return found;
}

void MergeWeights::descend(std::span<double const> linear, MatrixView<double> quadratic, std::span<double> weights,
                           int sweeps) {
    auto const size = linear.size();
    for (; sweeps > 0; --sweeps) {
        jump(linear, quadratic, weights);
        slopes_.assign(linear.begin(), linear.end());
        for (std::size_t a = 0; a < size; ++a)
            for (std::size_t b = 0; b < size; ++b)
                slopes_[a] -= quadratic(a, b) * weights[b];
        auto gained = 0.0;
        for (std::size_t a = 0; a < size; ++a)
            for (std::size_t b = 0; b < a; ++b) {
                if (weights[a] == 0.0 && weights[b] == 0.0)
                    continue;
                // a shift x of weight from b to a changes the value by (slope + Q[a, b]·x)·x
                auto const slope = slopes_[a] - slopes_[b];
                auto const curve = quadratic(a, b);
                auto const gain = [&](double x) { return -(slope + curve * x) * x; };
                auto shift = gain(weights[b]) > gain(-weights[a]) ? weights[b] : -weights[a];
                if (curve > 0.0) {
                    auto const middle = std::clamp(-0.5 * slope / curve, -weights[a], weights[b]);
                    shift = gain(middle) > gain(shift) ? middle : shift;
                }
                if (!(gain(shift) > 0.0))
                    continue;
                gained += gain(shift);
                auto const both = weights[a] + weights[b];
                weights[a] = shift == weights[b] ? both : std::max(0.0, weights[a] + shift);
                weights[b] = both - weights[a];
                for (std::size_t c = 0; c < size; ++c)
                    slopes_[c] -= (quadratic(a, c) - quadratic(b, c)) * shift;
            }
        if (!(gained > settled * std::abs(value(linear, quadratic, weights))))
            return;
    }
}

/// Move to the stationary point of the face that has the weights in its interior, if that is better.
void MergeWeights::jump(std::span<double const> linear, MatrixView<double> quadratic, std::span<double> weights) {
    support_.clear();
    for (std::size_t a = 0; a < weights.size(); ++a)
        if (weights[a] > 0.0)
            support_.push_back(static_cast<Index>(a));
    point_.resize(weights.size());
    if (support_.size() > 1 && solve(linear, quadratic) &&
        value(linear, quadratic, point_) < value(linear, quadratic, weights))
        std::ranges::copy(point_, weights.begin());
}

/// Find the stationary point on the face of `support_`. Return whether there is one with all weights > 0.
bool MergeWeights::solve(std::span<double const> linear, MatrixView<double> quadratic) {
    auto const size = support_.size();
    auto const width = size + 2;
    system_.assign((size + 1) * width, 0.0);
    auto const at = [&](std::size_t row, std::size_t column) -> double & { return system_[row * width + column]; };
    auto scale = 0.0;
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = 0; j < size; ++j)
            scale = std::max(scale, std::abs(quadratic(support_[i], support_[j])));
    if (scale == 0.0 && size > 1)
        return false;
    scale = scale == 0.0 ? 1.0 : scale;
    auto const [least, most] = std::ranges::minmax(support_, {}, [&](Index a) { return linear[a]; });
    auto const common = linear[least]; // would hide how little the models differ
    if (linear[most] - common > 2.0 * scale)
        return false; // no distance makes up for such a difference
    for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t j = 0; j < size; ++j)
            at(i, j) = quadratic(support_[i], support_[j]) / scale;
        at(i, size) = at(size, i) = 1.0;
        at(i, size + 1) = (linear[support_[i]] - common) / scale;
    }
    at(size, size + 1) = 1.0;
    for (std::size_t column = 0; column <= size; ++column) {
        auto pivot = column;
        for (auto row = column + 1; row <= size; ++row)
            if (std::abs(at(row, column)) > std::abs(at(pivot, column)))
                pivot = row;
        if (std::abs(at(pivot, column)) < 1e-12)
            return false;
        for (std::size_t k = 0; k < width; ++k)
            std::swap(at(pivot, k), at(column, k));
        for (std::size_t row = 0; row <= size; ++row) {
            if (row == column)
                continue;
            auto const factor = at(row, column) / at(column, column);
            for (auto k = column; k < width; ++k)
                at(row, k) -= factor * at(column, k);
        }
    }
    std::ranges::fill(point_, 0.0);
    for (std::size_t i = 0; i < size; ++i) {
        auto const weight = at(i, size + 1) / at(i, i);
        if (!(weight > 0.0))
            return false;
        point_[support_[i]] = weight;
    }
    return true;
}

std::vector<double> MergeWeights::best(std::span<double const> linear, MatrixView<double> quadratic) {
    auto const size = linear.size();
    point_.assign(size, 0.0);
    std::vector<double> found(size, 0.0);
    found[std::ranges::min_element(linear) - linear.begin()] = 1.0;
    if (size > few) {
        descend(linear, quadratic, found);
        return found;
    }
    auto least = value(linear, quadratic, found);
    // smaller faces first, so that as few models as possible have a positive weight
    std::vector<std::uint32_t> faces;
    for (std::uint32_t face = 1; face < 1U << size; ++face)
        if (std::popcount(face) > 1)
            faces.push_back(face);
    std::ranges::stable_sort(faces, {}, [](std::uint32_t face) { return std::popcount(face); });
    for (auto const face : faces) {
        support_.clear();
        for (std::size_t a = 0; a < size; ++a)
            if (face >> a & 1U)
                support_.push_back(static_cast<Index>(a));
        if (!solve(linear, quadratic))
            continue;
        auto const reached = value(linear, quadratic, point_);
        auto const terms = 2.0 * std::inner_product(linear.begin(), linear.end(), point_.begin(), 0.0) - reached;
        if (reached < least - negligible * terms) {
            least = reached;
            found = point_;
        }
    }
    return found;
}
} // namespace learnroute
