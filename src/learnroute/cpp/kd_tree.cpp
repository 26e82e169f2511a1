#include "kd_tree.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace learnroute {
namespace {
auto constexpr leaf_size = 8;   // maximum number of places of a leaf
auto constexpr stack_size = 64; // more than two nodes per level of any tree

/// Return the root of a place's component, with path halving.
Index root_of(std::vector<Index> &parent, Index i) {
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// An edge that leaves a component, and its squared length. Edges are ordered by length, then by numbers.
struct Outward {
    double square = inf;
    Index from = -1, to = -1;

    bool operator<(Outward const &other) const {
        if (square != other.square || other.from < 0)
            return square < other.square || other.from < 0;
        return std::minmax(from, to) < std::minmax(other.from, other.to);
    }
};
} // namespace

KdTree::KdTree(std::vector<Place> places) : places_(std::move(places)), items_(places_.size()) {
    std::iota(items_.begin(), items_.end(), 0);
    std::size_t leaves = 1;
    while (places_.size() > leaf_size * leaves)
        leaves *= 2;
    nodes_.resize(2 * leaves - 1);
    nodes_[0].end = static_cast<Index>(places_.size());
    for (std::size_t k = 0; k < nodes_.size(); ++k) {
        auto &node = nodes_[k];
        enclose(node);
        if (is_leaf(k))
            continue;
        std::size_t widest = 0;
        for (std::size_t axis = 1; axis < 3; ++axis)
            if (node.high[axis] - node.low[axis] > node.high[widest] - node.low[widest])
                widest = axis;
        auto const half = (node.first + node.end) / 2;
        select(widest, node.first, node.end - 1, half);
        nodes_[2 * k + 1].first = node.first;
        nodes_[2 * k + 1].end = nodes_[2 * k + 2].first = half;
        nodes_[2 * k + 2].end = node.end;
    }
}

void KdTree::enclose(Node &node) const {
    node.low.fill(inf);
    node.high.fill(-inf);
    for (auto k = node.first; k < node.end; ++k)
        for (std::size_t axis = 0; axis < 3; ++axis) {
            node.low[axis] = std::min(node.low[axis], places_[items_[k]][axis]);
            node.high[axis] = std::max(node.high[axis], places_[items_[k]][axis]);
        }
}

/// Partition the items around position `wanted` by their coordinate on an axis (Hoare's quickselect).
///
/// std::nth_element would not give the same tree on every platform.
void KdTree::select(std::size_t axis, Index first, Index last, Index wanted) {
    auto const at = [&](Index k) { return places_[items_[k]][axis]; };
    while (first < last) {
        auto const pivot = at((first + last) / 2);
        auto i = first;
        auto j = last;
        while (i <= j) {
            while (at(i) < pivot)
                ++i;
            while (at(j) > pivot)
                --j;
            if (i <= j)
                std::swap(items_[i++], items_[j--]);
        }
        if (wanted <= j)
            last = j;
        else if (wanted >= i)
            first = i;
        else
            return;
    }
}

double KdTree::squared_distance(Index i, Index j) const {
    auto const x = places_[i][0] - places_[j][0];
    auto const y = places_[i][1] - places_[j][1];
    auto const z = places_[i][2] - places_[j][2];
    return x * x + y * y + z * z;
}

double KdTree::squared_distance_to_box(std::size_t node, Index i) const {
    auto total = 0.0;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        auto const x = places_[i][axis];
        auto const gap = std::max(nodes_[node].low[axis] - x, x - nodes_[node].high[axis]);
        if (gap > 0.0)
            total += gap * gap;
    }
    return total;
}

template <typename Skip, typename Visit> void KdTree::search(Index from, Skip const &skip, Visit const &visit) const {
    std::array<std::size_t, stack_size> stack;
    stack[0] = 0;
    std::size_t height = 1;
    while (height > 0) {
        auto const node = stack[--height];
        if (skip(node))
            continue;
        if (is_leaf(node)) {
            for (auto k = nodes_[node].first; k < nodes_[node].end; ++k)
                visit(items_[k]);
            continue;
        }
        auto far = 2 * node + 1;
        auto near = 2 * node + 2;
        if (squared_distance_to_box(far, from) < squared_distance_to_box(near, from))
            std::swap(far, near);
        stack[height++] = far;
        stack[height++] = near;
    }
}

