#include "tour_scores.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace learnroute {
TourScores::TourScores(Bounds bounds) : bounds_(std::move(bounds)) {}

Index TourScores::counted_up_to(Index position) const {
    return std::min(position, bounds_.reach) + 1;
}

FallingScores::FallingScores(Bounds bounds, double heaviest, std::span<double const> scores,
                             std::span<double const> factors)
    : TourScores(std::move(bounds)), heaviest_(heaviest) {
    for (std::size_t i = 0; i < scores.size(); ++i)
        vertices_.push_back({scores[i], factors[i]});
}

double FallingScores::value(Walk walk, Index position) {
    auto total = 0.0;
    auto weight = heaviest_;
    for (auto left = counted_up_to(position); left > 0; --left) {
        auto const &vertex = vertices_[walk.next()];
        total += weight * vertex.score;
        weight *= vertex.factor;
    }
    return total;
}

PositionScores::PositionScores(Bounds bounds, std::vector<double> scores, std::vector<double> weights)
    : TourScores(std::move(bounds)), scores_(std::move(scores)), weights_(std::move(weights)) {}

double PositionScores::value(Walk walk, Index position) {
    auto total = 0.0;
    for (auto left = counted_up_to(position); left > 0; --left)
        total += weights_[position--] * scores_[walk.next()];
    return total;
}

PairScores::PairScores(Bounds bounds, std::vector<double> scores, Updates updates, double counted, Parts before)
    : TourScores(std::move(bounds)), scores_(std::move(scores)), updates_(updates), counted_(counted), before_(before),
      order_(updates.initial.size()), retention_(order_.size()), plasticity_(order_.size()) {}

double PairScores::value(Walk walk, Index) {
    auto constexpr negligible = 1e-14;
    auto const regions = static_cast<Index>(order_.size());
    auto t = regions;
    while (t > 0)
        if (auto const vertex = walk.next(); vertex < regions) {
            order_[--t] = vertex;
            retention_[t] = updates_.retention(t, vertex);
            plasticity_[t] = updates_.plasticity(t, vertex);
        }
    auto [summed, common] = before_;
    for (t = std::max(0, regions - bounds_.reach); t < regions; ++t) {
        auto const here = order_[t];
        auto const dissimilarity = updates_.dissimilarity[here];
        auto seen = 0.0; // the expected error here before training
        auto share = 1.0;
        auto s = t - 1;
        for (; s >= 0 && std::abs(share) > negligible; --s) {
            seen += share * plasticity_[s] * dissimilarity[order_[s]];
            share *= retention_[s];
        }
        if (s < 0)
            seen += share * updates_.initial[here];
        summed = retention_[t] * summed + plasticity_[t] * scores_[here];
        common = updates_.second(t, here) * common + updates_.coupling(t, here) * seen;
        common -= updates_.noise(t, here);
    }
    return summed - counted_ * common;
}
} // namespace learnroute
