#include "edge_counts.h"

#include <algorithm>
#include <utility>

namespace learnroute {
EdgeCounts::EdgeCounts(Index size, std::vector<double> entropies) : edges_(size), entropies_(std::move(entropies)) {}

Index EdgeCounts::count(Index v, Index w) const {
    auto const &edges = edges_[std::min(v, w)];
    auto const found = std::ranges::find(edges, std::max(v, w), &Edge::to);
    return found == edges.end() ? 0 : found->count;
}

void EdgeCounts::add(Index v, Index w) {
    auto &edges = edges_[std::min(v, w)];
    auto const found = std::ranges::find(edges, std::max(v, w), &Edge::to);
    if (found == edges.end())
        edges.push_back({std::max(v, w), 1});
    else
        ++found->count;
}

void EdgeCounts::remove(Index v, Index w) {
    auto &edges = edges_[std::min(v, w)];
    auto const found = std::ranges::find(edges, std::max(v, w), &Edge::to);
    if (found != edges.end() && --found->count == 0) {
        *found = edges.back();
        edges.pop_back();
    }
}

void EdgeCounts::add_tour(std::span<Index const> tour) {
    auto last = tour.back();
    for (auto const here : tour) {
        add(last, here);
        last = here;
    }
}

void EdgeCounts::apply(std::span<Change const> changes) {
    for (auto const &change : changes) // an edge is counted at its smaller end
    {
        if (change.vertex < change.removed)
            remove(change.vertex, change.removed);
        if (change.vertex < change.added)
            add(change.vertex, change.added);
    }
}

double EdgeCounts::entropy_lost(std::span<Change const> changes) const {
    auto lost = 0.0;
    for (auto const &change : changes) {
        if (change.vertex < change.removed) {
            auto const now = count(change.vertex, change.removed);
            lost += entropies_[now] - entropies_[std::max(now - 1, 0)];
        }
        if (change.vertex < change.added) {
            auto const now = count(change.vertex, change.added);
            lost += entropies_[now] - entropies_[now + 1];
        }
    }
    return lost;
}
} // namespace learnroute
