#include "alpha_nearness.h"
#include "arrays.h"
#include "bindings.h"
#include "candidate_lists.h"

namespace learnroute {
using namespace nb::literals;

void bind_candidates(nb::module_ &m) {
    using Lists = nb::ndarray<std::int64_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
    m.def(
        "insert_quadrant_neighbours",
        [](KdTree const &tree, Lists const &lists) {
            nb::gil_scoped_release release;
            insert_quadrant_neighbours(tree, {lists.data(), lists.size()}, lists.shape(1));
        },
        "tree"_a, "lists"_a.noconvert(),
        "Insert the two nearest places of each quadrant into lists of nearest places, in place of the farthest ones.");
    m.def(
        "relative_neighbours",
        [](FloatMatrix const &travel, std::size_t most, std::size_t first, std::size_t last) {
            auto lists = without_gil([&] { return relative_neighbours(matrix_of(travel), most, first, last); });
            return to_numpy(std::move(lists), most);
        },
        "travel"_a.noconvert(), "most"_a, "first"_a, "last"_a,
        "Return candidate lists of the regions `first` to `last` - 1: relative neighbours, then the nearest regions.");

    nb::class_<AlphaNearness>(m, "AlphaNearness", "α-nearness on a sparse graph (Helsgaun 2000).")
        .def(
            "__init__",
            [](AlphaNearness *self, IntVector const &start, IntVector const &target, FloatVector const &cost,
               double first_step) {
                nb::gil_scoped_release release;
                SparseGraph graph{indices_of(start), indices_of(target), vector_of(cost)};
                new (self) AlphaNearness(std::move(graph), first_step);
            },
            "start"_a.noconvert(), "target"_a.noconvert(), "cost"_a.noconvert(), "first_step"_a,
            "The edges of vertex v are start[v] … start[v + 1] - 1, each edge once per direction.")
        .def("ascend", &AlphaNearness::ascend, "steps"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Raise the 1-tree bound by at most `steps` subgradient steps; return whether the ascent has ended.")
        .def_prop_ro("bound", &AlphaNearness::bound, "The best bound found.")
        .def_prop_ro(
            "multipliers", [](AlphaNearness const &self) { return to_numpy_copy(self.multipliers()); },
            nb::rv_policy::move, "The multipliers of the best bound.")
        .def(
            "candidate_lists",
            [](AlphaNearness &self, FloatVector const &multipliers, std::size_t most) {
                auto lists = without_gil([&] { return self.candidate_lists(span_of(multipliers), most); });
                return to_numpy(std::move(lists), most);
            },
            "multipliers"_a.noconvert(), "most"_a,
            "Return, for each vertex, the `most` vertices with the lowest α-values at these multipliers.");
}
} // namespace learnroute
