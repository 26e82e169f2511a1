#pragma once

#include "visit_problem.h"

#include <memory>
#include <vector>

namespace learnroute {
/// A fleet problem: several vehicles with one model each, or one vehicle with several models (see
/// `learnroute.model.fleet_objective`).
///
/// `visits` includes regions that may not be visited (`repeats` 0), because any model may serve them. Its budget
/// limits the total travel of all vehicles.
struct FleetProblem {
    std::shared_ptr<VisitProblem const> visits;
    std::vector<double> importance; // by region
    Index vehicles;
    Index models; // one per vehicle, or all models of the only vehicle
    bool merged;  // whether models are averaged at the end; otherwise the best model serves each region
    bool equal;   // whether all trained models have the same weight in the average
    bool longest; // whether the longest route is paid for instead of the travel of all vehicles
    double limit; // maximum travel per vehicle
};
} // namespace learnroute
