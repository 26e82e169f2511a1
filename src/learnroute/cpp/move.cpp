#include "move.h"

namespace learnroute {
bool Move::trace(Index size, bool anchored) {
    auto const k = edges;
    std::array<int, most_edges> by_rank; // edges along the tour
    for (int i = 0; i < k; ++i) {
        auto place = i;
        for (; place > 0 && removed[by_rank[place - 1]].cut > removed[i].cut; --place)
            by_rank[place] = by_rank[place - 1];
        by_rank[place] = i;
    }
    std::array<int, most_edges> rank;
    std::array<Index, most_edges> length; // of the segment behind the edge of a rank
    auto unmoved = k - 1;
    Index longest = 0;
    for (int r = 0; r < k; ++r) {
        rank[by_rank[r]] = r;
        length[r] = removed[by_rank[r + 1 < k ? r + 1 : 0]].cut - removed[by_rank[r]].cut + (r + 1 < k ? 0 : size);
        if (!anchored && length[r] > longest) {
            unmoved = r;
            longest = length[r];
        }
    }
    std::array<int, 2 * most_edges> joined; // ends are numbered along the tour: two per edge, the left one first
    for (int i = 0; i < k; ++i) {
        auto const &edge = removed[i];
        auto const before = i > 0 ? i - 1 : k - 1;
        auto const one = 2 * rank[i] + (edge.from_right ? 1 : 0);
        auto const two = 2 * rank[before] + (removed[before].from_right ? 0 : 1);
        joined[one] = two;
        joined[two] = one;
    }
    auto const start = unmoved + 1 < k ? unmoved + 1 : 0;
    auto end = 2 * start;
    int count = 0;
    while (true) {
        end = joined[end];
        auto const reversed = (end & 1) == 0;
        auto const r = end >> 1;
        auto const segment = !reversed ? r : r > 0 ? r - 1 : k - 1; // the one behind the edge of this rank
        if (segment == unmoved)
            break;
        segments[count++] = {removed[by_rank[segment]].cut + 1, length[segment], reversed};
        end = reversed ? 2 * segment + 1 : 2 * (segment + 1 < k ? segment + 1 : 0);
    }
    if (count < k - 1)
        return false;
    first = removed[by_rank[start]].cut + 1;
    written = size - length[unmoved];
    return true;
}
} // namespace learnroute
