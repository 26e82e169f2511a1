#include "rehearsal.h"

#include <algorithm>
#include <utility>

namespace learnroute {
namespace {
/// Add the sum of products of some factors and values, one column of draws each, to a column of draws.
void add_products(double *sum, double const *factors, double const *values, std::size_t columns, std::size_t draws) {
    std::size_t column = 0;
    for (; column + 4 <= columns; column += 4) { // four at once, so that sums are loaded and stored less often
        auto const *const a = factors + column * draws;
        auto const *const x = values + column * draws;
        for (std::size_t draw = 0; draw < draws; ++draw)
            sum[draw] += (a[draw] * x[draw] + a[draws + draw] * x[draws + draw]) +
                         (a[2 * draws + draw] * x[2 * draws + draw] + a[3 * draws + draw] * x[3 * draws + draw]);
    }
    for (; column < columns; ++column)
        for (std::size_t draw = 0; draw < draws; ++draw)
            sum[draw] += factors[column * draws + draw] * values[column * draws + draw];
}
} // namespace

Rehearsal::Rehearsal(std::size_t regions, std::size_t positions, std::size_t draws, std::vector<double> maps,
                     std::vector<double> constants, std::vector<double> start, std::vector<double> root,
                     std::vector<double> aims, std::vector<double> rest)
    : regions_(regions), width_(start.size() / draws), draws_(draws), positions_(positions), maps_(std::move(maps)),
      constants_(std::move(constants)), start_(std::move(start)), root_(std::move(root)), aims_(std::move(aims)),
      rest_(std::move(rest)) {}

void Rehearsal::train(std::size_t position, Index region, std::span<double const> before,
                      std::span<double> after) const {
    auto const place = std::min(position, positions_ - 1) * regions_ + static_cast<std::size_t>(region);
    std::copy_n(constants_.data() + place * numbers(), numbers(), after.data());
    auto const *const map = maps_.data() + place * width_ * numbers();
    for (std::size_t row = 0; row < width_; ++row)
        add_products(after.data() + row * draws_, map + row * numbers(), before.data(), width_, draws_);
}

void Rehearsal::test(std::span<double const> models, std::span<double> errors) const {
    std::ranges::copy(rest_, errors.begin());
    std::vector<double> residuals(draws_);
    for (std::size_t row = 0; row < width_; ++row) {
        for (std::size_t draw = 0; draw < draws_; ++draw)
            residuals[draw] = -aims_[row * draws_ + draw];
        add_products(residuals.data(), root_.data() + (row * width_ + row) * draws_, models.data() + row * draws_,
                     width_ - row, draws_);
        for (std::size_t draw = 0; draw < draws_; ++draw)
            errors[draw] += residuals[draw] * residuals[draw];
    }
}

std::vector<double> Rehearsal::models_after(std::span<Index const> visits) const {
    auto models = start_;
    std::vector<double> next(numbers());
    for (std::size_t position = 0; position < visits.size(); ++position) {
        train(position, visits[position], models, next);
        std::swap(models, next);
    }
    return models;
}

std::vector<double> Rehearsal::errors_after(std::span<Index const> visits) const {
    std::vector<double> errors(draws_);
    test(models_after(visits), errors);
    return errors;
}
} // namespace learnroute
