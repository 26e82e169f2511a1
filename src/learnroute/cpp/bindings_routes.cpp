#include "arrays.h"
#include "bindings.h"
#include "enumeration.h"
#include "route_rows.h"
#include "ruin_and_recreate.h"
#include "visit_labelling.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <tuple>

namespace learnroute {
using namespace nb::literals;

namespace {
/// Return the transpose of a square matrix; nothing if the matrix is symmetric.
std::vector<double> transpose(FloatMatrix const &matrix) {
    constexpr std::size_t block = 32; // rows and columns that fit into a cache together
    auto const view = matrix_of(matrix);
    auto const size = view.rows();
    auto symmetric = true;
    auto const in_blocks = [size](auto const &visit) {
        for (std::size_t rows = 0; rows < size; rows += block)
            for (std::size_t columns = 0; columns < size; columns += block)
                for (auto row = rows; row < std::min(rows + block, size); ++row)
                    for (auto column = columns; column < std::min(columns + block, size); ++column)
                        visit(row, column);
    };
    in_blocks([&](std::size_t row, std::size_t column) { symmetric &= view(row, column) == view(column, row); });
    if (symmetric)
        return {};
    std::vector<double> found(matrix.size());
    in_blocks([&](std::size_t row, std::size_t column) { found[row * size + column] = view(column, row); });
    return found;
}

void bind_instance(nb::module_ &m) {
    nb::class_<Instance>(m, "Instance", "A problem by indices: travel, law, rules of visits, vehicles and models.")
        .def(
            "__init__",
            [](Instance *self, FloatMatrix const &travel, double rate, FloatMatrix const &retention,
               FloatMatrix const &plasticity, FloatMatrix const &coupling, FloatMatrix const &second,
               FloatMatrix const &noise, FloatMatrix const &dissimilarities, FloatVector const &initial,
               FloatVector const &scores, double total, double count, BoolVector const &required,
               IntVector const &repeats, Index at_least, Index at_most, double budget, Index first, Index last,
               bool cyclic, FloatVector const &importance, Index vehicles, Index models, bool merged, bool equal,
               bool longest, double limit) {
                std::vector<ErrorUpdate> updates;
                for (std::size_t i = 0; i < retention.size(); ++i)
                    updates.push_back({retention.data()[i], plasticity.data()[i], coupling.data()[i], second.data()[i],
                                       noise.data()[i]});
                new (self)
                    Instance{.regions = static_cast<Index>(scores.size()),
                             .rate = rate,
                             .from = vector_of(travel),
                             .to = transpose(travel),
                             .updates = std::move(updates),
                             .steady = retention.shape(0) == 1,
                             .uniform = retention.shape(1) == 1,
                             .coupled = std::ranges::any_of(span_of(coupling), [](double q) { return q != 0.0; }),
                             .towards = vector_of(dissimilarities),
                             .transposed = transpose(dissimilarities),
                             .initial = vector_of(initial),
                             .scores = vector_of(scores),
                             .total = total,
                             .count = count,
                             .required = {required.data(), required.data() + required.size()},
                             .repeats = indices_of(repeats),
                             .at_least = at_least,
                             .at_most = at_most,
                             .budget = budget,
                             .first = first,
                             .last = last,
                             .cyclic = cyclic,
                             .importance = vector_of(importance),
                             .vehicles = vehicles,
                             .models = models,
                             .merged = merged,
                             .equal = equal,
                             .longest = longest && vehicles > 1,
                             .limit = limit};
            },
            "travel"_a, "rate"_a, "retention"_a, "plasticity"_a, "coupling"_a, "second"_a, "noise"_a,
            "dissimilarities"_a, "initial"_a, "scores"_a, "total"_a, "count"_a, "required"_a, "repeats"_a, "at_least"_a,
            "at_most"_a, "budget"_a, "first"_a, "last"_a, "cyclic"_a, nb::kw_only(), "importance"_a, "vehicles"_a,
            "models"_a, "merged"_a, "equal"_a, "longest"_a, "limit"_a,
            "Travel has one additional stop, at which routes start and end. Tables of updates have one row per "
            "position or a single row, and one column per region or a single column. First and last are regions, or "
            "-1. `models` is their total number: one per vehicle if there are several vehicles.")
        .def(
            "nearest",
            [](Instance const &self, std::size_t most) {
                auto lists = without_gil([&] { return self.nearest(most); });
                return to_numpy(std::move(lists), most);
            },
            "most"_a, "Return the nearest others of each region by travel there and back, nearest first.");
}

void bind_exact(nb::module_ &m) {
    nb::class_<Enumeration>(m, "Enumeration", "The best routes, by complete enumeration.")
        .def(nb::init<std::shared_ptr<Instance const>, double>(), "instance"_a, "relative"_a)
        .def("advance", &Enumeration::advance, "nodes"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Process up to `nodes` more nodes; return whether all routes have been enumerated.")
        .def_prop_ro(
            "best", [](Enumeration const &self) { return to_rows(self.best()); }, nb::rv_policy::automatic,
            "The regions and the models of the best routes; empty if there are no feasible ones.")
        .def_prop_ro("low", &Enumeration::low, "A lower bound on all values that accounts for rounding.");
    nb::class_<VisitLabelling>(m, "VisitLabelling", "The best sequence of visits if errors are not coupled.")
        .def(nb::init<std::shared_ptr<Instance const>, double, std::size_t>(), "instance"_a, "bound"_a, "most_labels"_a)
        .def("advance", &VisitLabelling::advance, "looks"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Examine about `looks` labels; return whether the labelling has ended.")
        .def_prop_ro("full", &VisitLabelling::full, "Whether the limit on labels was exceeded.")
        .def_prop_ro("done", &VisitLabelling::done, "The share of sequence lengths that are done.")
        .def_prop_ro(
            "best", [](VisitLabelling const &self) { return to_numpy_indices(self.best()); }, nb::rv_policy::automatic,
            "The best sequence; empty if no feasible one has a value below the bound.");
}

void bind_values(nb::module_ &m) {
    nb::class_<Training>(m, "Training", "The sequence of regions that a model is trained in, and its summed error.")
        .def(nb::init<std::shared_ptr<Instance const>>(), "instance"_a)
        .def(
            "assign", [](Training &self, IntVector const &regions) { return self.assign(indices_of(regions)); },
            "regions"_a, "Set the regions; return whether errors change.")
        .def_prop_ro("value", &Training::value, "The error over all regions.")
        .def_prop_ro(
            "errors", [](Training &self) { return to_numpy_copy(self.errors()); }, nb::rv_policy::automatic,
            "The expected error in each region.")
        .def(
            "insertion_values",
            [](Training &self, Index region) { return to_numpy_copy(self.insertion_values(region)); }, "region"_a,
            "Return the value with an additional training in a region, by place of insertion.");
    nb::class_<Fleet>(m, "Fleet", "Routes, their value, and their value with one additional visit.")
        .def(nb::init<std::shared_ptr<Instance const>>(), "instance"_a)
        .def(
            "assign",
            [](Fleet &self, Rows const &regions, Rows const &models, std::vector<double> weights,
               std::vector<Index> served_by) {
                self.assign(from_rows(regions, models));
                self.serve_by({std::move(weights), std::move(served_by)});
            },
            "regions"_a, "models"_a, "weights"_a, "served_by"_a, "Set the routes and the service of the models.")
        .def_prop_ro("value", &Fleet::value, "The value of the routes.")
        .def_prop_ro("excess", &Fleet::excess, "Travel beyond the limits of the vehicles and of the fleet.")
        .def(
            "best_insertion",
            [](Fleet &self, Index region) {
                Rng rng(0); // unused, because no place is skipped
                auto const found = self.best_insertion(region, 0.0, rng);
                return std::tuple(found.value, found.vehicle, found.place, found.model);
            },
            "region"_a, "Return the value with one more visit, and its vehicle, place and model.");
}

void bind_search(nb::module_ &m) {
    nb::class_<RuinAndRecreate>(m, "RuinAndRecreate", "Ruin and recreate of routes, by simulated annealing.")
        .def(
            "__init__",
            [](RuinAndRecreate *self, std::shared_ptr<Instance const> instance, IntMatrix const &near,
               double rearranged, double removed, Index string, Index added, double blink, double contrary,
               std::uint64_t seed) {
                new (self) RuinAndRecreate(std::move(instance), matrix_of(near),
                                           {rearranged, removed, string, added, blink, contrary}, seed);
            },
            "instance"_a, "near"_a, nb::kw_only(), "rearranged"_a, "removed"_a, "string"_a, "added"_a, "blink"_a,
            "contrary"_a, "seed"_a, "`near` lists the nearest other regions of each, nearest first.")
        .def(
            "start",
            [](RuinAndRecreate &self, Rows const &regions, Rows const &models, std::vector<double> weights,
               std::vector<Index> served_by) {
                self.start(from_rows(regions, models), {std::move(weights), std::move(served_by)});
            },
            "regions"_a, "models"_a, "weights"_a, "served_by"_a,
            "Start from routes that begin and end at the required regions, and a service of their models.")
        .def(
            "insert",
            [](RuinAndRecreate &self, IntVector const &regions) {
                nb::gil_scoped_release release;
                self.insert(indices_of(regions));
            },
            "regions"_a, "Insert regions that are required or pay.")
        .def("run", &RuinAndRecreate::run, "iterations"_a, "temperature"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Ruin and recreate `iterations` times.")
        .def_prop_ro(
            "best", [](RuinAndRecreate const &self) { return to_rows(self.best()); }, nb::rv_policy::automatic,
            "The regions and the models of the best feasible routes since the start; empty if there were none.")
        .def_prop_ro("best_value", &RuinAndRecreate::best_value, "Their value.")
        .def_prop_ro("typical_loss", &RuinAndRecreate::typical_loss,
                     "The median cost increase of the last run's iterations that made the routes worse.");
}
} // namespace

void bind_routes(nb::module_ &m) {
    bind_instance(m);
    bind_exact(m);
    bind_values(m);
    bind_search(m);
}
} // namespace learnroute
