#include "arrays.h"
#include "bindings.h"
#include "eax.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>

namespace learnroute {
using namespace nb::literals;

namespace {
using Tours = nb::ndarray<std::int64_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::vector<OwnedVector<std::int64_t>> ab_cycles_of(IntVector const &tour, IntVector const &other, std::uint64_t seed) {
    std::vector<Neighbours> one, two;
    link(indices_of(tour), one);
    link(indices_of(other), two);
    AbCycles cycles;
    cycles.find(one, two, RandomBits(seed));
    std::vector<OwnedVector<std::int64_t>> found;
    for (std::size_t c = 0; c < cycles.size(); ++c)
        found.push_back(to_numpy_indices(cycles[c]));
    return found;
}

std::vector<Change> changes_of(MatrixView<std::int64_t> table) {
    std::vector<Change> changes;
    auto const index = [&](std::size_t row, std::size_t column) { return static_cast<Index>(table(row, column)); };
    for (std::size_t i = 0; i < table.rows(); ++i)
        changes.push_back({index(i, 0), index(i, 1), index(i, 2), false});
    return changes;
}

OwnedMatrix<std::int64_t> to_numpy_changes(std::span<Change const> changes) {
    std::vector<std::int64_t> found;
    for (auto const &change : changes)
        found.insert(found.end(), {change.vertex, change.removed, change.added});
    return to_numpy(std::move(found), 3);
}

EdgeCounts edge_counts_of(MatrixView<std::int64_t> tours, std::span<double const> entropies) {
    EdgeCounts counts(static_cast<Index>(tours.columns()), {entropies.begin(), entropies.end()});
    for (std::size_t i = 0; i < tours.rows(); ++i)
        counts.add_tour(indices_of(tours[i]));
    return counts;
}

/// Cross pairs of tours in place, one after the other. A row of `pairs` has the indices of two tours and a seed.
std::vector<double> cross_pairs(EdgeAssembly &assembly, std::span<std::int64_t> tours, std::size_t size,
                                MatrixView<std::int64_t> pairs, std::size_t children, std::size_t batches) {
    std::vector<double> gains;
    for (std::size_t i = 0; i < pairs.rows(); ++i) {
        auto const row = tours.subspan(pairs(i, 0) * size, size);
        auto tour = indices_of(row);
        auto const other = indices_of(tours.subspan(pairs(i, 1) * size, size));
        auto const seed = static_cast<std::uint64_t>(pairs(i, 2));
        gains.push_back(assembly.cross(tour, other, children, batches, RandomBits(seed)));
        std::ranges::copy(tour, row.begin());
    }
    return gains;
}
} // namespace

void bind_crossover(nb::module_ &m) {
    nb::class_<EdgeCounts>(m, "EdgeCounts", "The number of tours of a population that contain each edge.")
        .def(nb::new_([](IntMatrix const &tours, FloatVector const &entropies) {
                 return edge_counts_of(matrix_of(tours), span_of(entropies));
             }),
             "tours"_a.noconvert(), "entropies"_a.noconvert(),
             "`entropies` has the entropy of an edge by the number of tours that contain it.")
        .def("count", &EdgeCounts::count, "v"_a, "w"_a)
        .def(
            "entropy_lost",
            [](EdgeCounts const &counts, IntMatrix const &changes) {
                return counts.entropy_lost(changes_of(matrix_of(changes)));
            },
            "changes"_a.noconvert(),
            "The decrease of the entropy if neighbours are replaced: rows of vertex, old and new neighbour.");
    nb::class_<EdgeAssembly>(m, "EdgeAssembly", "Edge assembly crossover (Nagata and Kobayashi 2013).")
        .def(nb::init<std::shared_ptr<Costs const>, ScoreTerms const *, KOptLimits, std::shared_ptr<Candidates const>,
                      std::size_t, EdgeCounts>(),
             "costs"_a, "terms"_a.none(), "limits"_a, "candidates"_a, "joining"_a, "counts"_a,
             "`counts` has the population's edges; subtours are joined along the first `joining` candidates.")
        .def(
            "cross",
            [](EdgeAssembly &assembly, Tours const &tours, IntMatrix const &pairs, std::size_t children,
               std::size_t batches) {
                auto gains = without_gil([&] {
                    return cross_pairs(assembly, {tours.data(), tours.size()}, tours.shape(1), matrix_of(pairs),
                                       children, batches);
                });
                return to_numpy(std::move(gains));
            },
            "tours"_a.noconvert(), "pairs"_a.noconvert(), "children"_a, "batches"_a,
            "Cross pairs (two tours and a seed); a better child replaces the first tour. Return the gains.")
        .def_prop_ro("counts", &EdgeAssembly::counts, nb::rv_policy::reference_internal)
        .def_prop_ro(
            "kept", [](EdgeAssembly const &assembly) { return to_numpy_changes(assembly.kept()); }, nb::rv_policy::move,
            "The changes of the last accepted child: rows of vertex, old and new neighbour.");
    m.def("ab_cycles", &ab_cycles_of, "tour"_a.noconvert(), "other"_a.noconvert(), "seed"_a,
          "The AB-cycles of two tours; the first edge of each belongs to the first tour.");
}
} // namespace learnroute
