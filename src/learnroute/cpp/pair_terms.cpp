#include "pair_terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace learnroute {
namespace {
constexpr double tiny = 1e-14; // smaller shares in the model are left out
}

PairTerms::PairTerms(Layout layout, std::shared_ptr<ErrorUpdates const> terms, double most, double slowest,
                     double least_gain, double floor)
    : ScoreTerms(layout, most, slowest, least_gain, floor), terms_(std::move(terms)), summed_(terms_->regions),
      common_(terms_->regions) {
    for (auto *visits : {&visited_, &tried_}) {
        visits->regions.resize(terms_->regions);
        visits->retention.resize(terms_->regions);
        visits->plasticity.resize(terms_->regions);
    }
    summed_[0] = terms_->total;
}

Index PairTerms::visits(Tour const &tour) const {
    return (tour.size() - (layout_.has_ends ? 2 : 0)) / layout_.each();
}

Index PairTerms::visit_at(Index position) const {
    return std::max(0, (position - layout_.before()) / layout_.each());
}

template <bool keep> double PairTerms::error_of(Visits &now, Index first, Index count) {
    auto const begin = std::max(first, count - reach());
    for (auto t = first; t < count; ++t) {
        auto const &update = terms_->at(t, now.regions[t]);
        now.retention[t] = update.retention;
        now.plasticity[t] = update.plasticity;
    }
    auto summed = summed_[begin];
    auto common = common_[begin];
    for (auto t = begin; t < count; ++t) {
        auto const here = now.regions[t];
        auto const *const apart = terms_->dissimilarities.data() + static_cast<std::size_t>(here) * terms_->regions;
        auto seen = 0.0; // the model's error here, without `common`
        auto share = 1.0;
        auto s = t - 1;
        for (; s >= first && std::abs(share) > tiny; --s) {
            seen += share * now.plasticity[s] * apart[now.regions[s]];
            share *= now.retention[s];
        }
        for (; s >= 0 && std::abs(share) > tiny; --s) {
            seen += share * visited_.plasticity[s] * apart[visited_.regions[s]];
            share *= visited_.retention[s];
        }
        if (s < 0)
            seen += share * terms_->initial[here];
        if constexpr (keep) {
            summed_[t] = summed;
            common_[t] = common;
        }
        auto const &update = terms_->at(t, here);
        summed = update.retention * summed + update.plasticity * terms_->scores[here];
        common = update.second * common + update.coupling * seen;
        common -= update.noise;
    }
    return summed - terms_->count * common;
}

void PairTerms::update(Tour const &tour, Index first, Index) {
    auto const count = visits(tour);
    auto const from = visit_at(first);
    for (auto t = from; t < count; ++t)
        visited_.regions[t] = tour.at(layout_.before() + layout_.each() * t);
    error_ = error_of<true>(visited_, from, count);
}

double PairTerms::change(Tour const &tour, Move const &move) {
    auto const count = visits(tour);
    auto const first = visit_at(move.first);
    auto t = first;
    for (int i = 0; i + 1 < move.edges; ++i) {
        auto const &[begin, length, reversed] = move.segments[i];
        for (Index y = 0; y < length; ++y) {
            auto const vertex = tour.at(reversed ? begin + length - 1 - y : begin + y);
            if (vertex < layout_.regions)
                tried_.regions[t++] = vertex;
        }
    }
    std::copy(visited_.regions.begin() + t, visited_.regions.begin() + count, tried_.regions.begin() + t);
    return error_of<false>(tried_, first, count) - error_;
}

double PairTerms::value(Walk walk) {
    for (auto t = layout_.regions; t > 0;)
        if (auto const vertex = walk.next(); vertex < layout_.regions)
            tried_.regions[--t] = vertex;
    return error_of<false>(tried_, 0, layout_.regions);
}
} // namespace learnroute
