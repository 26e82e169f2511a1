#include "sparse_tree.h"

#include <algorithm>
#include <limits>

namespace learnroute
{
SparseTree::SparseTree(std::size_t vertices)
    : parent_(vertices), degree_(vertices), key_(vertices), heap_(vertices), place_(vertices)
{
}

void SparseTree::rise(std::size_t place, Index v)
{
    while (place > 0)
    {
        auto const above = (place - 1) / 2;
        if (key_[heap_[above]] <= key_[v])
            break;
        heap_[place] = heap_[above];
        place_[heap_[place]] = static_cast<Index>(place);
        place = above;
    }
    heap_[place] = v;
    place_[v] = static_cast<Index>(place);
}

void SparseTree::sink(std::size_t filled, Index v)
{
    std::size_t place = 0;
    for (auto below = std::size_t{1}; below < filled; below = 2 * place + 1)
    {
        if (below + 1 < filled && key_[heap_[below + 1]] < key_[heap_[below]])
            ++below;
        if (key_[v] <= key_[heap_[below]])
            break;
        heap_[place] = heap_[below];
        place_[heap_[place]] = static_cast<Index>(place);
        place = below;
    }
    heap_[place] = v;
    place_[v] = static_cast<Index>(place);
}

double SparseTree::find(SparseGraph const &graph, std::span<double const> prices)
{
    std::ranges::fill(key_, std::numeric_limits<double>::infinity());
    std::ranges::fill(parent_, -1);
    std::ranges::fill(place_, outside);
    std::ranges::fill(degree_, 0);
    trees_ = 0;
    auto total = 0.0;
    for (std::size_t root = 0; root < place_.size(); ++root)
    {
        if (place_[root] == joined)
            continue;
        ++trees_;
        heap_[0] = static_cast<Index>(root);
        place_[root] = 0;
        key_[root] = 0.0;
        for (std::size_t filled = 1; filled > 0;)
        {
            auto const v = heap_[0];
            if (--filled > 0)
                sink(filled, heap_[filled]);
            place_[v] = joined;
            total += key_[v];
            if (parent_[v] >= 0)
            {
                ++degree_[v];
                ++degree_[parent_[v]];
            }
            for (auto e = graph.start[v]; e < graph.start[v + 1]; ++e)
            {
                auto const u = graph.target[e];
                auto const cost = graph.cost[e] + prices[u] + prices[v];
                if (place_[u] != joined && cost < key_[u])
                {
                    key_[u] = cost;
                    parent_[u] = v;
                    if (place_[u] == outside)
                        place_[u] = static_cast<Index>(filled++);
                    rise(static_cast<std::size_t>(place_[u]), u);
                }
            }
        }
    }
    return total;
}
} // namespace learnroute
