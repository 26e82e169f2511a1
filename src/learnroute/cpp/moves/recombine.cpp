#include "recombine.h"

#include <algorithm>
#include <array>

namespace learnroute {
namespace {
constexpr Visit separator{-1, -1};
} // namespace

void Recombine::join(Routes const &routes) {
    vehicles_.clear();
    joined_.clear();
    for (std::size_t vehicle = 0; vehicle < routes.size(); ++vehicle) {
        auto const &route = routes[vehicle];
        if (route.empty() && !vehicles_.empty() && routes[vehicles_.back()].empty())
            continue;
        if (!vehicles_.empty())
            joined_.push_back(separator);
        vehicles_.push_back(static_cast<Index>(vehicle));
        joined_.insert(joined_.end(), route.begin(), route.end());
    }
}

/// Measure the edges between two places. A place between two routes is cut as often as the longest edge.
void Recombine::measure(Index begin, Index end) {
    longest_ = 0.0;
    lengths_.assign(1, 0.0);
    for (auto place = begin + 1; place < end; ++place) {
        auto const from = joined_[place - 1].region;
        auto const to = joined_[place].region;
        auto const is_edge = from >= 0 && to >= 0;
        lengths_.push_back(is_edge ? instance_->travel(from, to) : -1.0);
        longest_ = std::max(longest_, lengths_.back());
    }
    for (std::size_t place = 1; place < lengths_.size(); ++place)
        lengths_[place] = lengths_[place - 1] + (lengths_[place] < 0.0 ? longest_ : lengths_[place]);
}

/// Draw a place to cut, with a chance proportional to the length of its edge; the beginning and the end are cut as
/// often as the longest edge.
Index Recombine::draw_cut(Rng &rng) const {
    auto const at = rng.uniform() * (lengths_.back() + 2 * longest_) - longest_;
    return static_cast<Index>(std::ranges::upper_bound(lengths_, at) - lengths_.begin());
}

bool Recombine::apply(Routes &routes, VisitPlaces const &places, Rng &rng) {
    if (places.movable().size() < 2)
        return false;
    join(routes);
    auto const [begin, end] = places.range(joined_);
    measure(begin, end);
    std::array<Index, 3> cuts{};
    for (auto &cut : cuts)
        cut = std::min(begin + draw_cut(rng), end);
    std::ranges::sort(cuts);
    auto const from = joined_.begin() + cuts[0];
    auto const middle = joined_.begin() + cuts[1];
    auto const to = joined_.begin() + cuts[2];
    auto const reversed = rng.below(4); // the first part, the second one or both
    if (reversed & 1)
        std::reverse(from, middle);
    if (reversed & 2)
        std::reverse(middle, to);
    if (reversed == 0 || rng.coin())
        std::rotate(from, middle, to);
    auto visit = joined_.begin();
    auto changed = false;
    for (auto const vehicle : vehicles_) {
        auto const next = std::find(visit, joined_.end(), separator);
        changed = changed || !std::equal(visit, next, routes[vehicle].begin(), routes[vehicle].end());
        routes[vehicle].assign(visit, next);
        visit = next == joined_.end() ? next : next + 1;
    }
    set_models(routes);
    return changed;
}
} // namespace learnroute
