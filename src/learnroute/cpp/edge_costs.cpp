#include "edge_costs.h"

#include <limits>
#include <numbers>
#include <utility>

namespace learnroute {
namespace {
double norm(double x, double y, double z) {
    return std::sqrt(x * x + y * y + z * z);
}
} // namespace

EdgeCosts::EdgeCosts(MatrixView<double> matrix, bool directed)
    : kind_(directed ? Kind::Directed : Kind::Matrix), regions_(static_cast<Index>(matrix.rows()) - 2),
      matrix_(matrix) {}

EdgeCosts::EdgeCosts(std::vector<Place> places, double unit, bool globe)
    : kind_(globe ? Kind::Globe : Kind::Plane), regions_(static_cast<Index>(places.size())), places_(std::move(places)),
      unit_(unit) {}

double EdgeCosts::directed(Index a, Index b) const {
    if (a > b)
        std::swap(a, b);
    auto constexpr never = std::numeric_limits<double>::infinity();
    if (a < regions_)
        return b >= regions_ ? matrix_(b - regions_, a) : never;
    return b == 2 * regions_ + 1 ? matrix_(a - regions_, regions_) : never;
}

double EdgeCosts::between_places(Index a, Index b) const {
    if (a > b)
        std::swap(a, b);
    if (a >= regions_)
        return 0.0;
    auto const &one = places_[a];
    if (b >= regions_)
        return b == regions_ ? one.to_start : one.to_end;
    auto const &two = places_[b];
    auto constexpr longest_chord = 1.4; // up to which the arcsine of half of it has all its digits
    auto const chord = norm(one.x - two.x, one.y - two.y, one.z - two.z);
    if (chord < longest_chord)
        return unit_ * 2.0 * std::asin(0.5 * chord);
    auto const from_antipode = norm(one.x + two.x, one.y + two.y, one.z + two.z);
    return unit_ * (std::numbers::pi - 2.0 * std::asin(0.5 * from_antipode));
}
} // namespace learnroute
