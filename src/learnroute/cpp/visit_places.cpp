#include "visit_places.h"

#include <algorithm>

namespace learnroute {
namespace {
constexpr std::size_t neighbours = 10; // number of nearest regions that are drawn as often as all others
} // namespace

VisitPlaces::VisitPlaces(Instance const &instance, MatrixView<std::int64_t> near)
    : instance_(&instance), listed_(near.columns()), of_(instance.regions) {
    for (std::size_t row = 0; row < near.rows(); ++row)
        for (auto const region : near[row])
            near_.push_back(static_cast<Index>(region));
}

std::pair<Index, Index> VisitPlaces::range(std::vector<Visit> const &route) const {
    return {instance_->first >= 0 ? 1 : 0, static_cast<Index>(route.size()) - (instance_->last >= 0 ? 1 : 0)};
}

void VisitPlaces::update(Routes const &routes, Rng &rng) {
    std::ranges::fill(of_, VisitPlace{});
    movable_.clear();
    for (std::size_t vehicle = 0; vehicle < routes.size(); ++vehicle) {
        auto const [begin, end] = range(routes[vehicle]);
        for (auto at = begin; at < end; ++at) {
            VisitPlace const place{static_cast<Index>(vehicle), at};
            movable_.push_back(place);
            auto &known = of_[routes[vehicle][at].region];
            if (!known.exists() || rng.coin())
                known = place;
        }
    }
}

std::optional<VisitPlace> VisitPlaces::draw(Rng &rng) const {
    if (movable_.size() < 2)
        return {};
    return movable_[rng.below(movable_.size())];
}

std::optional<std::pair<VisitPlace, VisitPlace>> VisitPlaces::draw_pair(Routes const &routes, Rng &rng) const {
    auto const here = draw(rng);
    if (!here || listed_ == 0)
        return {};
    auto const choice = rng.coin() ? std::min(listed_, neighbours) : listed_; // farther ones lead to other clusters
    auto const there = of(near(routes[here->vehicle][here->at].region)[rng.below(choice)]);
    if (!there.exists() || there == *here)
        return {};
    return std::pair{*here, there};
}
} // namespace learnroute
