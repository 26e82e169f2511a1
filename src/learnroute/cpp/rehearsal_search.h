#pragma once

#include "fleet.h"
#include "median.h"
#include "merge_weights.h"
#include "rehearsal.h"
#include "rng.h"

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace learnroute {
/// Simulated annealing of the routes of a fleet (or of one vehicle with one model), evaluated by rehearsal.
///
/// The value is the paid travel times its rate, plus the mean test error over the draws times the number of regions.
/// This is the value of `Instance`, whose constraints hold, with the rehearsed error instead of the expected one.
/// Models are averaged with the best weights for these draws, or each region is served by the best model there.
///
/// The routes of all vehicles form one sequence, with a separator before each vehicle but the first. Therefore Or-opt,
/// 2-opt and exchanges of two visits also move visits between vehicles. If visits are optional, moves also add, remove
/// and replace visits. If one vehicle has several models, moves also change the model that a visit trains. Each visit
/// to a region has its own batch. Each model is trained again only from its first changed batch on.
class RehearsalSearch {
    using Sequence = std::vector<Visit>;

    /// The trainings of one model.
    struct Trained {
        std::vector<Index> batches;
        std::vector<std::vector<double>> models; // of all draws, before the first batch and after each batch
        std::vector<double> outcome;             // residuals if models are averaged, otherwise errors by region
    };

    std::shared_ptr<Rehearsal const> rehearsal_;
    std::shared_ptr<Instance const> instance_;
    Index batches_per_region_;
    Rng rng_;
    MergeWeights merge_;
    Sequence current_;
    std::vector<Trained> trained_; // one per model
    double value_ = 0.0;
    Sequence best_;
    double best_value_ = 0.0;
    Sequence trial_;
    std::vector<Trained> tried_;    // the same for the trial, from the first changed batch on
    std::vector<Index> counts_;     // visits to each region, in the current sequence
    std::vector<Index> numbers_;    // the same in the trial, up to the visit being processed
    std::vector<Index> addable_;    // regions that may be visited once more
    std::vector<double> untrained_; // outcome of the initial model
    std::vector<double> worse_;
    // The quadratic programme for the weights:
    std::vector<std::span<double const>> merged_;
    std::vector<double> linear_;
    std::vector<double> quadratic_;

    [[nodiscard]] bool has_several_models() const { return instance_->models > instance_->vehicles; }
    [[nodiscard]] std::size_t visit_count(Sequence const &sequence) const;
    [[nodiscard]] double travel_of(std::span<Visit const> route) const;
    /// Return the paid travel of the trial, and whether it keeps all limits.
    [[nodiscard]] std::pair<double, bool> paid_travel() const;
    [[nodiscard]] std::vector<double> outcome_of(std::span<double const> models) const;
    void assign_batches();
    void train(std::size_t model, std::size_t kept);
    double value_with_travel(double travel);
    double merged_error();
    [[nodiscard]] double served_error() const;
    void accept(double value);
    /// Change the trial at random. Return whether it is feasible, apart from travel limits.
    bool rearrange(std::size_t begin, std::size_t end);
    bool change_visits(std::size_t begin, std::size_t end);
    bool change_model(std::size_t begin, std::size_t end);
    void try_change(double temperature);

public:
    RehearsalSearch(std::shared_ptr<Rehearsal const> rehearsal, std::shared_ptr<Instance const> instance,
                    Index batches_per_region, std::uint64_t seed);

    /// Start from feasible routes.
    void start(Routes const &routes);
    /// Try `moves` random moves.
    void run(std::int64_t moves, double temperature);

    [[nodiscard]] Routes best() const;
    [[nodiscard]] double best_value() const { return best_value_; }
    /// The median cost increase of the moves of the last run that made the sequence worse; 0 if none did.
    [[nodiscard]] double typical_loss() const { return median(worse_); }
};
} // namespace learnroute
