#include "two_opt.h"

#include <algorithm>
#include <iterator>

namespace learnroute {
namespace {
using Route = std::vector<Visit>;

void reverse_between(Route &route, Index here, Index there, bool inclusive) {
    auto const [one, two] = std::minmax(here, there);
    std::reverse(route.begin() + one + (inclusive ? 0 : 1), route.begin() + two + 1);
}

/// Join the beginning of one route, up to a place, with the end of the other, from a place on, and the other parts.
void exchange_ends(Route &one, Index here, Route &other, Index there) {
    Route const end(one.begin() + here + 1, one.end());
    one.resize(here + 1);
    one.insert(one.end(), other.begin() + there, other.end());
    other.resize(there);
    other.insert(other.end(), end.begin(), end.end());
}

/// Join the beginning of one route with that of the other in reverse, and likewise the ends.
void join_beginnings(Route &one, Index here, Route &other, Index there) {
    Route const end(one.begin() + here + 1, one.end());
    one.resize(here + 1);
    std::reverse_copy(other.begin(), other.begin() + there + 1, std::back_inserter(one));
    other.erase(other.begin(), other.begin() + there + 1);
    other.insert(other.begin(), end.rbegin(), end.rend());
}
} // namespace

bool TwoOpt::apply(Routes &routes, VisitPlaces const &places, Rng &rng) {
    auto const pair = places.draw_pair(routes, rng);
    if (!pair)
        return false;
    auto const [here, there] = *pair;
    auto &one = routes[here.vehicle];
    auto &other = routes[there.vehicle];
    if (here.vehicle == there.vehicle)
        reverse_between(one, here.at, there.at, rng.coin());
    else if (rng.coin())
        exchange_ends(one, here.at, other, there.at);
    else
        join_beginnings(one, here.at, other, there.at);
    set_models(routes);
    return true;
}
} // namespace learnroute
