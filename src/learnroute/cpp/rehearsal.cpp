#include "rehearsal.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace learnroute {
namespace {
/// Add the sum over columns of factors times values to `sum`, for each draw.
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

Rehearsal::Rehearsal(std::size_t batches, std::size_t positions, std::size_t draws, std::vector<double> maps,
                     std::vector<double> constants, std::vector<double> start, std::vector<double> roots,
                     std::vector<double> aims, std::vector<double> rests)
    : batches_(batches), width_(start.size() / draws), draws_(draws), positions_(positions),
      tests_(rests.size() / draws), maps_(std::move(maps)), constants_(std::move(constants)), start_(std::move(start)),
      roots_(std::move(roots)), aims_(std::move(aims)), rests_(std::move(rests)) {}

void Rehearsal::train(std::size_t position, Index batch, std::span<double const> before,
                      std::span<double> after) const {
    auto const place = std::min(position, positions_ - 1) * batches_ + static_cast<std::size_t>(batch);
    std::copy_n(constants_.data() + place * numbers(), numbers(), after.data());
    auto const *const map = maps_.data() + place * width_ * numbers();
    for (std::size_t row = 0; row < width_; ++row)
        add_products(after.data() + row * draws_, map + row * numbers(), before.data(), width_, draws_);
}

void Rehearsal::residuals(std::size_t test, std::span<double const> models, std::span<double> found) const {
    auto const *const aims = aims_.data() + test * numbers();
    auto const *const root = roots_.data() + test * width_ * numbers();
    for (std::size_t i = 0; i < numbers(); ++i)
        found[i] = -aims[i];
    for (std::size_t row = 0; row < width_; ++row)
        add_products(found.data() + row * draws_, root + (row * width_ + row) * draws_, models.data() + row * draws_,
                     width_ - row, draws_);
}

double Rehearsal::mean_rest(std::size_t test) const {
    auto const first = rests_.begin() + static_cast<std::ptrdiff_t>(test * draws_);
    return std::accumulate(first, first + static_cast<std::ptrdiff_t>(draws_), 0.0) / static_cast<double>(draws_);
}

std::vector<double> Rehearsal::models_after(std::span<Index const> batches) const {
    auto models = start_;
    std::vector<double> next(numbers());
    for (std::size_t position = 0; position < batches.size(); ++position) {
        train(position, batches[position], models, next);
        std::swap(models, next);
    }
    return models;
}

std::vector<double> Rehearsal::errors_after(std::span<Index const> batches) const {
    auto const models = models_after(batches);
    std::vector<double> errors(draws_);
    std::vector<double> found(numbers());
    for (std::size_t test = 0; test < tests_; ++test) {
        residuals(test, models, found);
        for (std::size_t draw = 0; draw < draws_; ++draw)
            errors[draw] += rests_[test * draws_ + draw];
        for (std::size_t row = 0; row < width_; ++row)
            for (std::size_t draw = 0; draw < draws_; ++draw)
                errors[draw] += found[row * draws_ + draw] * found[row * draws_ + draw];
    }
    return errors;
}
} // namespace learnroute
