#pragma once

#include "instance.h"
#include "rng.h"
#include "routes.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace learnroute {
/// The place of a visit in the routes.
struct VisitPlace {
    Index vehicle = -1;
    Index at = -1;

    bool operator==(VisitPlace const &) const = default;
    [[nodiscard]] bool exists() const { return vehicle >= 0; }
};

/// The places of the visits that may move, and the regions near each other.
class VisitPlaces {
    Instance const *instance_;
    std::vector<Index> near_; // nearest regions, nearest first, one row per region
    std::size_t listed_;      // entries per row
    std::vector<VisitPlace> of_;
    std::vector<VisitPlace> movable_;

public:
    VisitPlaces(Instance const &instance, MatrixView<std::int64_t> near);

    /// Find the visits of other routes. Of several visits to a region, a random one is found by its region.
    void update(Routes const &routes, Rng &rng);

    /// Return the place of a visit to a region.
    [[nodiscard]] VisitPlace of(Index region) const { return of_[region]; }
    [[nodiscard]] std::vector<VisitPlace> const &movable() const { return movable_; }
    /// Return the first place of a route whose visit may move, and the place behind the last one.
    [[nodiscard]] std::pair<Index, Index> range(std::vector<Visit> const &route) const;
    /// Return the nearest other regions, nearest first.
    [[nodiscard]] std::span<Index const> near(Index region) const {
        return std::span(near_).subspan(region * listed_, listed_);
    }
    /// Draw a visit, if two may move.
    [[nodiscard]] std::optional<VisitPlace> draw(Rng &rng) const;
    /// Draw two visits to regions near each other.
    [[nodiscard]] std::optional<std::pair<VisitPlace, VisitPlace>> draw_pair(Routes const &routes, Rng &rng) const;
};
} // namespace learnroute
