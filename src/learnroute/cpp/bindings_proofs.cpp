#include "arrays.h"
#include "bindings.h"
#include "components.h"
#include "edge_status.h"
#include "held_karp.h"
#include "layered_network.h"
#include "min_cut.h"
#include "ng_labelling.h"
#include "one_tree.h"
#include "propagation.h"
#include "reduced_costs.h"
#include "sparse_ascent.h"
#include "subgradient.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>

namespace learnroute {
using namespace nb::literals;

namespace {
using StatusArray = nb::ndarray<std::int8_t const, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using MutableStatusArray = nb::ndarray<std::int8_t, nb::numpy, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using BoolCube = nb::ndarray<bool const, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;
using MaskCube = nb::ndarray<std::uint64_t const, nb::numpy, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

StatusView status_of(StatusArray const &array) {
    return {array.data(), array.shape(0)};
}

MutableStatus status_of(MutableStatusArray const &array) {
    return {array.data(), array.shape(0)};
}

void bind_held_karp(nb::module_ &m) {
    nb::class_<HeldKarp>(m, "HeldKarp", "Dynamic programming over sets of regions, from the end of orders.")
        .def(
            "__init__",
            [](HeldKarp *self, FloatMatrix const &travel, FloatVector const &scores, FloatVector const &weights,
               std::optional<FloatVector> const &factors, FloatVector const &last_costs, BoolMatrix const &positions,
               std::optional<FloatVector> const &noise, std::optional<FloatVector> const &noise_factors) {
                auto const given = [](auto const &vector) {
                    return vector ? span_of(*vector) : std::span<double const>{};
                };
                new (self) HeldKarp({matrix_of(travel), span_of(scores), span_of(weights), given(factors), given(noise),
                                     given(noise_factors), span_of(last_costs), matrix_of(positions)});
            },
            "travel"_a, "scores"_a, "weights"_a, "factors"_a.none(), "last_costs"_a, "positions"_a,
            "noise"_a = nb::none(), "noise_factors"_a = nb::none())
        .def("fill", &HeldKarp::fill, "sets"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Extend the next `sets` sets by one region; return the share of all sets that is done.")
        .def(
            "best_set",
            [](HeldKarp const &self, FloatVector const &begin, std::size_t required, int at_least, int at_most,
               double total) {
                nb::gil_scoped_release release;
                return self.best_set(span_of(begin), required, at_least, at_most, total);
            },
            "begin"_a, "required"_a, "at_least"_a, "at_most"_a, "total"_a,
            "Return the set of `at_least` to `at_most` regions, including all required ones, with the cheapest "
            "order.")
        .def(
            "order",
            [](HeldKarp const &self, FloatVector const &begin, std::optional<std::size_t> members) {
                return to_numpy_indices(self.order(span_of(begin), members.value_or(self.all())));
            },
            "begin"_a, "members"_a = nb::none(),
            "Trace the best order of all regions, or of a set; `begin` has the cost of beginning at each region.")
        .def_prop_ro(
            "values", [](HeldKarp const &self) { return to_numpy_copy(self.values()); }, nb::rv_policy::automatic,
            "The minimum cost from each region of each set through the set to the end.");
}

void bind_ascent(nb::module_ &m) {
    nb::class_<SubgradientAscent>(m, "SubgradientAscent",
                                  "A subgradient ascent for Lagrangian relaxations, one multiplier per vertex.")
        .def(
            "__init__",
            [](SubgradientAscent *self, FloatVector const &multipliers, double target, double pace, double momentum,
               int patience, double fall, double slowest, double progress) {
                new (self) SubgradientAscent(span_of(multipliers), target,
                                             {pace, momentum, patience, fall, slowest, progress});
            },
            "multipliers"_a, "target"_a, nb::kw_only(), "pace"_a, "momentum"_a, "patience"_a, "fall"_a, "slowest"_a,
            "progress"_a)
        .def_prop_ro(
            "multipliers", [](SubgradientAscent const &self) { return to_numpy_copy(self.multipliers()); },
            nb::rv_policy::automatic, "The multipliers at which to solve the relaxation next.")
        .def_prop_ro(
            "best", [](SubgradientAscent const &self) { return to_numpy_copy(self.best()); }, nb::rv_policy::automatic,
            "The multipliers of the best bound so far.")
        .def_prop_ro("bound", &SubgradientAscent::bound, "The best bound so far.")
        .def_prop_ro("ended", &SubgradientAscent::ended, "Whether the ascent has ended.")
        .def_prop_rw("target", &SubgradientAscent::target, &SubgradientAscent::set_target,
                     "The value of a known order.")
        .def("set_pace", &SubgradientAscent::set_pace, "pace"_a, "Set the share of the gap that the next step aims at.")
        .def(
            "forget_bound", [](SubgradientAscent &self) { self.set_bound(-inf); },
            "Discard the best bound so far, because the relaxation has changed.")
        .def(
            "advance",
            [](SubgradientAscent &self, FloatVector const &subgradient, double bound) {
                return self.advance(span_of(subgradient), bound);
            },
            "subgradient"_a, "bound"_a,
            "Take a step from multipliers with this bound and subgradient; return False if the ascent has ended.");
}

void bind_one_trees(nb::module_ &m) {
    m.attr("FREE") = static_cast<int>(EdgeStatus::free);
    m.attr("FIXED_TO_1") = static_cast<int>(EdgeStatus::fixed_to_1);
    m.attr("FIXED_TO_0") = static_cast<int>(EdgeStatus::fixed_to_0);
    m.def(
        "minimum_one_tree",
        [](FloatMatrix const &costs, StatusArray const &status, FloatVector const &multipliers) {
            OneTree tree(costs.shape(0));
            {
                nb::gil_scoped_release release;
                tree.find(matrix_of(costs), status_of(status), span_of(multipliers));
            }
            return std::tuple(tree.total(), static_cast<std::int64_t>(tree.last()), to_numpy_indices(tree.parent()),
                              to_numpy_indices(tree.joined()), to_numpy_indices(tree.degree()));
        },
        "costs"_a, "status"_a, "multipliers"_a,
        "Return the cheapest 1-tree: its total (inf if there is none), the region before `out`, the parents, the "
        "order of joining and the degrees of vertices.");
    m.def(
        "ascend_one_trees",
        [](FloatMatrix const &costs, StatusArray const &status, SubgradientAscent &ascent, int steps) {
            nb::gil_scoped_release release;
            ascend(matrix_of(costs), status_of(status), ascent, steps);
        },
        "costs"_a, "status"_a, "ascent"_a, "steps"_a, "Take subgradient steps that raise the bound of 1-trees.");
    nb::class_<SparseOneTrees>(m, "SparseOneTrees", "1-trees of a tour graph on a sparse subset of its edges.")
        .def(
            "__init__",
            [](SparseOneTrees *self, IntVector const &start, IntVector const &target, FloatVector const &cost,
               FloatVector const &out) {
                new (self) SparseOneTrees({indices_of(start), indices_of(target), vector_of(cost)}, vector_of(out));
            },
            "start"_a, "target"_a, "cost"_a, "out"_a)
        .def("ascend", &SparseOneTrees::ascend, "ascent"_a, "steps"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Take up to `steps` subgradient steps; stop early if the ascent ends or these edges contain no 1-tree.");
    m.def(
        "fix_by_reduced_cost",
        [](FloatMatrix const &costs, MutableStatusArray const &status, FloatVector const &multipliers, double limit) {
            auto const found = without_gil(
                [&] { return fix_by_reduced_cost(matrix_of(costs), status_of(status), span_of(multipliers), limit); });
            return std::tuple(found.bound, std::tuple(found.branch.vertex, found.branch.one, found.branch.two));
        },
        "costs"_a, "status"_a.noconvert(), "multipliers"_a, "limit"_a,
        "Fix edges that no tour, or every tour, below `limit` uses; return the bound (inf if no tour remains) and "
        "a vertex with one or two of its edges to branch on, or -1.");
    m.def(
        "propagate",
        [](MutableStatusArray const &status) {
            nb::gil_scoped_release release;
            return propagate(status_of(status));
        },
        "status"_a.noconvert(), "Fix edges that follow from fixed ones; return False if no tour remains.");
}

void bind_separation(nb::module_ &m) {
    m.def(
        "connected_components",
        [](BoolMatrix const &linked) {
            return to_numpy_indices(connected_components(linked.shape(0), matrix_of(linked)));
        },
        "linked"_a, "Return the number of the connected component of each vertex.");
    m.def(
        "minimum_cuts",
        [](FloatMatrix const &x, double limit, double one) {
            auto const found = without_gil([&] { return minimum_cuts(matrix_of(x), limit, one); });
            std::vector<OwnedVector<std::int64_t>> cuts;
            for (auto const &members : found)
                cuts.push_back(to_numpy_indices(members));
            return cuts;
        },
        "x"_a, "limit"_a, "one"_a,
        "Return sets of vertices with x(δ(S)) < limit, found while computing the minimum cut; edges with x_e > one "
        "are contracted.");
}

void bind_ng_routes(nb::module_ &m) {
    nb::class_<Labels>(m, "Labels", "The labels of ng-routes in one direction.")
        .def("__len__", &Labels::size)
        .def_prop_ro(
            "full", [](Labels const &self) { return self.outcome() == LabellingOutcome::full; },
            "Whether they are incomplete because the limit on labels was exceeded.")
        .def_prop_ro(
            "late", [](Labels const &self) { return self.outcome() == LabellingOutcome::late; },
            "Whether they are incomplete because the limit on work was exceeded.")
        .def_prop_ro("work", &Labels::work, "Units of work that the labelling took.")
        .def(
            "cheapest_route",
            [](Labels const &self) {
                auto const found = self.cheapest_route();
                return std::tuple(found.cost, to_numpy_indices(found.regions));
            },
            "Return cost and regions of the cheapest route, in the direction of the labels (inf if there is none).");

    nb::class_<LayeredNetwork>(m, "LayeredNetwork", "The layered network of q-routes and ng-routes.")
        .def(
            "__init__",
            [](LayeredNetwork *self, FloatMatrix const &arc_costs, FloatMatrix const &node_costs,
               BoolCube const &free) {
                new (self) LayeredNetwork(matrix_of(arc_costs), matrix_of(node_costs), span_of(free));
            },
            "arc_costs"_a, "node_costs"_a, "free"_a)
        .def_prop_ro(
            "arc_costs",
            [](LayeredNetwork const &self) {
                return nb::ndarray<nb::numpy, double const, nb::ndim<2>>(self.arc_costs().data(),
                                                                         {self.size(), self.size()});
            },
            nb::rv_policy::reference_internal, "Arc costs by region and region.")
        .def_prop_ro(
            "node_costs",
            [](LayeredNetwork const &self) {
                return nb::ndarray<nb::numpy, double const, nb::ndim<2>>(self.node_costs().data(),
                                                                         {self.size(), self.size()});
            },
            nb::rv_policy::reference_internal, "Node costs by position and region.")
        .def_prop_ro("free_share", &LayeredNetwork::free_share, "The share of arcs that are not fixed to 0.")
        .def(
            "q_route_costs",
            [](LayeredNetwork const &self, FloatVector const &multipliers) {
                auto costs = without_gil([&] { return self.q_route_costs(span_of(multipliers), Direction::forward); });
                return to_numpy(std::move(costs), self.size());
            },
            "multipliers"_a, "Return the cost of the cheapest q-route to each position and region.")
        .def("ascend", &LayeredNetwork::ascend, "ascent"_a, "steps"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Take subgradient steps that raise the bound of q-routes.")
        .def(
            "fix_by_q_routes",
            [](LayeredNetwork &self, FloatVector const &multipliers, double limit) {
                nb::gil_scoped_release release;
                self.fix_by_q_routes(span_of(multipliers), limit);
            },
            "multipliers"_a, "limit"_a, "Fix arcs to 0 that no q-route cheaper than `limit` uses.")
        .def(
            "label",
            [](LayeredNetwork &self, FloatVector const &multipliers, MaskCube const &ng_sets, Labels const *other,
               bool forward, double limit, std::int64_t labels_in_layer, std::int64_t labels_in_all,
               std::int64_t work) {
                nb::gil_scoped_release release;
                return label_ng_routes(self, span_of(multipliers), span_of(ng_sets), other,
                                       forward ? Direction::forward : Direction::backward, limit,
                                       {labels_in_layer, labels_in_all, work});
            },
            "multipliers"_a, "ng_sets"_a, "other"_a.none(), "forward"_a, "limit"_a, "labels_in_layer"_a,
            "labels_in_all"_a, "work"_a,
            "Create the labels of ng-routes cheaper than `limit` in one direction, pruned by `other`, if given. "
            "If they are complete, fix arcs to 0 that none of them uses.");
}
} // namespace

void bind_proofs(nb::module_ &m) {
    bind_held_karp(m);
    bind_ascent(m);
    bind_one_trees(m);
    bind_separation(m);
    bind_ng_routes(m);
}
} // namespace learnroute
