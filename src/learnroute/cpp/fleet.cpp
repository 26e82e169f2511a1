#include "fleet.h"

#include "rng.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace learnroute {
namespace {
constexpr auto shorter = 0.01; // weight of the mean travel per vehicle if the longest route is paid for
constexpr auto exact = 1e-7;   // rounding error of incremental values, relative to their terms
} // namespace

Fleet::Fleet(std::shared_ptr<Instance const> instance)
    : instance_(std::move(instance)), routes_(instance_->vehicles), ways_(instance_->vehicles),
      trainings_(instance_->models, Training(instance_)), regions_(instance_->models), changed_(instance_->models, 1),
      means_(instance_->models), mix_(instance_->regions), scores_(instance_->regions) {
    auto const models = static_cast<std::size_t>(instance_->models);
    auto const regions = static_cast<std::size_t>(instance_->regions);
    between_.resize(models * models);
    own_scores_.resize(models * regions);
    own_totals_.resize(models);
    own_counts_.resize(models);
    service_.weights.resize(models);
    best_service_.first.weights.resize(models);
    best_service_.first.weights[0] = 1.0;
    for (std::size_t vehicle = 0; vehicle < routes_.size(); ++vehicle)
        walk(vehicle);
}

MatrixView<double> Fleet::between() const {
    return {between_.data(), trainings_.size(), trainings_.size()};
}

std::size_t Fleet::visit_count() const {
    return std::accumulate(routes_.begin(), routes_.end(), std::size_t{0},
                           [](std::size_t sum, auto const &route) { return sum + route.size(); });
}

double Fleet::excess() const {
    return std::max(0.0, travel_ - instance_->budget) + other_excess(ways_.size());
}

/// Return the travel of the other vehicles beyond their limits.
double Fleet::other_excess(std::size_t vehicle) const {
    auto found = 0.0;
    for (std::size_t other = 0; other < ways_.size(); ++other)
        found += other == vehicle ? 0.0 : std::max(0.0, ways_[other].travel - instance_->limit);
    return found;
}

void Fleet::walk(std::size_t vehicle) {
    auto const &route = routes_[vehicle];
    auto &[stops, legs, travel] = ways_[vehicle];
    auto const size = route.size();
    auto const outside = instance_->outside();
    auto const round = instance_->cyclic && size > 0;
    stops.resize(size + 2);
    stops.front() = round ? route.back().region : outside;
    std::ranges::transform(route, stops.begin() + 1, &Visit::region);
    stops.back() = round ? route.front().region : outside;
    legs.resize(size + 1);
    for (std::size_t place = 0; place <= size; ++place)
        legs[place] = size == 0 ? 0.0 : instance_->travel(stops[place], stops[place + 1]);
    travel = std::accumulate(legs.begin(), legs.end() - (instance_->cyclic ? 1 : 0), 0.0);
    travel_ =
        std::accumulate(ways_.begin(), ways_.end(), 0.0, [](double sum, Way const &way) { return sum + way.travel; });
}

/// Train the models of a vehicle along its route.
void Fleet::train(std::size_t vehicle) {
    for (auto &regions : regions_)
        regions.clear();
    for (auto const &visit : routes_[vehicle])
        regions_[visit.model].push_back(visit.region);
    auto const alone = instance_->vehicles > 1;
    auto const last = alone ? vehicle + 1 : trainings_.size();
    for (auto model = alone ? vehicle : 0; model < last; ++model)
        if (trainings_[model].assign(regions_[model])) {
            changed_[model] = 1;
            is_served_ = is_weighed_ = false;
        }
}

/// Update the data for averaging models.
void Fleet::measure() {
    auto const models = static_cast<Index>(trainings_.size());
    for (Index model = 0; model < models; ++model) {
        if (changed_[model] == 0)
            continue;
        changed_[model] = 0;
        auto const errors = trainings_[model].errors();
        auto const to_first = trainings_[model].to_first();
        means_[model] = std::inner_product(errors.begin(), errors.end(), instance_->importance.begin(), 0.0);
        for (Index other = 0; other < models; ++other) {
            auto const apart = other == model ? 0.0 : instance_->count * trainings_[other].distance(errors, to_first);
            between_[model * models + other] = between_[other * models + model] = apart;
        }
    }
}

