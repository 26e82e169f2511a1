#include "rehearsal_search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace learnroute {
namespace {
constexpr std::size_t longest_segment = 3; // maximum number of visits that are moved together
constexpr double optional_share = 0.5;     // share of moves that change the set of visited regions if some are optional
constexpr double model_share = 0.3;        // share of moves that change the model of a visit if one vehicle has several
constexpr Visit separator{-1, 0};          // the next vehicle begins

bool is_separator(Visit const &visit) {
    return visit.region < 0;
}
} // namespace

RehearsalSearch::RehearsalSearch(std::shared_ptr<Rehearsal const> rehearsal, std::shared_ptr<Instance const> instance,
                                 Index batches_per_region, std::uint64_t seed)
    : rehearsal_(std::move(rehearsal)), instance_(std::move(instance)), batches_per_region_(batches_per_region),
      rng_(seed), trained_(instance_->models), tried_(instance_->models), counts_(instance_->regions),
      numbers_(instance_->regions), untrained_(outcome_of(rehearsal_->start())) {}

std::size_t RehearsalSearch::visit_count(Sequence const &sequence) const {
    return sequence.size() + 1 - static_cast<std::size_t>(instance_->vehicles);
}

double RehearsalSearch::travel_of(std::span<Visit const> route) const {
    if (route.empty())
        return 0.0;
    auto const outside = instance_->outside();
    auto const first = route.front().region;
    auto const last = route.back().region;
    auto total = 0.0;
    for (std::size_t i = 1; i < route.size(); ++i)
        total += instance_->travel(route[i - 1].region, route[i].region);
    if (instance_->cyclic)
        return total + instance_->travel(last, first);
    return total + instance_->travel(outside, first) + instance_->travel(last, outside);
}

std::pair<double, bool> RehearsalSearch::paid_travel() const {
    auto total = 0.0;
    auto longest = 0.0;
    for (auto begin = trial_.begin();; ++begin) {
        auto const end = std::find_if(begin, trial_.end(), is_separator);
        auto const travel = travel_of({begin, end});
        total += travel;
        longest = std::max(longest, travel);
        if (end == trial_.end())
            break;
        begin = end;
    }
    return {instance_->longest ? longest : total, total <= instance_->budget && longest <= instance_->limit};
}

std::vector<double> RehearsalSearch::outcome_of(std::span<double const> models) const {
    std::vector<double> found(rehearsal_->numbers());
    if (instance_->merged) {
        rehearsal_->residuals(0, models, found);
        return found;
    }
    std::vector<double> errors(rehearsal_->tests());
    for (std::size_t test = 0; test < errors.size(); ++test) {
        rehearsal_->residuals(test, models, found);
        errors[test] = std::inner_product(found.begin(), found.end(), found.begin(), 0.0) /
                           static_cast<double>(rehearsal_->draws()) +
                       rehearsal_->mean_rest(test);
    }
    return errors;
}

void RehearsalSearch::assign_batches() {
    std::ranges::fill(numbers_, 0);
    for (auto &each : tried_)
        each.batches.clear();
    Index vehicle = 0;
    for (auto const &visit : trial_) {
        if (is_separator(visit)) {
            ++vehicle;
            continue;
        }
        auto const model = instance_->vehicles > 1 ? vehicle : visit.model;
        tried_[model].batches.push_back(visit.region * batches_per_region_ + numbers_[visit.region]++);
    }
}

void RehearsalSearch::train(std::size_t model, std::size_t kept) {
    auto &now = tried_[model];
    now.models.resize(std::max(now.models.size(), now.batches.size() + 1));
    for (auto place = kept; place < now.batches.size(); ++place) {
        now.models[place + 1].resize(rehearsal_->numbers());
        rehearsal_->train(place, now.batches[place], place == kept ? trained_[model].models[place] : now.models[place],
                          now.models[place + 1]);
    }
    auto const last = now.batches.size();
    now.outcome = outcome_of(kept == last ? trained_[model].models[last] : now.models[last]);
}

