#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// A binary heap of the items 0 … n - 1, least key first, in which an item stands at most once and its key may change.
///
/// std::priority_queue cannot move items; with entries left behind instead, ties would be broken in another order.
template <typename Key> class IndexedHeap {
public:
    struct Entry {
        Key key;
        Index item;
    };

private:
    static constexpr Index outside = -1;

    std::vector<Entry> heap_;
    std::vector<Index> position_; // where in the heap an item stands, or `outside`

    /// Put an entry at place i or above it.
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

    /// Put an entry at place i or below it.
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

    /// Put an item into the heap, or change its key.
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

    /// Take out the entry of least key; there must be one.
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
