#include "visit_route.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace learnroute {
namespace {
constexpr auto inf = std::numeric_limits<double>::infinity();
constexpr auto tiny = 1e-100; // weights below count for nothing, and would be slow to calculate with
} // namespace

VisitRoute::VisitRoute(std::shared_ptr<VisitProblem const> problem)
    : problem_(std::move(problem)), sum_{problem_->total}, common_{0.0}, own_(problem_->initial), sum_weight_{1.0},
      common_weight_{problem_->count}, constant_{0.0}, own_weight_(problem_->regions) {
    assign({});
}

double VisitRoute::value() const {
    if (visits_.empty())
        return inf;
    return problem_->rate * travel_ + sum_.back() + problem_->count * common_.back();
}

void VisitRoute::train(std::size_t visit) {
    auto const region = visits_[visit];
    auto const &update = problem_->update(static_cast<Index>(visit), region);
    sum_[visit + 1] = update.retention * sum_[visit] + update.plasticity * problem_->scores[region];
    common_[visit + 1] = update.second * common_[visit] + update.noise;
    if (!problem_->coupled)
        return;
    auto const regions = static_cast<std::size_t>(problem_->regions);
    auto const *const own = own_.data() + visit * regions;
    auto *const next = own_.data() + (visit + 1) * regions;
    auto const *const towards = problem_->towards_of(region);
    common_[visit + 1] -= update.coupling * own[region];
    for (std::size_t j = 0; j < regions; ++j)
        next[j] = update.retention * own[j] + update.plasticity * towards[j];
}

void VisitRoute::train_behind(std::size_t visit) {
    auto const follow = visits_.size() - 1 - visit;
    auto const region = visits_[visit];
    auto const later = std::min(static_cast<Index>(visit) + 1, problem_->at_most - 1);
    auto const &update = problem_->update(later, region);
    auto const weight = sum_weight_[follow];
    auto const common_weight = common_weight_[follow];
    auto const some = [](double product) { return std::abs(product) < tiny ? 0.0 : product; };
    sum_weight_[follow + 1] = some(update.retention * weight);
    common_weight_[follow + 1] = some(update.second * common_weight);
    constant_[follow + 1] =
        constant_[follow] + weight * update.plasticity * problem_->scores[region] + common_weight * update.noise;
    if (!problem_->coupled)
        return;
    auto const regions = static_cast<std::size_t>(problem_->regions);
    auto const *const own = own_weight_.data() + follow * regions;
    auto *const next = own_weight_.data() + (follow + 1) * regions;
    auto const *const seen = problem_->seen_from(region);
    auto const coupled = update.coupling * common_weight;
    constant_[follow + 1] += update.plasticity * own[region];
    for (std::size_t j = 0; j < regions; ++j)
        next[j] = update.retention * own[j] - coupled * seen[j];
    if (sum_weight_[follow + 1] == 0.0)
        std::fill_n(next, regions, 0.0);
}

void VisitRoute::weigh_own() {
    auto const size = visits_.size();
    auto const regions = static_cast<std::size_t>(problem_->regions);
    std::ranges::fill(owned_, 0.0);
    if (!problem_->coupled)
        return;
    for (std::size_t place = size; place-- > 0;) {
        auto const follow = size - 1 - place;
        if (problem_->steady) {
            auto const region = visits_[place];
            auto const &update = problem_->update(0, region);
            owned_[follow + 1] = owned_[follow] - update.plasticity * own_weight_[follow * regions + region] -
                                 update.coupling * common_weight_[follow] * own_[place * regions + region];
            continue;
        }
        auto const *const own = own_.data() + place * regions;
        auto weighed = 0.0;
        for (auto visit = size; visit-- > place;) {
            auto const later = std::min(static_cast<Index>(visit) + 1, problem_->at_most - 1);
            auto const &update = problem_->update(later, visits_[visit]);
            weighed =
                update.retention * weighed - update.coupling * common_weight_[size - 1 - visit] * own[visits_[visit]];
        }
        owned_[follow + 1] = weighed;
    }
}

void VisitRoute::assign(std::span<Index const> visits) {
    auto const old = visits_.size();
    auto const size = visits.size();
    auto const [one, other] = std::ranges::mismatch(visits_, visits);
    auto const kept = static_cast<std::size_t>(one - visits_.begin());
    std::size_t kept_behind = 0;
    if (problem_->steady || old == size)
        while (kept_behind < std::min(old, size) && visits_[old - 1 - kept_behind] == visits[size - 1 - kept_behind])
            ++kept_behind;
    visits_.assign(visits.begin(), visits.end());
    for (auto *table :
         {&sum_, &common_, &sum_weight_, &common_weight_, &constant_, &owned_, &summed_, &shared_, &legs_, &prices_})
        table->resize(size + 1);
    if (problem_->coupled)
        for (auto *table : {&own_, &own_weight_})
            table->resize((size + 1) * problem_->regions);
    for (auto visit = kept; visit < size; ++visit)
        train(visit);
    for (auto visit = size - kept_behind; visit-- > 0;)
        train_behind(visit);
    weigh_own();
    for (std::size_t follow = 0; follow <= size; ++follow) {
        summed_[follow] = sum_weight_[follow] * sum_[size - follow];
        shared_[follow] = common_weight_[follow] * common_[size - follow];
    }
    auto const outside = problem_->outside();
    auto const round = problem_->cyclic && size > 0;
    stops_.resize(size + 2);
    stops_.front() = round ? visits_.back() : outside;
    std::ranges::copy(visits_, stops_.begin() + 1);
    stops_.back() = round ? visits_.front() : outside;
    for (std::size_t place = 0; place <= size; ++place)
        legs_[place] = problem_->travel(stops_[place], stops_[place + 1]);
    travel_ = std::accumulate(legs_.begin(), legs_.end() - (problem_->cyclic ? 1 : 0), 0.0);
}

std::span<double const> VisitRoute::prices(Index region) {
    std::ranges::fill(prices_, inf);
    std::size_t const begin = problem_->first >= 0 ? 1 : 0;
    auto const end = prices_.size() - (problem_->last >= 0 ? 1 : 0);
    if (static_cast<Index>(visits_.size()) < problem_->at_most)
        problem_->coupled ? price<true>(region, begin, end) : price<false>(region, begin, end);
    return prices_;
}

template <bool coupled> void VisitRoute::price(Index region, std::size_t begin, std::size_t end) {
    auto const size = visits_.size();
    auto const regions = static_cast<std::size_t>(problem_->regions);
    auto const *const to = problem_->travel_to(region);
    auto const *const from = problem_->travel_from(region);
    auto const score = problem_->scores[region];
    auto const spare = problem_->budget - travel_;
    auto const present = problem_->rate * travel_;
    auto update = problem_->update(0, region);
    for (auto place = begin; place < end; ++place) {
        auto const detour = to[stops_[place]] + from[stops_[place + 1]] - legs_[place];
        if (detour > spare)
            continue;
        if (!problem_->steady)
            update = problem_->update(static_cast<Index>(place), region);
        auto const follow = size - place;
        auto const weight = sum_weight_[follow];
        auto const common_weight = common_weight_[follow];
        auto error = constant_[follow] + update.retention * summed_[follow] + update.plasticity * score * weight +
                     update.second * shared_[follow] + update.noise * common_weight;
        if constexpr (coupled)
            error += update.retention * owned_[follow] + update.plasticity * own_weight_[follow * regions + region] -
                     update.coupling * common_weight * own_[place * regions + region];
        prices_[place] = present + problem_->rate * detour + error;
    }
}
} // namespace learnroute
