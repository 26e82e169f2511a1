#include "arrays.h"
#include "bindings.h"
#include "fleet_enumeration.h"
#include "fleet_rows.h"
#include "fleet_search.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

namespace learnroute {
using namespace nb::literals;

void bind_fleets(nb::module_ &m) {
    nb::class_<FleetProblem>(m, "FleetProblem", "Vehicles and models (`model.fleet_objective`).")
        .def(
            "__init__",
            [](FleetProblem *self, std::shared_ptr<VisitProblem const> visits, FloatVector const &importance,
               Index vehicles, Index models, bool merged, bool equal, bool longest, double limit) {
                new (self) FleetProblem{
                    std::move(visits), vector_of(importance), vehicles, models, merged, equal, longest, limit};
            },
            "visits"_a, "importance"_a, nb::kw_only(), "vehicles"_a, "models"_a, "merged"_a, "equal"_a, "longest"_a,
            "limit"_a, "`models` is their total number: one per vehicle if there are several vehicles.");
    nb::class_<FleetEnumeration>(m, "FleetEnumeration", "The best routes of a fleet, by complete enumeration.")
        .def(nb::init<std::shared_ptr<FleetProblem const>, double>(), "problem"_a, "relative"_a)
        .def("advance", &FleetEnumeration::advance, "nodes"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Process up to `nodes` more nodes; return whether all routes have been enumerated.")
        .def_prop_ro(
            "best", [](FleetEnumeration const &self) { return to_rows(self.best()); }, nb::rv_policy::automatic,
            "The regions and the models of the best routes; empty if there are no feasible ones.")
        .def_prop_ro("low", &FleetEnumeration::low, "A lower bound on all values that accounts for rounding.");
    nb::class_<FleetSearch>(m, "FleetSearch", "Ruin and recreate of the routes of a fleet, by simulated annealing.")
        .def(
            "__init__",
            [](FleetSearch *self, std::shared_ptr<FleetProblem const> problem, IntMatrix const &near, double rearranged,
               double removed, Index string, Index added, double blink, double contrary, std::uint64_t seed) {
                new (self) FleetSearch(std::move(problem), matrix_of(near),
                                       {rearranged, removed, string, added, blink, contrary}, seed);
            },
            "problem"_a, "near"_a, nb::kw_only(), "rearranged"_a, "removed"_a, "string"_a, "added"_a, "blink"_a,
            "contrary"_a, "seed"_a, "`near` lists the nearest other regions of each, nearest first.")
        .def(
            "start",
            [](FleetSearch &self, Rows const &regions, Rows const &models, std::vector<double> weights,
               std::vector<Index> served_by) {
                self.start(from_rows(regions, models), {std::move(weights), std::move(served_by)});
            },
            "regions"_a, "models"_a, "weights"_a, "served_by"_a,
            "Start from routes that begin and end at the required regions.")
        .def(
            "insert",
            [](FleetSearch &self, IntVector const &regions) {
                nb::gil_scoped_release release;
                self.insert(indices_of(regions));
            },
            "regions"_a, "Insert regions that are required or pay.")
        .def("run", &FleetSearch::run, "iterations"_a, "temperature"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Ruin and recreate `iterations` times.")
        .def_prop_ro(
            "best", [](FleetSearch const &self) { return to_rows(self.best()); }, nb::rv_policy::automatic,
            "The regions and the models of the best feasible routes since the start; empty if there were none.")
        .def_prop_ro("best_value", &FleetSearch::best_value, "Their value.")
        .def_prop_ro("typical_loss", &FleetSearch::typical_loss,
                     "The median cost increase of the last run's iterations that made the routes worse.");
}
} // namespace learnroute
