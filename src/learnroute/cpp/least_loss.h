#pragma once

#include "instance.h"
#include "routes.h"

#include <memory>
#include <vector>

namespace learnroute {
/// A lower bound on the cost increase of a change, from the travel and the unchanged visits at the end of a route.
///
/// The effect of earlier visits decreases with each of the last ones (`learnroute.model.law`), and is bounded by the
/// range of the dissimilarities. There is a bound only if one vehicle trains one model.
class LeastLoss {
    std::shared_ptr<Instance const> instance_;
    std::vector<double> sway_; // maximum influence of earlier visits on the error, by the number of visits that follow

public:
    explicit LeastLoss(std::shared_ptr<Instance const> instance);

    /// Return the bound for two routes with the same number of visits.
    [[nodiscard]] double operator()(Routes const &before, Routes const &after) const;
};
} // namespace learnroute
