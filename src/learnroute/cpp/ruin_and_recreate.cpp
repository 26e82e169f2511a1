#include "ruin_and_recreate.h"

#include "route_moves.h"

#include <algorithm>
#include <utility>

namespace learnroute {
namespace {
constexpr Visit between_routes{-1, -1};
constexpr std::int64_t period = 100; // iterations after which the penalty of travel beyond limits changes ...
constexpr auto step = 1.2;           // ... by this factor, ...
constexpr auto least = 0.1;          // ... from this share of the first penalty ...
constexpr auto range = 1e6;          // ... up to this multiple of it
} // namespace

RuinAndRecreate::RuinAndRecreate(std::shared_ptr<Instance const> instance, MatrixView<std::int64_t> near,
                                 RuinParams params, std::uint64_t seed)
    : RuinSearch(instance->regions, near, params, seed), fleet_(std::move(instance)),
      places_(fleet_.instance().regions) {
    // at first, the longest edge costs as much beyond limits as the error of the initial model, plus its travel cost
    auto const longest = std::ranges::max(fleet_.instance().from);
    penalty_ = fleet_.instance().rate + (longest > 0.0 ? fleet_.instance().total / longest : 0.0);
    least_penalty_ = least * penalty_;
    fleet_.set_penalty(penalty_);
    if (fleet_.instance().models == 1 && fleet_.instance().merged)
        find_sway();
}

/// The effect of earlier visits decreases with each of the last ones (`learnroute.model.law`), and is bounded by the
/// range of the dissimilarities.
void RuinAndRecreate::find_sway() {
    auto const &instance = fleet_.instance();
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

/// Return a lower bound on the cost increase of the trial route, from its travel and the unchanged visits at its end.
double RuinAndRecreate::least_loss() const {
    auto const &instance = fleet_.instance();
    if (sway_.empty() || instance.cyclic || current_.excess > 0.0)
        return -inf;
    auto const &before = current_.routes[0];
    auto const &after = trial_[0];
    auto same = before.size(); // first visit of the unchanged end
    while (same > 0 && before[same - 1] == after[same - 1])
        --same;
    auto const sway = sway_[before.size() - same];
    if (sway == inf)
        return -inf;
    auto longer = 0.0;
    for (auto place = static_cast<std::size_t>(std::ranges::mismatch(before, after).in1 - before.begin());
         place <= same; ++place) {
        auto const from = [&](auto const &route) { return place > 0 ? route[place - 1].region : instance.outside(); };
        longer +=
            instance.travel(from(after), after[place].region) - instance.travel(from(before), before[place].region);
    }
    return instance.rate * longer - sway;
}

void RuinAndRecreate::count() {
    std::ranges::fill(counts_, 0);
    for (auto const &route : trial_)
        for (auto const &visit : route)
            ++counts_[visit.region];
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
    accept(has_required(instance()) ? value() : inf);
}

/// Return the value of the trial routes with the best service.
double RuinAndRecreate::value() {
    auto const enough = static_cast<Index>(fleet_.visit_count()) >= instance().at_least;
    return enough ? fleet_.travel_cost() + fleet_.serve().second : inf;
}

/// Accept the trial routes.
void RuinAndRecreate::accept(double value) {
    current_.routes = trial_;
    current_.service = fleet_.serve().first;
    current_.value = value;
    current_.excess = fleet_.excess();
    is_located_ = false;
    if (current_.excess == 0.0 && value < best_.value)
        best_ = current_;
}

void RuinAndRecreate::locate() {
    if (is_located_)
        return;
    is_located_ = true;
    std::ranges::fill(places_, Place{});
    movable_.clear();
    for (std::size_t vehicle = 0; vehicle < current_.routes.size(); ++vehicle) {
        auto const &route = current_.routes[vehicle];
        auto const end = static_cast<Index>(route.size()) - (instance().last >= 0 ? 1 : 0);
        for (Index at = instance().first >= 0 ? 1 : 0; at < end; ++at) {
            Place const place{static_cast<Index>(vehicle), at};
            movable_.push_back(place);
            auto &known = places_[route[at].region];
            if (known.vehicle < 0 || rng_.coin())
                known = place;
        }
    }
}

/// Let a random visit train another model. Return whether there is one.
bool RuinAndRecreate::relabel() {
    auto &route = trial_[0];
    auto const models = instance().models;
    if (instance().vehicles > 1 || models == 1 || route.empty())
        return false;
    auto const other = rng_.below(models);
    auto const from = rng_.below(route.size());
    auto const length = rng_.coin() ? 1 : 1 + rng_.below(short_segment);
    for (auto at = from; at < std::min(from + length, static_cast<Index>(route.size())); ++at)
        route[at].model = other;
    return true;
}

/// Apply a random move to nearby visits. Return whether there was one.
bool RuinAndRecreate::rearrange() {
    trial_ = current_.routes;
    if (instance().vehicles == 1 && instance().models > 1 && rng_.below(3) == 0)
        return relabel();
    if (movable_.size() < 2 || !has_neighbours())
        return false;
    if (rng_.below(seldom) == 0)
        return recombine();
    auto const here = movable_[rng_.below(movable_.size())];
    auto &route = trial_[here.vehicle];
    auto const there = places_[draw_near(route[here.at].region)];
    Index const begin = instance().first >= 0 ? 1 : 0;
    auto const end = static_cast<Index>(route.size()) - (instance().last >= 0 ? 1 : 0);
    if (rng_.below(rare) == 0)
        turn_at(route, begin, end, here.at, rng_);
    else if (there.vehicle < 0 || (there.vehicle == here.vehicle && there.at == here.at))
        return false;
    else if (here.vehicle == there.vehicle)
        move_between(route, begin, end, here.at, there.at, rng_);
    else
        rearrange_between(here, there);
    return true;
}

/// Concatenate the routes, cut them at long edges and join the parts differently, which may merge and split routes.
/// Return whether that changes the routes.
bool RuinAndRecreate::recombine() {
    std::vector<Index> vehicles; // only the first of consecutive unused vehicles
    joined_.clear();
    auto longest = 0.0;
    for (Index vehicle = 0; vehicle < static_cast<Index>(trial_.size()); ++vehicle) {
        auto const &route = trial_[vehicle];
        if (route.empty() && !vehicles.empty() && trial_[vehicles.back()].empty())
            continue;
        if (!vehicles.empty())
            joined_.push_back(between_routes);
        vehicles.push_back(vehicle);
        joined_.insert(joined_.end(), route.begin(), route.end());
        for (std::size_t at = 1; at < route.size(); ++at)
            longest = std::max(longest, instance().travel(route[at - 1].region, route[at].region));
    }
    auto const before = joined_;
    Index const begin = instance().first >= 0 ? 1 : 0;
    auto const end = static_cast<Index>(joined_.size()) - (instance().last >= 0 ? 1 : 0);
    lengths_.assign(1, 0.0); // a place between two routes is cut as often as the longest edge
    for (auto place = begin + 1; place < end; ++place) {
        auto const from = joined_[place - 1].region;
        auto const to = joined_[place].region;
        lengths_.push_back(lengths_.back() + (from < 0 || to < 0 ? longest : instance().travel(from, to)));
    }
    auto const [from, middle, to] = draw_cuts(lengths_, longest, rng_);
    auto const place = [&](Index cut) { return joined_.begin() + std::min(begin + cut, end); };
    auto const turned = rng_.below(4);
    join(place(from), place(middle), place(to), turned, turned == 0 || rng_.coin());
    if (joined_ == before)
        return false;
    auto visit = joined_.begin();
    for (auto const vehicle : vehicles) {
        auto const next = std::find(visit, joined_.end(), between_routes);
        trial_[vehicle].assign(visit, next);
        visit = next == joined_.end() ? next : next + 1;
    }
    set_models();
    return true;
}

/// Let the visits of each vehicle train its model if there are several vehicles.
void RuinAndRecreate::set_models() {
    for (std::size_t vehicle = 0; trial_.size() > 1 && vehicle < trial_.size(); ++vehicle)
        for (auto &visit : trial_[vehicle])
            visit.model = static_cast<Index>(vehicle);
}

/// Swap or move segments of two routes.
void RuinAndRecreate::rearrange_between(Place here, Place there) {
    auto &one = trial_[here.vehicle];
    auto &other = trial_[there.vehicle];
    auto const kind = rng_.below(4);
    if (kind == 0) { // 2-opt*: swap the tails
        std::vector<Visit> const tail(one.begin() + here.at + 1, one.end());
        one.erase(one.begin() + here.at + 1, one.end());
        one.insert(one.end(), other.begin() + there.at, other.end());
        other.erase(other.begin() + there.at, other.end());
        other.insert(other.end(), tail.begin(), tail.end());
    } else if (kind == 1) { // 2-opt* with one of the two routes reversed
        std::vector<Visit> const head(one.begin(), one.begin() + here.at + 1);
        std::vector<Visit> const front(other.begin(), other.begin() + there.at + 1);
        std::vector<Visit> const tail(one.begin() + here.at + 1, one.end());
        one.assign(head.begin(), head.end());
        one.insert(one.end(), front.rbegin(), front.rend());
        std::vector<Visit> const back(other.begin() + there.at + 1, other.end());
        other.assign(tail.rbegin(), tail.rend());
        other.insert(other.end(), back.begin(), back.end());
    } else { // move a segment behind the other visit; for a swap, in exchange for a segment of the other route
        auto const length = [&](auto const &route, Index from) {
            return std::min(segment_length(rng_), static_cast<Index>(route.size()) - from);
        };
        auto const from = there.at;
        auto const many = length(other, from);
        std::vector<Visit> moved(other.begin() + from, other.begin() + from + many);
        if (rng_.coin())
            std::ranges::reverse(moved);
        auto const behind = here.at + 1;
        auto const swapped = kind == 3 ? std::min(static_cast<Index>(one.size()) - behind, rng_.below(many + 1)) : 0;
        std::vector<Visit> const given(one.begin() + behind, one.begin() + behind + swapped);
        other.erase(other.begin() + from, other.begin() + from + many);
        other.insert(other.begin() + from, given.begin(), given.end());
        one.erase(one.begin() + behind, one.begin() + behind + swapped);
        one.insert(one.begin() + behind, moved.begin(), moved.end());
    }
    set_models();
}

void RuinAndRecreate::ruin() {
    trial_ = current_.routes;
    count();
    absent_.clear();
    auto const seed = movable_.empty() ? rng_.below(instance().regions) : [&] {
        auto const [vehicle, at] = movable_[rng_.below(movable_.size())];
        return current_.routes[vehicle][at].region;
    }();
    auto const remove = [&](Index region, Index longest) {
        auto const [vehicle, place] = places_[region];
        if (vehicle < 0 || trial_[vehicle][place].region < 0)
            return false;
        auto &route = trial_[vehicle];
        auto const begin = instance().first >= 0 ? 1 : 0;
        auto const end = static_cast<Index>(route.size()) - (instance().last >= 0 ? 1 : 0);
        auto const length = 1 + rng_.below(std::min(longest, end - begin));
        auto const from = std::max(begin, place - rng_.below(length));
        for (auto at = from; at < std::min(end, from + length); ++at)
            if (route[at].region >= 0) {
                absent_.push_back(route[at].region);
                --counts_[route[at].region];
                route[at].region = -1;
            }
        return true;
    };
    if (!movable_.empty()) {
        remove_strings(seed, static_cast<Index>(movable_.size()), remove);
        for (auto &route : trial_)
            std::erase_if(route, [](Visit const &visit) { return visit.region < 0; });
    }
    add_others(instance(), seed);
}

/// Insert absent regions, optional ones only if they pay. A share `contrary` of these decisions is reversed.
///
/// Returns whether all required regions could be inserted.
bool RuinAndRecreate::recreate(double contrary) {
    shuffle_absent(instance(), fleet_.visit_count() + absent_.size() > static_cast<std::size_t>(instance().at_most));
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

void RuinAndRecreate::try_change(double temperature) {
    locate();
    auto const rearranged = rng_.uniform() < params_.rearranged;
    auto const tolerance = temperature > 0.0 ? temperature * rng_.exponential() : 0.0;
    if (rearranged) {
        if (!rearrange() || least_loss() > tolerance)
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
