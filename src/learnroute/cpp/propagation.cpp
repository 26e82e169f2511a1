#include "propagation.h"

#include "matrix_view.h"

#include <array>
#include <vector>

namespace learnroute {
namespace {
/// The result of a pass over all vertices.
enum class Pass { nothing, fixed, infeasible };

/// For each vertex, the other ends of its edges that are fixed to 1; -1 if absent.
using Fixed = std::vector<std::array<Index, 2>>;

/// Fix the other edges of vertices that have two edges fixed to 1, or only two edges not fixed to 0.
Pass fix_by_degree(MutableStatus status, Fixed &beside) {
    auto const vertices = status.vertices();
    auto found = Pass::nothing;
    for (std::size_t v = 0; v < vertices; ++v) {
        std::size_t free = 0;
        std::size_t fixed = 0;
        beside[v] = {-1, -1};
        for (std::size_t u = 0; u < vertices; ++u) {
            auto const kind = status(v, u);
            if (kind == EdgeStatus::free)
                ++free;
            else if (kind == EdgeStatus::fixed_to_1) {
                if (fixed < 2)
                    beside[v][fixed] = static_cast<Index>(u);
                ++fixed;
            }
        }
        if (fixed > 2 || fixed + free < 2)
            return Pass::infeasible;
        if (free > 0 && (fixed == 2 || fixed + free == 2)) {
            auto const kind = fixed == 2 ? EdgeStatus::fixed_to_0 : EdgeStatus::fixed_to_1;
            for (std::size_t u = 0; u < vertices; ++u)
                if (status(v, u) == EdgeStatus::free)
                    status.fix(v, u, kind);
            found = Pass::fixed;
        }
    }
    return found;
}

struct Path {
    std::size_t length;
    Index end;
};

/// Follow fixed edges from a vertex to the end of their path, or around their cycle.
Path follow(Fixed const &beside, std::vector<bool> &seen, Index start) {
    std::size_t length = 0;
    Index before = -1;
    for (auto here = start; here >= 0 && !seen[here];) {
        seen[here] = true;
        ++length;
        auto const [one, two] = beside[here];
        auto const onward = one != before ? one : two;
        before = here;
        here = onward;
    }
    return {length, before};
}

/// Fix edges between the ends of paths.
Pass fix_by_subtours(MutableStatus status, Fixed const &beside) {
    auto const vertices = status.vertices();
    std::vector<bool> seen(vertices, false);
    auto found = Pass::nothing;
    for (std::size_t v = 0; v < vertices; ++v) {
        if (seen[v] || beside[v][1] >= 0) // a path begins at a vertex with at most one fixed edge
            continue;
        auto const [length, end] = follow(beside, seen, static_cast<Index>(v));
        if (length > 2 && length < vertices && status(v, end) == EdgeStatus::free) {
            status.fix(v, end, EdgeStatus::fixed_to_0);
            found = Pass::fixed;
        }
    }
    for (std::size_t v = 0; v < vertices; ++v) // the remaining vertices are on cycles
        if (!seen[v] && follow(beside, seen, static_cast<Index>(v)).length < vertices)
            return Pass::infeasible;
    return found;
}
} // namespace

bool propagate(MutableStatus status) {
    Fixed beside(status.vertices());
    while (true) {
        auto found = fix_by_degree(status, beside);
        if (found == Pass::nothing)
            found = fix_by_subtours(status, beside);
        if (found != Pass::fixed)
            return found == Pass::nothing;
    }
}
} // namespace learnroute
