#include "costs.h"

namespace learnroute {
namespace {
double cost_of_end(std::vector<double> const &ends, std::size_t regions, Index a, Index b) {
    if (a > b)
        std::swap(a, b);
    auto const side = static_cast<std::size_t>(b) - regions; // 0: `start`, 1: `end`
    return static_cast<std::size_t>(a) < regions ? ends[side * regions + a] : 0.0;
}

std::vector<double> both_ends(std::span<double const> begin, std::span<double const> finish) {
    std::vector<double> ends(begin.begin(), begin.end());
    ends.insert(ends.end(), finish.begin(), finish.end());
    return ends;
}
} // namespace

double DirectedCosts::operator()(Index a, Index b) const {
    if (a > b)
        std::swap(a, b);
    auto const columns = static_cast<std::size_t>(regions) + 1;
    if (a < regions) // travel to a, from b or from `start`; there is none from `end`
        return b >= regions && b <= 2 * regions ? matrix[(b - regions) * columns + a] : inf;
    return b == 2 * regions + 1 ? matrix[(a - regions) * columns + regions] : inf;
}

double PlaneCosts::end_cost(Index a, Index b) const {
    return cost_of_end(ends, places.size(), a, b);
}

double GlobeCosts::operator()(Index a, Index b) const {
    auto const regions = static_cast<Index>(places.size());
    if (a >= regions || b >= regions)
        return cost_of_end(ends, places.size(), a, b);
    return unit * great_circle(places[a], places[b]);
}

Costs Costs::from_matrix(MatrixView<double> travel, std::span<std::int64_t const> order, std::span<double const> begin,
                         std::span<double const> finish, bool directed, bool has_ends) {
    auto const regions = order.size();
    auto const size = regions + (directed ? 1 : has_ends ? 2 : 0);
    LargeArray matrix(size * size, inf);
    for (std::size_t i = 0; i < regions; ++i) {
        auto const row = travel[static_cast<std::size_t>(order[i])];
        for (std::size_t j = 0; j < regions; ++j)
            matrix[i * size + j] = row[static_cast<std::size_t>(order[j])];
    }
    Layout const layout{static_cast<Index>(regions), directed, has_ends};
    if (directed) {
        for (std::size_t i = 0; i < regions; ++i) {
            matrix[regions * size + i] = begin[i];
            matrix[i * size + regions] = finish[i];
        }
        return {layout, DirectedCosts{std::move(matrix), static_cast<Index>(regions)}};
    }
    if (has_ends) {
        for (std::size_t i = 0; i < regions; ++i) {
            matrix[i * size + regions] = matrix[regions * size + i] = begin[i];
            matrix[i * size + regions + 1] = matrix[(regions + 1) * size + i] = finish[i];
        }
        matrix[regions * size + regions + 1] = matrix[(regions + 1) * size + regions] = 0.0;
    }
    return {layout, MatrixCosts{std::move(matrix), size}};
}

Costs Costs::from_places(MatrixView<double> places, double unit, bool globe, std::span<double const> begin,
                         std::span<double const> finish, bool has_ends) {
    Layout const layout{static_cast<Index>(places.rows()), false, has_ends};
    auto ends = both_ends(begin, finish);
    if (globe) {
        GlobeCosts costs{{}, std::move(ends), unit};
        for (std::size_t i = 0; i < places.rows(); ++i)
            costs.places.push_back({places(i, 0), places(i, 1), places(i, 2)});
        return {layout, std::move(costs)};
    }
    PlaneCosts costs{{}, std::move(ends), unit};
    for (std::size_t i = 0; i < places.rows(); ++i)
        costs.places.push_back({places(i, 0), places(i, 1)});
    return {layout, std::move(costs)};
}
} // namespace learnroute
