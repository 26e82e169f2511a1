#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <vector>

namespace learnroute {
/// Return the connected component of each vertex. Components are numbered in the order of their first vertices.
///
/// `linked(v, u)` returns whether an edge joins two vertices.
template <typename Linked> std::vector<Index> connected_components(std::size_t vertices, Linked linked) {
    std::vector<Index> component(vertices, -1);
    std::vector<std::size_t> stack;
    Index found = 0;
    for (std::size_t start = 0; start < vertices; ++start) {
        if (component[start] >= 0)
            continue;
        component[start] = found;
        stack.push_back(start);
        while (!stack.empty()) {
            auto const v = stack.back();
            stack.pop_back();
            for (std::size_t u = 0; u < vertices; ++u)
                if (component[u] < 0 && linked(v, u)) {
                    component[u] = found;
                    stack.push_back(u);
                }
        }
        ++found;
    }
    return component;
}
} // namespace learnroute
