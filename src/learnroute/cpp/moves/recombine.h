#pragma once

#include "route_move.h"

#include <vector>

namespace learnroute {
/// Concatenation of all routes, cut at three random edges, most often long ones; the parts are reversed and swapped.
/// This may merge and split routes.
class Recombine final : public RouteMove {
    Instance const *instance_;
    std::vector<Visit> joined_;   // all routes, with a separator between two
    std::vector<Index> vehicles_; // of these routes; only the first of consecutive unused ones
    std::vector<double> lengths_; // cumulative travel up to each place
    double longest_ = 0.0;        // the longest edge

    void join(Routes const &routes);
    void measure(Index begin, Index end);
    Index draw_cut(Rng &rng) const;

public:
    explicit Recombine(Instance const &instance) : instance_(&instance) {}

    [[nodiscard]] double weight() const override { return 0.2; }
    bool apply(Routes &routes, VisitPlaces const &places, Rng &rng) override;
};
} // namespace learnroute
