#include "ruin_and_recreate.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace learnroute {
namespace {
constexpr std::int64_t period = 100; // iterations after which the penalty of travel beyond limits changes ...
constexpr auto step = 1.2;           // ... by this factor, ...
constexpr auto least = 0.1;          // ... from this share of the first penalty ...
constexpr auto range = 1e6;          // ... up to this multiple of it
} // namespace

RuinAndRecreate::RuinAndRecreate(std::shared_ptr<Instance const> instance, MatrixView<std::int64_t> near,
                                 RuinParams params, std::uint64_t seed)
    : fleet_(instance), params_(params), rng_(seed), least_loss_(instance), moves_(*instance), places_(*instance, near),
      counts_(instance->regions) {
    // at first, the longest edge costs as much beyond limits as the error of the initial model, plus its travel cost
    auto const longest = std::ranges::max(instance->from);
    penalty_ = instance->rate + (longest > 0.0 ? instance->total / longest : 0.0);
    least_penalty_ = least * penalty_;
    fleet_.set_penalty(penalty_);
}

void RuinAndRecreate::start(Routes routes, Service service) {
    current_ = {std::move(routes), std::move(service), inf, 0.0};
    best_ = {};
    is_located_ = false;
}

void RuinAndRecreate::insert(std::span<Index const> regions) {
    trial_ = current_.routes;
    count();
    fleet_.assign(trial_);
    absent_.assign(regions.begin(), regions.end());
    recreate(0.0);
    accept(has_required() ? value() : inf);
}

/// Return the value of the trial routes with the best service.
double RuinAndRecreate::value() {
    auto const enough = static_cast<Index>(fleet_.visit_count()) >= instance().at_least;
    return enough ? fleet_.travel_cost() + fleet_.serve().second : inf;
}

/// Whether all required regions are visited.
bool RuinAndRecreate::has_required() const {
    for (Index region = 0; region < instance().regions; ++region)
        if (instance().required[region] != 0 && counts_[region] == 0)
            return false;
    return true;
}

/// Count the visits of the trial.
void RuinAndRecreate::count() {
    std::ranges::fill(counts_, 0);
    for (auto const &route : trial_)
        for (auto const &visit : route)
            ++counts_[visit.region];
}

/// Accept the trial routes.
void RuinAndRecreate::accept(double value) {
    current_.routes = trial_;
    current_.service = fleet_.serve().first;
    assert(fleet_.is_exact());
    current_.value = value;
    current_.excess = fleet_.excess();
    is_located_ = false;
    if (current_.excess == 0.0 && value < best_.value)
        best_ = current_;
}

/// Remove strings of visits, and choose absent regions to be inserted.
void RuinAndRecreate::ruin() {
    trial_ = current_.routes;
    count();
    absent_.clear();
    auto const &movable = places_.movable();
    auto seed = rng_.below(movable.empty() ? instance().regions : movable.size());
    if (!movable.empty()) {
        seed = trial_[movable[seed].vehicle][movable[seed].at].region;
        remove_strings(seed);
    }
    add_others(seed);
}

/// Remove strings of visits at a region and at those nearest to it.
void RuinAndRecreate::remove_strings(Index seed) {
    auto const longest = std::min(params_.string, static_cast<Index>(places_.movable().size()));
    auto const most = std::max(1.0, 4 * params_.removed / (1 + longest) - 1);
    auto strings = static_cast<Index>(1 + rng_.uniform() * most);
    strings -= remove_string(seed, longest) ? 1 : 0;
    for (auto const region : places_.near(seed)) {
        if (strings == 0)
            break;
        strings -= remove_string(region, longest) ? 1 : 0;
    }
    for (auto &route : trial_)
        std::erase_if(route, [](Visit const &visit) { return visit.region < 0; });
}

/// Mark the visits of a string that contains one to a region as removed. Return whether there is one.
bool RuinAndRecreate::remove_string(Index region, Index longest) {
    auto const place = places_.of(region);
    if (!place.exists() || trial_[place.vehicle][place.at].region < 0)
        return false;
    auto &route = trial_[place.vehicle];
    auto const [begin, end] = places_.range(route);
    auto const length = 1 + rng_.below(std::min(longest, end - begin));
    auto const from = std::max(begin, place.at - rng_.below(length));
    for (auto at = from; at < std::min(end, from + length); ++at)
        if (auto const removed = std::exchange(route[at].region, -1); removed >= 0) {
            absent_.push_back(removed);
            --counts_[removed];
        }
    return true;
}

