#pragma once

#include "median.h"
#include "rehearsal.h"
#include "visit_problem.h"

#include <cstdint>
#include <memory>
#include <random>
#include <span>
#include <vector>

namespace learnroute {
/// Simulated annealing of a sequence of visits that is priced by rehearsal.
///
/// The value is travel times its rate, plus the mean test error over the draws times the number of regions: that of
/// `VisitProblem`, whose rules are kept, with the rehearsed error in the place of the law's. Moves are Or-opt, 2-opt
/// and exchanges of two visits; where visits are optional, also additions, removals and replacements. The models before
/// the first changed visit are kept, and only what follows is trained again.
class RehearsalSearch {
    using Models = std::vector<double>;

    std::shared_ptr<Rehearsal const> rehearsal_;
    std::shared_ptr<VisitProblem const> problem_;
    std::mt19937_64 random_;
    std::vector<Index> current_;
    std::vector<Models> models_; // before each visit, and after the last one
    double value_ = 0.0;
    std::vector<Index> best_;
    double best_value_ = 0.0;
    std::vector<Index> trial_;
    std::vector<Models> trained_; // the same of the trial, from the first changed visit on
    std::vector<double> errors_;
    std::vector<Index> absent_; // regions that may be visited and are not
    std::vector<double> worse_;

    Index below(std::size_t count) { return static_cast<Index>((random_() >> 11) % count); }
    double uniform() { return static_cast<double>(random_() >> 11) * 0x1p-53; }
    [[nodiscard]] double travel_of(std::span<Index const> visits) const;
    /// The value of the trial, whose visits before `kept` are those of the current sequence.
    double price(std::size_t kept);
    void find_absent();
    /// Change the trial at random; return whether it keeps the rules, the budget aside.
    bool rearrange(std::size_t begin, std::size_t end);
    bool change_visits(std::size_t begin, std::size_t end);
    void look(double temperature);

public:
    RehearsalSearch(std::shared_ptr<Rehearsal const> rehearsal, std::shared_ptr<VisitProblem const> problem,
                    std::uint64_t seed);

    /// Start from a sequence that keeps the rules.
    void start(std::span<Index const> visits);
    /// Look at so many random moves.
    void run(std::int64_t moves, double temperature);

    [[nodiscard]] std::vector<Index> const &best() const { return best_; }
    [[nodiscard]] double best_value() const { return best_value_; }
    /// The median of what the moves of the last run cost, of those that made the sequence worse; 0 where none did.
    [[nodiscard]] double typical_loss() const { return median(worse_); }
};
} // namespace learnroute
