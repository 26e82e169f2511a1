#pragma once

#include "visit_problem.h"

#include <memory>
#include <vector>

namespace learnroute {
/// Several vehicles that each train their own model, or one vehicle that carries several models: see
/// `learnroute.model.fleet_objective`.
///
/// `visits` has all regions, also those that may not be visited (`repeats` 0), because any model may serve them. Its
/// budget is for the travel of all vehicles.
struct FleetProblem {
    std::shared_ptr<VisitProblem const> visits;
    std::vector<double> importance; // of each region
    Index vehicles;
    Index models; // one per vehicle, or those of the one vehicle
    bool merged;  // whether models are averaged at the end; else each region has the model that is best there
    bool equal;   // whether all trained models have the same weight in the average
    bool longest; // whether the longest route is paid for, and not the travel of all vehicles
    double limit; // the most travel of one vehicle
};
} // namespace learnroute