double Fleet::merged_error(std::span<double const> weights) const {
    return MergeWeights::value(means_, between(), weights);
}

/// Set the weights of all models' errors if models are averaged.
void Fleet::weigh() {
    auto const regions = mix_.size();
    auto const count = instance_->count;
    is_weighed_ = true;
    std::ranges::fill(mix_, 0.0);
    auto first = 0.0;
    for (std::size_t model = 0; model < trainings_.size(); ++model) {
        auto const weight = service_.weights[model];
        if (weight == 0.0)
            continue;
        auto const errors = trainings_[model].errors();
        for (std::size_t j = 0; j < regions; ++j)
            mix_[j] += weight * errors[j];
        first += weight * trainings_[model].to_first();
    }
    for (std::size_t model = 0; model < trainings_.size(); ++model) {
        auto const weight = service_.weights[model];
        if (weight == 0.0)
            continue;
        auto const errors = trainings_[model].errors();
        for (std::size_t j = 0; j < regions; ++j)
            scores_[j] = instance_->scores[j] - count * (mix_[j] - weight * errors[j]);
        auto const total = instance_->total - count * (first - weight * trainings_[model].to_first());
        trainings_[model].weigh(scores_, total, count * weight);
    }
}

void Fleet::set_equal_weights(std::span<double> weights) const {
    auto const trained = std::ranges::count_if(trainings_, &Training::is_trained);
    for (std::size_t model = 0; model < trainings_.size(); ++model)
        weights[model] = trainings_[model].is_trained() ? 1.0 / static_cast<double>(trained) : 0.0;
    if (trained == 0)
        weights[0] = 1.0;
}

/// Let a model serve a region (sign 1) or stop serving it (sign -1).
void Fleet::add_region(Index region, Index model, double sign) {
    auto const regions = static_cast<std::size_t>(instance_->regions);
    auto const weight = sign * instance_->importance[region];
    if (model < 0) {
        unserved_ += weight * instance_->initial[region];
        return;
    }
    auto const *const seen = instance_->dissimilarities_to(region);
    auto *const scores = own_scores_.data() + model * regions;
    for (std::size_t k = 0; k < regions; ++k)
        scores[k] += weight * seen[k];
    own_totals_[model] += weight * instance_->initial[region];
    own_counts_[model] += weight;
}

void Fleet::assign(Routes const &routes) {
    for (std::size_t vehicle = 0; vehicle < routes.size(); ++vehicle)
        if (routes_[vehicle] != routes[vehicle]) {
            routes_[vehicle] = routes[vehicle];
            walk(vehicle);
            train(vehicle);
        }
}

void Fleet::serve_by(Service const &service) {
    if (instance_->has_one_model())
        return;
    auto const models = static_cast<Index>(trainings_.size());
    if (instance_->merged) {
        measure();
        is_weighed_ = is_weighed_ && service_.weights == service.weights;
        service_.weights = service.weights;
        if (instance_->equal)
            set_equal_weights(service_.weights);
        if (!is_weighed_)
            weigh();
        return;
    }
    auto const regions = static_cast<std::size_t>(instance_->regions);
    if (service_.served_by.empty()) {
        service_.served_by.assign(regions, -1);
        unserved_ = std::inner_product(instance_->initial.begin(), instance_->initial.end(),
                                       instance_->importance.begin(), 0.0);
    }
    std::vector<bool> weighed(models, false);
    for (std::size_t j = 0; j < regions; ++j)
        if (service_.served_by[j] != service.served_by[j]) {
            for (auto const &[model, sign] : {std::pair{service_.served_by[j], -1.0}, {service.served_by[j], 1.0}}) {
                add_region(static_cast<Index>(j), model, sign);
                if (model >= 0)
                    weighed[model] = true;
            }
            service_.served_by[j] = service.served_by[j];
        }
    for (Index model = 0; model < models; ++model)
        if (weighed[model])
            trainings_[model].weigh({own_scores_.data() + model * regions, regions}, own_totals_[model],
                                    own_counts_[model]);
}