std::vector<Index> KdTree::nearest(std::size_t count) const {
    using Found = std::pair<double, Index>;
    std::vector<Index> lists(places_.size() * count);
    std::vector<Found> best(count);
    if (count == 0)
        return lists;
    for (auto const i : items_) // in this order, the required data are in the cache
    {
        std::ranges::fill(best, Found{inf, -1});
        auto const skip = [&](std::size_t node) { return squared_distance_to_box(node, i) > best.back().first; };
        auto const visit = [&](Index j) {
            if (j == i)
                return;
            Found const found{squared_distance(i, j), j};
            auto at = count;
            while (at > 0 && found < best[at - 1])
                --at;
            if (at < count) {
                std::move_backward(best.begin() + static_cast<std::ptrdiff_t>(at), best.end() - 1, best.end());
                best[at] = found;
            }
        };
        search(i, skip, visit);
        for (std::size_t k = 0; k < count; ++k)
            lists[i * count + k] = best[k].second;
    }
    return lists;
}

std::vector<Index> KdTree::quadrant_neighbours(Index i) const {
    auto const x = places_[i][0];
    auto const y = places_[i][1];
    std::vector<Index> found;
    for (auto const up : {false, true})
        for (auto const right : {false, true}) {
            std::array<std::pair<double, Index>, 2> best{{{inf, -1}, {inf, -1}}};
            auto const skip = [&](std::size_t node) {
                auto const &[first, end, low, high] = nodes_[node];
                auto const misses = (right ? high[0] < x : low[0] >= x) || (up ? high[1] < y : low[1] >= y);
                return misses || squared_distance_to_box(node, i) >= best[1].first;
            };
            auto const visit = [&](Index j) {
                if (j == i || (places_[j][0] >= x) != right || (places_[j][1] >= y) != up)
                    return;
                auto const square = squared_distance(i, j);
                if (square < best[0].first)
                    best = {{{square, j}, best[0]}};
                else if (square < best[1].first)
                    best[1] = {square, j};
            };
            search(i, skip, visit);
            for (auto const &[square, j] : best)
                if (square < inf)
                    found.push_back(j);
        }
    return found;
}

std::vector<std::pair<Index, Index>> KdTree::spanning_edges() const {
    auto const size = static_cast<Index>(places_.size());
    std::vector<std::pair<Index, Index>> edges;
    std::vector<Index> component(size);
    std::iota(component.begin(), component.end(), 0);
    std::vector<Index> shared(nodes_.size()); // the component that contains all places of a node, or -1
    std::vector<Outward> shortest(size);      // by component
    std::vector<double> reach(size, 0.0);     // lower bound on the squared distance to places outside the component
    while (static_cast<Index>(edges.size()) + 1 < size) {
        for (Index i = 0; i < size; ++i)
            component[i] = root_of(component, i);
        std::ranges::fill(shortest, Outward{});
        for (auto node = nodes_.size(); node-- > 0;) {
            if (!is_leaf(node)) {
                shared[node] = shared[2 * node + 1] == shared[2 * node + 2] ? shared[2 * node + 1] : -1;
                continue;
            }
            shared[node] = component[items_[nodes_[node].first]];
            for (auto k = nodes_[node].first; k < nodes_[node].end; ++k)
                if (component[items_[k]] != shared[node])
                    shared[node] = -1;
        }
        for (auto const i : items_) {
            auto const own = component[i];
            auto &best = shortest[own];
            if (reach[i] > best.square)
                continue;
            auto nearest = inf; // lower bound on the squared distance to a place outside, from this search
            auto const skip = [&](std::size_t node) {
                if (shared[node] == own)
                    return true;
                auto const square = squared_distance_to_box(node, i);
                if (square <= best.square)
                    return false;
                nearest = std::min(nearest, square);
                return true;
            };
            auto const visit = [&](Index j) {
                if (component[j] == own)
                    return;
                Outward const found{squared_distance(i, j), i, j};
                nearest = std::min(nearest, found.square);
                if (found < best)
                    best = found;
            };
            search(i, skip, visit);
            reach[i] = nearest;
        }
        for (auto const &edge : shortest) {
            if (edge.from < 0)
                continue;
            auto const one = root_of(component, edge.from);
            auto const two = root_of(component, edge.to);
            if (one != two) {
                component[one] = two;
                edges.emplace_back(edge.from, edge.to);
            }
        }
    }
    return edges;
}
} // namespace learnroute
