#pragma once

#include "matrix_view.h"
#include "neighbours.h"

#include <span>
#include <vector>

namespace learnroute {
/// The score part of a whole tour's value, added up from its end as far back as scores reach.
class TourScores {
public:
    /// Bounds on what a change of a tour can gain.
    struct Bounds {
        Index reach;                ///< positions before the end up to which scores count
        double floor;               ///< no tour's score part is less
        double swing;               ///< no change of a whole tour gains more ...
        std::vector<double> powers; ///< ... times this, if it ends so many positions before the end of the tour
    };

protected:
    Bounds bounds_;

    explicit TourScores(Bounds bounds);

    /// How many vertices count of those up to this position.
    [[nodiscard]] Index counted_up_to(Index position) const;

public:
    TourScores(TourScores const &) = delete;
    TourScores &operator=(TourScores const &) = delete;
    virtual ~TourScores() = default;

    [[nodiscard]] Bounds const &bounds() const { return bounds_; }

    /// The score part of the tour that is walked backwards, from this position on.
    virtual double value(Walk walk, Index position) = 0;
};

/// A region's weight is the product of the factors of those behind it: weights that fall geometrically, or least
/// squares with numbers of samples that differ.
class FallingScores : public TourScores {
    struct Vertex {
        double score, factor;
    };

    double heaviest_; ///< the weight of the last region
    std::vector<Vertex> vertices_;

public:
    FallingScores(Bounds bounds, double heaviest, std::span<double const> scores, std::span<double const> factors);

    double value(Walk walk, Index position) override;
};

/// Each position has a weight of its own.
class PositionScores : public TourScores {
    std::vector<double> scores_, weights_;

public:
    PositionScores(Bounds bounds, std::vector<double> scores, std::vector<double> weights);

    double value(Walk walk, Index position) override;
};

/// The error of a regularised learner along a tour, which depends on pairs of regions (`model.pairs`).
///
/// Visits whose share in the model is negligible are left out.
class PairScores : public TourScores {
public:
    /// What training does to the errors, by position and region (`model.learner.Updates`), and dissimilarities.
    struct Updates {
        MatrixView<double> retention, plasticity, coupling, second, noise;
        MatrixView<double> dissimilarity; ///< row j has Δ[i, j]
        std::span<double const> initial;  ///< Δ[j, 0]
    };

    /// The two parts of the error before the first position that counts.
    struct Parts {
        double summed, common;
    };

private:
    std::vector<double> scores_;
    Updates updates_;
    double counted_; ///< regions whose errors count
    Parts before_;
    std::vector<Index> order_;
    std::vector<double> retention_, plasticity_; ///< along the order

public:
    PairScores(Bounds bounds, std::vector<double> scores, Updates updates, double counted, Parts before);

    double value(Walk walk, Index position) override;
};
} // namespace learnroute
