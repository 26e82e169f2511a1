#pragma once

#include "distance.h"
#include "huge_pages.h"
#include "layout.h"

#include <cmath>
#include <span>
#include <utility>
#include <variant>
#include <vector>

namespace learnroute {
using LargeArray = std::vector<double, HugePages<double>>;

/// Costs in a symmetric matrix of all vertices.
struct MatrixCosts {
    LargeArray matrix;
    std::size_t size = 0;

    double operator()(Index a, Index b) const { return matrix[static_cast<std::size_t>(a) * size + b]; }
};

/// Asymmetric travel costs between exit vertices and entry vertices.
struct DirectedCosts {
    LargeArray matrix; // from regions and `start`, to regions and `end`
    Index regions = 0;

    double operator()(Index a, Index b) const;
};

/// Places in the plane, and the costs of beginning and ending at each.
struct PlaneCosts {
    struct Point {
        double x, y;
    };
    std::vector<Point> places;
    std::vector<double> ends; // of all regions: from `start`, then to `end`
    double unit = 1.0;        // cost per unit of distance

    double operator()(Index a, Index b) const {
        auto const regions = static_cast<Index>(places.size());
        if (a >= regions || b >= regions)
            return end_cost(a, b);
        auto const x = places[a].x - places[b].x;
        auto const y = places[a].y - places[b].y;
        return unit * std::sqrt(x * x + y * y);
    }

private:
    [[nodiscard]] double end_cost(Index a, Index b) const;
};

/// Places on the unit sphere with great-circle distances, and the costs of beginning and ending at each.
struct GlobeCosts {
    std::vector<Place> places;
    std::vector<double> ends; // of all regions: from `start`, then to `end`
    double unit = 1.0;        // cost per radian

    double operator()(Index a, Index b) const;
};

/// The costs of the edges between the vertices of a `Layout`.
///
/// Loops over many edges are compiled for each kind of costs and select it only once, with `visit`.
class Costs {
public:
    using Kind = std::variant<MatrixCosts, DirectedCosts, PlaneCosts, GlobeCosts>;

private:
    Layout layout_;
    Kind kind_;

public:
    /// Create costs from a travel matrix, with regions renumbered along an order, and the costs of beginning and ending
    /// at each of them.
    static Costs from_matrix(MatrixView<double> travel, std::span<std::int64_t const> order,
                             std::span<double const> begin, std::span<double const> finish, bool directed,
                             bool has_ends);
    /// Create costs from places with three coordinates: in the plane (the third is 0), or on the unit sphere.
    static Costs from_places(MatrixView<double> places, double unit, bool globe, std::span<double const> begin,
                             std::span<double const> finish, bool has_ends);

    Costs(Layout layout, Kind kind) : layout_(layout), kind_(std::move(kind)) {}

    [[nodiscard]] Layout const &layout() const { return layout_; }
    template <typename Use> decltype(auto) visit(Use &&use) const { return std::visit(std::forward<Use>(use), kind_); }
    double operator()(Index a, Index b) const {
        return visit([=](auto const &cost) { return cost(a, b); });
    }
};
} // namespace learnroute
