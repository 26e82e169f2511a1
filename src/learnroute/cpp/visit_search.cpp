#include "visit_search.h"

#include "recombination.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace learnroute {
namespace {
constexpr auto inf = std::numeric_limits<double>::infinity();
constexpr std::size_t neighbours = 10; // number of nearest regions that local moves consider
constexpr std::size_t rare = 20;       // one move in this many changes the beginning or end of the route
constexpr std::size_t seldom = 5;      // one move in this many recombines parts between long edges
constexpr std::size_t short_segment = 3;
constexpr std::size_t longest_segment = 50;
} // namespace

VisitSearch::VisitSearch(std::shared_ptr<VisitProblem const> problem, MatrixView<std::int64_t> near, RuinParams params,
                         std::uint64_t seed)
    : route_(std::move(problem)), listed_(near.columns()), params_(params), rng_(seed), value_(inf), best_value_(inf),
      counts_(route_.problem().regions), places_(route_.problem().regions) {
    for (std::size_t row = 0; row < near.rows(); ++row)
        for (auto const region : near[row])
            near_.push_back(static_cast<Index>(region));
    find_sway();
}

/// The effect of earlier visits decreases with each of the last ones (`learnroute.model.law`), and is bounded by the
/// range of the dissimilarities.
void VisitSearch::find_sway() {
    auto const &problem = route_.problem();
    auto retention = 0.0;
    auto second = 0.0;
    auto coupling = 0.0;
    auto quiet = inf;
    auto noisy = -inf;
    for (auto const &update : problem.updates) {
        retention = std::max(retention, std::abs(update.retention));
        second = std::max(second, std::abs(update.second));
        coupling = std::max(coupling, std::abs(update.coupling));
        quiet = std::min(quiet, update.noise);
        noisy = std::max(noisy, update.noise);
    }
    auto const [low, high] = std::ranges::minmax(problem.scores);
    auto farthest = 0.0;
    for (auto const *distances : {&problem.initial, &problem.towards})
        for (auto const distance : *distances)
            farthest = std::max(farthest, distance);
    auto sum = std::max(high, problem.total) - std::min(low, problem.total);
    auto common = problem.count * (coupling * farthest + noisy - quiet) / (1.0 - second);
    auto own = problem.count * coupling * farthest;
    auto paired = 0.0;
    sway_.push_back(inf);
    for (Index follow = 1; follow <= problem.at_most; ++follow) {
        paired = second * paired + own;
        sum *= retention;
        common *= second;
        own *= retention;
        sway_.push_back(retention < 1.0 && second < 1.0 ? sum + common + paired : inf);
    }
}

double VisitSearch::least_loss() const {
    auto const &problem = route_.problem();
    auto const size = current_.size();
    auto same = size; // first visit of the unchanged end
    while (same > 0 && current_[same - 1] == trial_[same - 1])
        --same;
    auto const sway = sway_[size - same];
    if (sway == inf || problem.cyclic)
        return -inf;
    auto longer = 0.0;
    for (auto place = static_cast<std::size_t>(std::ranges::mismatch(current_, trial_).in1 - current_.begin());
         place <= same; ++place) {
        auto const before = [&](auto const &visits) { return place > 0 ? visits[place - 1] : problem.outside(); };
        longer += problem.travel(before(trial_), trial_[place]) - problem.travel(before(current_), current_[place]);
    }
    return problem.rate * longer - sway;
}

void VisitSearch::start(std::span<Index const> visits) {
    current_.assign(visits.begin(), visits.end());
    route_.assign(current_);
    is_located_ = false;
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
    is_located_ = false;
    value_ = route_.value();
    auto const &required = route_.problem().required;
    auto complete = has_enough();
    for (std::size_t region = 0; region < required.size(); ++region)
        complete = complete && (required[region] == 0 || counts_[region] > 0);
    if (complete && value_ < best_value_) {
        best_ = current_;
        best_value_ = value_;
    }
    return found;
}

void VisitSearch::locate() {
    if (is_located_)
        return;
    is_located_ = true;
    auto const &problem = route_.problem();
    begin_ = problem.first >= 0 ? 1 : 0;
    end_ = static_cast<Index>(current_.size()) - (problem.last >= 0 ? 1 : 0);
    std::ranges::fill(places_, -1);
    for (auto place = begin_; place < end_; ++place)
        if (places_[current_[place]] < 0 || rng_.coin())
            places_[current_[place]] = place;
}

bool VisitSearch::rearrange() {
    if (end_ - begin_ < 2 || listed_ == 0)
        return false;
    auto const at = [&](Index place) { return trial_.begin() + place; };
    trial_ = current_;
    auto const here = begin_ + rng_.below(end_ - begin_);
    if (rng_.below(rare) == 0) { // reverse the beginning or the end, or rotate the route
        auto const turn = rng_.below(3);
        if (turn == 0)
            std::reverse(at(begin_), at(here + 1));
        else if (turn == 1)
            std::reverse(at(here), at(end_));
        else
            std::rotate(at(begin_), at(here), at(end_));
        return true;
    }
    if (rng_.below(seldom) == 0)
        return recombine();
    auto const choice = rng_.coin() ? std::min(listed_, neighbours) : listed_; // farther ones lead to other clusters
    auto const there = places_[near_[current_[here] * listed_ + rng_.below(choice)]];
    if (there < 0)
        return false;
    auto const turned = rng_.coin();
    auto const [one, two] = std::minmax(here, there);
    if (turned && rng_.coin()) // 2-opt: the two become neighbours
        std::reverse(at(one + 1), at(two + 1));
    else if (turned)
        std::reverse(at(one), at(two));
    else { // Or-opt: move a segment across the visits in between
        auto const length = 1 + rng_.below(rng_.coin() ? short_segment : longest_segment);
        if (here < there)
            std::rotate(at(here + 1), at(there), at(std::min(end_, there + length)));
        else
            std::rotate(at(std::max(begin_, there + 1 - length)), at(there + 1), at(here));
    }
    return true;
}

