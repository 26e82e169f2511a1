#pragma once

#include "visit_problem.h"

#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// The regions that a model is trained in, in order, and what one training more would change.
///
/// What is asked for is a weighted sum of the model's expected errors, over regions and other models alike: weights
/// enter by three numbers, the sums `scores` of what each region's own model would have, the `total` of the first
/// model, and the `count` of all weights. The sum behind a place is a linear function of the errors there, A·Σ + B·c +
/// G·a + C with the sum Σ of the own parts a and the common part c (`learnroute.model.law`). Kept are, for each place,
/// the errors reached from the beginning, and the factors of the end, which is priced one position later than it
/// stands, as it would be behind a further training. Factors that are proportional to the count are kept for a count
/// of 1.
///
/// Where training does the same at every position, the earliest trainings are left out if nothing is left of them at
/// the end.
class Training {
    std::shared_ptr<VisitProblem const> problem_;
    std::size_t forgotten_ = 0;  // the number of trainings left out
    std::vector<Index> regions_; // of the trainings behind them
    std::vector<double> scores_;
    double total_;
    double count_;
    // Before each training, and at the end:
    std::vector<double> sum_;    // Σ
    std::vector<double> common_; // c
    std::vector<double> own_;    // a, one row each, where errors are coupled
    // By how many trainings follow:
    std::vector<double> sum_factor_;    // A
    std::vector<double> common_factor_; // B
    std::vector<double> noise_;         // C, of noise and coupling ...
    std::vector<double> scored_;        // ... and of scores
    std::vector<double> own_factor_;    // G·Δ[k] for each region k, one row each
    std::vector<double> owned_;         // G·a
    std::vector<double> prices_;
    std::vector<double> errors_;
    double to_first_ = 0.0;
    bool known_ = false; // whether errors_ and to_first_ are those of the present regions

    [[nodiscard]] std::size_t forgotten(std::span<Index const> regions) const;
    [[nodiscard]] VisitProblem::Update const &later(std::size_t training) const;
    void train(std::size_t training);
    void train_behind(std::size_t training);
    void weigh_own();
    void sum_up(std::size_t kept, std::size_t kept_behind);
    template <bool coupled> void price(Index region);
    void know();

public:
    explicit Training(std::shared_ptr<VisitProblem const> problem);

    [[nodiscard]] bool is_trained() const { return !regions_.empty(); }
    /// Change the regions; what beginning and end have in common with the present ones is kept. Return whether errors
    /// change.
    bool assign(std::span<Index const> regions);
    /// Change what is asked for.
    void weigh(std::span<double const> scores, double total, double count);

    [[nodiscard]] double value() const { return sum_.back() + count_ * common_.back(); }
    /// The value with a further training in a region, by the place it is put at.
    std::span<double const> prices(Index region);
    /// The expected error in each region.
    std::span<double const> errors();
    /// The expected squared distance to the first model.
    double to_first();
    /// The expected squared distance to another model, by its errors and its distance to the first one.
    [[nodiscard]] double distance(std::span<double const> errors, double to_first) const;
};
} // namespace learnroute
