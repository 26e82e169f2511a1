#pragma once

#include <cstdint>

namespace learnroute {
/// The linear congruential generator of ANSI C, with 31 bits of state, seeded from Python.
class RandomBits {
    std::uint64_t state_;

    std::uint64_t next() { return state_ = (state_ * 1103515245 + 12345) & 0x7FFFFFFF; }

public:
    explicit RandomBits(std::uint64_t seed) : state_(seed) {}

    /// Return a number from 0 to `count` - 1. The lowest bits have short periods and are discarded.
    std::uint64_t below(std::uint64_t count) { return (next() >> 8) % count; }

    bool coin() { return ((next() >> 16) & 1) != 0; }
};
} // namespace learnroute
