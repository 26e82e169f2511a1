#pragma once

#include "instance.h"
#include "median.h"
#include "rng.h"

#include <cstdint>
#include <vector>

namespace learnroute {
/// Parameters of ruin and recreate.
struct RuinParams {
    double rearranged; // share of iterations that apply a 2-opt or Or-opt move instead
    double removed;    // maximum average number of visits removed per iteration
    Index string;      // maximum length of a removed string of visits
    Index added;       // maximum number of absent regions tried in addition
    double blink;      // share of places that are skipped
    double contrary;   // share of visits inserted although they do not pay, or left out although they do
};

/// The common base of ruin and recreate of one route (`VisitSearch`) and of the routes of a fleet (`RuinAndRecreate`).
class RuinSearch {
    std::vector<Index> near_; // nearest regions, nearest first, one row per region
    std::size_t listed_;      // entries per row

protected:
    static constexpr std::size_t rare = 20;  // one move in this many changes the beginning or end of a route
    static constexpr std::size_t seldom = 5; // one move in this many recombines parts between long edges

    RuinParams params_;
    Rng rng_;
    std::vector<Index> counts_; // visits to each region, in the trial
    std::vector<Index> absent_; // regions to be inserted
    std::vector<double> worse_;
    bool is_located_ = false; // whether the places of visits are up to date with the current routes

    RuinSearch(Index regions, MatrixView<std::int64_t> near, RuinParams params, std::uint64_t seed);

    [[nodiscard]] bool has_neighbours() const { return listed_ > 0; }
    /// Draw a region near another one.
    Index draw_near(Index region);
    /// Remove strings of visits at a region and at those nearest to it. `remove(region, longest)` removes one of at
    /// most `longest` visits, if it can; `movable` is the number of visits that may be removed.
    template <class Remove> void remove_strings(Index seed, Index movable, Remove const &remove) {
        auto const longest = std::min(params_.string, movable);
        auto const most = std::max(1.0, 4 * params_.removed / (1 + longest) - 1);
        auto strings = static_cast<Index>(1 + rng_.uniform() * most);
        strings -= remove(seed, longest) ? 1 : 0;
        for (std::size_t i = 0; i < listed_ && strings > 0; ++i)
            strings -= remove(near_[seed * listed_ + i], longest) ? 1 : 0;
    }
    /// Add random regions that may be visited once more to those to be inserted, half of them near one region.
    void add_others(Instance const &instance, Index seed);
    /// Shuffle the regions to be inserted, with all required ones first if `required_first`.
    void shuffle_absent(Instance const &instance, bool required_first);
    /// Whether all required regions are visited.
    [[nodiscard]] bool has_required(Instance const &instance) const;

public:
    /// The median cost increase of the last iterations that made the routes worse; 0 if none did.
    [[nodiscard]] double typical_loss() const { return median(worse_); }
};
} // namespace learnroute