double RehearsalSearch::merged_error() {
    merged_.clear();
    auto has_untrained = false; // all untrained models are equivalent, so one of them suffices
    for (auto const &model : tried_) {
        auto const is_trained = !model.batches.empty();
        if (is_trained || (!instance_->equal && !has_untrained))
            merged_.emplace_back(model.outcome);
        has_untrained = has_untrained || !is_trained;
    }
    auto const many = merged_.size();
    linear_.resize(many);
    quadratic_.resize(many * many);
    auto const draws = static_cast<double>(rehearsal_->draws());
    for (std::size_t a = 0; a < many; ++a)
        linear_[a] = std::inner_product(merged_[a].begin(), merged_[a].end(), merged_[a].begin(), 0.0) / draws;
    if (many == 1)
        return linear_[0] + rehearsal_->mean_rest(0);
    for (std::size_t a = 0; a < many; ++a)
        for (std::size_t b = 0; b < a; ++b) {
            auto apart = 0.0;
            for (std::size_t i = 0; i < merged_[a].size(); ++i)
                apart += (merged_[a][i] - merged_[b][i]) * (merged_[a][i] - merged_[b][i]);
            quadratic_[a * many + b] = quadratic_[b * many + a] = apart / draws;
        }
    MatrixView<double> const apart(quadratic_.data(), many, many);
    auto const weights =
        instance_->equal ? std::vector<double>(many, 1.0 / static_cast<double>(many)) : merge_.best(linear_, apart);
    return MergeWeights::value(linear_, apart, weights) + rehearsal_->mean_rest(0);
}

double RehearsalSearch::served_error() const {
    auto total = 0.0;
    for (std::size_t region = 0; region < untrained_.size(); ++region) {
        auto least = untrained_[region];
        for (auto const &each : tried_)
            least = std::min(least, each.outcome[region]);
        total += least;
    }
    return total;
}

double RehearsalSearch::value_with_travel(double travel) {
    assign_batches();
    for (std::size_t model = 0; model < tried_.size(); ++model) {
        auto const &now = tried_[model].batches;
        auto const &before = trained_[model].batches;
        if (now == before)
            tried_[model].outcome = trained_[model].outcome;
        else
            train(model, static_cast<std::size_t>(std::ranges::mismatch(before, now).in1 - before.begin()));
    }
    auto const error = instance_->merged ? merged_error() : served_error();
    return instance_->rate * travel + instance_->count * error;
}

void RehearsalSearch::accept(double value) {
    for (std::size_t model = 0; model < tried_.size(); ++model) {
        auto &now = tried_[model];
        auto &before = trained_[model];
        auto const kept =
            static_cast<std::size_t>(std::ranges::mismatch(before.batches, now.batches).in1 - before.batches.begin());
        before.models.resize(std::max(before.models.size(), now.batches.size() + 1));
        for (auto place = kept + 1; place <= now.batches.size(); ++place)
            std::swap(before.models[place], now.models[place]);
        std::swap(before.batches, now.batches);
        std::swap(before.outcome, now.outcome);
    }
    std::swap(current_, trial_);
    std::swap(counts_, numbers_);
    addable_.clear();
    for (Index region = 0; region < instance_->regions; ++region)
        if (counts_[region] < instance_->repeats[region])
            addable_.push_back(region);
    value_ = value;
    if (value < best_value_) {
        best_ = current_;
        best_value_ = value;
    }
}

