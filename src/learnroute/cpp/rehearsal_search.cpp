#include "rehearsal_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace learnroute {
namespace {
constexpr std::size_t longest_segment = 3; // of visits that are moved together
constexpr double optional_share = 0.5;     // of moves that change which regions are visited, where some are optional
} // namespace

RehearsalSearch::RehearsalSearch(std::shared_ptr<Rehearsal const> rehearsal,
                                 std::shared_ptr<VisitProblem const> problem, std::uint64_t seed)
    : rehearsal_(std::move(rehearsal)), problem_(std::move(problem)), random_(seed), errors_(rehearsal_->draws()) {}

double RehearsalSearch::travel_of(std::span<Index const> visits) const {
    auto const outside = problem_->outside();
    auto total = 0.0;
    for (std::size_t i = 1; i < visits.size(); ++i)
        total += problem_->travel(visits[i - 1], visits[i]);
    if (problem_->cyclic)
        return total + problem_->travel(visits.back(), visits.front());
    return total + problem_->travel(outside, visits.front()) + problem_->travel(visits.back(), outside);
}

double RehearsalSearch::price(std::size_t kept) {
    while (trained_.size() <= trial_.size())
        trained_.emplace_back(rehearsal_->numbers());
    for (auto place = kept; place < trial_.size(); ++place)
        rehearsal_->train(place, trial_[place], place == kept ? models_[place] : trained_[place], trained_[place + 1]);
    rehearsal_->test(kept == trial_.size() ? models_[kept] : trained_[trial_.size()], errors_);
    auto const error = std::accumulate(errors_.begin(), errors_.end(), 0.0) / static_cast<double>(errors_.size());
    return problem_->rate * travel_of(trial_) + problem_->count * error;
}

void RehearsalSearch::find_absent() {
    absent_.clear();
    for (Index region = 0; region < problem_->regions; ++region)
        if (problem_->repeats[region] > 0 && std::ranges::find(current_, region) == current_.end())
            absent_.push_back(region);
}

bool RehearsalSearch::rearrange(std::size_t begin, std::size_t end) {
    auto const many = end - begin;
    if (many < 2)
        return false;
    auto const at = [&](std::size_t place) { return trial_.begin() + static_cast<std::ptrdiff_t>(begin + place); };
    auto one = static_cast<std::size_t>(below(many));
    auto two = static_cast<std::size_t>(below(many - 1));
    two += two >= one ? 1 : 0;
    auto const kind = below(4);
    if (kind == 0) {
        std::iter_swap(at(one), at(two));
    } else if (kind == 1) {
        if (one > two)
            std::swap(one, two);
        std::reverse(at(one), at(two + 1));
    } else { // a segment that begins at the first place goes before or behind the visit at the second
        auto const length = std::min<std::size_t>(1 + below(longest_segment), many - 1);
        one = std::min(one, many - length);
        auto const target = static_cast<std::size_t>(below(many - length + 1));
        if (target == one)
            return false;
        if (kind == 3)
            std::reverse(at(one), at(one + length));
        if (target < one)
            std::rotate(at(target), at(one), at(one + length));
        else
            std::rotate(at(one), at(one + length), at(target + length));
    }
    return true;
}

bool RehearsalSearch::change_visits(std::size_t begin, std::size_t end) {
    auto const at = [&](std::size_t place) { return trial_.begin() + static_cast<std::ptrdiff_t>(place); };
    auto const kind = below(3);
    auto const many = end - begin;
    if (kind == 0) {
        if (absent_.empty() || static_cast<Index>(trial_.size()) >= problem_->at_most)
            return false;
        trial_.insert(at(begin + below(many + 1)), absent_[below(absent_.size())]);
        return true;
    }
    if (many == 0)
        return false;
    auto const place = begin + static_cast<std::size_t>(below(many));
    if (problem_->required[trial_[place]] != 0)
        return false;
    if (kind == 1) {
        if (trial_.size() < 2 || static_cast<Index>(trial_.size()) <= problem_->at_least)
            return false;
        trial_.erase(at(place));
        return true;
    }
    if (absent_.empty())
        return false;
    trial_[place] = absent_[below(absent_.size())];
    return true;
}

void RehearsalSearch::look(double temperature) {
    std::size_t const begin = problem_->first >= 0 ? 1 : 0;
    auto const end = std::max(begin, current_.size() - (problem_->last >= 0 ? 1 : 0));
    auto const optional = !absent_.empty() || std::ranges::find(problem_->required, 0) != problem_->required.end();
    trial_ = current_;
    auto const made = optional && uniform() < optional_share ? change_visits(begin, end) : rearrange(begin, end);
    if (!made || travel_of(trial_) > problem_->budget)
        return;
    auto const kept = static_cast<std::size_t>(std::ranges::mismatch(current_, trial_).in1 - current_.begin());
    auto const value = price(kept);
    if (value > value_)
        worse_.push_back(value - value_);
    if (value >= value_ + (temperature > 0.0 ? -temperature * std::log(1.0 - uniform()) : 0.0))
        return;
    auto const changed = trial_.size() != current_.size() || optional;
    std::swap(current_, trial_);
    models_.resize(current_.size() + 1);
    for (auto place = kept + 1; place <= current_.size(); ++place)
        std::swap(models_[place], trained_[place]);
    for (auto &each : trained_) // those that were taken from beyond the end have no room yet
        each.resize(rehearsal_->numbers());
    value_ = value;
    if (changed)
        find_absent();
    if (value < best_value_) {
        best_ = current_;
        best_value_ = value;
    }
}

void RehearsalSearch::start(std::span<Index const> visits) {
    trial_.assign(visits.begin(), visits.end());
    models_.assign(trial_.size() + 1, {rehearsal_->start().begin(), rehearsal_->start().end()});
    value_ = best_value_ = price(0);
    for (std::size_t place = 1; place <= trial_.size(); ++place)
        models_[place] = trained_[place];
    current_ = best_ = trial_;
    find_absent();
}

void RehearsalSearch::run(std::int64_t moves, double temperature) {
    worse_.clear();
    for (; moves > 0; --moves)
        look(temperature);
}
} // namespace learnroute
