#include "visit_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace learnroute {
namespace {
constexpr auto inf = std::numeric_limits<double>::infinity();
}

VisitSearch::VisitSearch(std::shared_ptr<VisitProblem const> problem, MatrixView<std::int64_t> near, RuinParams params,
                         std::uint64_t seed)
    : route_(std::move(problem)), listed_(near.columns()), params_(params), random_(seed), value_(inf),
      best_value_(inf), counts_(route_.problem().regions), places_(route_.problem().regions) {
    for (std::size_t row = 0; row < near.rows(); ++row)
        for (auto const region : near[row])
            near_.push_back(static_cast<Index>(region));
}

double VisitSearch::exponential() {
    return -std::log(1.0 - uniform());
}

void VisitSearch::start(std::span<Index const> visits) {
    current_.assign(visits.begin(), visits.end());
    route_.assign(current_);
    value_ = best_value_ = inf;
    best_.clear();
}

bool VisitSearch::insert(std::span<Index const> regions) {
    trial_ = current_;
    std::ranges::fill(counts_, 0);
    for (auto const region : trial_)
        ++counts_[region];
    route_.assign(trial_);
    absent_.assign(regions.begin(), regions.end());
    auto const found = recreate(0.0);
    current_ = trial_;
    value_ = route_.value();
    if (found && value_ < best_value_) {
        best_ = current_;
        best_value_ = value_;
    }
    return found;
}

void VisitSearch::ruin() {
    auto const &problem = route_.problem();
    auto const size = static_cast<Index>(current_.size());
    Index const begin = problem.first >= 0 ? 1 : 0;
    Index const end = size - (problem.last >= 0 ? 1 : 0);
    std::ranges::fill(places_, -1);
    std::ranges::fill(counts_, 0);
    for (Index place = 0; place < size; ++place) {
        ++counts_[current_[place]];
        if (place >= begin && place < end && (places_[current_[place]] < 0 || (random_() >> 63) != 0))
            places_[current_[place]] = place;
    }
    trial_ = current_;
    absent_.clear();
    auto const seed = begin < end ? current_[begin + below(end - begin)] : below(problem.regions);
    auto const remove = [&](Index region, Index longest) {
        auto const place = places_[region];
        if (place < 0 || trial_[place] < 0)
            return false;
        auto const length = 1 + below(longest);
        auto const from = std::max(begin, place - below(length));
        for (auto at = from; at < std::min(end, from + length); ++at)
            if (trial_[at] >= 0) {
                absent_.push_back(trial_[at]);
                --counts_[trial_[at]];
                trial_[at] = -1;
            }
        return true;
    };
    if (begin < end) {
        auto const longest = std::min(params_.string, end - begin);
        auto const most = std::max(1.0, 4 * params_.removed / (1 + longest) - 1);
        auto strings = static_cast<Index>(1 + uniform() * most);
        strings -= remove(seed, longest) ? 1 : 0;
        for (std::size_t i = 0; i < listed_ && strings > 0; ++i)
            strings -= remove(near_[seed * listed_ + i], longest) ? 1 : 0;
        std::erase(trial_, -1);
    }
    add_others(seed);
}

void VisitSearch::add_others(Index seed) {
    auto const &problem = route_.problem();
    auto const added = below(params_.added + 1);
    for (Index i = 0; i < added; ++i) {
        auto const is_near = listed_ > 0 && (random_() >> 63) != 0;
        auto const region = is_near ? near_[seed * listed_ + below(std::min<std::size_t>(listed_, 2 * params_.added))]
                                    : below(problem.regions);
        auto const times = std::count(absent_.begin(), absent_.end(), region);
        if (counts_[region] + times < problem.repeat)
            absent_.push_back(region);
    }
}

bool VisitSearch::recreate(double contrary) {
    auto const &problem = route_.problem();
    for (auto left = absent_.size(); left > 1; --left)
        std::swap(absent_[left - 1], absent_[below(left)]);
    if (problem.budget < inf)
        std::ranges::stable_partition(absent_, [&](Index region) { return problem.required[region] != 0; });
    for (auto const region : absent_) {
        auto const required = problem.required[region] && counts_[region] == 0;
        auto const needed = required || static_cast<Index>(trial_.size()) < problem.at_least;
        auto least = inf;
        std::size_t best = 0;
        auto const prices = route_.prices(region);
        for (std::size_t place = 0; place < prices.size(); ++place)
            if (prices[place] < least && uniform() >= params_.blink) {
                least = prices[place];
                best = place;
            }
        if (least == inf) {
            if (required)
                return false;
            continue;
        }
        auto const pays = least < route_.value();
        if (!needed && pays == (contrary > 0.0 && uniform() < contrary))
            continue;
        trial_.insert(trial_.begin() + static_cast<std::ptrdiff_t>(best), region);
        ++counts_[region];
        route_.assign(trial_);
    }
    return static_cast<Index>(trial_.size()) >= problem.at_least;
}

void VisitSearch::look(double temperature) {
    ruin();
    route_.assign(trial_);
    if (!recreate(params_.contrary) || route_.travel() > route_.problem().budget)
        return;
    auto const value = route_.value();
    if (value > value_)
        worse_.push_back(value - value_);
    if (value >= value_ + (temperature > 0.0 ? temperature * exponential() : 0.0))
        return;
    current_ = trial_;
    value_ = value;
    if (value < best_value_) {
        best_ = current_;
        best_value_ = value;
    }
}

void VisitSearch::run(std::int64_t iterations, double temperature) {
    worse_.clear();
    for (; iterations > 0; --iterations)
        look(temperature);
}

double VisitSearch::typical_loss() const {
    if (worse_.empty())
        return 0.0;
    auto sorted = worse_;
    auto const middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::ranges::nth_element(sorted, middle);
    return *middle;
}
} // namespace learnroute
