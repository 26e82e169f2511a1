#include "least_loss.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace learnroute {
LeastLoss::LeastLoss(std::shared_ptr<Instance const> instance) : instance_(std::move(instance)) {
    if (!instance_->has_one_model())
        return;
    auto retention = 0.0;
    auto second = 0.0;
    auto coupling = 0.0;
    auto quiet = inf;
    auto noisy = -inf;
    for (auto const &update : instance_->updates) {
        retention = std::max(retention, std::abs(update.retention));
        second = std::max(second, std::abs(update.second));
        coupling = std::max(coupling, std::abs(update.coupling));
        quiet = std::min(quiet, update.noise);
        noisy = std::max(noisy, update.noise);
    }
    auto const [low, high] = std::ranges::minmax(instance_->scores);
    auto farthest = 0.0;
    for (auto const *distances : {&instance_->initial, &instance_->towards})
        for (auto const distance : *distances)
            farthest = std::max(farthest, distance);
    auto sum = std::max(high, instance_->total) - std::min(low, instance_->total);
    auto common = instance_->count * (coupling * farthest + noisy - quiet) / (1.0 - second);
    auto own = instance_->count * coupling * farthest;
    auto paired = 0.0;
    sway_.push_back(inf);
    for (Index follow = 1; follow <= instance_->at_most; ++follow) {
        paired = second * paired + own;
        sum *= retention;
        common *= second;
        own *= retention;
        sway_.push_back(retention < 1.0 && second < 1.0 ? sum + common + paired : inf);
    }
}

double LeastLoss::operator()(Routes const &before, Routes const &after) const {
    if (sway_.empty())
        return -inf;
    auto const &old = before[0];
    auto const &now = after[0];
    auto same = old.size(); // first visit of the unchanged end
    while (same > 0 && old[same - 1] == now[same - 1])
        --same;
    auto const sway = sway_[old.size() - same];
    if (sway == inf)
        return -inf;
    auto const leg = [&](std::vector<Visit> const &route, std::size_t place) {
        auto const begin = instance_->cyclic ? route.back().region : instance_->outside();
        return instance_->travel(place > 0 ? route[place - 1].region : begin, route[place].region);
    };
    auto longer = 0.0;
    for (auto place = static_cast<std::size_t>(std::ranges::mismatch(old, now).in1 - old.begin()); place <= same;
         ++place)
        longer += leg(now, place) - leg(old, place);
    return instance_->rate * longer - sway;
}
} // namespace learnroute
