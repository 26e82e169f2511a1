#include "visit_search.h"

#include "route_moves.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace learnroute {
VisitSearch::VisitSearch(std::shared_ptr<Instance const> instance, MatrixView<std::int64_t> near, RuinParams params,
                         std::uint64_t seed)
    : RuinSearch(instance->regions, near, params, seed), route_(std::move(instance)),
      places_(route_.instance().regions) {
    find_sway();
}

/// The effect of earlier visits decreases with each of the last ones (`learnroute.model.law`), and is bounded by the
/// range of the dissimilarities.
void VisitSearch::find_sway() {
    auto const &instance = route_.instance();
    auto retention = 0.0;
    auto second = 0.0;
    auto coupling = 0.0;
    auto quiet = inf;
    auto noisy = -inf;
    for (auto const &update : instance.updates) {
        retention = std::max(retention, std::abs(update.retention));
        second = std::max(second, std::abs(update.second));
        coupling = std::max(coupling, std::abs(update.coupling));
        quiet = std::min(quiet, update.noise);
        noisy = std::max(noisy, update.noise);
    }
    auto const [low, high] = std::ranges::minmax(instance.scores);
    auto farthest = 0.0;
    for (auto const *distances : {&instance.initial, &instance.towards})
        for (auto const distance : *distances)
            farthest = std::max(farthest, distance);
    auto sum = std::max(high, instance.total) - std::min(low, instance.total);
    auto common = instance.count * (coupling * farthest + noisy - quiet) / (1.0 - second);
    auto own = instance.count * coupling * farthest;
    auto paired = 0.0;
    sway_.push_back(inf);
    for (Index follow = 1; follow <= instance.at_most; ++follow) {
        paired = second * paired + own;
        sum *= retention;
        common *= second;
        own *= retention;
        sway_.push_back(retention < 1.0 && second < 1.0 ? sum + common + paired : inf);
    }
}

double VisitSearch::least_loss() const {
    auto const &instance = route_.instance();
    auto const size = current_.size();
    auto same = size; // first visit of the unchanged end
    while (same > 0 && current_[same - 1] == trial_[same - 1])
        --same;
    auto const sway = sway_[size - same];
    if (sway == inf || instance.cyclic)
        return -inf;
    auto longer = 0.0;
    for (auto place = static_cast<std::size_t>(std::ranges::mismatch(current_, trial_).in1 - current_.begin());
         place <= same; ++place) {
        auto const before = [&](auto const &visits) { return place > 0 ? visits[place - 1] : instance.outside(); };
        longer += instance.travel(before(trial_), trial_[place]) - instance.travel(before(current_), current_[place]);
    }
    return instance.rate * longer - sway;
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
    if (has_enough() && has_required(route_.instance()) && value_ < best_value_) {
        best_ = current_;
        best_value_ = value_;
    }
    return found;
}

void VisitSearch::locate() {
    if (is_located_)
        return;
    is_located_ = true;
    auto const &instance = route_.instance();
    begin_ = instance.first >= 0 ? 1 : 0;
    end_ = static_cast<Index>(current_.size()) - (instance.last >= 0 ? 1 : 0);
    std::ranges::fill(places_, -1);
    for (auto place = begin_; place < end_; ++place)
        if (places_[current_[place]] < 0 || rng_.coin())
            places_[current_[place]] = place;
}

bool VisitSearch::rearrange() {
    if (end_ - begin_ < 2 || !has_neighbours())
        return false;
    trial_ = current_;
    auto const here = begin_ + rng_.below(end_ - begin_);
    if (rng_.below(rare) == 0) {
        turn_at(trial_, begin_, end_, here, rng_);
        return true;
    }
    if (rng_.below(seldom) == 0)
        return recombine();
    auto const there = places_[draw_near(current_[here])];
    if (there < 0)
        return false;
    move_between(trial_, begin_, end_, here, there, rng_);
    return true;
}

bool VisitSearch::recombine() {
    auto const &instance = route_.instance();
    lengths_.assign(1, 0.0);
    auto longest = 0.0;
    for (auto place = begin_ + 1; place < end_; ++place) {
        auto const way = instance.travel(current_[place - 1], current_[place]);
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
    auto const &instance = route_.instance();
    auto const begin = begin_;
    auto const end = end_;
    std::ranges::fill(counts_, 0);
    for (auto const region : current_)
        ++counts_[region];
    trial_ = current_;
    absent_.clear();
    auto const seed = begin < end ? current_[begin + rng_.below(end - begin)] : rng_.below(instance.regions);
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
        remove_strings(seed, end - begin, remove);
        std::erase(trial_, -1);
    }
    add_others(instance, seed);
}

bool VisitSearch::recreate(double contrary) {
    auto const &instance = route_.instance();
    auto const is_full = trial_.size() + absent_.size() > static_cast<std::size_t>(instance.at_most);
    shuffle_absent(instance, instance.budget < inf || is_full);
    for (auto const region : absent_) {
        auto const required = instance.required[region] && counts_[region] == 0;
        auto const needed = required || static_cast<Index>(trial_.size()) < instance.at_least;
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
    if (route_.travel() > route_.instance().budget)
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
