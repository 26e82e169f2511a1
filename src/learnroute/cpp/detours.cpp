#include "detours.h"

#include <algorithm>
#include <vector>

namespace learnroute {
std::int64_t find_detours(MatrixView<double> travel, MatrixView<double> travel_back, MatrixView<std::int64_t> near,
                          double slack, std::span<double> shortest, std::size_t first, std::size_t last) {
    auto const size = travel.rows();
    std::int64_t counted = 0;
    std::vector<double> legs(size);
    for (std::size_t i = first; i < last; ++i) {
        auto const nearest = near[i];
        for (std::size_t k = 0; k < size; ++k)
            legs[k] = travel(i, static_cast<std::size_t>(nearest[k]));
        for (std::size_t j = 0; j < size; ++j) {
            auto const direct = travel(i, j);
            auto const onward = travel_back[j];
            auto best = direct;
            for (std::size_t k = 0; k < size && legs[k] < 0.5 * direct; ++k) {
                auto const second = onward[static_cast<std::size_t>(nearest[k])];
                auto const cost = legs[k] + second;
                best = std::min(best, cost);
                if (cost < direct - slack)
                    counted += second < 0.5 * direct ? 1 : 2;
            }
            auto &known = shortest[i * size + j];
            known = std::min(known, best);
        }
    }
    return counted;
}
} // namespace learnroute
