#pragma once

#include "visit_problem.h"

#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// A sequence of visits, its value, and what it would be with one visit more, in O(1) per place.
///
/// The value behind a place is a linear function of the expected errors there: A·Σ + B·c + G·a + C, with the sum Σ of
/// the regions' own parts a and the common part c (`learnroute.model.law`). So kept are, for each place, the errors
/// reached from the beginning, and the weights A, B, C of the end; where errors are coupled, also the errors in each
/// region and H[k] = G·Δ[k], in O(T) per place. The end is priced one position later than it stands, as it would be
/// behind a further visit.
class VisitRoute {
    std::shared_ptr<VisitProblem const> problem_;
    std::vector<Index> visits_;
    std::vector<Index> stops_;   // the same between what comes before and after them
    std::vector<double> legs_;   // travel to each visit, and from the last one
    std::vector<double> sum_;    // Σ before each visit, and at the end
    std::vector<double> common_; // c
    std::vector<double> own_;    // a, one row each
    // By how many visits follow:
    std::vector<double> sum_weight_;    // A
    std::vector<double> common_weight_; // B
    std::vector<double> constant_;      // C
    std::vector<double> own_weight_;    // H, one row each
    std::vector<double> owned_;         // G·a
    std::vector<double> summed_;        // A·Σ
    std::vector<double> shared_;        // B·c
    std::vector<double> prices_;
    double travel_ = 0.0;

    void train(std::size_t visit);
    void train_behind(std::size_t visit);
    void weigh_own();
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
