#pragma once

#include "matrix_view.h"

#include <cmath>
#include <cstddef>
#include <numbers>

namespace learnroute {
struct Place {
    double x, y, z;
};

/// Return the angle between two places on the unit sphere.
inline double great_circle(Place const &one, Place const &two) {
    auto const norm = [](double x, double y, double z) { return std::sqrt(x * x + y * y + z * z); };
    auto const chord = norm(one.x - two.x, one.y - two.y, one.z - two.z);
    if (chord < 1.4) // up to about this length, the arcsine of half the chord is accurate
        return 2.0 * std::asin(0.5 * chord);
    // for longer chords, the arcsine of half the chord to the antipode is accurate
    return std::numbers::pi - 2.0 * std::asin(0.5 * norm(one.x + two.x, one.y + two.y, one.z + two.z));
}

/// A view of places, one row (x, y, z) per place, with their distances: straight lines in the plane (or in space),
/// great circles of the unit sphere on the globe.
struct Places {
    MatrixView<double> coordinates;
    double unit = 1.0;  // cost per unit of distance
    bool round = false; // on the globe

    [[nodiscard]] std::size_t size() const { return coordinates.rows(); }
    [[nodiscard]] Place operator[](std::size_t i) const {
        return {coordinates(i, 0), coordinates(i, 1), coordinates(i, 2)};
    }

    /// Return the squared straight-line distance, which orders places in the same way as their distance.
    [[nodiscard]] double square(std::size_t i, std::size_t j) const {
        auto const x = coordinates(i, 0) - coordinates(j, 0);
        auto const y = coordinates(i, 1) - coordinates(j, 1);
        auto const z = coordinates(i, 2) - coordinates(j, 2);
        return x * x + y * y + z * z;
    }

    /// Return the cost of travel from one place to another.
    [[nodiscard]] double length(std::size_t i, std::size_t j) const {
        return unit * (round ? great_circle((*this)[i], (*this)[j]) : std::sqrt(square(i, j)));
    }
};
} // namespace learnroute
