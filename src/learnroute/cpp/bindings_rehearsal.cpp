#include "arrays.h"
#include "bindings.h"
#include "rehearsal_search.h"

#include <nanobind/stl/shared_ptr.h>

namespace learnroute {
using namespace nb::literals;

void bind_rehearsal(nb::module_ &m) {
    nb::class_<Rehearsal>(m, "Rehearsal", "Trainings of a linear learner on samples that were dealt several times.")
        .def(
            "__init__",
            [](Rehearsal *self, std::size_t regions, std::size_t positions, std::size_t draws, FloatVector const &maps,
               FloatVector const &constants, FloatVector const &start, FloatVector const &root, FloatVector const &aims,
               FloatVector const &rest) {
                auto const copy = [](FloatVector const &array) {
                    return std::vector<double>(array.data(), array.data() + array.size());
                };
                new (self) Rehearsal(regions, positions, draws, copy(maps), copy(constants), copy(start), copy(root),
                                     copy(aims), copy(rest));
            },
            "regions"_a, "positions"_a, "draws"_a, "maps"_a, "constants"_a, "start"_a, "root"_a, "aims"_a, "rest"_a,
            "Arrays are flat, the draw being the last index: maps by position, region, row and column; constants by "
            "position, region and row; the first model; and the test error |R·w - z|² + r.")
        .def(
            "errors",
            [](Rehearsal const &self, IntVector const &visits) {
                return to_numpy(self.errors_after(indices_of(visits)));
            },
            "visits"_a, "Return the test error of each draw after a sequence of visits.")
        .def(
            "models",
            [](Rehearsal const &self, IntVector const &visits) {
                return to_numpy(self.models_after(indices_of(visits)), self.draws());
            },
            "visits"_a, "Return the models after a sequence of visits, one column per draw.");
    nb::class_<RehearsalSearch>(m, "RehearsalSearch", "Simulated annealing of a sequence that is priced by rehearsal.")
        .def(nb::init<std::shared_ptr<Rehearsal const>, std::shared_ptr<VisitProblem const>, std::uint64_t>(),
             "rehearsal"_a, "problem"_a, "seed"_a)
        .def(
            "start", [](RehearsalSearch &self, IntVector const &visits) { self.start(indices_of(visits)); }, "visits"_a,
            "Start from a sequence that keeps the rules.")
        .def("run", &RehearsalSearch::run, "moves"_a, "temperature"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Look at so many random moves.")
        .def_prop_ro(
            "best", [](RehearsalSearch const &self) { return to_numpy_indices(self.best()); }, nb::rv_policy::automatic,
            "The best sequence since the start.")
        .def_prop_ro("best_value", &RehearsalSearch::best_value, "Its value.")
        .def_prop_ro("typical_loss", &RehearsalSearch::typical_loss,
                     "The median of what moves of the last run cost that made the sequence worse.");
}
} // namespace learnroute
