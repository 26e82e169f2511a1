#include "visit_route.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace learnroute {
namespace {
constexpr auto tiny = 1e-100; // smaller weights are set to 0, because denormal numbers are slow
constexpr auto small = 1e-8;  // pairs with smaller shares in the model or weights of errors are left out

/// Return Σ weights[i]·row[regions[i]] for i from `begin` to `end` - 1.
double weigh_row(std::vector<double> const &weights, std::vector<Index> const &regions, double const *row,
                 std::size_t begin, std::size_t end) {
    std::array<double, 4> sums{};
    auto i = begin;
    for (; i + 4 <= end; i += 4)
        for (std::size_t k = 0; k < 4; ++k)
            sums[k] += weights[i + k] * row[regions[i + k]];
    for (; i < end; ++i)
        sums[0] += weights[i] * row[regions[i]];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void scale(std::vector<double> &weights, double factor, std::size_t begin, std::size_t end) {
    for (auto i = begin; i < end; ++i)
        weights[i] *= factor;
}
} // namespace

VisitRoute::VisitRoute(std::shared_ptr<Instance const> instance)
    : instance_(std::move(instance)), negligible_(small), sum_{instance_->total}, common_{0.0}, sum_weight_{1.0},
      common_weight_{instance_->count}, constant_{0.0} {
    for (auto const &update : instance_->updates)
        if (std::abs(update.retention) > 1.0 || std::abs(update.second) > 1.0)
            negligible_ = 0.0;
    assign({});
}

double VisitRoute::value() const {
    if (visits_.empty())
        return inf;
    return instance_->rate * travel_ + sum_.back() + instance_->count * common_.back();
}

/// Return the update of a visit one position later than its current one.
ErrorUpdate const &VisitRoute::later(std::size_t visit) const {
    return instance_->update(std::min(static_cast<Index>(visit) + 1, instance_->at_most - 1), visits_[visit]);
}

/// Whether the common part of the errors matters if `follow` visits follow.
bool VisitRoute::counts(std::size_t follow) const {
    return std::abs(common_weight_[follow]) > negligible_ * instance_->count;
}

/// Return the own part of the error in a region before the visit at a place.
double VisitRoute::own_at(Index region, std::size_t place) const {
    auto const *const seen = instance_->dissimilarities_to(region);
    auto found = 0.0;
    auto left = 1.0;
    for (auto visit = place; visit-- > 0;) {
        auto const &update = instance_->update(static_cast<Index>(visit), visits_[visit]);
        found += left * update.plasticity * seen[visits_[visit]];
        left *= update.retention;
        if (std::abs(left) <= negligible_)
            return found;
    }
    return found + left * instance_->initial[region];
}

/// Compute the own part of the error before each visit that matters. The first `kept` ones are known. The others are
/// known, too, if no changed visit has a share in the model before them. From the visit `same` on, visits are
/// unchanged.
void VisitRoute::find_own(std::size_t kept, std::size_t same) {
    auto const size = visits_.size();
    auto first = size;
    for (auto reaching = 1.0; first > 0 && std::abs(reaching) > negligible_;) {
        --first;
        reaching *= instance_->update(static_cast<Index>(first), visits_[first]).second;
    }
    auto const begin = known_ <= first ? std::max(kept, first) : first;
    auto const is_known = known_ == first;
    if (begin == first)
        known_ = first;
    std::fill(own_.begin() + static_cast<std::ptrdiff_t>(std::min(kept, begin)),
              own_.begin() + static_cast<std::ptrdiff_t>(begin), 0.0);
    shares_.resize(size);
    auto held = begin; // the first visit that has a share in the model
    auto left = 1.0;   // share of the initial model
    while (held > 0 && std::abs(left) > negligible_) {
        --held;
        auto const &update = instance_->update(static_cast<Index>(held), visits_[held]);
        shares_[held] = left * update.plasticity;
        left *= update.retention;
    }
    if (is_known && same <= held)
        return;
    for (auto visit = begin; visit < size; ++visit) {
        auto const region = visits_[visit];
        auto const &update = instance_->update(static_cast<Index>(visit), region);
        own_[visit] = left * instance_->initial[region] +
                      weigh_row(shares_, visits_, instance_->dissimilarities_to(region), held, visit);
        scale(shares_, update.retention, held, visit);
        shares_[visit] = update.plasticity;
        left *= update.retention;
        while (held < visit && std::abs(shares_[held]) <= negligible_)
            ++held;
    }
}

void VisitRoute::assign(std::span<Index const> visits) {
    auto const size = visits.size();
    auto const kept = static_cast<std::size_t>(std::ranges::mismatch(visits_, visits).in1 - visits_.begin());
    auto same = size; // first visit of the unchanged end
    if (visits_.size() == size)
        while (same > kept && visits_[same - 1] == visits[same - 1])
            --same;
    visits_.assign(visits.begin(), visits.end());
    is_weighed_ = false;
    for (auto *table : {&sum_, &common_, &own_, &legs_})
        table->resize(size + 1);
    auto changed = kept;
    if (instance_->coupled) {
        auto const before = known_;
        find_own(kept, same);
        changed = known_ < before ? std::min(kept, known_) : kept;
    }
    for (auto visit = changed; visit < size; ++visit) {
        auto const region = visits_[visit];
        auto const &update = instance_->update(static_cast<Index>(visit), region);
        sum_[visit + 1] = update.retention * sum_[visit] + update.plasticity * instance_->scores[region];
        common_[visit + 1] = update.second * common_[visit] + update.noise;
        if (instance_->coupled)
            common_[visit + 1] -= update.coupling * own_[visit];
    }
    auto const outside = instance_->outside();
    auto const round = instance_->cyclic && size > 0;
    stops_.resize(size + 2);
    stops_.front() = round ? visits_.back() : outside;
    std::ranges::copy(visits_, stops_.begin() + 1);
    stops_.back() = round ? visits_.front() : outside;
    auto const measure = [&](std::size_t place) { legs_[place] = instance_->travel(stops_[place], stops_[place + 1]); };
    measure(0); // the closing edge of a cycle
    for (auto place = kept; place <= same; ++place)
        measure(place);
    measure(size);
    travel_ = std::accumulate(legs_.begin(), legs_.end() - (instance_->cyclic ? 1 : 0), 0.0);
}

/// Compute H[k] behind each visit for which it matters. The last `kept` ones are known.
void VisitRoute::weigh_own(std::size_t kept) {
    auto const size = visits_.size();
    auto begin = size; // the first visit whose own error matters
    while (begin > 0 && counts(size - begin))
        --begin;
    shares_.resize(size);
    auto left = 1.0;
    for (auto visit = size - kept; visit < size; ++visit) {
        auto const &update = later(visit);
        shares_[visit] = left * update.coupling * common_weight_[size - 1 - visit];
        left *= update.retention;
    }
    auto const least = negligible_ * instance_->count;
    auto ends = false;
    for (auto follow = kept; follow < size; ++follow) {
        auto const visit = size - 1 - follow;
        auto const from = std::max(visit + 1, begin);
        auto const &update = later(visit);
        own_weight_[follow] =
            ends ? 0.0 : -weigh_row(shares_, visits_, instance_->dissimilarities_from(visits_[visit]), from, size);
        if (ends)
            continue;
        scale(shares_, update.retention, from, size);
        shares_[visit] = update.coupling * common_weight_[follow];
        ends = visit <= begin && std::all_of(shares_.begin() + static_cast<std::ptrdiff_t>(begin), shares_.end(),
                                             [&](double share) { return std::abs(share) <= least; });
    }
}

/// Compute G·a at each place.
void VisitRoute::sum_owned() {
    auto const size = visits_.size();
    std::ranges::fill(owned_, 0.0);
    if (instance_->steady) {
        for (std::size_t follow = 0; follow < size; ++follow) {
            auto const visit = size - 1 - follow;
            auto const &update = instance_->update(0, visits_[visit]);
            owned_[follow + 1] = owned_[follow] - update.plasticity * own_weight_[follow] -
                                 update.coupling * common_weight_[follow] * own_[visit];
        }
        return;
    }
    for (std::size_t follow = 0; follow < size && counts(follow); ++follow) {
        auto const visit = size - 1 - follow; // own part of the error in its region, at earlier places
        auto const region = visits_[visit];
        auto const *const seen = instance_->dissimilarities_to(region);
        auto place = visit;
        shares_[place] = later(visit).coupling * common_weight_[follow];
        for (; place > 0 && std::abs(shares_[place]) > negligible_ * instance_->count; --place)
            shares_[place - 1] = shares_[place] * later(place - 1).retention;
        for (auto own = own_at(region, place); place <= visit; ++place) {
            owned_[size - place] -= shares_[place] * own;
            auto const &update = instance_->update(static_cast<Index>(place), visits_[place]);
            own = update.retention * own + update.plasticity * seen[visits_[place]];
        }
    }
}

void VisitRoute::weigh() {
    if (is_weighed_)
        return;
    is_weighed_ = true;
    auto const old = weighed_.size();
    auto const size = visits_.size();
    std::size_t kept = 0; // number of unchanged visits at the end
    if (instance_->steady || old == size)
        while (kept < std::min(old, size) && weighed_[old - 1 - kept] == visits_[size - 1 - kept])
            ++kept;
    weighed_ = visits_;
    for (auto *table : {&sum_weight_, &common_weight_, &constant_, &own_weight_, &owned_, &summed_, &shared_, &prices_})
        table->resize(size + 1);
    auto const some = [](double product) { return std::abs(product) < tiny ? 0.0 : product; };
    for (auto follow = kept; follow < size; ++follow) {
        auto const &update = later(size - 1 - follow);
        sum_weight_[follow + 1] = some(update.retention * sum_weight_[follow]);
        common_weight_[follow + 1] = some(update.second * common_weight_[follow]);
    }
    if (instance_->coupled) {
        weigh_own(kept);
        sum_owned();
    }
    for (auto follow = kept; follow < size; ++follow) {
        auto const visit = size - 1 - follow;
        auto const &update = later(visit);
        constant_[follow + 1] = constant_[follow] +
                                sum_weight_[follow] * update.plasticity * instance_->scores[visits_[visit]] +
                                common_weight_[follow] * update.noise;
        if (instance_->coupled)
            constant_[follow + 1] += update.plasticity * own_weight_[follow];
    }
    for (std::size_t follow = 0; follow <= size; ++follow) {
        summed_[follow] = sum_weight_[follow] * sum_[size - follow];
        shared_[follow] = common_weight_[follow] * common_[size - follow];
    }
}

/// Compute the own part of the error in a region at each place, and H of the region behind it.
void VisitRoute::follow_region(Index region) {
    auto const size = visits_.size();
    region_own_.assign(size + 1, 0.0);
    region_weight_.assign(size + 1, 0.0);
    auto const *const seen = instance_->dissimilarities_to(region);
    auto const *const towards = instance_->dissimilarities_from(region);
    auto place = size;
    while (place > 0 && counts(size - place))
        --place;
    auto own = own_at(region, place);
    for (; place <= size; ++place) {
        region_own_[place] = own;
        if (place == size)
            break;
        auto const &update = instance_->update(static_cast<Index>(place), visits_[place]);
        own = update.retention * own + update.plasticity * seen[visits_[place]];
    }
    auto weight = 0.0;
    for (std::size_t follow = 0; follow < size; ++follow) {
        auto const visit = size - 1 - follow;
        auto const &update = later(visit);
        weight = update.retention * weight - update.coupling * common_weight_[follow] * towards[visits_[visit]];
        region_weight_[follow + 1] = weight;
        if (std::abs(weight) <= negligible_ * instance_->count && !counts(follow))
            break;
    }
}

std::span<double const> VisitRoute::insertion_values(Index region) {
    weigh();
    std::ranges::fill(prices_, inf);
    std::size_t const begin = instance_->first >= 0 ? 1 : 0;
    auto const end = prices_.size() - (instance_->last >= 0 ? 1 : 0);
    if (static_cast<Index>(visits_.size()) < instance_->at_most) {
        if (instance_->coupled)
            follow_region(region);
        instance_->coupled ? compute_values<true>(region, begin, end) : compute_values<false>(region, begin, end);
    }
    return prices_;
}

template <bool coupled> void VisitRoute::compute_values(Index region, std::size_t begin, std::size_t end) {
    auto const size = visits_.size();
    auto const *const to = instance_->travel_to(region);
    auto const *const from = instance_->travel_from(region);
    auto const score = instance_->scores[region];
    auto const spare = instance_->budget - travel_;
    auto const present = instance_->rate * travel_;
    auto update = instance_->update(0, region);
    for (auto place = begin; place < end; ++place) {
        auto const detour = to[stops_[place]] + from[stops_[place + 1]] - legs_[place];
        if (detour > spare)
            continue;
        if (!instance_->steady)
            update = instance_->update(static_cast<Index>(place), region);
        auto const follow = size - place;
        auto const weight = sum_weight_[follow];
        auto const common_weight = common_weight_[follow];
        auto error = constant_[follow] + update.retention * summed_[follow] + update.plasticity * score * weight +
                     update.second * shared_[follow] + update.noise * common_weight;
        if constexpr (coupled)
            error += update.retention * owned_[follow] + update.plasticity * region_weight_[follow] -
                     update.coupling * common_weight * region_own_[place];
        prices_[place] = present + instance_->rate * detour + error;
    }
}
} // namespace learnroute
