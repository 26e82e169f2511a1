#include "arrays.h"
#include "bindings.h"
#include "distance.h"
#include "greedy_edge.h"
#include "kd_tree.h"

#include <cstdint>

namespace learnroute {
using namespace nb::literals;

namespace {
std::vector<KdTree::Place> places_of(MatrixView<double> table) {
    std::vector<KdTree::Place> places;
    places.reserve(table.rows());
    for (std::size_t i = 0; i < table.rows(); ++i)
        places.push_back({table(i, 0), table(i, 1), table(i, 2)});
    return places;
}

/// Convert lists of `count` indices each to a matrix; `count` may be 0.
OwnedMatrix<std::int64_t> to_numpy_lists(std::vector<std::int64_t> &&lists, std::size_t rows, std::size_t count) {
    return count > 0 ? to_numpy(std::move(lists), count) : OwnedMatrix<std::int64_t>(nullptr, {rows, 0});
}
} // namespace

void bind_construction(nb::module_ &m) {
    nb::class_<KdTree>(m, "KdTree", "A k-d tree of places in three dimensions (Bentley 1975).")
        .def(nb::new_([](FloatMatrix const &places) {
                 return without_gil([&] { return KdTree(places_of(matrix_of(places))); });
             }),
             "places"_a.noconvert())
        .def(
            "nearest",
            [](KdTree const &tree, std::size_t count) {
                auto const lists = without_gil([&] { return tree.nearest(count); });
                return to_numpy_lists({lists.begin(), lists.end()}, tree.items().size(), count);
            },
            "count"_a, "The `count` nearest other places of each place, nearest first. Ties are broken by number.")
        .def(
            "spanning_edges",
            [](KdTree const &tree) {
                std::vector<std::int64_t> ends;
                for (auto const &[one, two] : without_gil([&] { return tree.spanning_edges(); }))
                    ends.insert(ends.end(), {one, two});
                return to_numpy(std::move(ends), 2);
            },
            "The edges of a minimum spanning tree, one per row. Ties are broken by number.");
    m.def(
        "lengths",
        [](FloatMatrix const &places, double unit, bool globe, IntVector const &origins, IntVector const &goals) {
            Places const ground{matrix_of(places), unit, globe};
            std::vector<double> found(origins.size());
            without_gil([&] {
                for (std::size_t k = 0; k < found.size(); ++k)
                    found[k] = ground.length(origins.data()[k], goals.data()[k]);
            });
            return to_numpy(std::move(found));
        },
        "places"_a.noconvert(), "unit"_a, "globe"_a, "origins"_a, "goals"_a,
        "The travel cost from each origin to its goal.");
    nb::class_<GreedyPaths>(m, "GreedyPaths", "The paths of the greedy edge heuristic (Bentley 1992).")
        .def(nb::init<std::size_t>(), "size"_a)
        .def(
            "join",
            [](GreedyPaths &paths, IntVector const &one, IntVector const &two) {
                return without_gil([&] { return paths.join(span_of(one), span_of(two)); });
            },
            "one"_a.noconvert(), "two"_a.noconvert(),
            "Join paths along these edges, in order, if they connect two path ends; return the number of joins.")
        .def(
            "ends", [](GreedyPaths const &paths) { return to_numpy_indices(paths.ends()); }, "The ends of all paths.")
        .def(
            "path", [](GreedyPaths const &paths) { return to_numpy_indices(paths.path()); },
            "The regions along the path that has the first end.");
    m.def(
        "nearest_among",
        [](FloatMatrix const &travel, IntVector const &regions, std::size_t count) {
            auto lists = without_gil([&] { return nearest_among(matrix_of(travel), span_of(regions), count); });
            return to_numpy_lists(std::move(lists), regions.size(), count);
        },
        "travel"_a.noconvert(), "regions"_a.noconvert(), "count"_a,
        "The nearest others among these regions, for each of them, as indices into `regions`.");
}
} // namespace learnroute