double Fleet::error() const {
    if (instance_->has_one_model())
        return trainings_[0].value();
    if (instance_->merged)
        return merged_error(service_.weights);
    return std::accumulate(trainings_.begin(), trainings_.end(), unserved_,
                           [](double sum, Training const &training) { return sum + training.value(); });
}

/// Return the length of the longest route of the other vehicles, or 0 if it is not paid for.
double Fleet::longest_other(std::size_t vehicle) const {
    auto found = 0.0;
    for (std::size_t other = 0; instance_->longest && other < ways_.size(); ++other)
        found = other == vehicle ? found : std::max(found, ways_[other].travel);
    return found;
}

/// Return the cost of travel, given the total of all vehicles and the longest route.
double Fleet::travel_cost(double total, double longest) const {
    if (!instance_->longest)
        return instance_->rate * total;
    return instance_->rate * (longest + shorter / static_cast<double>(ways_.size()) * total);
}

double Fleet::value() const {
    return travel_cost() + penalty_ * excess() + error();
}

std::pair<Service, double> const &Fleet::serve() {
    if (is_served_)
        return best_service_;
    is_served_ = true;
    auto &[found, error] = best_service_;
    if (instance_->has_one_model()) {
        error = trainings_[0].value();
        return best_service_;
    }
    if (instance_->merged) {
        measure();
        if (instance_->equal)
            set_equal_weights(found.weights);
        else
            merging_.descend(means_, between(), found.weights);
        error = merged_error(found.weights);
        return best_service_;
    }
    found.served_by.assign(mix_.size(), -1);
    least_ = instance_->initial;
    for (Index model = 0; model < static_cast<Index>(trainings_.size()); ++model) {
        if (!trainings_[model].is_trained())
            continue;
        auto const errors = trainings_[model].errors();
        for (std::size_t j = 0; j < least_.size(); ++j)
            if (errors[j] < least_[j]) {
                least_[j] = errors[j];
                found.served_by[j] = model;
            }
    }
    error = std::inner_product(least_.begin(), least_.end(), instance_->importance.begin(), 0.0);
    return best_service_;
}

/// Return the error if an untrained model is trained in a region, with a good service after that.
double Fleet::error_with_new_model(Index region, Index model) {
    auto const &update = instance_->update(0, region);
    auto const common = update.noise - update.coupling * instance_->initial[region];
    auto const *const towards = instance_->dissimilarities_from(region);
    auto const models = trainings_.size();
    if (instance_->has_one_model())
        return update.retention * instance_->total + update.plasticity * instance_->scores[region] +
               instance_->count * common;
    if (!instance_->merged) {
        auto found = 0.0;
        for (std::size_t j = 0; j < mix_.size(); ++j) {
            auto const by = service_.served_by[j];
            auto const present = by < 0 ? instance_->initial[j] : trainings_[by].errors()[j];
            auto const now = update.retention * instance_->initial[j] + update.plasticity * towards[j] + common;
            found += instance_->importance[j] * std::min(present, now);
        }
        return found;
    }
    means_tried_ = means_;
    between_tried_ = between_;
    weights_tried_ = service_.weights;
    means_tried_[model] =
        update.retention * instance_->total + update.plasticity * instance_->scores[region] + instance_->count * common;
    for (std::size_t other = 0; other < models; ++other)
        if (other != static_cast<std::size_t>(model)) {
            auto const apart = update.retention * trainings_[other].to_first() +
                               update.plasticity * trainings_[other].errors()[region] + common;
            between_tried_[model * models + other] = between_tried_[other * models + model] = instance_->count * apart;
        }
    if (instance_->equal) {
        auto const trained = std::ranges::count_if(trainings_, &Training::is_trained);
        for (std::size_t other = 0; other < models; ++other)
            weights_tried_[other] = trainings_[other].is_trained() || other == static_cast<std::size_t>(model)
                                        ? 1.0 / static_cast<double>(trained + 1)
                                        : 0.0;
    } else
        merging_.descend(means_tried_, {between_tried_.data(), models, models}, weights_tried_, 1);
    return MergeWeights::value(means_tried_, {between_tried_.data(), models, models}, weights_tried_);
}

