#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace learnroute {
/// The way in which a sequential move reconnects the segments between its k removed edges.
///
/// It is determined by the ranks of these edges along the tour and by their directions. A code contains both: each
/// additional edge appends its rank among the edges so far, and whether its first vertex is its right end.
template <int k> struct Reconnection {
    struct Part {
        std::uint8_t segment; // the segment behind the edge of this rank
        bool reversed;
    };

    std::array<std::uint8_t, k> edges{}; // removed edges, by rank
    std::array<Part, k> cycle{}; // the cycle that ends with the last segment, the one across the ends of the array
    bool one_tour = false;       // whether the cycle contains all segments

    constexpr Reconnection() = default;
    constexpr explicit Reconnection(std::size_t code) {
        std::array<int, k> ranks{};
        std::array<bool, k> from_right{};
        for (int i = k - 1; i >= 0; --i) {
            from_right[i] = code % 2 != 0;
            ranks[i] = static_cast<int>(code / 2 % (i + 1));
            code /= 2 * (i + 1);
        }
        for (int i = 1; i < k; ++i)
            for (int j = 0; j < i; ++j)
                ranks[j] += ranks[j] >= ranks[i] ? 1 : 0;
        std::array<int, 2 * k> joined{}; // ends are numbered along the tour, two per edge, left end first
        for (int i = 0; i < k; ++i) {
            auto const before = i > 0 ? i - 1 : k - 1;
            auto const one = 2 * ranks[i] + (from_right[i] ? 1 : 0);
            auto const two = 2 * ranks[before] + (from_right[before] ? 0 : 1);
            joined[one] = two;
            joined[two] = one;
            edges[ranks[i]] = static_cast<std::uint8_t>(i);
        }
        auto end = 0; // end of the last segment
        for (auto &[segment, reversed] : cycle) {
            end = joined[end];
            reversed = end % 2 == 0;
            auto const behind = reversed ? (end / 2 + k - 1) % k : end / 2;
            segment = static_cast<std::uint8_t>(behind);
            end = reversed ? 2 * behind + 1 : 2 * ((behind + 1) % k);
            if (behind == k - 1) {
                one_tour = &segment == &cycle.back().segment;
                break;
            }
        }
    }
};

/// Append an edge to the code of `before` edges.
constexpr std::size_t append_edge(std::size_t code, int before, int rank, bool from_right) {
    return 2 * (code * (before + 1) + rank) + (from_right ? 1 : 0);
}

/// All reconnections of k segments by code: k! ranks and 2^k directions.
template <int k> constexpr auto reconnections =
    []<std::size_t... codes>(std::index_sequence<codes...>) {
        return std::array{Reconnection<k>(codes)...};
    }(std::make_index_sequence<(k == 2   ? 8
                                : k == 3 ? 48
                                         : 384)>{});

/// Return the reconnection of k segments with a code, from a table for up to four segments.
template <int k> decltype(auto) reconnection(std::size_t code) {
    if constexpr (k <= 4)
        return (reconnections<k>[code]);
    else
        return Reconnection<k>(code);
}
} // namespace learnroute
