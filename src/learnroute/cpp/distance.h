#pragma once

#include "matrix_view.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace learnroute {
/// Places that somebody else owns, one row (x, y, z) each, and what ways between them cost: in the plane (or in space)
/// straight lines, on the globe great circles of the unit sphere.
struct Places {
    MatrixView<double> coordinates;
    double unit = 1.0;  // cost per unit of distance
    bool round = false; // on the globe

    [[nodiscard]] std::size_t size() const { return coordinates.rows(); }

    /// The squared straight distance, which orders places like their distance.
    [[nodiscard]] double square(std::size_t i, std::size_t j) const {
        auto const x = coordinates(i, 0) - coordinates(j, 0);
        auto const y = coordinates(i, 1) - coordinates(j, 1);
        auto const z = coordinates(i, 2) - coordinates(j, 2);
        return x * x + y * y + z * z;
    }

    /// What it costs to go from one place to another.
    [[nodiscard]] double length(std::size_t i, std::size_t j) const {
        auto const straight = std::sqrt(square(i, j));
        if (!round)
            return unit * straight;
        if (straight < 1.4) // up to about here, an arcsine of half the chord has all its digits
            return unit * 2.0 * std::asin(0.5 * straight);
        auto const x = coordinates(i, 0) + coordinates(j, 0); // beyond, that of the chord to the antipode has
        auto const y = coordinates(i, 1) + coordinates(j, 1);
        auto const z = coordinates(i, 2) + coordinates(j, 2);
        return unit * (std::numbers::pi - 2.0 * std::asin(0.5 * std::sqrt(x * x + y * y + z * z)));
    }
};
} // namespace learnroute
