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
            "Match greedily. Each edge is given once in each direction, sorted by source.")
        .def("match_next", &Matching::match_next, "first"_a, "most"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Search from up to `most` unmatched vertices, `first` on; return where to go on: the number of vertices "
             "when done, -1 if there is no perfect matching.")
        .def(
            "dual_solution",
            [](Matching const &self) {
                auto found = released([&] { return self.dual_solution(); });
                nb::list sets;
                for (auto const &set : found.sets)
                    sets.append(nb::make_tuple(to_numpy_indices(set.members), set.lift));
                return nb::make_tuple(to_numpy(std::move(found.duals)), sets);
            },
            nb::sig("def dual_solution(self) -> tuple[numpy.typing.NDArray[numpy.int64], "
                    "list[tuple[numpy.typing.NDArray[numpy.int64], int]]]"),
            "Return each vertex's own dual value, and the odd sets of positive value with theirs.")
        .def(
            "unfold",
            [](Matching &self) {
                auto mates = released([&] { return self.unfold(); });
                return to_numpy_indices(mates);
            },
            "Return each vertex's mate, -1 if it has none. The dual solution is gone afterwards.");

    nb::class_<Pricing>(m, "Pricing", "Edges of a complete graph with negative reduced cost (Cook and Rohe 1999).")
        .def(nb::init<Matching const &>(), "matching"_a)
        .def(
            "negative_pairs",
            [](Pricing const &self, FloatMatrix const &weights, double scale, std::size_t first, std::size_t last,
               std::size_t most) {
                auto found =
                    released([&] { return self.negative_pairs(matrix_of(weights), scale, first, last, most); });
                return to_numpy(std::move(found), 2);
            },
            "weights"_a.noconvert(), "scale"_a, "first"_a, "last"_a, "most"_a,
            "Return pairs (i, j), i < j, i from `first` to `last` - 1, at most `most` per i; none only if there are "
            "none.")
        .def(
            "negative_pairs_of_places",
            [](Pricing const &self, FloatMatrix const &places, double unit, bool round, double scale, std::size_t first,
               std::size_t last, std::size_t most) {
                auto found = released(
                    [&] { return self.negative_pairs({matrix_of(places), unit, round}, scale, first, last, most); });
                return to_numpy(std::move(found), 2);
            },
            "places"_a.noconvert(), "unit"_a, "round"_a, "scale"_a, "first"_a, "last"_a, "most"_a,
            "Do the same where weights are distances.");
}
} // namespace learnroute
