#include "arrays.h"
#include "bindings.h"
#include "rehearsal_search.h"
#include "route_rows.h"

#include <nanobind/stl/shared_ptr.h>

namespace learnroute {
using namespace nb::literals;

void bind_rehearsal(nb::module_ &m) {
    nb::class_<Rehearsal>(m, "Rehearsal", "Training of a linear learner on several random divisions of the samples.")
        .def(
            "__init__",
            [](Rehearsal *self, std::size_t batches, std::size_t positions, std::size_t draws, FloatVector const &maps,
               FloatVector const &constants, FloatVector const &start, FloatVector const &roots,
               FloatVector const &aims, FloatVector const &rests) {
                new (self) Rehearsal(batches, positions, draws, vector_of(maps), vector_of(constants), vector_of(start),
                                     vector_of(roots), vector_of(aims), vector_of(rests));
            },
            "batches"_a, "positions"_a, "draws"_a, "maps"_a, "constants"_a, "start"_a, "roots"_a, "aims"_a, "rests"_a,
            "Arrays are flat; the draw is the last index. Maps are by position, batch, row and column, constants by "
            "position, batch and row. The test error is the sum of |R·w - z|² + r over tests.")
        .def(
            "errors",
            [](Rehearsal const &self, IntVector const &batches) {
                return to_numpy(self.errors_after(indices_of(batches)));
            },
            "batches"_a, "Return the test error of each draw after a sequence of batches.")
        .def(
            "models",
            [](Rehearsal const &self, IntVector const &batches) {
                return to_numpy(self.models_after(indices_of(batches)), self.draws());
            },
            "batches"_a, "Return the models after a sequence of batches, one column per draw.");
    nb::class_<RehearsalSearch>(m, "RehearsalSearch", "Simulated annealing of routes that are evaluated by rehearsal.")
        .def(nb::init<std::shared_ptr<Rehearsal const>, std::shared_ptr<Instance const>, Index, std::uint64_t>(),
             "rehearsal"_a, "instance"_a, "batches_per_region"_a, "seed"_a,
             "Batch k·b + v is for visit number v to region k. If models are averaged, the rehearsal has one test of "
             "all regions, otherwise one per region.")
        .def(
            "start",
            [](RehearsalSearch &self, Rows const &regions, Rows const &models) {
                self.start(from_rows(regions, models));
            },
            "regions"_a, "models"_a, "Start from feasible routes.")
        .def("run", &RehearsalSearch::run, "moves"_a, "temperature"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Try `moves` random moves.")
        .def_prop_ro(
            "best", [](RehearsalSearch const &self) { return to_rows(self.best()); }, nb::rv_policy::automatic,
            "The regions and the models of the best routes since the start.")
        .def_prop_ro("best_value", &RehearsalSearch::best_value, "Their value.")
        .def_prop_ro("typical_loss", &RehearsalSearch::typical_loss,
                     "The median cost increase of the last run's moves that made the routes worse.");
}
} // namespace learnroute
