#include "or_opt.h"

#include <algorithm>
#include <utility>

namespace learnroute {
namespace {
/// Draw the length of a segment: short ones are as frequent as all others.
Index draw_length(Rng &rng) {
    constexpr std::size_t few = 3;
    constexpr std::size_t many = 50;
    return 1 + rng.below(rng.coin() ? few : many);
}

/// Move a segment that begins or ends at one place across the visits up to another place.
void move_within(std::vector<Visit> &route, std::pair<Index, Index> range, Index here, Index there, Rng &rng) {
    auto const at = [&](Index place) { return route.begin() + place; };
    auto const length = draw_length(rng);
    if (here < there)
        std::rotate(at(here + 1), at(there), at(std::min(range.second, there + length)));
    else
        std::rotate(at(std::max(range.first, there + 1 - length)), at(there + 1), at(here));
}

/// Move a segment that begins at a place of the other route behind a visit, maybe in exchange for the visits there.
void move_between(std::vector<Visit> &one, Index here, std::vector<Visit> &other, Index there, Rng &rng) {
    auto const length = std::min(draw_length(rng), static_cast<Index>(other.size()) - there);
    auto const from = other.begin() + there;
    std::vector<Visit> moved(from, from + length);
    if (rng.coin())
        std::ranges::reverse(moved);
    auto const behind = one.begin() + here + 1;
    auto const exchanged = rng.coin() ? std::min(static_cast<Index>(one.end() - behind), rng.below(length + 1)) : 0;
    std::vector<Visit> const given(behind, behind + exchanged);
    other.insert(other.erase(from, from + length), given.begin(), given.end());
    one.insert(one.erase(behind, behind + exchanged), moved.begin(), moved.end());
}
} // namespace

bool OrOpt::apply(Routes &routes, VisitPlaces const &places, Rng &rng) {
    auto const pair = places.draw_pair(routes, rng);
    if (!pair)
        return false;
    auto const [here, there] = *pair;
    auto &one = routes[here.vehicle];
    if (here.vehicle == there.vehicle)
        move_within(one, places.range(one), here.at, there.at, rng);
    else
        move_between(one, here.at, routes[there.vehicle], there.at, rng);
    set_models(routes);
    return true;
}
} // namespace learnroute
