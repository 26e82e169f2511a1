#pragma once

#include "visit_problem.h"

#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// A sequence of visits, its value, and what it would be with one visit more.
///
/// The value behind a place is a linear function of the expected errors there: A·Σ + B·c + G·a + C, with the sum Σ of
/// the regions' own parts a and the common part c (`learnroute.model.law`). So kept are, for each place, the errors
/// reached from the beginning, and the weights A, B, C of the end. The end is priced one position later than it stands,
/// as it would be behind a further visit.
///
/// Where errors are coupled, c depends on a[k] before each visit to a region k, and C on H[k] = G·Δ[k] behind it: sums
/// over the visits before and behind, of which those that count next to nothing are left out. The weights of the end
/// are found when they are asked for.
class VisitRoute {
    std::shared_ptr<VisitProblem const> problem_;
    double negligible_; // what shares and weights count for nothing below; 0 where they may grow
    std::vector<Index> visits_;
    std::vector<Index> stops_;   // the same between what comes before and after them
    std::vector<double> legs_;   // travel to each visit, and from the last one
    std::vector<double> sum_;    // Σ before each visit, and at the end
    std::vector<double> common_; // c
    std::vector<double> own_;    // a[k] before each visit
    std::size_t known_ = 0;      // the first visit of which it is known; before it, it counts for nothing
    double travel_ = 0.0;
    // By how many visits follow; of `weighed_`:
    std::vector<Index> weighed_;
    std::vector<double> sum_weight_;    // A
    std::vector<double> common_weight_; // B
    std::vector<double> own_weight_;    // H[k] of the visit before
    std::vector<double> constant_;      // C
    std::vector<double> owned_;         // G·a
    std::vector<double> summed_;        // A·Σ
    std::vector<double> shared_;        // B·c
    bool is_weighed_ = false;
    // Of a region that is priced:
    std::vector<double> region_own_;    // a, by place
    std::vector<double> region_weight_; // H, by how many visits follow
    std::vector<double> prices_;
    std::vector<double> shares_; // of each visit in the model, or in what follows

    [[nodiscard]] VisitProblem::Update const &later(std::size_t visit) const;
    [[nodiscard]] bool counts(std::size_t follow) const;
    [[nodiscard]] double own_at(Index region, std::size_t place) const;
    void find_own(std::size_t kept, std::size_t same);
    void weigh();
    void weigh_own(std::size_t kept);
    void sum_owned();
    void follow_region(Index region);
    template <bool coupled> void price(Index region, std::size_t begin, std::size_t end);

public:
    explicit VisitRoute(std::shared_ptr<VisitProblem const> problem);

    [[nodiscard]] VisitProblem const &problem() const { return *problem_; }
    [[nodiscard]] std::vector<Index> const &visits() const { return visits_; }
    [[nodiscard]] double travel() const { return travel_; }
    /// Infinity where there is no visit.
    [[nodiscard]] double value() const;

    /// Change the visits; what beginning and end have in common with the present ones is kept.
    void assign(std::span<Index const> visits);
    /// The value with a further visit to a region, by the place it is put at; infinity where the rules forbid that.
    ///
    /// How often the region is visited already is not looked at.
    std::span<double const> prices(Index region);
};
} // namespace learnroute
