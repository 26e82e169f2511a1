#include "turn.h"

#include <algorithm>

namespace learnroute {
bool Turn::apply(Routes &routes, VisitPlaces const &places, Rng &rng) {
    auto const here = places.draw(rng);
    if (!here)
        return false;
    auto &route = routes[here->vehicle];
    auto const [first, last] = places.range(route);
    auto const begin = route.begin() + first;
    auto const end = route.begin() + last;
    auto const middle = route.begin() + here->at;
    auto const kind = rng.below(3);
    if (kind == 0)
        std::reverse(begin, middle + 1);
    else if (kind == 1)
        std::reverse(middle, end);
    else
        std::rotate(begin, middle, end);
    return true;
}
} // namespace learnroute
