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
                 return released([&] { return KdTree(places_of(matrix_of(places))); });
             }),
             "places"_a.noconvert())
        .def(
            "nearest",
            [](KdTree const &tree, std::size_t count) {
                auto const lists = released([&] { return tree.nearest(count); });
                return to_numpy_lists({lists.begin(), lists.end()}, tree.items().size(), count);
            },
            "count"_a, "For each place its nearest others, nearest first; ties by number. There must be that many.")
        .def(
            "spanning_edges",
            [](KdTree const &tree) {
                std::vector<std::int64_t> ends;
                for (auto const &[one, two] : released([&] { return tree.spanning_edges(); }))
                    ends.insert(ends.end(), {one, two});
                return to_numpy(std::move(ends), 2);
            },
            "The edges of a minimum spanning tree, one row each; ties by number.");
    m.def(
        "lengths",
        [](FloatMatrix const &places, double unit, bool globe, IntVector const &origins, IntVector const &goals) {
            Places const ground{matrix_of(places), unit, globe};
            std::vector<double> found(origins.size());
            released([&] {
                for (std::size_t k = 0; k < found.size(); ++k)
                    found[k] = ground.length(origins.data()[k], goals.data()[k]);
            });
            return to_numpy(std::move(found));
        },
        "places"_a.noconvert(), "unit"_a, "globe"_a, "origins"_a, "goals"_a,
        "What it costs to go from each origin to its goal.");
    nb::class_<GreedyPaths>(m, "GreedyPaths", "Paths that greedy edges join (Bentley 1992).")
        .def(nb::init<std::size_t>(), "size"_a)
        .def(
            "join",
            [](GreedyPaths &paths, IntVector const &one, IntVector const &two) {
                return released([&] { return paths.join(span_of(one), span_of(two)); });
            },
            "one"_a.noconvert(), "two"_a.noconvert(),
            "Join paths along these edges, in their order, where both ends are free; return how many were joined.")
        .def(
            "ends", [](GreedyPaths const &paths) { return to_numpy_indices(paths.ends()); }, "The ends of all paths.")
        .def(
            "path", [](GreedyPaths const &paths) { return to_numpy_indices(paths.path()); },
            "The regions along the path that the first end belongs to.");
    m.def(
        "nearest_among",
        [](FloatMatrix const &travel, IntVector const &regions, std::size_t count) {
            auto lists = released([&] { return nearest_among(matrix_of(travel), span_of(regions), count); });
            return to_numpy_lists(std::move(lists), regions.size(), count);
        },
        "travel"_a.noconvert(), "regions"_a.noconvert(), "count"_a,
        "For each of these regions the nearest others of them, as places in their list.");
}
} // namespace learnroute
