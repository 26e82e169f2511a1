#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace learnroute {
/// The number of a region, a vertex or a position.
using Index = std::int32_t;

inline constexpr auto inf = std::numeric_limits<double>::infinity();

/// A read-only view of a matrix that is stored by rows.
template <typename T> class MatrixView {
    T const *data_ = nullptr;
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;

public:
    MatrixView() = default;
    MatrixView(T const *data, std::size_t rows, std::size_t columns) : data_(data), rows_(rows), columns_(columns) {}

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }
    [[nodiscard]] std::span<T const> operator[](std::size_t row) const {
        assert(row < rows_);
        return {data_ + row * columns_, columns_};
    }
    [[nodiscard]] T operator()(std::size_t row, std::size_t column) const { return (*this)[row][column]; }
};
} // namespace learnroute
