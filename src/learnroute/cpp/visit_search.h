#pragma once

#include "ruin_search.h"
#include "visit_route.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// Ruin and recreate of a sequence of visits, accepted by simulated annealing.
///
/// Slack induction by string removals (Christiaens and Vanden Berghe 2020): strings of visits near each other are
/// removed. They and some absent regions are inserted again one by one, each at its best place, with blinks. Optional
/// visits are inserted only if they pay. Random 2-opt and Or-opt moves reverse and move segments that are longer than
/// strings. Only feasible sequences are accepted.
class VisitSearch : public RuinSearch {
    VisitRoute route_;
    std::vector<Index> current_;
    double value_ = inf;
    std::vector<Index> best_;
    double best_value_ = inf;
    std::vector<Index> trial_;
    std::vector<Index> places_; // place of a visit to each region, or -1
    Index begin_ = 0;           // range of places whose visits may be moved
    Index end_ = 0;
    std::vector<double> lengths_; // cumulative travel up to each place
    std::vector<double> sway_;    // maximum change of the error, by the number of unchanged visits at the end

    [[nodiscard]] bool has_enough() const { return static_cast<Index>(trial_.size()) >= route_.instance().at_least; }
    /// Find a place of each region whose visit may be moved.
    void locate();
    /// Apply a random 2-opt or Or-opt move to nearby visits. Return whether there was one.
    bool rearrange();
    /// Cut the sequence at long edges and join the parts differently. Return whether that changes the sequence.
    bool recombine();
    void find_sway();
    /// Lower bound on the cost increase from the current sequence to the trial, which has the same number of visits.
    [[nodiscard]] double least_loss() const;
    void ruin();
    /// Insert absent regions, optional ones only if they pay. A share `contrary` of these decisions is reversed.
    ///
    /// Returns whether all required regions could be inserted.
    bool recreate(double contrary);
    void try_change(double temperature);

public:
    VisitSearch(std::shared_ptr<Instance const> instance, MatrixView<std::int64_t> near, RuinParams params,
                std::uint64_t seed);

    /// Start from a sequence. It must begin and end at the fixed regions, if any; required visits may be missing.
    void start(std::span<Index const> visits);
    /// Insert regions that are required or pay, one by one. Return whether all required ones could be inserted.
    bool insert(std::span<Index const> regions);
    /// Ruin and recreate `iterations` times.
    void run(std::int64_t iterations, double temperature);

    [[nodiscard]] std::vector<Index> const &current() const { return current_; }
    [[nodiscard]] std::vector<Index> const &best() const { return best_; }
    [[nodiscard]] double best_value() const { return best_value_; }
};
} // namespace learnroute
