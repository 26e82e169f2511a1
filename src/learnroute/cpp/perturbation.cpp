#include "perturbation.h"

#include <algorithm>
#include <array>

namespace learnroute {
namespace {
constexpr std::size_t walked = 5; // number of entries of a candidate list that random walks use

/// Return the next state of a linear congruential generator, whose low bits are of poor quality.
std::int64_t next_bits(std::int64_t bits) {
    return (bits * 1103515245 + 12345) & 0x7FFFFFFF;
}
} // namespace

double DoubleBridge::find(Tour const &tour, Candidates const &candidates, bool anchored, Index vertex,
                          std::int64_t bits, std::span<std::int64_t const> chosen, Move &move) const {
    auto const size = tour.size();
    auto const few = static_cast<std::int64_t>(std::min(candidates.length(), walked));
    auto const along = ((bits >> 20) & 1) != 0;
    auto const span = std::max(1, std::min(params_.segment, size / 4));
    auto const is_chosen = chosen[0] >= 0;
    Index ahead = 0;
    std::array<Index, 4> cuts{};
    for (std::size_t i = 0; i < 4; ++i) {
        auto here = is_chosen ? static_cast<Index>(chosen[i]) : vertex;
        if (tour.position(here) < 0)
            return inf;
        if (!is_chosen && i > 0 && along) {
            bits = next_bits(bits);
            ahead += 1 + static_cast<Index>((bits >> 8) % span);
            auto p = tour.position(vertex) + ahead;
            if (p >= size) {
                if (anchored)
                    return inf;
                p -= size;
            }
            here = tour.at(p);
        } else if (!is_chosen && i > 0) {
            for (int step = 0; step < params_.walk; ++step) {
                bits = next_bits(bits);
                here = candidates[here][static_cast<std::size_t>((bits >> 12) % few)].vertex;
            }
        }
        auto p = tour.position(here);
        if (p < 0)
            return inf;
        if (tour.layout().fixed(here, tour.at(tour.after(p))))
            p = tour.before(p);
        cuts[i] = p;
    }
    std::ranges::sort(cuts);

    std::array<Index, 4> lengths; // of the segments behind the cuts
    std::size_t unmoved = 3;
    Index longest = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        lengths[i] = i < 3 ? cuts[i + 1] - cuts[i] : cuts[0] - cuts[3] + size;
        if (i < 3 && lengths[i] == 0)
            return inf;
        if (!anchored && lengths[i] > longest) {
            unmoved = i;
            longest = lengths[i];
        }
    }
    move.edges = 4;
    move.written = size - lengths[unmoved];
    if (move.written > (is_chosen ? params_.far_bridge : params_.longest_bridge))
        return inf;
    auto worse = 0.0;
    for (std::size_t i = 0; i < 4; ++i) // the segment before cut i is followed by the segment behind cut i + 2
    {
        auto const left = tour.at(cuts[i]);
        auto const right = tour.at(tour.after(cuts[i]));
        move.removed[i] = {left, right, cuts[i]};
        worse += tour.costs()(left, tour.at(tour.after(cuts[(i + 2) & 3])));
        worse -= tour.stops()[cuts[i]].cost;
    }
    if (!(worse < params_.most_worse))
        return inf;
    for (std::size_t i = 0; i < 3; ++i) {
        auto const segment = (unmoved + 3 - i) & 3;
        move.segments[i] = {cuts[segment] + 1, lengths[segment], false};
    }
    move.first = cuts[(unmoved + 1) & 3] + 1;
    return worse;
}
} // namespace learnroute
