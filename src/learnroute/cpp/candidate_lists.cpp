#include "candidate_lists.h"

#include <algorithm>
#include <utility>

namespace learnroute {
namespace {
/// Minimum number of nearest regions that are first searched for relative neighbours.
constexpr std::size_t looked_at = 32;

template <typename List> bool is_in(List const &list, std::int64_t entry) {
    return std::ranges::find(list, entry) != list.end();
}

/// Whether at most one entry of a list is nearer to region j than the owner of the list, i, is.
bool has_few_nearer(MatrixView<double> travel, std::span<std::int64_t const> list, std::size_t i, std::size_t j) {
    auto nearer = 0;
    for (auto const entry : list)
        if (travel(static_cast<std::size_t>(entry), j) < travel(i, j) && ++nearer == 2)
            return false;
    return true;
}
} // namespace

void insert_quadrant_neighbours(KdTree const &tree, std::span<std::int64_t> lists, std::size_t most) {
    for (std::size_t i = 0; i < tree.items().size(); ++i) {
        auto const chosen = tree.quadrant_neighbours(static_cast<Index>(i));
        auto const list = lists.subspan(i * most, most);
        auto end = list.size(); // replace entries from the farthest one on
        for (std::size_t n = 0; n < std::min(chosen.size(), most); ++n) {
            if (is_in(list, chosen[n]))
                continue;
            while (end > 0 && is_in(chosen, list[end - 1]))
                --end;
            if (end == 0)
                break;
            list[--end] = chosen[n];
        }
    }
}

std::vector<std::int64_t> relative_neighbours(MatrixView<double> travel, std::size_t most, std::size_t first,
                                              std::size_t last) {
    auto const size = travel.rows();
    std::vector<std::int64_t> lists;
    lists.reserve((last - first) * most);
    std::vector<std::int64_t> near(std::min(std::max(looked_at, most), size - 1));
    std::vector<double> apart(near.size());
    std::vector<std::int64_t> list;
    std::vector<std::int64_t> farther;
    for (auto i = first; i < last; ++i) {
        auto const ways = travel[i];
        auto const is_nearer = [ways](std::int64_t a, std::int64_t b) {
            return std::pair(ways[a], a) < std::pair(ways[b], b);
        };
        fill_nearest([ways](std::size_t j) { return ways[j]; }, size, i, near, apart);
        list.clear();
        for (auto const j : near)
            if (list.size() < most && has_few_nearer(travel, list, i, j))
                list.push_back(j);
        farther.clear(); // regions outside a cluster
        if (list.size() < most)
            for (std::size_t j = 0; j < size; ++j)
                if (j != i && is_nearer(near.back(), j) && has_few_nearer(travel, list, i, j))
                    farther.push_back(static_cast<std::int64_t>(j));
        while (list.size() < most && !farther.empty()) {
            auto const nearest = std::ranges::min_element(farther, is_nearer);
            list.push_back(*nearest);
            farther.erase(nearest);
            std::erase_if(farther, [&](std::int64_t j) { return !has_few_nearer(travel, list, i, j); });
        }
        for (auto const j : near)
            if (list.size() < most && !is_in(list, j))
                list.push_back(j);
        lists.insert(lists.end(), list.begin(), list.end());
    }
    return lists;
}
} // namespace learnroute
