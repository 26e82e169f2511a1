#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace learnroute {
/// Return the median of numbers, the upper one if their count is even; 0 if there are none.
inline double median(std::vector<double> numbers) {
    if (numbers.empty())
        return 0.0;
    auto const middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
    std::ranges::nth_element(numbers, middle);
    return *middle;
}
} // namespace learnroute
