#include "candidate_lists.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace learnroute {
namespace {
constexpr double infinity = std::numeric_limits<double>::infinity();

/// Nearest regions among which relative neighbours are looked for first, at least.
constexpr std::size_t looked_at = 32;

/// Places of one quadrant around a centre: on the right of it (or straight above or below) or not, and above or not.
struct Quadrant {
    double x;
    double y;
    bool right;
    bool up;

    [[nodiscard]] bool contains(Places const &places, std::size_t j) const {
        return (places.coordinates(j, 0) >= x) == right && (places.coordinates(j, 1) >= y) == up;
    }

    [[nodiscard]] bool misses(KdTreeView const &tree, std::size_t node) const {
        return (right ? tree.boxes(3, node) < x : tree.boxes(0, node) >= x) ||
               (up ? tree.boxes(4, node) < y : tree.boxes(1, node) >= y);
    }
};

/// The squared distance between a place and the box of a node.
double box_distance(Places const &places, KdTreeView const &tree, std::size_t node, std::size_t i) {
    auto total = 0.0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        auto const x = places.coordinates(i, axis);
        auto const gap = std::max(tree.boxes(axis, node) - x, x - tree.boxes(axis + 3, node));
        if (gap > 0.0)
            total += gap * gap;
    }
    return total;
}

struct Neighbour {
    std::int64_t place = -1;
    double apart = infinity; // squared
};

/// The two places of a quadrant around place i that are nearest to it; `stack` is room for the search.
std::array<Neighbour, 2> nearest_two(Places const &places, KdTreeView const &tree, Quadrant const &quadrant,
                                     std::size_t i, std::vector<std::size_t> &stack) {
    std::array<Neighbour, 2> nearest;
    stack.assign(1, 0);
    while (!stack.empty()) {
        auto const node = stack.back();
        stack.pop_back();
        if (quadrant.misses(tree, node) || box_distance(places, tree, node, i) >= nearest[1].apart)
            continue;
        if (2 * node + 2 < tree.node_count()) {
            auto farther = 2 * node + 1;
            auto nearer = 2 * node + 2; // looked at first
            if (box_distance(places, tree, farther, i) < box_distance(places, tree, nearer, i))
                std::swap(farther, nearer);
            stack.push_back(farther);
            stack.push_back(nearer);
            continue;
        }
        for (auto k = tree.ranges(0, node); k < tree.ranges(1, node); ++k) {
            auto const j = static_cast<std::size_t>(tree.items[k]);
            if (j == i || !quadrant.contains(places, j))
                continue;
            auto const apart = places.square(i, j);
            if (apart < nearest[0].apart)
                nearest = {Neighbour{tree.items[k], apart}, nearest[0]};
            else if (apart < nearest[1].apart)
                nearest[1] = {tree.items[k], apart};
        }
    }
    return nearest;
}

/// Fill `near` with the nearest regions but i itself, nearest first, ties by number, and `apart` with the ways to them.
/// Few regions are near, so that putting them in their places is faster than std::partial_sort_copy.
void fill_nearest(std::span<double const> ways, std::size_t i, std::span<std::int64_t> near, std::span<double> apart) {
    std::ranges::fill(apart, infinity);
    for (std::size_t j = 0; j < ways.size(); ++j) {
        if (!(ways[j] < apart.back()) || j == i)
            continue;
        auto place = near.size() - 1;
        for (; place > 0 && apart[place - 1] > ways[j]; --place) {
            apart[place] = apart[place - 1];
            near[place] = near[place - 1];
        }
        apart[place] = ways[j];
        near[place] = static_cast<std::int64_t>(j);
    }
}

bool is_in(std::span<std::int64_t const> list, std::int64_t entry) {
    return std::ranges::find(list, entry) != list.end();
}

/// Whether at most one entry of a list is nearer to region j than the owner of the list, i, is.
bool few_nearer(MatrixView<double> travel, std::span<std::int64_t const> list, std::size_t i, std::size_t j) {
    auto nearer = 0;
    for (auto const entry : list)
        if (travel(static_cast<std::size_t>(entry), j) < travel(i, j) && ++nearer == 2)
            return false;
    return true;
}
} // namespace

void put_quadrant_neighbours(Places const &places, KdTreeView const &tree, std::span<std::int64_t> lists,
                             std::size_t most) {
    std::vector<std::size_t> stack;
    std::vector<std::int64_t> chosen;
    for (std::size_t i = 0; i < places.size(); ++i) {
        chosen.clear();
        for (auto const up : {false, true})
            for (auto const right : {false, true}) {
                Quadrant const quadrant{places.coordinates(i, 0), places.coordinates(i, 1), right, up};
                for (auto const &neighbour : nearest_two(places, tree, quadrant, i, stack))
                    if (neighbour.apart < infinity)
                        chosen.push_back(neighbour.place);
            }
        auto const list = lists.subspan(i * most, most);
        auto end = list.size(); // from the farthest entry on, put in what is missing
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
        fill_nearest(ways, i, near, apart);
        list.clear();
        for (auto const j : near)
            if (list.size() < most && few_nearer(travel, list, i, j))
                list.push_back(j);
        farther.clear(); // regions out of a cluster
        if (list.size() < most)
            for (std::size_t j = 0; j < size; ++j)
                if (j != i && is_nearer(near.back(), j) && few_nearer(travel, list, i, j))
                    farther.push_back(static_cast<std::int64_t>(j));
        while (list.size() < most && !farther.empty()) {
            auto const nearest = std::ranges::min_element(farther, is_nearer);
            list.push_back(*nearest);
            farther.erase(nearest);
            std::erase_if(farther, [&](std::int64_t j) { return !few_nearer(travel, list, i, j); });
        }
        for (auto const j : near)
            if (list.size() < most && !is_in(list, j))
                list.push_back(j);
        lists.insert(lists.end(), list.begin(), list.end());
    }
    return lists;
}
} // namespace learnroute
