#pragma once

#include "instance.h"

#include <memory>
#include <span>
#include <vector>

namespace learnroute {
/// A sequence of visits, its value, and its value with one additional visit.
///
/// The final value is a linear function of the expected errors at any place, A·Σ + B·c + G·a + C, with the sum Σ of the
/// regions' own parts a and the common part c (`learnroute.model.law`). Therefore the route stores, for each place, the
/// errors after the visits before it, and the weights A, B, C of the visits behind it. The latter are evaluated one
/// position later than their current one, because an additional visit shifts them.
///
/// If errors are coupled, c depends on a[k] before each visit to a region k, and C on H[k] = G·Δ[k] behind it. These
/// are sums over the visits before and behind; visits with a negligible share are left out. The weights are computed
/// only when they are needed.
class VisitRoute {
    std::shared_ptr<Instance const> instance_;
    double negligible_; // threshold below which shares and weights are ignored; 0 if they may grow
    std::vector<Index> visits_;
    std::vector<Index> stops_;   // the visits, with the stops before and after them
    std::vector<double> legs_;   // travel to each visit, and from the last one
    std::vector<double> sum_;    // Σ before each visit, and at the end
    std::vector<double> common_; // c
    std::vector<double> own_;    // a[k] before each visit
    std::size_t known_ = 0;      // first visit with a known a[k]; earlier ones are negligible
    double travel_ = 0.0;
    // Indexed by the number of visits that follow, for the visits in `weighed_`:
    std::vector<Index> weighed_;
    std::vector<double> sum_weight_;    // A
    std::vector<double> common_weight_; // B
    std::vector<double> own_weight_;    // H[k] of the visit before
    std::vector<double> constant_;      // C
    std::vector<double> owned_;         // G·a
    std::vector<double> summed_;        // A·Σ
    std::vector<double> shared_;        // B·c
    bool is_weighed_ = false;
    // For the region whose insertion is evaluated:
    std::vector<double> region_own_;    // a, by place
    std::vector<double> region_weight_; // H, by the number of visits that follow
    std::vector<double> prices_;
    std::vector<double> shares_; // of each visit in the model, or in the later errors

    [[nodiscard]] ErrorUpdate const &later(std::size_t visit) const;
    [[nodiscard]] bool counts(std::size_t follow) const;
    [[nodiscard]] double own_at(Index region, std::size_t place) const;
    void find_own(std::size_t kept, std::size_t same);
    void weigh();
    void weigh_own(std::size_t kept);
    void sum_owned();
    void follow_region(Index region);
    template <bool coupled> void compute_values(Index region, std::size_t begin, std::size_t end);

public:
    explicit VisitRoute(std::shared_ptr<Instance const> instance);

    [[nodiscard]] Instance const &instance() const { return *instance_; }
    [[nodiscard]] std::vector<Index> const &visits() const { return visits_; }
    [[nodiscard]] double travel() const { return travel_; }
    /// The value of the sequence; infinity if it is empty.
    [[nodiscard]] double value() const;

    /// Set the visits. Results for the common beginning and end of the old and new sequence are reused.
    void assign(std::span<Index const> visits);
    /// Return the value with an additional visit to a region, by place of insertion; infinity if it is not allowed.
    ///
    /// The limit on visits to the region is not checked.
    std::span<double const> insertion_values(Index region);
};
} // namespace learnroute
