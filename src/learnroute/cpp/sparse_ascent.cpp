#include "sparse_ascent.h"

#include "spanning_forest.h"

#include <utility>

namespace learnroute {
SparseOneTrees::SparseOneTrees(SparseGraph graph, std::vector<double> out)
    : graph_(std::move(graph)), out_(std::move(out)) {}

void SparseOneTrees::ascend(SubgradientAscent &ascent, int steps) const {
    auto const vertices = graph_.vertices(); // `out` is not one of them
    auto const home = vertices - 1;
    SpanningForest forest(vertices);
    std::vector<double> prices(vertices);
    std::vector<double> subgradient(vertices + 1);
    for (int step = 0; step < steps; ++step) {
        auto const multipliers = ascent.multipliers();
        for (std::size_t v = 0; v < vertices; ++v)
            prices[v] = -multipliers[v];
        auto total = forest.span(graph_, prices);
        auto last = home;
        auto least = inf;
        for (std::size_t v = 0; v < home; ++v)
            if (out_[v] - multipliers[v] < least) {
                last = v;
                least = out_[v] - multipliers[v];
            }
        if (last == home || forest.trees() > 1)
            return;
        total += least + out_[home] - multipliers[home] - 2.0 * multipliers[vertices];
        for (std::size_t v = 0; v < vertices; ++v) {
            total += 2.0 * multipliers[v];
            subgradient[v] = 2.0 - forest[static_cast<Index>(v)].degree - (v == last || v == home);
        }
        total += 2.0 * multipliers[vertices];
        subgradient[vertices] = 0.0; // `out` has two edges in any case
        if (!ascent.advance(subgradient, total))
            return;
    }
}
} // namespace learnroute
