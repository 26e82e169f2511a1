#include "local_search.h"

#include <limits>
#include <utility>

namespace learnroute {
namespace {
constexpr int most_moves = 1000; // per search of a vertex; each move queues the vertex again, so no move is missed
} // namespace

LocalSearch::LocalSearch(std::shared_ptr<Costs const> const &costs, ScoreTerms const *terms, KOptLimits limits,
                         PerturbationParams perturbation, std::size_t journal)
    : k_opt_(limits), double_bridge_(perturbation), journal_(journal), tour_(costs),
      terms_(terms == nullptr ? nullptr : terms->clone()), queue_(costs->layout().vertices()) {}

LocalSearch::LocalSearch(LocalSearch const &other)
    : k_opt_(other.k_opt_), double_bridge_(other.double_bridge_), journal_(other.journal_), tour_(other.tour_),
      terms_(other.terms_ ? other.terms_->clone() : nullptr), queue_(other.queue_), move_(other.move_) {}

void LocalSearch::set_tour(std::span<std::int64_t const> order) {
    tour_.assign(order);
    queue_.clear();
    update_terms();
}

void LocalSearch::update_terms() {
    if (terms_)
        terms_->update(tour_, 0, tour_.size());
}

void LocalSearch::queue_all() {
    queue_.clear();
    for (auto const &stop : tour_.stops())
        queue_.push(stop.vertex);
}

void LocalSearch::make_move() {
    tour_.rearrange(move_);
    if (terms_) {
        auto const first = move_.first < tour_.size() ? move_.first : 0;
        terms_->update(tour_, first, first + move_.written);
    }
    for (int i = 0; i < move_.edges; ++i) {
        queue_.push(move_.removed[i].one);
        queue_.push(move_.removed[i].two);
    }
}

double LocalSearch::improve(Index vertex) {
    auto const gain = k_opt_.find(tour_, terms_.get(), vertex, move_);
    if (gain > 0.0)
        make_move();
    return gain;
}

double LocalSearch::descend(std::int64_t looks, bool undoable) {
    auto const room = static_cast<std::size_t>(k_opt_.limits().longest) + 2;
    auto total = 0.0;
    for (; looks > 0 && !queue_.empty(); --looks) {
        auto const vertex = queue_.pop();
        for (int moves = 0; moves < most_moves && tour_.journal_size() + room <= journal_; ++moves) {
            auto const gain = k_opt_.find(tour_, terms_.get(), vertex, move_);
            if (gain == 0.0)
                break;
            total += gain;
            if (!undoable)
                tour_.forget_changes();
            make_move();
        }
    }
    return total;
}

double LocalSearch::perturb_at(Index vertex, std::int64_t bits, std::span<std::int64_t const> chosen) {
    auto worse = double_bridge_.find(tour_, k_opt_.candidates(), terms_ != nullptr, vertex, bits, chosen, move_);
    if (worse == inf)
        return worse;
    if (terms_)
        worse += terms_->change_by(tour_, move_);
    make_move();
    return worse;
}

void LocalSearch::undo() {
    while (tour_.has_changes()) {
        auto const [first, length] = tour_.undo();
        if (terms_)
            terms_->update(tour_, first, first + length);
    }
}

void LocalSearch::perturb(MatrixView<double> draws, MatrixView<std::int64_t> chosen) {
    for (std::size_t row = 0; row < draws.rows(); ++row) {
        tour_.forget_changes();
        auto const vertex = static_cast<Index>(draws(row, 0) * tour_.layout().vertices());
        auto const bits = static_cast<std::int64_t>(draws(row, 1) * 0x7FFFFFFF);
        auto worse = perturb_at(vertex, bits, chosen[row]);
        if (worse == inf)
            continue;
        worse -= descend(std::numeric_limits<std::int64_t>::max(), true);
        if (worse > draws(row, 2))
            undo();
    }
}
} // namespace learnroute
