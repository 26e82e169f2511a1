#pragma once

#include "dice.h"
#include "median.h"
#include "visit_route.h"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace learnroute {
struct RuinParams {
    double rearranged; // the share of iterations that make a 2-opt or Or-opt move instead
    double removed;    // visits that an iteration removes on average, at most
    Index string;      // the longest string of visits that is removed at once
    Index added;       // absent regions that are tried besides, at most
    double blink;      // the share of places that are overlooked
    double contrary;   // the share of visits that are put in though they do not pay, or left out though they do
};

/// Ruin and recreate of a sequence of visits, accepted by simulated annealing.
///
/// Slack induction by string removals (Christiaens and Vanden Berghe 2020): strings of visits near each other are
/// removed; they and some absent regions are put back one by one, each at its best place, with blinks. Visits that are
/// not required come back where they pay. Random 2-opt and Or-opt moves turn what strings are too short for. Rules are
/// kept at all times.
class VisitSearch {
    VisitRoute route_;
    std::vector<Index> near_; // of each region the nearest others, nearest first, one row each
    std::size_t listed_;      // entries per row
    RuinParams params_;
    Dice dice_;
    std::vector<Index> current_;
    double value_;
    std::vector<Index> best_;
    double best_value_;
    std::vector<Index> trial_;
    std::vector<Index> counts_; // visits to each region, in `trial_`
    bool is_located_ = false;   // whether these are known for the present sequence:
    std::vector<Index> places_; // of a visit to each region, or -1
    Index begin_ = 0;           // places of visits that may be moved
    Index end_ = 0;
    std::vector<Index> absent_; // regions that are to be put in
    std::vector<double> worse_;
    std::vector<double> lengths_; // of ways up to each place
    std::vector<double> sway_;    // by how much visits can change the error, by how many visits follow unchanged

    [[nodiscard]] bool has_enough() const { return static_cast<Index>(trial_.size()) >= route_.problem().at_least; }
    /// Find a place of each region that may be moved.
    void locate();
    /// Make a random 2-opt or Or-opt move of near visits; return whether there was one.
    bool rearrange();
    /// Cut the sequence where ways are long, and join the parts otherwise; return whether that changes anything.
    bool recombine();
    void find_sway();
    /// What the sequence that is tried costs more than the present one at least: both have the same number of visits.
    [[nodiscard]] double least_loss() const;
    void ruin();
    void add_others(Index seed);
    /// Put absent regions in, those that are not required where that pays; a share of these is decided the other way.
    ///
    /// Returns whether all that are required found a place.
    bool recreate(double contrary);
    void look(double temperature);

public:
    VisitSearch(std::shared_ptr<VisitProblem const> problem, MatrixView<std::int64_t> near, RuinParams params,
                std::uint64_t seed);

    /// Start from a sequence. It must begin and end where it must; required visits may be missing.
    void start(std::span<Index const> visits);
    /// Put in regions that are required or pay, one by one; return whether all those required found a place.
    bool insert(std::span<Index const> regions);
    /// Ruin and recreate so many times.
    void run(std::int64_t iterations, double temperature);

    [[nodiscard]] std::vector<Index> const &current() const { return current_; }
    [[nodiscard]] std::vector<Index> const &best() const { return best_; }
    [[nodiscard]] double best_value() const { return best_value_; }
    /// The median of what the last iterations cost, of those that made the sequence worse; 0 where none did.
    [[nodiscard]] double typical_loss() const { return median(worse_); }
};
} // namespace learnroute
