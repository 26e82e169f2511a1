#include "arrays.h"
#include "bindings.h"
#include "local_search.h"
#include "pair_terms.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/vector.h>

namespace learnroute {
using namespace nb::literals;

namespace {
void bind_costs(nb::module_ &m) {
    nb::class_<Costs>(m, "Costs", "The costs of the edges between vertices.")
        .def_static(
            "from_matrix",
            [](FloatMatrix const &travel, IntVector const &order, FloatVector const &begin, FloatVector const &finish,
               bool directed, bool has_ends) {
                nb::gil_scoped_release release;
                return std::make_shared<Costs>(Costs::from_matrix(matrix_of(travel), span_of(order), span_of(begin),
                                                                  span_of(finish), directed, has_ends));
            },
            "travel"_a.noconvert(), "order"_a, "begin"_a, "finish"_a, "directed"_a, "has_ends"_a,
            "Create costs from a travel matrix, renumbered along an order, and the costs of beginning and ending.")
        .def_static(
            "from_places",
            [](FloatMatrix const &places, double unit, bool globe, FloatVector const &begin, FloatVector const &finish,
               bool has_ends) {
                return std::make_shared<Costs>(
                    Costs::from_places(matrix_of(places), unit, globe, span_of(begin), span_of(finish), has_ends));
            },
            "places"_a, "unit"_a, "globe"_a, "begin"_a, "finish"_a, "has_ends"_a,
            "Create costs from places, in the plane or on the unit sphere, and the costs of beginning and ending.")
        .def("__call__", &Costs::operator(), "a"_a, "b"_a, "Return the cost of an edge.")
        .def_prop_ro("vertices", [](Costs const &costs) { return costs.layout().vertices(); }, "Number of vertices.");

    nb::class_<Candidates>(m, "Candidates", "Candidate lists of all vertices, sorted by distance.")
        .def(
            "__init__",
            [](Candidates *self, Costs const &costs, IntMatrix const &lists) {
                new (self) Candidates(costs, matrix_of(lists));
            },
            "costs"_a, "lists"_a)
        .def_prop_ro("length", &Candidates::length, "Entries per list.")
        .def_prop_ro(
            "distances",
            [](Candidates const &candidates) {
                std::vector<double> found;
                for (auto const &entry : candidates.entries())
                    found.push_back(entry.distance);
                return to_numpy(std::move(found), candidates.length());
            },
            nb::rv_policy::automatic, "The costs of the edges to the entries, nearest first.");
}

void bind_terms(nb::module_ &m) {
    nb::class_<ScoreTerms>(m, "ScoreTerms", "The part of the objective that depends on the positions of regions.")
        .def_prop_ro("reach", &ScoreTerms::reach, "Positions from the end beyond which scores are negligible.")
        .def_prop_ro("floor", &ScoreTerms::floor, "Lower bound on the sum of all terms.")
        .def_prop_ro("least_gain", &ScoreTerms::least_gain, "Smaller gains are attributed to rounding.")
        .def("set_spare", &ScoreTerms::set_spare, "spare"_a,
             "Set the maximum possible decrease of the terms of this tour.")
        .def(
            "value",
            [](ScoreTerms &terms, IntVector const &tour) {
                std::vector<Neighbours> neighbours;
                auto const order = indices_of(tour);
                link(order, neighbours);
                return terms.value_of(order, neighbours);
            },
            "tour"_a, "Return the sum of the terms of a tour, from its end as far back as they reach.")
        .def_prop_ro(
            "sums", [](ScoreTerms const &terms) { return to_numpy(terms.sums()); }, nb::rv_policy::automatic,
            "Running sums along the tour of a search.");
    nb::class_<GeometricScores, ScoreTerms>(m, "GeometricScores", "Weights that decrease by one factor per position.")
        .def(
            "__init__",
            [](GeometricScores *self, Costs const &costs, FloatVector const &scores, double rate, double heaviest,
               double least_gain, double floor) {
                new (self) GeometricScores(costs.layout(), span_of(scores), rate, heaviest, least_gain, floor);
            },
            "costs"_a, "scores"_a, "rate"_a, "heaviest"_a, "least_gain"_a, "floor"_a);
    nb::class_<FactoredScores, ScoreTerms>(m, "FactoredScores", "Weights that decrease by a factor per region.")
        .def(
            "__init__",
            [](FactoredScores *self, Costs const &costs, FloatVector const &scores, FloatVector const &factors,
               double heaviest, double least_gain, double floor) {
                new (self)
                    FactoredScores(costs.layout(), span_of(scores), span_of(factors), heaviest, least_gain, floor);
            },
            "costs"_a, "scores"_a, "factors"_a, "heaviest"_a, "least_gain"_a, "floor"_a);
    nb::class_<GeneralScores, ScoreTerms>(m, "GeneralScores", "Arbitrary weights by position.")
        .def(
            "__init__",
            [](GeneralScores *self, Costs const &costs, FloatVector const &scores, FloatVector const &weights,
               double least_gain, double floor) {
                new (self) GeneralScores(costs.layout(), span_of(scores), span_of(weights), least_gain, floor);
            },
            "costs"_a, "scores"_a, "weights"_a, "least_gain"_a, "floor"_a);
    nb::class_<PairTerms, ScoreTerms>(m, "PairTerms", "The error of a regularised learner (`model.pairs`).")
        .def(
            "__init__",
            [](PairTerms *self, Costs const &costs, FloatMatrix const &retention, FloatMatrix const &plasticity,
               FloatMatrix const &coupling, FloatMatrix const &second, FloatMatrix const &noise,
               FloatMatrix const &dissimilarities, FloatVector const &initial, FloatVector const &scores, double total,
               double count, double most, double slowest, double least_gain, double floor) {
                auto updates = std::make_shared<ErrorUpdates>(ErrorUpdates{scores.size(),
                                                                           {},
                                                                           vector_of(dissimilarities),
                                                                           vector_of(initial),
                                                                           vector_of(scores),
                                                                           total,
                                                                           count});
                for (std::size_t i = 0; i < retention.size(); ++i)
                    updates->updates.push_back({retention.data()[i], plasticity.data()[i], coupling.data()[i],
                                                second.data()[i], noise.data()[i]});
                new (self) PairTerms(costs.layout(), std::move(updates), most, slowest, least_gain, floor);
            },
            "costs"_a, "retention"_a, "plasticity"_a, "coupling"_a, "second"_a, "noise"_a, "dissimilarities"_a,
            "initial"_a, "scores"_a, "total"_a, "count"_a, "most"_a, "slowest"_a, "least_gain"_a, "floor"_a)
        .def_prop_ro("error", &PairTerms::error, "The error of the tour of a search, times the number of regions.");
}
} // namespace

void bind_local_search(nb::module_ &m) {
    bind_costs(m);
    bind_terms(m);
    nb::class_<KOptLimits>(m, "KOptLimits", "Limits on the moves that are searched (`cpp/k_opt.h`).")
        .def(nb::init<double, double, Index, Index>(), "least_gain"_a, "credit"_a, "end_positions"_a, "longest"_a);
    nb::class_<PerturbationParams>(m, "PerturbationParams", "Limits on the extent and the cost of a double bridge.")
        .def(nb::init<int, Index, Index, Index, double>(), "walk"_a, "segment"_a, "longest_bridge"_a, "far_bridge"_a,
             "most_worse"_a);
    nb::class_<LocalSearch>(m, "LocalSearch", "A tour under iterated local search by k-opt moves and perturbations.")
        .def(nb::init<std::shared_ptr<Costs const>, ScoreTerms const *, KOptLimits, PerturbationParams, std::size_t>(),
             "costs"_a, "terms"_a.none(), "limits"_a, "perturbation"_a, "journal"_a)
        .def("__copy__", [](LocalSearch const &self) { return LocalSearch(self); })
        .def(
            "use_candidates",
            [](LocalSearch &self, std::shared_ptr<Candidates const> candidates, std::vector<std::size_t> breadth,
               bool only_listed) {
                self.k_opt().use_candidates(std::move(candidates), std::move(breadth), only_listed);
            },
            "candidates"_a, "breadth"_a, "only_listed"_a = false,
            "Set the candidate lists and the number of entries tried for each further edge of a move.")
        .def("drop_scores", &LocalSearch::drop_scores, "Ignore scores from now on.")
        .def(
            "set_tour", [](LocalSearch &self, IntVector const &order) { self.set_tour(span_of(order)); }, "order"_a,
            "Start from a cycle of vertices.")
        .def_prop_ro(
            "tour", [](LocalSearch const &self) { return to_numpy_indices(self.tour().order()); },
            nb::rv_policy::automatic, "The tour as a cycle of vertices.")
        .def_prop_ro(
            "regions", [](LocalSearch const &self) { return to_numpy_indices(self.tour().regions()); },
            nb::rv_policy::automatic, "The regions in the order of visits.")
        .def(
            "next",
            [](LocalSearch const &self, Index vertex) {
                return self.tour().at(self.tour().after(self.tour().position(vertex)));
            },
            "vertex"_a, "Return the vertex after another one.")
        .def("update_terms", &LocalSearch::update_terms, "Recompute the running sums.")
        .def_prop_ro("terms", &LocalSearch::terms, nb::for_getter(nb::sig("def terms(self) -> ScoreTerms | None")),
                     "The score terms of moves; None if only travel counts.")
        .def_prop_ro("queued", &LocalSearch::queued, "Number of queued vertices.")
        .def("queue_all", &LocalSearch::queue_all, "Queue all vertices.")
        .def("clear_queue", &LocalSearch::clear_queue, "Remove all vertices from the queue.")
        .def(
            "descend",
            [](LocalSearch &self, std::int64_t looks) {
                nb::gil_scoped_release release;
                return self.descend(looks);
            },
            "looks"_a, "Apply improving moves of up to `looks` queued vertices; return the gain.")
        .def("improve", &LocalSearch::improve, "vertex"_a,
             "Apply the first improving move that removes an edge of a vertex; return its gain, or 0 if there is none.")
        .def(
            "perturb_at",
            [](LocalSearch &self, Index vertex, std::int64_t bits, IntVector const &chosen) {
                return self.perturb_at(vertex, bits, span_of(chosen));
            },
            "vertex"_a, "bits"_a, "chosen"_a, "Apply a double bridge; return its cost, or inf if it is not allowed.")
        .def("undo", &LocalSearch::undo, "Undo all changes that have not been made permanent.")
        .def("keep_changes", &LocalSearch::keep_changes, "Make all changes permanent.")
        .def(
            "perturb",
            [](LocalSearch &self, FloatMatrix const &draws, IntMatrix const &chosen) {
                nb::gil_scoped_release release;
                self.perturb(matrix_of(draws), matrix_of(chosen));
            },
            "draws"_a, "chosen"_a, "Perturb and descend, once per row; undo the result unless it is accepted.");
}
} // namespace learnroute
