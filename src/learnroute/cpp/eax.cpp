#include "eax.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace learnroute {
namespace {
auto constexpr least_entropy = 1e-9;   // smaller losses of entropy are replaced by this one
auto constexpr rounding_error = 1e-15; // gains below this share of a sum may be due to rounding
} // namespace

EdgeAssembly::EdgeAssembly(std::shared_ptr<Costs const> costs, ScoreTerms const *terms, KOptLimits limits,
                           std::shared_ptr<Candidates const> candidates, std::size_t joining, EdgeCounts counts)
    : costs_(std::move(costs)), terms_(terms == nullptr ? nullptr : terms->clone()), limits_(limits),
      candidates_(std::move(candidates)), joining_(std::min(joining, candidates_->length())),
      counts_(std::move(counts)), layout_(costs_->layout()), size_(layout_.vertices()), positions_(size_) {}

double EdgeAssembly::cross(std::vector<Index> &tour, std::span<Index const> other, std::size_t children,
                           std::size_t batches, RandomBits random) {
    tour_.swap(tour);
    link(tour_, neighbours_);
    link(other, other_);
    for (Index position = 0; position < size_; ++position)
        positions_[tour_[position]] = position;
    cycles_.find(neighbours_, other_, random);
    untried_.resize(cycles_.size());
    std::iota(untried_.begin(), untried_.end(), 0);
    auto total = 0.0;
    std::size_t tried = 0;
    for (std::size_t batch = 0; batch < batches; ++batch) {
        auto const gain = improve(children, tried, random);
        if (gain == 0.0)
            break;
        total += gain;
    }
    tour_.swap(tour);
    return total;
}

/// Make children with a batch of AB-cycles, and replace the tour by the best one. Return the gain, or 0.
double EdgeAssembly::improve(std::size_t children, std::size_t &tried, RandomBits &random) {
    auto const score = terms_ ? terms_->value_of(tour_, neighbours_) : 0.0;
    if (terms_)
        terms_->set_spare(score - terms_->floor());
    auto const last = std::min(tried + children, untried_.size());
    auto most = 0.0;
    auto gained = 0.0;
    for (; tried < last; ++tried) {
        std::swap(untried_[tried], untried_[tried + random.below(untried_.size() - tried)]);
        auto const gain = make_child(cycles_[untried_[tried]], score);
        if (gain > 0.0) {
            auto const worth = gain / std::max(counts_.entropy_lost(changes_), least_entropy);
            if (worth > most) {
                most = worth;
                gained = gain;
                kept_ = changes_;
            }
        }
        undo();
    }
    if (gained > 0.0) {
        for (auto const &change : kept_)
            (change.before ? neighbours_[change.vertex].before : neighbours_[change.vertex].after) = change.added;
        counts_.apply(kept_);
        rewrite();
    }
    return gained;
}

/// Change neighbours along an AB-cycle and join the subtours. Return the gain, or -inf if there is none.
double EdgeAssembly::make_child(std::span<Index const> cycle, double score) {
    auto const &costs = *costs_;
    auto const count = cycle.size() / 2;
    auto const removed_from = [&](std::size_t i) { return cycle[2 * i]; };
    auto const removed_to = [&](std::size_t i) { return cycle[2 * i + 1]; };
    auto const added_to = [&](std::size_t i) { return cycle[i + 1 < count ? 2 * i + 2 : 0]; };
    auto gain = 0.0;
    auto removed = 0.0;
    for (std::size_t i = 0; i < count; ++i) {
        auto const old = costs(removed_from(i), removed_to(i));
        gain += old - costs(removed_to(i), added_to(i));
        removed += old;
    }
    if (!subtours_.cut(cycle, positions_))
        return -inf;
    auto const hope = credit();
    auto const least = limits_.least_gain + rounding_error * removed;
    if (!(gain + hope > least))
        return -inf;
    subtours_.find();
    for (std::size_t i = 0; i < count; ++i) {
        replace(removed_from(i), removed_to(i), removed_to(i > 0 ? i - 1 : count - 1));
        replace(removed_to(i), removed_from(i), added_to(i));
    }
    if (subtours_.count() > 1)
        gain += costs_->visit([&](auto const &cost) { return join_subtours(cost, least - gain - hope); });
    if (terms_ && gain + hope > least) {
        auto latest = subtours_.last_cut();
        for (auto i = 2 * count; i < changes_.size(); ++i)
            latest = std::max(latest, positions_[changes_[i].vertex]);
        if (!layout_.has_ends || terms_->reaches_end(size_, latest))
            gain += score - score_part().first;
    }
    return gain > least ? gain : -inf;
}

