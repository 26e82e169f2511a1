#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// A binary min-heap of the items 0 … n - 1. Each item occurs at most once, and its key may change.
///
/// std::priority_queue cannot change keys; leaving outdated entries in it would break ties in a different order.
template <typename Key> class IndexedHeap {
public:
    struct Entry {
        Key key;
        Index item;
    };

private:
    static constexpr Index outside = -1;

    std::vector<Entry> heap_;
    std::vector<Index> position_; // of each item in the heap, or `outside`

    /// Place an entry at index i or above it.
    void rise(std::size_t i, Entry entry) {
        std::span const heap{heap_};
        std::span const position{position_};
        while (i > 0) {
            auto const above = (i - 1) / 2;
            if (heap[above].key <= entry.key)
                break;
            heap[i] = heap[above];
            position[heap[i].item] = static_cast<Index>(i);
            i = above;
        }
        heap[i] = entry;
        position[entry.item] = static_cast<Index>(i);
    }

    /// Place an entry at index i or below it.
    void sink(std::size_t i, Entry entry) {
        std::span const heap{heap_};
        std::span const position{position_};
        for (auto below = 2 * i + 1; below < heap.size(); below = 2 * i + 1) {
            if (below + 1 < heap.size() && heap[below + 1].key < heap[below].key)
                ++below;
            if (entry.key <= heap[below].key)
                break;
            heap[i] = heap[below];
            position[heap[i].item] = static_cast<Index>(i);
            i = below;
        }
        heap[i] = entry;
        position[entry.item] = static_cast<Index>(i);
    }

public:
    explicit IndexedHeap(std::size_t items) : position_(items, outside) {}

    [[nodiscard]] bool empty() const { return heap_.empty(); }

    /// Insert an item, or change its key.
    void set(Index item, Key key) {
        auto const known = position_[item];
        if (known == outside) {
            heap_.push_back({key, item});
            rise(heap_.size() - 1, {key, item});
        } else if (key < heap_[known].key)
            rise(known, {key, item});
        else
            sink(known, {key, item});
    }

    /// Remove and return the entry with the smallest key. The heap must not be empty.
    Entry pop() {
        auto const least = heap_.front();
        auto const last = heap_.back();
        heap_.pop_back();
        position_[least.item] = outside;
        if (!heap_.empty())
            sink(0, last);
        return least;
    }

    void clear() {
        for (auto const &entry : heap_)
            position_[entry.item] = outside;
        heap_.clear();
    }
};
} // namespace learnroute
