#pragma once

#include "matrix_view.h"

#include <cmath>
#include <vector>

namespace learnroute {
/// What edges between the vertices of a tour cost.
///
/// Every order is a cycle of vertices with symmetric costs. Regions are the vertices 0 … T-1; `start` and `end`, the
/// last two vertices, stand between the last region and the first unless orders are cycles. Where travel differs by
/// direction, a region is left by a vertex of its own, T … 2T-1 (Jonker and Volgenant 1983).
class EdgeCosts {
public:
    /// Where a region is, and what an edge to `start` and to `end` costs.
    struct Place {
        double x, y, z;
        double to_start, to_end;
    };

private:
    enum class Kind { Matrix, Directed, Plane, Globe };

    Kind kind_;
    Index regions_;
    MatrixView<double> matrix_;
    std::vector<Place> places_;
    double unit_ = 1.0;

    [[nodiscard]] double directed(Index a, Index b) const;
    [[nodiscard]] double between_places(Index a, Index b) const;

public:
    /// Costs by a matrix with rows and columns for the regions, then for `start` and `end`. Where it is directed,
    /// column T has what it costs to end at a region. The matrix is not copied.
    EdgeCosts(MatrixView<double> matrix, bool directed);

    /// Costs by straight distances in the plane, or along great circles of a unit sphere, times `unit`.
    EdgeCosts(std::vector<Place> places, double unit, bool globe);

    [[nodiscard]] Index regions() const { return regions_; }

    [[nodiscard]] double operator()(Index a, Index b) const {
        if (kind_ == Kind::Matrix)
            return matrix_(a, b);
        if (kind_ == Kind::Plane && a < regions_ && b < regions_) {
            auto const x = places_[a].x - places_[b].x;
            auto const y = places_[a].y - places_[b].y;
            return unit_ * std::sqrt(x * x + y * y);
        }
        return kind_ == Kind::Directed ? directed(a, b) : between_places(a, b);
    }
};
} // namespace learnroute
