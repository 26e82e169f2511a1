#pragma once

#include "instance.h"
#include "merge_weights.h"
#include "routes.h"
#include "training.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace learnroute {
/// A place to insert a visit, and the value of the routes after the insertion.
struct Insertion {
    double value = inf;
    Index vehicle = -1;
    Index place = -1;
    Index model = -1;
};

/// The routes of a fleet, their value, and their value with one additional visit.
///
/// Insertions are evaluated for a fixed service. The objective then separates by model: if models serve their own
/// regions, it is the sum of the errors there; if models are averaged, it is the errors in all regions minus distances
/// to the other models, which follow the same recursion as distances to regions.
class Fleet {
    /// The path of one vehicle.
    struct Way {
        std::vector<Index> stops; // the regions, with the stops before and after them
        std::vector<double> legs;
        double travel = 0.0;
    };

    std::shared_ptr<Instance const> instance_;
    Routes routes_;
    std::vector<Way> ways_;
    std::vector<double> costs_; // of all travel with one more visit, by place of insertion
    std::vector<Training> trainings_;
    std::vector<std::vector<Index>> regions_; // training regions of each model of one vehicle
    std::vector<std::uint8_t> changed_;       // whether the errors of a model changed since `measure`
    bool is_weighed_ = false;                 // whether the weights of all models' errors are up to date
    Service service_;
    std::pair<Service, double> best_service_; // best service for the current models and its error, ...
    bool is_served_ = false;                  // ... if it is known
    double travel_ = 0.0;                     // of all vehicles
    double penalty_ = 0.0;                    // penalty per unit of travel beyond limits
    // If models are averaged:
    MergeWeights merging_;
    std::vector<double> means_;   // the summed error of each model
    std::vector<double> between_; // squared distances between models, times the number of regions
    std::vector<double> mix_;     // average of the models' errors
    std::vector<double> scores_;
    std::vector<double> means_tried_;
    std::vector<double> between_tried_;
    std::vector<double> weights_tried_;
    // If models serve their own regions, one row per model:
    std::vector<double> own_scores_;
    std::vector<double> own_totals_;
    std::vector<double> own_counts_;
    std::vector<double> least_; // smallest error per region
    double unserved_ = 0.0;     // sum of the errors in regions that the initial model serves

    [[nodiscard]] MatrixView<double> between() const;
    void walk(std::size_t vehicle);
    void train(std::size_t vehicle);
    void measure();
    void weigh();
    void set_equal_weights(std::span<double> weights) const;
    void add_region(Index region, Index model, double sign);
    void find_travel_costs(Index region, Index vehicle);
    void find_insertion(Index region, Index vehicle, Index model, Insertion &best, double blink, class Rng &rng);
    double error_with_new_model(Index region, Index model);
    [[nodiscard]] double longest_other(std::size_t vehicle) const;
    [[nodiscard]] double other_excess(std::size_t vehicle) const;
    [[nodiscard]] double travel_cost(double total, double longest) const;
    [[nodiscard]] double error() const;
    [[nodiscard]] double merged_error(std::span<double const> weights) const;

public:
    explicit Fleet(std::shared_ptr<Instance const> instance);

    [[nodiscard]] Instance const &instance() const { return *instance_; }
    [[nodiscard]] Routes const &routes() const { return routes_; }
    [[nodiscard]] Service const &service() const { return service_; }
    [[nodiscard]] std::size_t visit_count() const;
    /// Travel beyond the limits of the vehicles plus travel beyond the budget of the fleet.
    [[nodiscard]] double excess() const;
    void set_penalty(double penalty) { penalty_ = penalty; }

    /// Set the routes.
    void assign(Routes const &routes);
    /// Set the service for which insertions are evaluated.
    void serve_by(Service const &service);
    /// The value with the current service and penalised excess travel. If the longest route is paid for, the others
    /// count a little, too.
    [[nodiscard]] double value() const;
    /// The cost of the current travel.
    [[nodiscard]] double travel_cost() const {
        return travel_cost(travel_, std::max(ways_[0].travel, longest_other(0)));
    }
    /// Return the best service for the current routes and its error.
    std::pair<Service, double> const &serve();
    /// Find the best place for a visit to a region, with penalised excess travel. A share `blink` of the places is
    /// skipped.
    Insertion best_insertion(Index region, double blink, Rng &rng);
    void insert(Index region, Insertion const &where);
    /// Whether the value is that of the same routes and service from scratch, up to rounding; for assertions.
    [[nodiscard]] bool is_exact() const;
};
} // namespace learnroute
