#include "k_opt.h"

#include <algorithm>
#include <span>
#include <type_traits>
#include <utility>

namespace learnroute {
namespace {
constexpr double rounding = 1e-15; // gains below this share of a sum may be due to rounding
} // namespace

/// The search for one move, compiled for each kind of costs, with and without scores.
template <typename Cost, bool scored> class MoveSearch {
    KOpt const &k_opt_;
    Cost const &cost_;
    Tour const &tour_;
    ScoreTerms *terms_;
    Move &move_;
    Candidates const &candidates_;
    Layout const layout_;
    std::span<Tour::Stop const> const stops_;
    std::span<Index const> const position_;
    Index const size_;
    Index const ends_; // vertices from this one on are `start` and `end`
    double const least_;
    int const depth_; // maximum number of edges that a move may remove

    Index t1_ = 0;
    double spare_ = 0.0; // maximum gain in scores
    double gain_ = 0.0;  // of the move that was found

public:
    MoveSearch(KOpt const &k_opt, Cost const &cost, Tour const &tour, ScoreTerms *terms, Move &move)
        : k_opt_(k_opt), cost_(cost), tour_(tour), terms_(terms), move_(move), candidates_(*k_opt.candidates_),
          layout_(tour.layout()), stops_(tour.stops()), position_(tour.positions()), size_(tour.size()),
          ends_(layout_.start()), least_(k_opt.limits_.least_gain),
          depth_(static_cast<int>(k_opt.breadth_.size()) + 1) {}

    double find(Index t1) {
        t1_ = t1;
        auto const p = position_[t1];
        if (p < 0)
            return 0.0;
        auto const [before, cost_before] = stops_[tour_.before(p)];
        return find_at(tour_.at(tour_.after(p)), stops_[p].cost, p, false) ||
                       find_at(before, cost_before, tour_.before(p), true)
                   ? gain_
                   : 0.0;
    }

private:
    /// Search for a move that first removes the edge t1-t2, whose cost is `gain` and whose left end is at `cut`.
    bool find_at(Index t2, double gain, Index cut, bool from_right) {
        if (is_fixed(t1_, t2))
            return false;
        move_.removed[0] = {t1_, t2, cut};
        auto tail = false;
        if constexpr (scored) {
            spare_ = terms_->potential(size_, cut);
            tail = cut + k_opt_.limits_.end_positions >= size_;
            if (!tail)
                spare_ = std::min(spare_, k_opt_.limits_.credit);
        }
        auto const code = append_edge(0, 0, 0, from_right);
        return extend<1>(gain, cut, code) || extend_to_ends(gain, cut, code, tail);
    }

    /// Join the second vertex of the last of k removed edges to a candidate, and remove another edge there.
    ///
    /// `gain` is the cost of the removed edges minus the cost of the added ones, `latest` the last position at which an
    /// edge was removed, and `code` the code of the removed edges (see `Reconnection`).
    template <int k> bool extend(double gain, Index latest, std::size_t code) {
        auto const a = move_.removed[k - 1].two;
        for (auto const &[added, b] : candidates_[a].first(k_opt_.breadth_[k - 1])) {
            if (!is_worth(gain - added))
                return false; // candidates are sorted, so all others are farther away
            if (remove_at<k>(a, b, gain - added, latest, code))
                return true;
        }
        return false;
    }

    /// Join t2 to `end` or `start`, because the order may end or begin anywhere; in the tail, to regions with a small
    /// score.
    bool extend_to_ends(double gain, Index latest, std::size_t code, bool tail) {
        auto const a = move_.removed[0].two;
        auto const extend_to = [&](Index b) {
            auto const left = gain - cost_(b, a);
            return is_worth(left) && remove_at<1>(a, b, left, latest, code);
        };
        if (layout_.has_ends && !k_opt_.only_listed_ && a < ends_ &&
            (extend_to(layout_.end()) || extend_to(layout_.start())))
            return true;
        if (!tail || layout_.vertices() == layout_.regions)
            return false;
        return std::ranges::any_of(candidates_[layout_.vertices() - 1], extend_to, &Candidate::vertex);
    }

    /// Remove an edge at either side of b, to which a has been joined.
    template <int k> bool remove_at(Index a, Index b, double gain, Index latest, std::size_t code) {
        auto const p = position_[b];
        if (b == a || p < 0)
            return false;
        auto const cut = p > 0 ? p - 1 : size_ - 1;
        auto const [before, cost_before] = stops_[cut];
        auto const after = stops_[p + 1 < size_ ? p + 1 : 0].vertex;
        if (before == a || after == a)
            return false;
        auto const right = gain + stops_[p].cost;
        auto const left = gain + cost_before;
        return (leads_on<k>(after, right, std::max(latest, p)) &&
                remove<k>({b, after, p}, false, right, std::max(latest, p), code)) ||
               (leads_on<k>(before, left, std::max(latest, cut)) &&
                remove<k>({b, before, cut}, true, left, std::max(latest, cut), code));
    }

    /// Whether to continue to c: a move at full depth must be able to gain when it is closed there, which is rare.
    template <int k> [[nodiscard]] bool leads_on(Index c, double gain, Index latest) const {
        return k + 1 < depth_ || may_gain(gain - cost_(t1_, c), latest);
    }

    /// Remove an edge, and close the tour or extend the move.
    template <int k> bool remove(Move::Edge const &edge, bool from_right, double gain, Index latest, std::size_t code) {
        if (is_fixed(edge.one, edge.two))
            return false;
        auto rank = 0;
        for (int i = 0; i < k; ++i) {
            if (move_.removed[i].cut == edge.cut)
                return false;
            rank += move_.removed[i].cut < edge.cut ? 1 : 0;
        }
        move_.removed[k] = edge;
        code = append_edge(code, k, rank, from_right);
        auto const closed = gain - cost_(t1_, edge.two);
        if (may_gain(closed, latest) && edge.two != t1_ && close<k + 1>(closed, code))
            return true;
        if constexpr (k + 1 < Move::most_edges)
            return k + 1 < depth_ && extend<k + 1>(gain, latest, code);
        return false;
    }

    /// Whether joining the second vertex of the last of k edges to t1 yields a single tour with a gain.
    template <int k> bool close(double gain, std::size_t code) {
        auto const c = move_.removed[k - 1].two;
        if (k_opt_.only_listed_ && candidates_[c][0].vertex != t1_ && candidates_[c][1].vertex != t1_)
            return false;
        auto const &joined = reconnection<k>(code);
        if (!joined.one_tour)
            return false;
        move_.join(joined, size_, scored);
        if (move_.written > k_opt_.limits_.longest)
            return false;
        if constexpr (scored)
            gain -= terms_->change_by(tour_, move_);
        if (!(gain > least_))
            return false;
        auto removed = 0.0;
        for (int i = 0; i < k; ++i)
            removed += cost_(move_.removed[i].one, move_.removed[i].two);
        gain_ = gain;
        return gain > least_ + rounding * removed;
    }

    /// Whether a partial gain, plus the maximum gain in scores, is large enough to continue.
    [[nodiscard]] bool is_worth(double gain) const {
        if constexpr (scored)
            gain += spare_;
        return !(gain <= least_);
    }

    /// Whether closing the tour may gain, including the maximum gain in scores if nothing behind `latest` changes.
    [[nodiscard]] bool may_gain(double closed, [[maybe_unused]] Index latest) const {
        if constexpr (scored)
            closed += terms_->potential(size_, latest);
        return closed > least_;
    }

    /// `Layout::fixed`, for this kind of costs.
    [[nodiscard]] bool is_fixed(Index a, Index b) const {
        if constexpr (std::is_same_v<Cost, DirectedCosts>)
            return layout_.fixed(a, b);
        return std::min(a, b) >= ends_;
    }
};

void KOpt::use_candidates(std::shared_ptr<Candidates const> candidates, std::vector<std::size_t> breadth,
                          bool only_listed) {
    candidates_ = std::move(candidates);
    breadth_ = std::move(breadth);
    for (auto &entries : breadth_)
        entries = std::min(entries, candidates_->length());
    only_listed_ = only_listed;
}

double KOpt::find(Tour const &tour, ScoreTerms *terms, Index t1, Move &move) const {
    return tour.costs().visit([&](auto const &cost) {
        using Cost = std::decay_t<decltype(cost)>;
        if (terms != nullptr)
            return MoveSearch<Cost, true>(*this, cost, tour, terms, move).find(t1);
        return MoveSearch<Cost, false>(*this, cost, tour, terms, move).find(t1);
    });
}
} // namespace learnroute