/// Find the cost of all travel if a vehicle visits a region, by place of insertion.
void Fleet::find_travel_costs(Index region, Index vehicle) {
    auto const &[stops, legs, travel] = ways_[vehicle];
    auto const *const to = instance_->travel_to(region);
    auto const *const from = instance_->travel_from(region);
    auto const beside = longest_other(vehicle);
    auto const excess_others = other_excess(vehicle);
    auto const spare = instance_->limit - travel;
    auto const spare_in_all = instance_->budget - travel_;
    auto const round = legs.size() == 1 && instance_->cyclic;
    costs_.resize(legs.size());
    for (std::size_t place = 0; place < legs.size(); ++place) {
        auto const detour = round ? 0.0 : to[stops[place]] + from[stops[place + 1]] - legs[place];
        auto const excess = excess_others + std::max(0.0, detour - spare) + std::max(0.0, detour - spare_in_all);
        costs_[place] = travel_cost(travel_ + detour, std::max(beside, travel + detour)) + penalty_ * excess;
    }
}

void Fleet::find_insertion(Index region, Index vehicle, Index model, Insertion &best, double blink, Rng &rng) {
    auto &training = trainings_[model];
    auto const untrained = !training.is_trained();
    auto const errors = training.insertion_values(region);
    auto const share = untrained                                          ? 0.0
                       : instance_->merged && !instance_->has_one_model() ? service_.weights[model]
                                                                          : 1.0;
    auto const rest = untrained ? error_with_new_model(region, model) : error() - share * training.value();
    auto const &route = routes_[vehicle];
    std::size_t const begin = instance_->first >= 0 ? 1 : 0;
    auto const end = route.size() + (instance_->last >= 0 ? 0 : 1);
    std::size_t position = 0;
    for (std::size_t place = 0; place < end; ++place) {
        if (place > 0 && route[place - 1].model == model)
            ++position;
        auto const value = costs_[place] + rest + share * errors[position];
        if (value < best.value && place >= begin && (blink == 0.0 || rng.uniform() >= blink))
            best = {value, vehicle, static_cast<Index>(place), model};
    }
}

Insertion Fleet::best_insertion(Index region, double blink, Rng &rng) {
    Insertion best;
    if (static_cast<Index>(visit_count()) >= instance_->at_most)
        return best;
    auto untrained = false; // all untrained models are equivalent
    for (Index model = 0; model < static_cast<Index>(trainings_.size()); ++model) {
        auto const fresh = !trainings_[model].is_trained();
        if (fresh && untrained)
            continue;
        untrained = untrained || fresh;
        auto const vehicle = instance_->vehicles > 1 ? model : 0;
        if (vehicle == model)
            find_travel_costs(region, vehicle);
        find_insertion(region, vehicle, model, best, blink, rng);
    }
    return best;
}

void Fleet::insert(Index region, Insertion const &where) {
    auto &route = routes_[where.vehicle];
    auto const opens = !trainings_[where.model].is_trained();
    route.insert(route.begin() + where.place, {region, where.model});
    walk(where.vehicle);
    train(where.vehicle);
    if (instance_->has_one_model())
        return;
    if (instance_->merged) {
        if (is_weighed_)
            return;
        measure();
        if (instance_->equal)
            set_equal_weights(service_.weights);
        else if (opens)
            merging_.descend(means_, between(), service_.weights);
        weigh();
    } else if (opens)
        serve_by(serve().first);
}

bool Fleet::is_exact() const {
    Fleet other(instance_);
    other.set_penalty(penalty_);
    other.assign(routes_);
    other.serve_by(service_);
    return std::abs(value() - other.value()) <= exact * (std::abs(value()) + instance_->total);
}
} // namespace learnroute