bool VisitSearch::recombine() {
    auto const &problem = route_.problem();
    lengths_.assign(1, 0.0);
    auto longest = 0.0;
    for (auto place = begin_ + 1; place < end_; ++place) {
        auto const way = problem.travel(current_[place - 1], current_[place]);
        lengths_.push_back(lengths_.back() + way);
        longest = std::max(longest, way);
    }
    auto const [from, middle, to] = draw_cuts(lengths_, longest, rng_);
    auto const at = [&](Index cut) { return trial_.begin() + begin_ + cut; };
    auto const turned = 1 + rng_.below(3);
    join(at(from), at(middle), at(to), turned, rng_.coin());
    if (rng_.coin())
        std::reverse(at(from), at(to));
    return trial_ != current_;
}

void VisitSearch::ruin() {
    auto const &problem = route_.problem();
    auto const begin = begin_;
    auto const end = end_;
    std::ranges::fill(counts_, 0);
    for (auto const region : current_)
        ++counts_[region];
    trial_ = current_;
    absent_.clear();
    auto const seed = begin < end ? current_[begin + rng_.below(end - begin)] : rng_.below(problem.regions);
    auto const remove = [&](Index region, Index longest) {
        auto const place = places_[region];
        if (place < 0 || trial_[place] < 0)
            return false;
        auto const length = 1 + rng_.below(longest);
        auto const from = std::max(begin, place - rng_.below(length));
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
        auto strings = static_cast<Index>(1 + rng_.uniform() * most);
        strings -= remove(seed, longest) ? 1 : 0;
        for (std::size_t i = 0; i < listed_ && strings > 0; ++i)
            strings -= remove(near_[seed * listed_ + i], longest) ? 1 : 0;
        std::erase(trial_, -1);
    }
    add_others(seed);
}

void VisitSearch::add_others(Index seed) {
    auto const &problem = route_.problem();
    auto const added = rng_.below(params_.added + 1);
    for (Index i = 0; i < added; ++i) {
        auto const is_near = listed_ > 0 && rng_.coin();
        auto const region = is_near
                                ? near_[seed * listed_ + rng_.below(std::min<std::size_t>(listed_, 2 * params_.added))]
                                : rng_.below(problem.regions);
        auto const times = std::count(absent_.begin(), absent_.end(), region);
        if (counts_[region] + times < problem.repeats[region])
            absent_.push_back(region);
    }
}

bool VisitSearch::recreate(double contrary) {
    auto const &problem = route_.problem();
    for (auto left = absent_.size(); left > 1; --left)
        std::swap(absent_[left - 1], absent_[rng_.below(left)]);
    if (problem.budget < inf || trial_.size() + absent_.size() > static_cast<std::size_t>(problem.at_most))
        std::ranges::stable_partition(absent_, [&](Index region) { return problem.required[region] != 0; });
    for (auto const region : absent_) {
        auto const required = problem.required[region] && counts_[region] == 0;
        auto const needed = required || static_cast<Index>(trial_.size()) < problem.at_least;
        auto least = inf;
        std::size_t best = 0;
        auto const prices = route_.insertion_values(region);
        for (std::size_t place = 0; place < prices.size(); ++place)
            if (prices[place] < least && rng_.uniform() >= params_.blink) {
                least = prices[place];
                best = place;
            }
        if (least == inf) {
            if (required)
                return false;
            continue;
        }
        auto const pays = least < route_.value();
        if (!needed && pays == (contrary > 0.0 && rng_.uniform() < contrary))
            continue;
        trial_.insert(trial_.begin() + static_cast<std::ptrdiff_t>(best), region);
        ++counts_[region];
        route_.assign(trial_);
    }
    return true;
}

void VisitSearch::try_change(double temperature) {
    locate();
    auto const rearranged = rng_.uniform() < params_.rearranged;
    auto const tolerance = temperature > 0.0 ? temperature * rng_.exponential() : 0.0;
    if (rearranged) {
        if (!rearrange())
            return;
        if (auto const loss = least_loss(); loss > tolerance) {
            worse_.push_back(loss);
            return;
        }
        route_.assign(trial_);
    } else {
        ruin();
        route_.assign(trial_);
        if (!recreate(params_.contrary) || !has_enough())
            return;
    }
    if (route_.travel() > route_.problem().budget)
        return;
    auto const value = route_.value();
    if (value > value_)
        worse_.push_back(value - value_);
    if (value >= value_ + tolerance)
        return;
    current_ = trial_;
    is_located_ = false;
    value_ = value;
    if (value < best_value_) {
        best_ = current_;
        best_value_ = value;
    }
}

void VisitSearch::run(std::int64_t iterations, double temperature) {
    worse_.clear();
    for (; iterations > 0; --iterations)
        try_change(temperature);
}
} // namespace learnroute
