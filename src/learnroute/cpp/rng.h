#pragma once

#include "matrix_view.h"

#include <cmath>
#include <cstdint>
#include <random>

namespace learnroute {
/// A random number generator with the same results on every platform.
class Rng {
    std::mt19937_64 random_;

public:
    explicit Rng(std::uint64_t seed) : random_(seed) {}

    /// Return a random number from 0 … count - 1.
    Index below(std::size_t count) { return static_cast<Index>((random_() >> 11) % count); }
    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    double exponential() { return -std::log(1.0 - uniform()); }
    bool coin() { return (random_() >> 63) != 0; }
};
} // namespace learnroute
