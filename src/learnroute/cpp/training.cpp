#include "training.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace learnroute {
namespace {
constexpr auto tiny = 1e-100;       // smaller factors are set to 0, because denormal numbers are slow
constexpr auto negligible = 1e-18;  // smaller shares in the model do not change errors
constexpr auto forgettable = 1e-12; // smaller shares of errors are left out
double some(double factor) {
    return std::abs(factor) < tiny ? 0.0 : factor;
}
} // namespace

Training::Training(std::shared_ptr<Instance const> instance)
    : instance_(std::move(instance)), scores_(instance_->scores), total_(instance_->total), count_(instance_->count),
      sum_{total_}, common_{0.0}, own_(instance_->coupled ? instance_->initial : std::vector<double>()),
      sum_factor_{1.0}, common_factor_{1.0}, noise_{0.0}, scored_{0.0},
      own_factor_(instance_->coupled ? instance_->regions : 0), owned_{0.0}, prices_(1) {}

/// Return the number of trainings at the beginning that have no effect at the end.
std::size_t Training::forgotten(std::span<Index const> regions) const {
    auto own = 1.0;
    auto common = 1.0;
    auto first = regions.size();
    while (first > 0 && (!instance_->steady || std::max(std::abs(own), std::abs(common)) > forgettable)) {
        auto const &update = instance_->update(0, regions[--first]);
        own *= update.retention;
        common *= update.second;
    }
    return first;
}

/// Return the update of a training one position later than its current one.
ErrorUpdate const &Training::later(std::size_t training) const {
    return instance_->update(std::min(static_cast<Index>(training) + 1, instance_->at_most - 1), regions_[training]);
}

void Training::train(std::size_t training) {
    auto const region = regions_[training];
    auto const &update = instance_->update(static_cast<Index>(training), region);
    common_[training + 1] = update.second * common_[training] + update.noise;
    if (!instance_->coupled)
        return;
    auto const size = static_cast<std::size_t>(instance_->regions);
    auto const *const own = own_.data() + training * size;
    auto *const next = own_.data() + (training + 1) * size;
    auto const *const towards = instance_->dissimilarities_from(region);
    common_[training + 1] -= update.coupling * own[region];
    for (std::size_t j = 0; j < size; ++j)
        next[j] = update.retention * own[j] + update.plasticity * towards[j];
}

void Training::train_behind(std::size_t training) {
    auto const follow = regions_.size() - 1 - training;
    auto const region = regions_[training];
    auto const &update = later(training);
    auto const common_factor = common_factor_[follow];
    sum_factor_[follow + 1] = some(update.retention * sum_factor_[follow]);
    common_factor_[follow + 1] = some(update.second * common_factor);
    noise_[follow + 1] = noise_[follow] + common_factor * update.noise;
    if (!instance_->coupled)
        return;
    auto const size = static_cast<std::size_t>(instance_->regions);
    auto const *const own = own_factor_.data() + follow * size;
    auto *const next = own_factor_.data() + (follow + 1) * size;
    auto const *const seen = instance_->dissimilarities_to(region);
    auto const coupled = update.coupling * common_factor;
    noise_[follow + 1] += update.plasticity * own[region];
    if (sum_factor_[follow + 1] == 0.0)
        std::fill_n(next, size, 0.0);
    else
        for (std::size_t j = 0; j < size; ++j)
            next[j] = update.retention * own[j] - coupled * seen[j];
}

void Training::weigh_own() {
    auto const many = regions_.size();
    auto const size = static_cast<std::size_t>(instance_->regions);
    owned_[0] = 0.0;
    for (auto place = many; place-- > 0;) {
        auto const follow = many - 1 - place;
        if (instance_->steady) {
            auto const region = regions_[place];
            auto const &update = instance_->update(0, region);
            owned_[follow + 1] = owned_[follow] - update.plasticity * own_factor_[follow * size + region] -
                                 update.coupling * common_factor_[follow] * own_[place * size + region];
            continue;
        }
        auto const *const own = own_.data() + place * size;
        auto weighed = 0.0;
        for (auto training = many; training-- > place;) {
            auto const &update = later(training);
            weighed = update.retention * weighed -
                      update.coupling * common_factor_[many - 1 - training] * own[regions_[training]];
        }
        owned_[follow + 1] = weighed;
    }
}

/// Update the sums behind the trainings that did not change.
void Training::update_sums(std::size_t kept) {
    sum_[0] = total_;
    for (auto training = kept; training < regions_.size(); ++training) {
        auto const region = regions_[training];
        auto const &update = instance_->update(static_cast<Index>(training), region);
        sum_[training + 1] = update.retention * sum_[training] + update.plasticity * scores_[region];
    }
}