/// Return the maximum gain in scores of a child.
double EdgeAssembly::credit() const {
    if (!terms_)
        return 0.0;
    // a cycle may be reversed; in a path, vertices behind the last cut do not change
    auto const most = layout_.has_ends ? terms_->potential(size_, subtours_.last_cut()) : terms_->spare();
    return std::min(most, limits_.credit);
}

/// Join the smallest subtour to another by the best exchange of two edges, until a single tour remains. Return the
/// gain.
///
/// Returns -inf if no candidate edge leaves a subtour, or if the gain does not exceed `least`.
template <typename Cost> double EdgeAssembly::join_subtours(Cost const &cost, double least) {
    struct Exchange {
        double gain = -inf;
        Index subtour = -1;
        Index a = -1, next_a = -1, b = -1, next_b = -1;
    };
    auto gain = 0.0;
    for (auto left = subtours_.count(); left > 1; --left) {
        auto const smallest = subtours_.smallest();
        Exchange best;
        for (Index segment = 0; segment < subtours_.segments(); ++segment) {
            if (subtours_.of_segment(segment) != smallest)
                continue;
            auto position = subtours_.cut_before(segment);
            for (auto length = subtours_.length(segment); length > 0; --length) {
                position = position + 1 < size_ ? position + 1 : 0;
                auto const a = tour_[position];
                std::array const nexts_a{neighbours_[a].before, neighbours_[a].after};
                std::array const removed_a{cost(a, nexts_a[0]), cost(a, nexts_a[1])};
                for (auto const &[added, b] : (*candidates_)[a].first(joining_)) {
                    if (subtours_.contains(segment, positions_[b]))
                        continue;
                    auto const subtour = subtours_.of_position(positions_[b]);
                    if (subtour == smallest)
                        continue;
                    for (auto const next_b : {neighbours_[b].before, neighbours_[b].after}) {
                        auto const removed_b = cost(b, next_b);
                        for (std::size_t side = 0; side < 2; ++side) {
                            auto const next_a = nexts_a[side];
                            if (layout_.fixed(a, next_a) || layout_.fixed(b, next_b))
                                continue;
                            auto const better = removed_a[side] + removed_b - added - cost(next_a, next_b);
                            if (better > best.gain)
                                best = {better, subtour, a, next_a, b, next_b};
                        }
                    }
                }
            }
        }
        gain += best.gain;
        if (!(gain > least))
            return -inf;
        exchange(best.a, best.next_a, best.b, best.next_b);
        subtours_.merge(smallest, best.subtour);
    }
    return gain;
}

/// Replace the edges a - next_a and b - next_b by a - b and next_a - next_b.
void EdgeAssembly::exchange(Index a, Index next_a, Index b, Index next_b) {
    replace(a, next_a, b);
    replace(next_a, a, next_b);
    replace(b, next_b, a);
    replace(next_b, b, next_a);
}

void EdgeAssembly::replace(Index vertex, Index removed, Index added) {
    auto &neighbours = neighbours_[vertex];
    auto const before = neighbours.before == removed;
    (before ? neighbours.before : neighbours.after) = added;
    changes_.push_back({vertex, removed, added, before});
}

void EdgeAssembly::undo() {
    for (; !changes_.empty(); changes_.pop_back()) {
        auto const &change = changes_.back();
        (change.before ? neighbours_[change.vertex].before : neighbours_[change.vertex].after) = change.removed;
    }
}

/// Write the tour that the neighbours define to the array, with the same last vertex.
void EdgeAssembly::rewrite() {
    auto const last = tour_.back();
    Walk walk(neighbours_, last, terms_ ? score_part().second : neighbours_[last].before);
    for (Index position = 0; position < size_; ++position) {
        tour_[position] = walk.next();
        positions_[tour_[position]] = position;
    }
}

/// Return the score part of the tour that the neighbours define, and the vertex behind its last one.
///
/// If orders are cycles, this is the score part of the better direction.
std::pair<double, Index> EdgeAssembly::score_part() {
    auto const last = tour_.back();
    if (auto const start = layout_.start(); layout_.has_ends) // `start` is behind `end`
        return {terms_->value({neighbours_, last, neighbours_[last].other_than(start)}), start};
    std::pair best{inf, Index{-1}};
    for (auto const behind : {neighbours_[last].before, neighbours_[last].after})
        if (!layout_.fixed(last, behind))
            best = std::min(best, {terms_->value({neighbours_, behind, last}), behind},
                            [](auto const &one, auto const &two) { return one.first < two.first; });
    return best;
}
} // namespace learnroute
