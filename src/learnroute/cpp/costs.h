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

/// A symmetric matrix of all vertices.
struct MatrixCosts {
    LargeArray matrix;
    std::size_t size = 0;

    double operator()(Index a, Index b) const { return matrix[static_cast<std::size_t>(a) * size + b]; }
};

/// Travel that differs by direction, between vertices to leave by and vertices to enter by.
struct DirectedCosts {
    LargeArray matrix; // from regions and `start`, to regions and `end`
    Index regions = 0;

    double operator()(Index a, Index b) const;
};

/// Places in the plane, and what it costs to begin and to end at each.
struct PlaneCosts {
    struct Point {
        double x, y;
    };
    std::vector<Point> places;
    std::vector<double> ends; // of all regions: from `start`, then to `end`
    double unit = 1.0;        // what a unit of distance costs

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

/// Places on the unit sphere with great-circle distances, and what it costs to begin and to end at each.
struct GlobeCosts {
    std::vector<Place> places;
    std::vector<double> ends; // of all regions: from `start`, then to `end`
    double unit = 1.0;        // what a radian costs

    double operator()(Index a, Index b) const;
};

/// What the edge between two vertices of a `Layout` costs.
///
/// Loops over many edges take the kind of costs once, by `visit`, and are compiled for each kind.
class Costs {
public:
    using Kind = std::variant<MatrixCosts, DirectedCosts, PlaneCosts, GlobeCosts>;

private:
    Layout layout_;
    Kind kind_;

public:
    /// Travel costs of regions, renumbered along an order; and what it costs to begin and to end at each of these.
    static Costs from_matrix(MatrixView<double> travel, std::span<std::int64_t const> order,
                             std::span<double const> begin, std::span<double const> finish, bool directed,
                             bool has_ends);
    /// Places in three dimensions: in the plane (the third is 0), or on the unit sphere.
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
