#include "spanning_forest.h"

#include <algorithm>

namespace learnroute {
SpanningForest::SpanningForest(std::size_t size) : vertices_(size), beside_(size) {
    joined_.reserve(size);
}

double SpanningForest::span(SparseGraph const &graph, std::span<double const> multipliers) {
    std::ranges::fill(vertices_, Vertex{none, 0, inf, false});
    joined_.clear();
    trees_ = 0;
    std::span<Index const> const target = graph.target;
    std::span<double const> const costs = graph.cost;
    auto total = 0.0;
    for (Index root = 0; joined_.size() < vertices_.size(); ++root) {
        if (vertices_[root].has_joined) // if the graph is not connected, there are several roots
            continue;
        ++trees_;
        vertices_[root].cost = 0.0;
        beside_.set(root, 0.0);
        while (!beside_.empty()) {
            auto const v = beside_.pop().item;
            auto &vertex = vertices_[v];
            vertex.has_joined = true;
            joined_.push_back(v);
            total += vertex.cost;
            if (vertex.parent != none) {
                ++vertex.degree;
                ++vertices_[vertex.parent].degree;
            }
            auto const own = multipliers[v];
            for (auto e = graph.start[v], end = graph.start[v + 1]; e < end; ++e) {
                auto const u = target[e];
                auto &other = vertices_[u];
                auto const cost = costs[e] + multipliers[u] + own;
                if (cost < other.cost && !other.has_joined) {
                    other.cost = cost;
                    other.parent = v;
                    beside_.set(u, cost);
                }
            }
        }
    }
    return total;
}
} // namespace learnroute