/// Add random regions that may be visited once more to those to be inserted, half of them near one region.
void RuinAndRecreate::add_others(Index seed) {
    auto const near = places_.near(seed).first(
        std::min<std::size_t>(places_.near(seed).size(), 2 * static_cast<std::size_t>(params_.added)));
    for (auto left = rng_.below(params_.added + 1); left > 0; --left) {
        auto const region =
            !near.empty() && rng_.coin() ? near[rng_.below(near.size())] : rng_.below(instance().regions);
        auto const times = std::ranges::count(absent_, region);
        if (counts_[region] + times < instance().repeats[region])
            absent_.push_back(region);
    }
}

/// Shuffle the regions to be inserted, with all required ones first if there may not be room for all.
void RuinAndRecreate::shuffle_absent() {
    for (auto left = absent_.size(); left > 1; --left)
        std::swap(absent_[left - 1], absent_[rng_.below(left)]);
    if (fleet_.visit_count() + absent_.size() > static_cast<std::size_t>(instance().at_most))
        std::ranges::stable_partition(absent_, [&](Index region) { return instance().required[region] != 0; });
}

/// Insert absent regions, optional ones only if they pay. A share `contrary` of these decisions is reversed.
///
/// Returns whether all required regions could be inserted.
bool RuinAndRecreate::recreate(double contrary) {
    shuffle_absent();
    fleet_.serve_by(current_.service);
    auto complete = true;
    for (auto const region : absent_) {
        auto const required = instance().required[region] && counts_[region] == 0;
        auto const needed = required || static_cast<Index>(fleet_.visit_count()) < instance().at_least;
        auto const where = fleet_.best_insertion(region, params_.blink, rng_);
        complete = complete && (!required || where.value < inf);
        auto const pays = where.value < fleet_.value();
        if (where.value == inf || (!needed && pays == (contrary > 0.0 && rng_.uniform() < contrary)))
            continue;
        fleet_.insert(region, where);
        ++counts_[region];
    }
    trial_ = fleet_.routes();
    return complete;
}

/// Apply a random move. Return whether there was one that may be accepted with this tolerance.
bool RuinAndRecreate::rearrange(double tolerance) {
    if (moves_.empty())
        return false;
    trial_ = current_.routes;
    auto &move = moves_.draw(rng_);
    if (!move.apply(trial_, places_, rng_))
        return false;
    return current_.excess > 0.0 || move.evaluate(least_loss_, current_.routes, trial_) <= tolerance;
}

void RuinAndRecreate::try_change(double temperature) {
    if (!is_located_)
        places_.update(current_.routes, rng_);
    is_located_ = true;
    auto const rearranged = rng_.uniform() < params_.rearranged;
    auto const tolerance = temperature > 0.0 ? temperature * rng_.exponential() : 0.0;
    if (rearranged) {
        if (!rearrange(tolerance))
            return;
        fleet_.assign(trial_);
    } else {
        ruin();
        fleet_.assign(trial_);
        if (!recreate(params_.contrary))
            return;
    }
    auto const found = value();
    auto const worse = cost(found, fleet_.excess()) - cost(current_.value, current_.excess);
    if (worse > 0.0 && !rearranged)
        worse_.push_back(worse);
    if (worse < tolerance)
        accept(found);
}

/// Raise the penalty if few of the recent routes kept all limits, otherwise lower it.
void RuinAndRecreate::adapt_penalty() {
    within_ += current_.excess == 0.0 ? 1 : 0;
    if (++looks_ % period != 0)
        return;
    auto const changed = 2 * within_ < period ? penalty_ * step : penalty_ / step;
    penalty_ = std::clamp(changed, least_penalty_, range * least_penalty_);
    fleet_.set_penalty(penalty_);
    within_ = 0;
}

void RuinAndRecreate::run(std::int64_t iterations, double temperature) {
    worse_.clear();
    for (; iterations > 0; --iterations) {
        try_change(temperature);
        adapt_penalty();
    }
}
} // namespace learnroute
