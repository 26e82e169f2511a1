#include "score_terms.h"

#include <cmath>
#include <utility>

namespace learnroute {
namespace {
constexpr double rounding = 1e-15; // changes below this share of a sum may be due to rounding

double largest(std::span<double const> values) {
    return *std::ranges::max_element(values);
}
} // namespace

ScoreTerms::ScoreTerms(Layout layout, double most, double slowest, double least_gain, double floor)
    : floor_(floor), layout_(layout) {
    auto const vertices = layout.vertices();
    if (layout.directed && slowest < 1)
        slowest = std::pow(slowest, 0.5); // two positions per region
    swing_ = most * (slowest < 1 ? std::min<double>(vertices, 1 / (1 - slowest)) : vertices);
    least_gain_ = std::max(least_gain, 1e-15 * swing_);
    double reach = vertices;
    if (slowest == 0)
        reach = 1.0;
    else if (slowest < 1)
        reach = std::log(0.1 * least_gain_ / swing_) / std::log(slowest) + 2;
    reach_ = static_cast<Index>(std::min<double>(vertices, std::max(1.0, std::ceil(reach))));
    powers_.resize(static_cast<std::size_t>(vertices) + 2);
    for (std::size_t k = 0; k < powers_.size(); ++k)
        powers_[k] = std::pow(slowest, static_cast<double>(k));
}

RunningSums::RunningSums(Layout layout, std::span<double const> scores, std::span<double const> factors,
                         double heaviest, double least_gain, double floor)
    : ScoreTerms(layout, heaviest * largest(scores), largest(factors), least_gain, floor), vertices_(layout.vertices()),
      forward_(layout.vertices() + 1), backward_(layout.vertices() + 1), heaviest_(heaviest) {
    for (std::size_t i = 0; i < scores.size(); ++i)
        vertices_[i] = {scores[i], factors[i]};
}

double RunningSums::value(Walk walk) {
    auto total = 0.0;
    auto weight = heaviest_;
    for (auto left = counted(); left > 0; --left) {
        auto const &vertex = vertices_[walk.next()];
        total += weight * vertex.score;
        weight *= vertex.factor;
    }
    return total;
}

std::vector<double> RunningSums::sums() const {
    auto found = forward_;
    found.insert(found.end(), backward_.begin(), backward_.end());
    return found;
}

template <typename Retention>
double RunningSums::change_with(Retention const &retention, Tour const &tour, Move const &move) {
    auto total = forward_[move.first];
    for (int i = 0; i + 1 < move.edges; ++i) {
        auto const low = move.segments[i].begin;
        auto const high = low + move.segments[i].length;
        auto const kept = retention(low, high);
        if (move.segments[i].reversed)
            total = kept * total + (backward_[low] - kept * backward_[high]);
        else
            total = kept * total + (forward_[high] - kept * forward_[low]);
    }
    auto const last = move.first + move.written;
    return heaviest_ * retention(last, behind(tour)) * (total - forward_[last]);
}

GeometricScores::GeometricScores(Layout layout, std::span<double const> scores, double rate, double heaviest,
                                 double least_gain, double floor)
    : RunningSums(layout, scores, std::vector<double>(scores.size(), rate), heaviest, least_gain, floor) {}

void GeometricScores::update(Tour const &tour, Index first, Index last) {
    // outside these positions, the change decreases by powers of the factor; sums beyond `start` and `end` are unused
    auto const old_forward = forward_[last];
    auto const old_backward = backward_[first];
    for (auto [k, m] = std::pair(first, last - 1); k < last;
         ++k, --m) { // interleaved, because each sum depends on the previous one
        auto const &next = vertices_[tour.at(k)];
        auto const &previous = vertices_[tour.at(m)];
        forward_[k + 1] = next.factor * forward_[k] + next.score;
        backward_[m] = previous.factor * backward_[m + 1] + previous.score;
    }
    auto const forward = forward_[last] - old_forward;
    for (Index k = 1; k <= std::min(tour.size() - last, reach()); ++k)
        forward_[last + k] += power(k) * forward;
    auto const backward = backward_[first] - old_backward;
    for (Index k = 1; k <= std::min(first, reach()); ++k)
        backward_[first - k] += power(k) * backward;
}

double GeometricScores::change(Tour const &tour, Move const &move) {
    return change_with([this](Index i, Index j) { return power(j - i); }, tour, move);
}

FactoredScores::FactoredScores(Layout layout, std::span<double const> scores, std::span<double const> factors,
                               double heaviest, double least_gain, double floor)
    : RunningSums(layout, scores, factors, heaviest, least_gain, floor), logs_(layout.vertices() + 1),
      zeros_(layout.vertices() + 1) {}

std::vector<double> FactoredScores::sums() const {
    auto found = RunningSums::sums();
    found.insert(found.end(), logs_.begin(), logs_.end());
    found.insert(found.end(), zeros_.begin(), zeros_.end());
    return found;
}

void FactoredScores::update(Tour const &tour, Index first, Index last) {
    for (auto k = first; k < tour.size(); ++k) // until the change is negligible
    {
        auto const &vertex = vertices_[tour.at(k)];
        auto const total = vertex.factor * forward_[k] + vertex.score;
        if (k >= last && std::abs(total - forward_[k + 1]) <= rounding * total)
            break;
        forward_[k + 1] = total;
    }
    for (auto k = last - 1; k >= 0; --k) {
        auto const &vertex = vertices_[tour.at(k)];
        auto const total = vertex.factor * backward_[k + 1] + vertex.score;
        if (k < first && std::abs(total - backward_[k]) <= rounding * total)
            break;
        backward_[k] = total;
    }
    for (auto k = first; k < last; ++k) {
        auto const factor = vertices_[tour.at(k)].factor;
        logs_[k + 1] = logs_[k] + (factor > 0.0 ? std::log(factor) : 0.0);
        zeros_[k + 1] = zeros_[k] + (factor > 0.0 ? 0.0 : 1.0);
    }
}

double FactoredScores::change(Tour const &tour, Move const &move) {
    auto const retention = [this](Index i, Index j) {
        return zeros_[j] > zeros_[i] ? 0.0 : std::exp(logs_[j] - logs_[i]);
    };
    return change_with(retention, tour, move);
}

GeneralScores::GeneralScores(Layout layout, std::span<double const> scores, std::span<double const> weights,
                             double least_gain, double floor)
    : ScoreTerms(layout, weights.back() * largest(scores), 1.0, least_gain, floor), scores_(layout.vertices()),
      weights_(layout.vertices()) {
    std::ranges::copy(scores, scores_.begin());
    for (std::size_t i = 0; i < weights.size(); ++i)
        weights_[layout.before() + layout.each() * i] = weights[i];
}

double GeneralScores::change(Tour const &tour, Move const &move) {
    auto change = 0.0;
    auto p = move.first;
    for (int i = 0; i + 1 < move.edges; ++i) {
        auto const &[begin, length, reversed] = move.segments[i];
        for (Index y = 0; y < length; ++y, ++p) {
            auto const vertex = tour.at(reversed ? begin + length - 1 - y : begin + y);
            change += weights_[p] * (scores_[vertex] - scores_[tour.at(p)]);
        }
    }
    return change;
}

double GeneralScores::value(Walk walk) {
    auto total = 0.0;
    auto position = last_position();
    for (auto left = counted(); left > 0; --left)
        total += weights_[position--] * scores_[walk.next()];
    return total;
}
} // namespace learnroute
