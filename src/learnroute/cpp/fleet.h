#pragma once

#include "fleet_problem.h"
#include "merge_weights.h"
#include "training.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace learnroute {
/// A visit to a region, and the model that it trains.
struct FleetVisit {
    Index region;
    Index model;

    bool operator==(FleetVisit const &) const = default;
};

using FleetRoutes = std::vector<std::vector<FleetVisit>>;

/// Where a visit is put in, and what the routes cost then.
struct Insertion {
    double value = std::numeric_limits<double>::infinity();
    Index vehicle = -1;
    Index place = -1;
    Index model = -1;
};

/// How models serve the regions: by their weights in an average, or each region by one of them.
struct Service {
    std::vector<double> weights;
    std::vector<Index> served_by; // a model, or -1 for the first one, which nothing trains
};

/// The routes of a fleet, their value, and what it would be with one visit more.
///
/// Visits are priced for a given service. Each model then sees a problem of its own: where models serve their own
/// regions, the errors in these; where they are averaged, errors in all regions less distances to the other models,
/// which obey the law of distances as regions do.
class Fleet {
    /// The way of one vehicle.
    struct Way {
        std::vector<Index> stops; // the regions between what comes before and after them
        std::vector<double> legs;
        double travel = 0.0;
    };

    std::shared_ptr<FleetProblem const> problem_;
    FleetRoutes routes_;
    std::vector<Way> ways_;
    std::vector<Training> trainings_;
    std::vector<std::vector<Index>> regions_; // of the models of one vehicle
    std::vector<Index> changed_;              // models whose errors changed since `measure`
    Service service_;
    std::pair<Service, double> best_service_; // for the present models, and the error with it ...
    bool is_served_ = false;                  // ... where it is known
    double travel_ = 0.0;                     // of all vehicles
    double penalty_ = 0.0;                    // what a unit of travel beyond limits counts
    // Where models are averaged:
    std::vector<double> means_;   // the summed error of each model
    std::vector<double> between_; // squared distances between models, times the number of regions
    std::vector<double> mix_;     // the average of the models' errors
    std::vector<double> scores_;
    std::vector<double> means_tried_;
    std::vector<double> between_tried_;
    std::vector<double> weights_tried_;
    // Where models serve their own regions, one row per model:
    std::vector<double> own_scores_;
    std::vector<double> own_totals_;
    std::vector<double> own_counts_;
    std::vector<double> least_; // errors
    double unserved_ = 0.0;     // the errors where the first model serves

    [[nodiscard]] VisitProblem const &visits() const { return *problem_->visits; }
    [[nodiscard]] MatrixView<double> between() const;
    void walk(std::size_t vehicle);
    void train(std::size_t vehicle);
    bool measure();
    void weigh();
    void set_equal_weights();
    void serve_by(Index region, Index model, double sign);
    void price(Index region, Index vehicle, Index model, Insertion &best, double blink, class Dice &dice);
    double opened(Index region, Index model);
    [[nodiscard]] double longest_beside(std::size_t vehicle) const;
    [[nodiscard]] double excess_beside(std::size_t vehicle) const;
    [[nodiscard]] double paid(double total, double longest) const;
    [[nodiscard]] double error() const;
    [[nodiscard]] double merged_error(std::span<double const> weights) const;

public:
    explicit Fleet(std::shared_ptr<FleetProblem const> problem);

    [[nodiscard]] FleetProblem const &problem() const { return *problem_; }
    [[nodiscard]] FleetRoutes const &routes() const { return routes_; }
    [[nodiscard]] Service const &service() const { return service_; }
    [[nodiscard]] std::size_t visit_count() const;
    /// Travel beyond the limit of each vehicle, and beyond the budget for all.
    [[nodiscard]] double excess() const;
    void set_penalty(double penalty) { penalty_ = penalty; }

    /// Change routes and service.
    void assign(FleetRoutes const &routes, Service const &service);
    /// The value with the present service, travel beyond limits penalised. Where the longest route is paid for, the
    /// others count a little, too.
    [[nodiscard]] double value() const;
    /// What the present travel counts.
    [[nodiscard]] double paid() const { return paid(travel_, std::max(ways_[0].travel, longest_beside(0))); }
    /// The best service for the present routes, and the error with it.
    std::pair<Service, double> const &serve();
    /// Find the best place for a visit to a region, travel beyond limits penalised; a share of the places is
    /// overlooked.
    Insertion best_insertion(Index region, double blink, Dice &dice);
    void insert(Index region, Insertion const &where);
};
} // namespace learnroute
