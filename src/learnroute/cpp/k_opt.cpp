#include "k_opt.h"

#include <algorithm>
#include <utility>

namespace learnroute {
namespace {
constexpr double rounding = 1e-15; // what is smaller than this share of a sum may be rounding
} // namespace

/// The search for one move, compiled for each kind of costs, with scores and without.
template <typename Cost, bool scored> class MoveSearch {
    KOpt const &k_opt_;
    Cost const &cost_;
    Tour const &tour_;
    ScoreTerms *terms_;
    Move &move_;
    Layout const layout_;
    Candidates const &candidates_;
    double const least_;
    int const depth_; // edges that a move may remove

    Index t1_ = 0;
    double spare_ = 0.0; // what scores may bring in, at most
    double gain_ = 0.0;  // of the move that was found

public:
    MoveSearch(KOpt const &k_opt, Cost const &cost, Tour const &tour, ScoreTerms *terms, Move &move)
        : k_opt_(k_opt), cost_(cost), tour_(tour), terms_(terms), move_(move), layout_(tour.layout()),
          candidates_(*k_opt.candidates_), least_(k_opt.limits_.least_gain),
          depth_(static_cast<int>(k_opt.breadth_.size()) + 1) {}

    double find(Index t1) {
        t1_ = t1;
        auto const p = tour_.position(t1);
        if (p < 0)
            return 0.0;
        return find_at(tour_.after(p), p, false) || find_at(tour_.before(p), tour_.before(p), true) ? gain_ : 0.0;
    }

private:
    /// Look for a move whose first edge leads to the vertex at position q; its left end is at `cut`.
    bool find_at(Index q, Index cut, bool from_right) {
        auto const t2 = tour_.at(q);
        if (layout_.fixed(t1_, t2))
            return false;
        move_.removed[0] = {t1_, t2, cut, from_right};
        auto tail = false;
        if constexpr (scored) {
            spare_ = terms_->potential(tour_.size(), cut);
            tail = cut + k_opt_.limits_.end_positions >= tour_.size();
            if (!tail)
                spare_ = std::min(spare_, k_opt_.limits_.credit);
        }
        auto const gain = cost_(t1_, t2);
        return extend<1>(gain, cut) || extend_to_ends(gain, cut, tail);
    }

    /// Remove one more edge than k, the second vertex of the last one being joined to a candidate.
    template <int k> bool extend(double gain, Index latest) {
        auto const a = move_.removed[k - 1].two;
        for (auto const &[added, b] : candidates_[a].first(k_opt_.breadth_[k - 1])) {
            if (gain - added + spare_ <= least_)
                return false; // candidates are sorted: no nearer one is left
            if (remove_at<k>(a, b, gain, added, latest))
                return true;
        }
        return false;
    }

    /// Join t2 to `end` or `start`, as the order may end or begin anywhere; in the tail, to regions of small score.
    bool extend_to_ends(double gain, Index latest, bool tail) {
        auto const a = move_.removed[0].two;
        auto const extend_to = [&](Index b) {
            auto const added = cost_(a, b);
            return !(gain - added + spare_ <= least_) && remove_at<1>(a, b, gain, added, latest);
        };
        if (layout_.has_ends && !k_opt_.only_listed_ && a < layout_.start() &&
            (extend_to(layout_.end()) || extend_to(layout_.start())))
            return true;
        if (!tail || layout_.vertices() == layout_.regions)
            return false;
        return std::ranges::any_of(candidates_[layout_.vertices() - 1], extend_to, &Candidate::vertex);
    }

    /// Add the edge a-b, and remove an edge at either side of b.
    template <int k> bool remove_at(Index a, Index b, double gain, double added, Index latest) {
        auto const p = tour_.position(b);
        if (b == a || p < 0)
            return false;
        auto const before = tour_.before(p);
        auto const right = tour_.at(tour_.after(p));
        auto const left = tour_.at(before);
        if (right == a || left == a)
            return false;
        return remove<k>(b, right, p, false, gain, added, latest) ||
               remove<k>(b, left, before, true, gain, added, latest);
    }

    /// Remove b-c, and close the tour or go on.
    template <int k>
    bool remove(Index b, Index c, Index cut, bool from_right, double gain, double added, Index latest) {
        if (layout_.fixed(b, c))
            return false;
        for (int i = 0; i < k; ++i)
            if (move_.removed[i].cut == cut)
                return false;
        auto const now = gain - added + cost_(b, c);
        latest = std::max(latest, cut);
        move_.removed[k] = {b, c, cut, from_right};
        if (c != t1_ && close<k>(now, latest))
            return true;
        if constexpr (k + 1 < Move::most_edges)
            return k + 1 < depth_ && extend<k + 1>(now, latest);
        return false;
    }

    /// Whether joining the last vertex to t1 gives a tour that gains.
    template <int k> bool close(double gain, Index latest) {
        auto const c = move_.removed[k].two;
        auto closed = gain - cost_(t1_, c);
        auto const hope = scored ? terms_->potential(tour_.size(), latest) : 0.0;
        if (!(closed + hope > least_))
            return false;
        if (k_opt_.only_listed_ && candidates_[c][0].vertex != t1_ && candidates_[c][1].vertex != t1_)
            return false;
        move_.edges = k + 1;
        if (!move_.trace(tour_.size(), scored) || move_.written > k_opt_.limits_.longest)
            return false;
        auto removed = 0.0;
        for (int i = 0; i <= k; ++i)
            removed += cost_(move_.removed[i].one, move_.removed[i].two);
        if constexpr (scored)
            closed -= terms_->change_by(tour_, move_);
        gain_ = closed;
        return closed > least_ + rounding * removed;
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
    return costs_->visit([&](auto const &cost) {
        using Cost = std::decay_t<decltype(cost)>;
        if (terms != nullptr)
            return MoveSearch<Cost, true>(*this, cost, tour, terms, move).find(t1);
        return MoveSearch<Cost, false>(*this, cost, tour, terms, move).find(t1);
    });
}
} // namespace learnroute
