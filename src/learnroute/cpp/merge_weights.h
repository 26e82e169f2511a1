#pragma once

#include "matrix_view.h"

#include <span>
#include <vector>

namespace learnroute {
/// The weights of an average of models that has the least error: those that minimise c·α - α'Qα/2, where α >= 0 adds up
/// to 1. Q has T times the squared distances between models, so that the programme is convex where these are distances.
class MergeWeights {
    std::vector<double> system_; // of the stationary point on a face of the simplex
    std::vector<double> point_;
    std::vector<Index> support_;

    bool solve(std::span<double const> linear, MatrixView<double> quadratic);

public:
    /// The most models for which all faces are tried.
    static constexpr Index few = 8;
    /// Of the largest distance, and of the value: what `best` may miss of up to `few` models, where the programme is
    /// nearly flat.
    static constexpr double flat = 2e-12;

    [[nodiscard]] static double value(std::span<double const> linear, MatrixView<double> quadratic,
                                      std::span<double const> weights);
    /// Descend from weights of sum 1 by shifting weight between two models at a time, until nothing is gained.
    static void descend(std::span<double const> linear, MatrixView<double> quadratic, std::span<double> weights);
    /// The best weights: over the stationary points of all faces; of more than `few` models, by descent.
    std::vector<double> best(std::span<double const> linear, MatrixView<double> quadratic);
};
} // namespace learnroute