/// Update the factors of the trainings behind each place.
void Training::update_factors() {
    auto const old = behind_.size();
    auto const many = regions_.size();
    auto const changed = behind_ != regions_;
    std::size_t kept = 0;
    if (instance_->steady || old == many)
        while (kept < std::min(old, many) && behind_[old - 1 - kept] == regions_[many - 1 - kept])
            ++kept;
    if (changed) {
        behind_ = regions_;
        for (auto *table : {&sum_factor_, &common_factor_, &noise_, &scored_, &owned_})
            table->resize(many + 1);
        if (instance_->coupled)
            own_factor_.resize((many + 1) * instance_->regions);
        for (auto training = many - kept; training-- > 0;)
            train_behind(training);
        if (instance_->coupled)
            weigh_own();
    }
    for (auto follow = scored_by_ ? kept : 0; follow < many; ++follow) {
        auto const training = many - 1 - follow;
        scored_[follow + 1] =
            scored_[follow] + sum_factor_[follow] * later(training).plasticity * scores_[regions_[training]];
    }
    scored_by_ = true;
}

bool Training::assign(std::span<Index const> all) {
    forgotten_ = forgotten(all);
    auto const regions = all.subspan(forgotten_);
    auto const old = regions_.size();
    auto const many = regions.size();
    prices_.resize(all.size() + 1);
    auto const kept = static_cast<std::size_t>(std::ranges::mismatch(regions_, regions).in1 - regions_.begin());
    if (kept == old && old == many)
        return false;
    regions_.assign(regions.begin(), regions.end());
    known_ = false;
    sum_.resize(many + 1);
    common_.resize(many + 1);
    if (instance_->coupled)
        own_.resize((many + 1) * instance_->regions);
    for (auto training = kept; training < many; ++training)
        train(training);
    update_sums(kept);
    return true;
}

void Training::weigh(std::span<double const> scores, double total, double count) {
    scores_.assign(scores.begin(), scores.end());
    total_ = total;
    count_ = count;
    scored_by_ = false;
    update_sums(0);
}

std::span<double const> Training::insertion_values(Index region) {
    update_factors();
    std::fill_n(prices_.begin(), forgotten_, value());
    instance_->coupled ? compute_values<true>(region) : compute_values<false>(region);
    return prices_;
}

template <bool coupled> void Training::compute_values(Index region) {
    auto const many = regions_.size();
    auto const size = static_cast<std::size_t>(instance_->regions);
    auto const score = scores_[region];
    auto update = instance_->update(0, region);
    for (std::size_t place = 0; place <= many; ++place) {
        if (!instance_->steady)
            update = instance_->update(std::min(static_cast<Index>(place), instance_->at_most - 1), region);
        auto const follow = many - place;
        auto common = noise_[follow] + common_factor_[follow] * (update.second * common_[place] + update.noise);
        if constexpr (coupled)
            common += update.retention * owned_[follow] + update.plasticity * own_factor_[follow * size + region] -
                      update.coupling * common_factor_[follow] * own_[place * size + region];
        prices_[forgotten_ + place] =
            scored_[follow] + sum_factor_[follow] * (update.retention * sum_[place] + update.plasticity * score) +
            count_ * common;
    }
}

/// Compute the errors in all regions and the distance to the initial model.
void Training::compute_errors() {
    auto const size = static_cast<std::size_t>(instance_->regions);
    errors_.assign(size, common_.back());
    to_first_ = common_.back();
    auto left = 1.0;
    for (auto training = regions_.size(); training-- > 0 && std::abs(left) > negligible;) {
        auto const region = regions_[training];
        auto const &update = instance_->update(static_cast<Index>(training), region);
        auto const share = left * update.plasticity;
        to_first_ += share * instance_->initial[region];
        left *= update.retention;
        if (instance_->coupled)
            continue;
        auto const *const towards = instance_->dissimilarities_from(region);
        for (std::size_t j = 0; j < size; ++j)
            errors_[j] += share * towards[j];
    }
    auto const *const rest = instance_->coupled ? own_.data() + regions_.size() * size : instance_->initial.data();
    auto const share = instance_->coupled ? 1.0 : left;
    for (std::size_t j = 0; j < size; ++j)
        errors_[j] += share * rest[j];
    known_ = true;
}

std::span<double const> Training::errors() {
    if (!known_)
        compute_errors();
    return errors_;
}

double Training::to_first() {
    if (!known_)
        compute_errors();
    return to_first_;
}

double Training::distance(std::span<double const> errors, double to_first) const {
    auto found = common_.back();
    auto left = 1.0;
    for (auto training = regions_.size(); training-- > 0 && std::abs(left) > negligible;) {
        auto const &update = instance_->update(static_cast<Index>(training), regions_[training]);
        found += left * update.plasticity * errors[regions_[training]];
        left *= update.retention;
    }
    return found + left * to_first;
}
} // namespace learnroute
