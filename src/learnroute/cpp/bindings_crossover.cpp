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

std::vector<double> floats_of(FloatVector const &array) {
    auto const given = span_of(array);
    return {given.begin(), given.end()};
}

std::vector<Index> indices_in(MatrixView<std::int64_t> matrix) {
    std::vector<Index> found;
    found.reserve(matrix.rows() * matrix.columns());
    for (std::size_t row = 0; row < matrix.rows(); ++row)
        for (auto const each : matrix[row])
            found.push_back(static_cast<Index>(each));
    return found;
}

std::vector<Index> indices_in(std::span<std::int64_t const> row) {
    return indices_in(MatrixView{row.data(), 1, row.size()});
}

std::vector<EdgeCosts::Place> places_of(MatrixView<double> table) {
    std::vector<EdgeCosts::Place> places;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        auto const row = table[i];
        places.push_back({row[0], row[1], row[2], row[3], row[4]});
    }
    return places;
}

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

EdgeCounts edge_counts_of(MatrixView<std::int64_t> tours, std::vector<double> entropies) {
    EdgeCounts counts(static_cast<Index>(tours.columns()), std::move(entropies));
    for (std::size_t i = 0; i < tours.rows(); ++i)
        counts.add_tour(indices_in(tours[i]));
    return counts;
}

/// Cross pairs of tours in place, one after the other; a pair is the two tours and a seed.
std::vector<double> cross_pairs(EdgeAssembly &assembly, std::span<std::int64_t> tours, std::size_t size,
                                MatrixView<std::int64_t> pairs, std::size_t children, std::size_t batches) {
    std::vector<double> gains;
    for (std::size_t i = 0; i < pairs.rows(); ++i) {
        auto const row = tours.subspan(pairs(i, 0) * size, size);
        auto tour = indices_in(row);
        auto const other = indices_in(tours.subspan(pairs(i, 1) * size, size));
        auto const seed = static_cast<std::uint64_t>(pairs(i, 2));
        gains.push_back(assembly.cross(tour, other, children, batches, RandomBits(seed)));
        std::ranges::copy(tour, row.begin());
    }
    return gains;
}

void bind_scores(nb::module_ &m) {
    using Bounds = TourScores::Bounds;
    nb::class_<Bounds>(m, "ScoreBounds", "How far scores reach from the end of a tour, and what changes can gain.")
        .def(nb::new_([](Index reach, double floor, double swing, FloatVector const &powers) {
                 return Bounds{reach, floor, swing, floats_of(powers)};
             }),
             "reach"_a, "floor"_a, "swing"_a, "powers"_a.noconvert());
    nb::class_<TourScores>(m, "TourScores", "The score part of a tour's value.");
    nb::class_<FallingScores, TourScores>(m, "FallingScores", "Weights are products of the factors of later regions.")
        .def(nb::new_([](Bounds const &bounds, double heaviest, FloatVector const &scores, FloatVector const &factors) {
                 return std::make_shared<FallingScores>(bounds, heaviest, span_of(scores), span_of(factors));
             }),
             "bounds"_a, "heaviest"_a, "scores"_a.noconvert(), "factors"_a.noconvert());
    nb::class_<PositionScores, TourScores>(m, "PositionScores", "Each position has a weight of its own.")
        .def(nb::new_([](Bounds const &bounds, FloatVector const &scores, FloatVector const &weights) {
                 return std::make_shared<PositionScores>(bounds, floats_of(scores), floats_of(weights));
             }),
             "bounds"_a, "scores"_a.noconvert(), "weights"_a.noconvert());
    nb::class_<PairScores, TourScores>(m, "PairScores", "The error of a regularised learner (`model.pairs`).")
        .def_static(
            "of",
            [](Bounds const &bounds, FloatVector const &scores, FloatMatrix const &retention,
               FloatMatrix const &plasticity, FloatMatrix const &coupling, FloatMatrix const &second,
               FloatMatrix const &noise, FloatMatrix const &dissimilarity, FloatVector const &initial, double counted,
               double summed, double common) {
                PairScores::Updates const updates{matrix_of(retention), matrix_of(plasticity), matrix_of(coupling),
                                                  matrix_of(second),    matrix_of(noise),      matrix_of(dissimilarity),
                                                  span_of(initial)};
                return std::make_shared<PairScores>(bounds, floats_of(scores), updates, counted,
                                                    PairScores::Parts{summed, common});
            },
            "bounds"_a, "scores"_a.noconvert(), "retention"_a.noconvert(), "plasticity"_a.noconvert(),
            "coupling"_a.noconvert(), "second"_a.noconvert(), "noise"_a.noconvert(), "dissimilarity"_a.noconvert(),
            "initial"_a.noconvert(), "counted"_a, "summed"_a, "common"_a, nb::keep_alive<0, 3>(),
            nb::keep_alive<0, 4>(), nb::keep_alive<0, 5>(), nb::keep_alive<0, 6>(), nb::keep_alive<0, 7>(),
            nb::keep_alive<0, 8>(), nb::keep_alive<0, 9>(),
            "The arrays are not copied; row j of `dissimilarity` has Δ[i, j].");
}
} // namespace

