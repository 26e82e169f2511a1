#include "one_tree.h"

#include <algorithm>

namespace learnroute {
OneTree::OneTree(std::size_t vertices)
    : parent_(vertices, -1), joined_(vertices - 1), degree_(vertices), outside_(vertices - 2) {}

bool OneTree::find(MatrixView<double> costs, StatusView status, std::span<double const> multipliers) {
    auto const out = costs.rows() - 1;
    auto const home = out - 1;
    auto least = inf;
    total_ = inf;
    last_ = -1;
    for (std::size_t v = 0; v < home; ++v) {
        auto const kind = status(out, v);
        auto const cost = costs(out, v) - multipliers[v];
        if (kind == EdgeStatus::fixed_to_1 || (kind == EdgeStatus::free && cost < least)) {
            last_ = static_cast<Index>(v);
            least = cost;
            if (kind == EdgeStatus::fixed_to_1)
                break;
        }
    }
    if (last_ < 0)
        return false;
    auto total = least + costs(out, home) - multipliers[home] - 2.0 * multipliers[out];
    std::ranges::fill(degree_, 0);
    for (std::size_t v = 0; v < home; ++v)
        outside_[v] = {inf, multipliers[v], static_cast<Index>(v), -1, false};
    ++degree_[last()];
    ++degree_[home];
    degree_[out] = 2;
    joined_[0] = static_cast<Index>(home);
    auto left = home; // number of vertices outside the tree
    auto here = home;
    for (std::size_t k = 1; k < out; ++k) {
        auto const own = multipliers[here];
        auto const row = costs[here];
        auto best = inf;
        auto best_place = left;
        auto best_forced = false;
        for (std::size_t x = 0; x < left; ++x) {
            auto &other = outside_[x];
            auto const kind = status(here, static_cast<std::size_t>(other.vertex));
            auto const fixed = kind == EdgeStatus::fixed_to_1;
            if (kind != EdgeStatus::fixed_to_0 && (fixed || !other.forced)) {
                auto const cost = row[other.vertex] - own - other.multiplier;
                if (cost < other.near || (fixed && !other.forced)) {
                    other.near = cost;
                    other.parent = static_cast<Index>(here);
                    other.forced = fixed;
                }
            }
            if (other.forced == best_forced ? other.near < best : other.forced) {
                best = other.near;
                best_place = x;
                best_forced = other.forced;
            }
        }
        if (best_place == left)
            return false;
        auto const chosen = outside_.begin() + static_cast<std::ptrdiff_t>(best_place);
        here = static_cast<std::size_t>(chosen->vertex);
        parent_[here] = chosen->parent;
        std::copy(chosen + 1, outside_.begin() + static_cast<std::ptrdiff_t>(left), chosen);
        --left;
        joined_[k] = static_cast<Index>(here);
        total += best;
        ++degree_[here];
        ++degree_[static_cast<std::size_t>(parent_[here])];
    }
    for (auto const multiplier : multipliers)
        total += 2.0 * multiplier;
    total_ = total;
    return total_ != inf;
}

void ascend(MatrixView<double> costs, StatusView status, SubgradientAscent &ascent, int steps) {
    OneTree tree(costs.rows());
    std::vector<double> subgradient(costs.rows());
    for (int step = 0; step < steps; ++step) {
        if (!tree.find(costs, status, ascent.multipliers())) {
            ascent.set_bound(inf);
            return;
        }
        std::ranges::transform(tree.degree(), subgradient.begin(), [](Index degree) { return 2.0 - degree; });
        if (!ascent.advance(subgradient, tree.total()))
            return;
    }
}
} // namespace learnroute
