#pragma once

#include "matrix_view.h"

#include <span>
#include <vector>

namespace learnroute {
/// The weights of models whose average has the smallest error: they minimise c·α - α'Qα/2 subject to α >= 0 and Σα = 1.
/// Q has T times the squared distances between models; for squared Euclidean distances, the quadratic programme is
/// convex.
class MergeWeights {
    std::vector<double> system_; // linear equations for the stationary point on a face of the simplex
    std::vector<double> point_;
    std::vector<Index> support_;

    std::vector<double> slopes_; // the increase of the value per weight of each model

    bool solve(std::span<double const> linear, MatrixView<double> quadratic);
    void jump(std::span<double const> linear, MatrixView<double> quadratic, std::span<double> weights);

public:
    /// Maximum number of models for which all faces are tried.
    static constexpr Index few = 8;
    /// Maximum error of `best` with up to `few` models if the programme is nearly flat, relative to the largest
    /// distance and to the value.
    static constexpr double flat = 2e-12;

    [[nodiscard]] static double value(std::span<double const> linear, MatrixView<double> quadratic,
                                      std::span<double const> weights);
    static constexpr int most_sweeps = 200;
    /// Improve weights of sum 1 until there is no further gain: move to the stationary point of their face, and shift
    /// weight between two models at a time, which may lead to another face.
    void descend(std::span<double const> linear, MatrixView<double> quadratic, std::span<double> weights,
                 int sweeps = most_sweeps);
    /// Return the best weights: the best stationary point of all faces, or the result of a descent for more than `few`
    /// models.
    std::vector<double> best(std::span<double const> linear, MatrixView<double> quadratic);
};
} // namespace learnroute
