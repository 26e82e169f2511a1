#pragma once

#include <cstddef>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace learnroute {
/// An allocator that requests huge pages for large arrays, as NumPy does.
///
/// Otherwise random access to a matrix of many pages is slowed down by address translation.
template <typename T> struct HugePages {
    using value_type = T;

    static constexpr std::size_t page = std::size_t{1} << 21;

    HugePages() = default;
    template <typename U> HugePages(HugePages<U> const &) {}

    static std::align_val_t alignment(std::size_t count) {
        return std::align_val_t{count * sizeof(T) < 2 * page ? alignof(std::max_align_t) : page};
    }
    [[nodiscard]] T *allocate(std::size_t count) {
        auto *const memory = ::operator new(count * sizeof(T), alignment(count));
#ifdef MADV_HUGEPAGE
        if (count * sizeof(T) >= 2 * page)
            madvise(memory, count * sizeof(T), MADV_HUGEPAGE); // only a hint, so the result is ignored
#endif
        return static_cast<T *>(memory);
    }
    void deallocate(T *memory, std::size_t count) { ::operator delete(memory, alignment(count)); }

    template <typename U> bool operator==(HugePages<U> const &) const { return true; }
};
} // namespace learnroute