bool RehearsalSearch::rearrange(std::size_t begin, std::size_t end) {
    auto const many = end - begin;
    if (many < 2)
        return false;
    auto const at = [&](std::size_t place) { return trial_.begin() + static_cast<std::ptrdiff_t>(begin + place); };
    auto one = static_cast<std::size_t>(rng_.below(many));
    auto two = static_cast<std::size_t>(rng_.below(many - 1));
    two += two >= one ? 1 : 0;
    auto const kind = rng_.below(4);
    if (kind == 0) {
        std::iter_swap(at(one), at(two));
    } else if (kind == 1) {
        if (one > two)
            std::swap(one, two);
        std::reverse(at(one), at(two + 1));
    } else { // move the segment at the first place before or behind the visit at the second
        auto const length = std::min<std::size_t>(1 + rng_.below(longest_segment), many - 1);
        one = std::min(one, many - length);
        auto const target = static_cast<std::size_t>(rng_.below(many - length + 1));
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
    auto const kind = rng_.below(3);
    auto const many = end - begin;
    auto const visited = static_cast<Index>(visit_count(trial_));
    if (kind == 0) {
        if (addable_.empty() || visited >= instance_->at_most)
            return false;
        auto const place = at(begin + rng_.below(many + 1));
        auto const region = addable_[rng_.below(addable_.size())];
        trial_.insert(place, {region, has_several_models() ? rng_.below(instance_->models) : 0});
        return true;
    }
    if (many == 0)
        return false;
    auto const place = begin + static_cast<std::size_t>(rng_.below(many));
    auto const region = trial_[place].region;
    if (is_separator(trial_[place]) || (instance_->required[region] != 0 && counts_[region] == 1))
        return false;
    if (kind == 1) {
        if (visited < 2 || visited <= instance_->at_least)
            return false;
        trial_.erase(at(place));
        return true;
    }
    if (addable_.empty())
        return false;
    trial_[place].region = addable_[rng_.below(addable_.size())];
    return true;
}

bool RehearsalSearch::change_model(std::size_t begin, std::size_t end) {
    if (begin == end)
        return false;
    auto &visit = trial_[begin + rng_.below(end - begin)];
    visit.model = (visit.model + 1 + rng_.below(instance_->models - 1)) % instance_->models;
    return true;
}

void RehearsalSearch::try_change(double temperature) {
    std::size_t const begin = instance_->first >= 0 ? 1 : 0;
    auto const end = std::max(begin, current_.size() - (instance_->last >= 0 ? 1 : 0));
    auto const optional = !addable_.empty() || std::ranges::find(instance_->required, 0) != instance_->required.end();
    trial_ = current_;
    auto made = false;
    if (has_several_models() && rng_.uniform() < model_share)
        made = change_model(0, current_.size()); // also for fixed visits
    else
        made = optional && rng_.uniform() < optional_share ? change_visits(begin, end) : rearrange(begin, end);
    if (!made)
        return;
    auto const [travel, is_allowed] = paid_travel();
    if (!is_allowed)
        return;
    auto const value = value_with_travel(travel);
    if (value > value_)
        worse_.push_back(value - value_);
    if (value < value_ + (temperature > 0.0 ? temperature * rng_.exponential() : 0.0))
        accept(value);
}

void RehearsalSearch::start(Routes const &routes) {
    trial_.clear();
    for (std::size_t vehicle = 0; vehicle < routes.size(); ++vehicle) {
        if (vehicle > 0)
            trial_.push_back(separator);
        trial_.insert(trial_.end(), routes[vehicle].begin(), routes[vehicle].end());
    }
    std::vector<double> const first(rehearsal_->start().begin(), rehearsal_->start().end());
    trained_.assign(trained_.size(), Trained{{}, std::vector<std::vector<double>>(1, first), untrained_});
    best_value_ = inf;
    accept(value_with_travel(paid_travel().first));
}

void RehearsalSearch::run(std::int64_t moves, double temperature) {
    worse_.clear();
    for (; moves > 0; --moves)
        try_change(temperature);
}

Routes RehearsalSearch::best() const {
    Routes found(1);
    for (auto const &visit : best_)
        if (is_separator(visit))
            found.emplace_back();
        else
            found.back().push_back(
                {visit.region, instance_->vehicles > 1 ? static_cast<Index>(found.size() - 1) : visit.model});
    return found;
}
} // namespace learnroute
