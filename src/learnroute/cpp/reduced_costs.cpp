#include "reduced_costs.h"

#include "one_tree.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace learnroute {
namespace {
class Fixing {
    MatrixView<double> costs_;
    MutableStatus status_;
    std::span<double const> multipliers_;
    double limit_;
    std::size_t out_;
    OneTree tree_;
    std::vector<double> replacement_; // cost increase if the edge of a vertex to its parent is replaced by the cheapest
                                      // other edge; for `out`, the same for its edge to a region

    [[nodiscard]] double reduced(std::size_t a, std::size_t b) const {
        return costs_(a, b) - multipliers_[a] - multipliers_[b];
    }

    void fix_to_0();
    void fix_edges_of_out();
    void fix_to_1();
    [[nodiscard]] Branch branch() const;

public:
    Fixing(MatrixView<double> costs, MutableStatus status, std::span<double const> multipliers, double limit)
        : costs_(costs), status_(status), multipliers_(multipliers), limit_(limit), out_(costs.rows() - 1),
          tree_(costs.rows()), replacement_(costs.rows(), inf) {}

    ReducedCostFixing run() {
        tree_.find(costs_, status_, multipliers_);
        if (tree_.total() >= limit_)
            return {inf, {}};
        fix_to_0();
        fix_edges_of_out();
        fix_to_1();
        return {tree_.total(), branch()};
    }
};

void Fixing::fix_to_0() {
    auto const parent = tree_.parent();
    auto const joined = tree_.joined();
    // the most expensive removable edge on the tree path between two vertices
    std::vector<double> dearest(out_ * out_, -inf);
    std::vector<Index> depth(out_, 0);
    for (std::size_t k = 1; k < out_; ++k) {
        auto const v = static_cast<std::size_t>(joined[k]);
        auto const p = static_cast<std::size_t>(parent[v]);
        depth[v] = depth[p] + 1;
        auto const own = status_(p, v) == EdgeStatus::fixed_to_1 ? -inf : reduced(p, v);
        for (std::size_t x = 0; x < k; ++x) {
            auto const u = static_cast<std::size_t>(joined[x]);
            dearest[v * out_ + u] = dearest[u * out_ + v] = std::max(dearest[p * out_ + u], own);
        }
    }
    for (std::size_t i = 0; i < out_; ++i)
        for (std::size_t j = 0; j < i; ++j) {
            if (status_(i, j) != EdgeStatus::free || parent[i] == static_cast<Index>(j) ||
                parent[j] == static_cast<Index>(i))
                continue;
            auto const cost = reduced(i, j);
            if (tree_.total() + cost - dearest[i * out_ + j] >= limit_) {
                status_.fix(i, j, EdgeStatus::fixed_to_0);
                continue;
            }
            for (auto u = i, v = j; u != v; u = static_cast<std::size_t>(parent[u])) {
                if (depth[u] < depth[v])
                    std::swap(u, v);
                replacement_[u] = std::min(replacement_[u], cost);
            }
        }
}

void Fixing::fix_edges_of_out() {
    auto const last = tree_.last();
    auto second = inf; // extra cost of the second cheapest edge
    for (std::size_t v = 0; v + 1 < out_; ++v) {
        if (v == last || status_(out_, v) != EdgeStatus::free)
            continue;
        auto const extra = costs_(out_, v) - multipliers_[v] - (costs_(out_, last) - multipliers_[last]);
        if (tree_.total() + extra >= limit_)
            status_.fix(out_, v, EdgeStatus::fixed_to_0);
        else
            second = std::min(second, extra);
    }
    if (status_(out_, last) == EdgeStatus::free)
        replacement_[out_] = second;
}

void Fixing::fix_to_1() {
    for (std::size_t k = 1; k < out_; ++k) {
        auto const v = static_cast<std::size_t>(tree_.joined()[k]);
        auto const p = static_cast<std::size_t>(tree_.parent()[v]);
        replacement_[v] -= reduced(p, v);
        if (status_(p, v) == EdgeStatus::free && tree_.total() + replacement_[v] >= limit_)
            status_.fix(p, v, EdgeStatus::fixed_to_1);
    }
}

/// Choose a vertex of degree 3 or more, and its two edges that are the most expensive to replace.
Branch Fixing::branch() const {
    auto const parent = tree_.parent();
    auto const gap = limit_ - tree_.total();
    auto const home = out_ - 1;
    Branch found;
    auto best = -1.0;
    for (std::size_t v = 0; v < out_; ++v) {
        if (tree_.degree()[v] < 3)
            continue;
        auto fixed = v == home ? 1 : 0; // every tour contains the edge from `home` to `out`
        auto one = -1.0, two = -1.0, third = -1.0;
        Branch here{static_cast<Index>(v)};
        auto const consider = [&](std::size_t u, double replacement) {
            if (status_(u, v) != EdgeStatus::free) {
                ++fixed;
                return;
            }
            auto const gain = std::min(replacement, gap);
            if (gain > one) {
                third = std::exchange(two, std::exchange(one, gain));
                here.two = std::exchange(here.one, static_cast<Index>(u));
            } else if (gain > two) {
                third = std::exchange(two, gain);
                here.two = static_cast<Index>(u);
            } else
                third = std::max(third, gain);
        };
        for (std::size_t u = 0; u < out_; ++u) {
            if (parent[u] == static_cast<Index>(v))
                consider(u, replacement_[u]);
            else if (parent[v] == static_cast<Index>(u))
                consider(u, replacement_[v]);
        }
        if (v == tree_.last())
            consider(out_, replacement_[out_]);
        if (here.one < 0 || fixed >= 2)
            continue;
        auto worth = std::min(one, two);
        if (fixed == 1)
            here.two = -1;
        else
            worth = std::min(worth, std::max(third, 0.5 * two));
        worth += 1e-3 * (one + std::max(two, 0.0));
        if (worth > best) {
            best = worth;
            found = here;
        }
    }
    return found;
}
} // namespace

ReducedCostFixing fix_by_reduced_cost(MatrixView<double> costs, MutableStatus status,
                                      std::span<double const> multipliers, double limit) {
    return Fixing(costs, status, multipliers, limit).run();
}
} // namespace learnroute
