#include "relabel.h"

#include <algorithm>

namespace learnroute {
bool Relabel::apply(Routes &routes, VisitPlaces const &, Rng &rng) {
    constexpr std::size_t few = 3;
    auto &route = routes[0]; // fixed visits may change their models, too
    if (route.empty())
        return false;
    auto const model = rng.below(models_);
    auto const from = rng.below(route.size());
    auto const length = rng.coin() ? 1 : 1 + rng.below(few);
    for (auto at = from; at < std::min(from + length, static_cast<Index>(route.size())); ++at)
        route[at].model = model;
    return true;
}
} // namespace learnroute
