#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// Training of a linear learner on several random divisions of the samples, to evaluate any sequence of batches.
///
/// In each draw (division), training on a batch is an affine map of the model, w <- A·w + c. The squared test error is
/// the sum of one or more tests, |R·w - z|² + r each, with R upper triangular: one test of all regions, or one per
/// region. All sequences are evaluated on the same draws, so that their errors can be compared. The numbers of all
/// draws are contiguous in memory, so that one instruction trains several draws.
class Rehearsal {
    std::size_t batches_;
    std::size_t width_;
    std::size_t draws_;
    std::size_t positions_; // number of positions with different maps; 1 if training is the same at all positions
    std::size_t tests_;
    std::vector<double> maps_;      // A by position, batch, row, column and draw
    std::vector<double> constants_; // c by position, batch, row and draw
    std::vector<double> start_;     // the initial model, by row and draw
    std::vector<double> roots_;     // R by test, row, column and draw
    std::vector<double> aims_;      // z by test, row and draw
    std::vector<double> rests_;     // r by test and draw

public:
    Rehearsal(std::size_t batches, std::size_t positions, std::size_t draws, std::vector<double> maps,
              std::vector<double> constants, std::vector<double> start, std::vector<double> roots,
              std::vector<double> aims, std::vector<double> rests);

    [[nodiscard]] std::size_t draws() const { return draws_; }
    [[nodiscard]] std::size_t tests() const { return tests_; }
    /// Total size of the models of all draws.
    [[nodiscard]] std::size_t numbers() const { return width_ * draws_; }
    [[nodiscard]] std::span<double const> start() const { return start_; }
    /// Train the models of all draws on a batch at a position of the sequence.
    void train(std::size_t position, Index batch, std::span<double const> before, std::span<double> after) const;
    /// Compute the residuals R·w - z of one test for each draw's model, by row and draw.
    void residuals(std::size_t test, std::span<double const> models, std::span<double> found) const;
    /// Return the mean of r over the draws for one test.
    [[nodiscard]] double mean_rest(std::size_t test) const;
    /// Return the models of all draws after a sequence of batches.
    [[nodiscard]] std::vector<double> models_after(std::span<Index const> batches) const;
    /// Return the test error of each draw after a sequence of batches.
    [[nodiscard]] std::vector<double> errors_after(std::span<Index const> batches) const;
};
} // namespace learnroute
