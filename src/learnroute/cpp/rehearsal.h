#pragma once

#include "matrix_view.h"

#include <cstddef>
#include <span>
#include <vector>

namespace learnroute {
/// Trainings of a linear learner on samples that were dealt several times, to price any sequence of visits.
///
/// In each draw, training in a region is an affine map of the model, w <- A·w + c, and the mean squared test error over
/// all regions is |R·w - z|² + r, with R upper triangular. The same draws serve all sequences, so that their errors can
/// be compared. Numbers of all draws stand side by side: one instruction trains several draws.
class Rehearsal {
    std::size_t regions_;
    std::size_t width_;
    std::size_t draws_;
    std::size_t positions_;         // with maps of their own; 1 where training is the same at all of them
    std::vector<double> maps_;      // A by position, region, row, column and draw
    std::vector<double> constants_; // c by position, region, row and draw
    std::vector<double> start_;     // the first model, by row and draw
    std::vector<double> root_;      // R by row, column and draw
    std::vector<double> aims_;      // z by row and draw
    std::vector<double> rest_;      // r by draw

public:
    Rehearsal(std::size_t regions, std::size_t positions, std::size_t draws, std::vector<double> maps,
              std::vector<double> constants, std::vector<double> start, std::vector<double> root,
              std::vector<double> aims, std::vector<double> rest);

    [[nodiscard]] std::size_t draws() const { return draws_; }
    /// The numbers that the models of all draws have together.
    [[nodiscard]] std::size_t numbers() const { return width_ * draws_; }
    [[nodiscard]] std::span<double const> start() const { return start_; }
    /// Train the models of all draws in a region, at a position of the sequence.
    void train(std::size_t position, Index region, std::span<double const> before, std::span<double> after) const;
    /// The test error of each draw's model.
    void test(std::span<double const> models, std::span<double> errors) const;
    /// The models of all draws after a sequence of visits.
    [[nodiscard]] std::vector<double> models_after(std::span<Index const> visits) const;
    /// The test error of each draw after a sequence of visits.
    [[nodiscard]] std::vector<double> errors_after(std::span<Index const> visits) const;
};
} // namespace learnroute
