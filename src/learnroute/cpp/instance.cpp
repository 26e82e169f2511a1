#include "instance.h"

#include "candidate_lists.h"

#include <algorithm>
#include <limits>

namespace learnroute {
std::vector<std::int64_t> Instance::nearest(std::size_t most) const {
    std::vector<std::int64_t> lists(regions * most);
    std::vector<double> ways(regions);
    std::vector<double> apart(most);
    for (Index i = 0; most > 0 && i < regions; ++i) {
        for (Index j = 0; j < regions; ++j)
            ways[j] = std::min(travel_from(i)[j] + travel_to(i)[j], std::numeric_limits<double>::max());
        fill_nearest([&](std::size_t j) { return ways[j]; }, ways.size(), i, std::span(lists).subspan(i * most, most),
                     apart);
    }
    return lists;
}
} // namespace learnroute
