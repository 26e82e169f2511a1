#pragma once

#include "score_terms.h"

#include <cmath>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// Updates of the expected errors of a regularised learner by training, per position (row) and region (column).
///
/// The members are those of `learnroute.model.law.Updates`; see also `learnroute.model.pairs`.
struct ErrorUpdates {
    /// The update of one visit. T times the error is summed - count * common; training changes both terms.
    struct Update {
        double retention;
        double plasticity;
        double coupling;
        double second;
        double noise;

        /// Return the update of the sums of the absolute values of the terms of all errors.
        [[nodiscard]] Update of_sizes() const {
            return {std::abs(retention), std::abs(plasticity), -std::abs(coupling), std::abs(second), std::abs(noise)};
        }
    };

    std::size_t regions;
    std::vector<Update> updates;         // by position and region
    std::vector<double> dissimilarities; // Δ[i, j], one row per j
    std::vector<double> initial;         // Δ[j, 0]
    std::vector<double> scores;
    double total; // `summed` before the first visit
    double count; // number of regions whose errors count

    [[nodiscard]] Update const &at(Index position, Index region) const {
        return updates[static_cast<std::size_t>(position) * regions + region];
    }
};

/// The error of a regularised learner, whose terms couple pairs of regions.
///
/// A move changes the model before every later visit. Therefore it is evaluated from the first position that it changes
/// to the last one, in O(T) per position. Visits with a tiny share in the model are left out, and so are positions that
/// have no effect on the end. The two parts of the error before each position of the tour are stored.
class PairTerms final : public ScoreTerms {
    /// An order of regions, with the retention and plasticity of each visit.
    struct Visits {
        std::vector<Index> regions;
        std::vector<double> retention;
        std::vector<double> plasticity;
    };

    std::shared_ptr<ErrorUpdates const> terms_;
    Visits visited_;             // of the tour
    Visits tried_;               // of the tour after a move, from a position on
    std::vector<double> summed_; // the first part of the error before each visit of the tour ...
    std::vector<double> common_; // ... and the second part
    double error_ = 0.0;

    [[nodiscard]] Index visits(Tour const &tour) const;
    [[nodiscard]] Index visit_at(Index position) const;
    /// Return the error of the order that equals the tour before position `first`, and `now` from there on.
    template <bool keep> double error_of(Visits &now, Index first, Index count);

public:
    /// Each term is at most `most`. The model's retention per visit is at most `slowest`.
    PairTerms(Layout layout, std::shared_ptr<ErrorUpdates const> terms, double most, double slowest, double least_gain,
              double floor);

    [[nodiscard]] std::unique_ptr<ScoreTerms> clone() const override { return std::make_unique<PairTerms>(*this); }
    void update(Tour const &tour, Index first, Index last) override;
    double change(Tour const &tour, Move const &move) override;
    double value(Walk walk) override;
    /// The error of the tour, times the number of regions.
    [[nodiscard]] double error() const { return error_; }
};
} // namespace learnroute
