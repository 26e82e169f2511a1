#pragma once

#include <cstddef>
#include <cstdint>

namespace learnroute {
/// The status of an edge: free, fixed to 1 (in every tour of interest), or fixed to 0 (in none of them).
enum class EdgeStatus : std::int8_t { free = 0, fixed_to_1 = 1, fixed_to_0 = 2 };

/// The status of every edge of a complete graph: a view of a symmetric matrix of bytes.
template <typename Byte> class StatusMatrix {
    Byte *data_;
    std::size_t vertices_;

public:
    StatusMatrix(Byte *data, std::size_t vertices) : data_(data), vertices_(vertices) {}

    [[nodiscard]] std::size_t vertices() const { return vertices_; }

    [[nodiscard]] EdgeStatus operator()(std::size_t a, std::size_t b) const {
        return static_cast<EdgeStatus>(data_[a * vertices_ + b]);
    }

    /// Set the status of an edge.
    void fix(std::size_t a, std::size_t b, EdgeStatus status) const {
        data_[a * vertices_ + b] = data_[b * vertices_ + a] = static_cast<Byte>(status);
    }

    operator StatusMatrix<Byte const>() const { return {data_, vertices_}; }
};

using StatusView = StatusMatrix<std::int8_t const>;
using MutableStatus = StatusMatrix<std::int8_t>;
} // namespace learnroute
