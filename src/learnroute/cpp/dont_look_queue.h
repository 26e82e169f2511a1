#pragma once

#include "matrix_view.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// A circular queue of the vertices to search, each at most once: don't-look bits (Bentley 1992).
class DontLookQueue {
    std::vector<Index> ring_;
    std::vector<std::uint8_t> queued_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;

public:
    explicit DontLookQueue(std::size_t vertices) : ring_(vertices), queued_(vertices) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    void push(Index vertex) {
        if (queued_[vertex] != 0)
            return;
        queued_[vertex] = 1;
        auto const place = first_ + size_++;
        ring_[place < ring_.size() ? place : place - ring_.size()] = vertex;
    }

    Index pop() {
        auto const vertex = ring_[first_];
        first_ = first_ + 1 < ring_.size() ? first_ + 1 : 0;
        --size_;
        queued_[vertex] = 0;
        return vertex;
    }

    void clear() {
        while (!empty())
            pop();
    }
};
} // namespace learnroute
