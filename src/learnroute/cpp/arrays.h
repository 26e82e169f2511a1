#pragma once

// Views of arrays that Python passes in, and arrays returned to Python, both without copying.

#include "matrix_view.h"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace learnroute {
namespace nb = nanobind;

using FloatVector = nb::ndarray<double const, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using IntVector = nb::ndarray<std::int64_t const, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using BoolVector = nb::ndarray<bool const, nb::numpy, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using FloatMatrix = nb::ndarray<double const, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using IntMatrix = nb::ndarray<std::int64_t const, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using BoolMatrix = nb::ndarray<bool const, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// The type of the entries of an array.
template <typename Array> using Item = std::remove_const_t<typename Array::Scalar>;

template <typename Array> auto span_of(Array const &array) {
    return std::span{array.data(), array.size()};
}

template <typename Array> auto matrix_of(Array const &array) {
    return MatrixView<Item<Array>>{array.data(), array.shape(0), array.shape(1)};
}

template <typename Array> auto vector_of(Array const &array) {
    return std::vector<Item<Array>>(array.data(), array.data() + array.size());
}

/// Convert indices from Python (int64) to those of the core (int32).
inline std::vector<Index> indices_of(std::span<std::int64_t const> given) {
    return {given.begin(), given.end()};
}

inline std::vector<Index> indices_of(IntVector const &array) {
    return indices_of(span_of(array));
}

template <typename T> using OwnedVector = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <typename T> using OwnedMatrix = nb::ndarray<nb::numpy, T, nb::ndim<2>>;

/// Move a vector to the heap, with a Python capsule that deletes it.
template <typename T> std::pair<std::vector<T> *, nb::capsule> in_capsule(std::vector<T> &&values) {
    auto owned = std::make_unique<std::vector<T>>(std::move(values));
    nb::capsule owner(owned.get(), [](void *p) noexcept { delete static_cast<std::vector<T> *>(p); });
    return {owned.release(), owner};
}

/// Pass a vector to Python as a NumPy array without copying it.
template <typename T> OwnedVector<T> to_numpy(std::vector<T> &&values) {
    auto const [owned, owner] = in_capsule(std::move(values));
    return OwnedVector<T>(owned->data(), {owned->size()}, owner);
}

/// Pass a matrix, stored by rows, to Python without copying it.
template <typename T> OwnedMatrix<T> to_numpy(std::vector<T> &&values, std::size_t columns) {
    auto const [owned, owner] = in_capsule(std::move(values));
    return OwnedMatrix<T>(owned->data(), {owned->size() / columns, columns}, owner);
}

/// Pass a copy of numbers to Python.
inline OwnedVector<double> to_numpy_copy(std::span<double const> values) {
    return to_numpy(std::vector<double>(values.begin(), values.end()));
}

/// Convert indices of the core (int32) to a NumPy array (int64).
inline OwnedVector<std::int64_t> to_numpy_indices(std::span<Index const> values) {
    return to_numpy(std::vector<std::int64_t>(values.begin(), values.end()));
}

/// Run a function without holding the global interpreter lock.
template <typename Work> auto without_gil(Work const &work) {
    nb::gil_scoped_release release;
    return work();
}
} // namespace learnroute
