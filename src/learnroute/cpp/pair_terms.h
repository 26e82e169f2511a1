#pragma once

#include "score_terms.h"

#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// What training does to the expected errors of a regularised learner, by position (row) and region (column).
///
/// See `learnroute.model.law.Updates`, whose members these are, and `learnroute.model.pairs`.
struct ErrorUpdates {
    /// One visit: T times the error is summed - count * common, of which training there changes both.
    struct Update {
        double retention;
        double plasticity;
        double coupling;
        double second;
        double noise;
    };

    std::size_t regions;
    std::vector<Update> updates;         // by position and region
    std::vector<double> dissimilarities; // Δ[i, j], row by row of j
    std::vector<double> initial;         // Δ[j, 0]
    std::vector<double> scores;
    double total; // `summed` before the first visit
    double count; // how many regions' errors count

    [[nodiscard]] Update const &at(Index position, Index region) const {
        return updates[static_cast<std::size_t>(position) * regions + region];
    }
};

/// The error of a regularised learner, whose terms couple pairs of regions.
///
/// A move changes the model before every later visit. So it is priced from the first position that it changes to the
/// last one, O(T) per position; but visits whose share in the model is tiny are left out, and so are positions from
/// which nothing reaches the end. What the error is made of before each position of the tour is kept.
class PairTerms final : public ScoreTerms {
    /// An order of regions, and what their visits retain of the model and add to it.
    struct Visits {
        std::vector<Index> regions;
        std::vector<double> retention;
        std::vector<double> plasticity;
    };

    std::shared_ptr<ErrorUpdates const> terms_;
    Visits visited_;             // of the tour
    Visits tried_;               // of the tour that a move would make, from a position on
    std::vector<double> summed_; // the two parts of the error before each visit of the tour
    std::vector<double> common_;
    double error_ = 0.0;

    [[nodiscard]] Index visits(Tour const &tour) const;
    [[nodiscard]] Index visit_at(Index position) const;
    /// Return the error of the order that is `now` from position `first` on, and before it that of the tour.
    template <bool keep> double price(Visits &now, Index first, Index count);

public:
    /// Terms of which one is at most `most`; the model's retention per visit is at most `slowest`.
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