void bind_crossover(nb::module_ &m) {
    bind_scores(m);
    nb::class_<EdgeCosts>(m, "EdgeCosts", "What edges between the vertices of a tour cost.")
        .def_static(
            "by_matrix",
            [](FloatMatrix const &matrix, bool directed) { return EdgeCosts(matrix_of(matrix), directed); },
            "matrix"_a.noconvert(), "directed"_a, nb::keep_alive<0, 1>(), "The matrix is not copied.")
        .def_static(
            "by_places",
            [](FloatMatrix const &places, double unit, bool globe) {
                return EdgeCosts(places_of(matrix_of(places)), unit, globe);
            },
            "places"_a.noconvert(), "unit"_a, "globe"_a,
            "Each place has three coordinates, and what edges to `start` and `end` cost.")
        .def("__call__", &EdgeCosts::operator(), "a"_a, "b"_a);
    nb::class_<EdgeCounts>(m, "EdgeCounts", "How many tours of a population have each edge.")
        .def(nb::new_([](IntMatrix const &tours, FloatVector const &entropies) {
                 return edge_counts_of(matrix_of(tours), floats_of(entropies));
             }),
             "tours"_a.noconvert(), "entropies"_a.noconvert(),
             "`entropies` are those of an edge, by the number of tours that it is in.")
        .def("count", &EdgeCounts::count, "v"_a, "w"_a)
        .def(
            "entropy_lost",
            [](EdgeCounts const &counts, IntMatrix const &changes) {
                return counts.entropy_lost(changes_of(matrix_of(changes)));
            },
            "changes"_a.noconvert(),
            "What the entropy falls by if neighbours are replaced: rows of vertex, old and new neighbour.");
    nb::class_<EdgeAssembly>(m, "EdgeAssembly", "Edge assembly crossover (Nagata and Kobayashi 2013).")
        .def_static(
            "of",
            [](EdgeCosts const &costs, std::shared_ptr<TourScores> scores, IntVector const &fixed,
               IntMatrix const &candidates, bool has_ends, double least_gain, double most_credit,
               EdgeCounts const &counts) {
                return EdgeAssembly({costs, std::move(scores), indices_of(fixed), indices_in(matrix_of(candidates)),
                                     has_ends, least_gain, most_credit},
                                    counts);
            },
            "costs"_a, "scores"_a.none(), "fixed"_a.noconvert(), "candidates"_a.noconvert(), "has_ends"_a,
            "least_gain"_a, "most_credit"_a, "counts"_a, nb::keep_alive<0, 1>())
        .def(
            "cross",
            [](EdgeAssembly &assembly, Tours const &tours, IntMatrix const &pairs, std::size_t children,
               std::size_t batches) {
                auto gains = [&] {
                    nb::gil_scoped_release release;
                    return cross_pairs(assembly, {tours.data(), tours.size()}, tours.shape(1), matrix_of(pairs),
                                       children, batches);
                }();
                return to_numpy(std::move(gains));
            },
            "tours"_a.noconvert(), "pairs"_a.noconvert(), "children"_a, "batches"_a,
            "Cross pairs (two tours and a seed): a better child takes the place of the first. Return the gains.")
        .def_prop_ro("counts", &EdgeAssembly::counts, nb::rv_policy::reference_internal)
        .def_prop_ro(
            "kept", [](EdgeAssembly const &assembly) { return to_numpy_changes(assembly.kept()); }, nb::rv_policy::move,
            "Changes of the last child kept: rows of vertex, old and new neighbour.");
    m.def("ab_cycles", &ab_cycles_of, "tour"_a.noconvert(), "other"_a.noconvert(), "seed"_a,
          "AB-cycles of two tours, each from a vertex that it leaves by an edge of the first.");
}
} // namespace learnroute
