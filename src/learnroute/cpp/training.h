#pragma once

#include "instance.h"

#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// The sequence of regions that a model is trained in, and the effect of one additional training.
///
/// The value is a weighted sum of the model's expected errors, that is, of its squared distances to regions and other
/// models. Weights enter through three quantities: the same sum for the true model of each region (`scores`), the sum
/// for the initial model (`total`), and the sum of all weights (`count`). The final value is a linear function of the
/// errors at any place, A·Σ + B·c + G·a + C, with the sum Σ of the own parts a and the common part c
/// (`learnroute.model.law`). Stored for each place are the errors after the trainings before it, and the factors of the
/// trainings behind it. The latter are evaluated one position later than their current one, because an additional
/// training shifts them. Factors that are proportional to the count are stored for a count of 1.
///
/// If training is the same at every position, the earliest trainings are left out if they have no effect at the end.
class Training {
    std::shared_ptr<Instance const> instance_;
    std::size_t forgotten_ = 0;  // number of trainings left out at the beginning
    std::vector<Index> regions_; // of the remaining trainings
    std::vector<double> scores_;
    double total_;
    double count_;
    // Before each training, and at the end:
    std::vector<double> sum_;    // Σ
    std::vector<double> common_; // c
    std::vector<double> own_;    // a, one row per place, if errors are coupled
    // Indexed by the number of trainings that follow, for the trainings in `behind_`:
    std::vector<Index> behind_;
    bool scored_by_ = true;             // whether the part due to scores is up to date
    std::vector<double> sum_factor_;    // A
    std::vector<double> common_factor_; // B
    std::vector<double> noise_;         // part of C due to noise and coupling ...
    std::vector<double> scored_;        // ... and part due to scores
    std::vector<double> own_factor_;    // G·Δ[k] for each region k, one row per place
    std::vector<double> owned_;         // G·a
    std::vector<double> prices_;
    std::vector<double> errors_;
    double to_first_ = 0.0;
    bool known_ = false; // whether errors_ and to_first_ are up to date

    [[nodiscard]] std::size_t forgotten(std::span<Index const> regions) const;
    [[nodiscard]] ErrorUpdate const &later(std::size_t training) const;
    void train(std::size_t training);
    void train_behind(std::size_t training);
    void weigh_own();
    void update_sums(std::size_t kept);
    void update_factors();
    template <bool coupled> void compute_values(Index region);
    void compute_errors();

public:
    explicit Training(std::shared_ptr<Instance const> instance);

    [[nodiscard]] bool is_trained() const { return !regions_.empty(); }
    /// Set the regions. Results for the common beginning and end of the old and new sequence are reused. Return whether
    /// errors change.
    bool assign(std::span<Index const> regions);
    /// Set the weights of the value.
    void weigh(std::span<double const> scores, double total, double count);

    [[nodiscard]] double value() const { return sum_.back() + count_ * common_.back(); }
    /// Return the value with an additional training in a region, by place of insertion.
    std::span<double const> insertion_values(Index region);
    /// The expected error in each region.
    std::span<double const> errors();
    /// The expected squared distance to the initial model.
    double to_first();
    /// Return the expected squared distance to another model, given its errors and its distance to the initial model.
    [[nodiscard]] double distance(std::span<double const> errors, double to_first) const;
};
} // namespace learnroute
