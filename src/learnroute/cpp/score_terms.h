#pragma once

#include "move.h"
#include "neighbours.h"
#include "tour.h"

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// The part of the objective that depends on the positions of regions, and its change by a move.
///
/// Positions are counted from the beginning of the tour's array, which is anchored: moves do not change its two ends. A
/// term is at most `most` times `slowest` to the number of regions that are visited later. Therefore terms of regions
/// that are more than `reach` positions away from the end are negligible.
class ScoreTerms {
    Index reach_;
    double floor_, swing_; // lower and upper bound on the sum of all terms
    double least_gain_;    // smaller gains are attributed to rounding
    std::vector<double> powers_;
    double spare_ = inf;

protected:
    Layout layout_;

    ScoreTerms(Layout layout, double most, double slowest, double least_gain, double floor);
    ScoreTerms(ScoreTerms const &) = default;

    /// The position of the last vertex before `end`.
    [[nodiscard]] Index last_position() const { return layout_.vertices() - 1 - layout_.before(); }
    /// Number of vertices of a complete tour that count, from that position backwards.
    [[nodiscard]] Index counted() const { return std::min(last_position(), reach_) + 1; }

    [[nodiscard]] double power(Index positions) const { return powers_[positions]; }

public:
    virtual ~ScoreTerms() = default;
    ScoreTerms &operator=(ScoreTerms const &) = delete;

    [[nodiscard]] virtual std::unique_ptr<ScoreTerms> clone() const = 0;
    /// Update the running sums after a change at the positions `first` to `last` - 1.
    virtual void update(Tour const &tour, Index first, Index last) = 0;
    /// Return the change of the terms if the segments of a move are written, within reach of the end.
    virtual double change(Tour const &tour, Move const &move) = 0;
    /// Return the sum of the terms of a complete tour, traversed backwards from the vertex before `end` as far as they
    /// reach.
    virtual double value(Walk walk) = 0;
    /// Return the same sum for a tour in array order and its neighbours.
    double value_of(std::span<Index const> tour, std::span<Neighbours const> neighbours) {
        return value({neighbours, layout_.has_ends ? tour.back() : tour.front(), tour[last_position()]});
    }
    /// Running sums along the tour, for tests.
    [[nodiscard]] virtual std::vector<double> sums() const { return {}; }

    /// Whether terms change if position `last` is the last one that changes.
    [[nodiscard]] bool reaches_end(Index size, Index last) const { return last + 1 + reach_ >= size; }

    /// Return the maximum decrease of the terms if position `last` is the last one that changes.
    [[nodiscard]] double potential(Index size, Index last) const {
        return reaches_end(size, last) ? std::min(spare_, swing_ * powers_[std::max(0, size - 2 - last)]) : 0.0;
    }
    /// Return the change of the terms by a move.
    double change_by(Tour const &tour, Move const &move) {
        return reaches_end(tour.size(), move.first + move.written - 1) ? change(tour, move) : 0.0;
    }

    [[nodiscard]] Index reach() const { return reach_; }
    [[nodiscard]] double floor() const { return floor_; }
    [[nodiscard]] double least_gain() const { return least_gain_; }
    /// Maximum possible decrease of the terms of the current tour.
    [[nodiscard]] double spare() const { return spare_; }
    void set_spare(double spare) { spare_ = spare; }
};

/// Weights that decrease by a constant factor per position, or by a factor per region.
///
/// The value is `heaviest` times the sum over regions of score times the product of the factors of all later regions.
/// Two arrays of running sums give the contribution of a segment at any position in O(1).
class RunningSums : public ScoreTerms {
protected:
    struct Vertex {
        double score = 0.0;
        double factor = 1.0;
    };

    std::vector<Vertex> vertices_;
    std::vector<double> forward_;  // sums over the first k vertices, the last at full weight
    std::vector<double> backward_; // sums over the vertices from k on, vertex k at full weight
    double heaviest_;

    RunningSums(Layout layout, std::span<double const> scores, std::span<double const> factors, double heaviest,
                double least_gain, double floor);

    /// The position behind the last factor; `end` has none.
    [[nodiscard]] Index behind(Tour const &tour) const { return tour.size() - (layout_.has_ends ? 1 : 0); }
    template <typename Retention> double change_with(Retention const &retention, Tour const &tour, Move const &move);

public:
    double value(Walk walk) override;
    [[nodiscard]] std::vector<double> sums() const override;
};

/// Weights that decrease by a constant factor per position.
class GeometricScores final : public RunningSums {
public:
    GeometricScores(Layout layout, std::span<double const> scores, double rate, double heaviest, double least_gain,
                    double floor);

    [[nodiscard]] std::unique_ptr<ScoreTerms> clone() const override {
        return std::make_unique<GeometricScores>(*this);
    }
    void update(Tour const &tour, Index first, Index last) override;
    double change(Tour const &tour, Move const &move) override;
};

/// Weights that decrease by a factor per region. Products of factors are computed from sums of logarithms and counts of
/// zeros.
class FactoredScores final : public RunningSums {
    std::vector<double> logs_;  // sums of the logarithms of the first k factors, without zeros
    std::vector<double> zeros_; // number of zeros among the first k factors

public:
    FactoredScores(Layout layout, std::span<double const> scores, std::span<double const> factors, double heaviest,
                   double least_gain, double floor);

    [[nodiscard]] std::unique_ptr<ScoreTerms> clone() const override { return std::make_unique<FactoredScores>(*this); }
    void update(Tour const &tour, Index first, Index last) override;
    double change(Tour const &tour, Move const &move) override;
    [[nodiscard]] std::vector<double> sums() const override;
};

/// Arbitrary weights by position. A move is evaluated position by position.
class GeneralScores final : public ScoreTerms {
    std::vector<double> scores_;  // by vertex
    std::vector<double> weights_; // by position of the tour

public:
    GeneralScores(Layout layout, std::span<double const> scores, std::span<double const> weights, double least_gain,
                  double floor);

    [[nodiscard]] std::unique_ptr<ScoreTerms> clone() const override { return std::make_unique<GeneralScores>(*this); }
    void update(Tour const &, Index, Index) override {}
    double change(Tour const &tour, Move const &move) override;
    double value(Walk walk) override;
};
} // namespace learnroute
