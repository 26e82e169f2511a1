#include "arrays.h"
#include "bindings.h"
#include "blossom.h"
#include "pricing.h"

namespace learnroute {
using namespace nb::literals;

void bind_matching(nb::module_ &m) {
    using Matching = MinimumWeightMatching;
    nb::class_<Matching>(m, "MinimumWeightMatching",
                         "Minimum-weight perfect matching on a sparse graph with even integer weights (Edmonds 1965).")
        .def(
            "__init__",
            [](Matching *self, Index size, IntVector const &source, IntVector const &target, IntVector const &weight) {
                nb::gil_scoped_release release;
                std::vector<Matching::Arc> arcs(source.size());
                for (std::size_t k = 0; k < arcs.size(); ++k)
                    arcs[k] = {static_cast<Index>(source(k)), static_cast<Index>(target(k)), weight(k)};
                new (self) Matching(size, std::move(arcs));
            },
            "size"_a, "source"_a.noconvert(), "target"_a.noconvert(), "weight"_a.noconvert(),
            "Start with a greedy matching. Each edge is given once per direction, sorted by source.")
        .def("match_next", &Matching::match_next, "first"_a, "most"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Search from up to `most` unmatched vertices, starting at `first`; return the vertex to continue from: "
             "the number of vertices if all are matched, -1 if there is no perfect matching.")
        .def(
            "dual_solution",
            [](Matching const &self) {
                auto found = without_gil([&] { return self.dual_solution(); });
                nb::list sets;
                for (auto const &set : found.sets)
                    sets.append(nb::make_tuple(to_numpy_indices(set.members), set.lift));
                return nb::make_tuple(to_numpy(std::move(found.duals)), sets);
            },
            nb::sig("def dual_solution(self) -> tuple[numpy.typing.NDArray[numpy.int64], "
                    "list[tuple[numpy.typing.NDArray[numpy.int64], int]]]"),
            "Return the dual value of each vertex, and the odd sets with a positive dual value, with these values.")
        .def(
            "unfold",
            [](Matching &self) {
                auto mates = without_gil([&] { return self.unfold(); });
                return to_numpy_indices(mates);
            },
            "Return each vertex's mate, or -1 if it has none. This removes the dual solution.");

    nb::class_<Pricing>(m, "Pricing", "Edges of a complete graph with negative reduced cost (Cook and Rohe 1999).")
        .def(nb::init<Matching const &>(), "matching"_a)
        .def(
            "negative_pairs",
            [](Pricing const &self, FloatMatrix const &weights, double scale, std::size_t first, std::size_t last,
               std::size_t most) {
                auto found =
                    without_gil([&] { return self.negative_pairs(matrix_of(weights), scale, first, last, most); });
                return to_numpy(std::move(found), 2);
            },
            "weights"_a.noconvert(), "scale"_a, "first"_a, "last"_a, "most"_a,
            "Return pairs (i, j), i < j, i from `first` to `last` - 1, at most `most` per i; empty only if there are "
            "none.")
        .def(
            "negative_pairs_of_places",
            [](Pricing const &self, FloatMatrix const &places, double unit, bool round, double scale, std::size_t first,
               std::size_t last, std::size_t most) {
                auto found = without_gil(
                    [&] { return self.negative_pairs({matrix_of(places), unit, round}, scale, first, last, most); });
                return to_numpy(std::move(found), 2);
            },
            "places"_a.noconvert(), "unit"_a, "round"_a, "scale"_a, "first"_a, "last"_a, "most"_a,
            "Return the same if weights are distances.");
}
} // namespace learnroute
