#include "tour.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace learnroute {
void Tour::assign(std::span<std::int64_t const> order) {
    stops_.clear();
    std::ranges::fill(position_, -1);
    for (auto const vertex : order) {
        position_[vertex] = size();
        stops_.push_back({static_cast<Index>(vertex), 0.0});
    }
    for (Index p = 0; p < size(); ++p)
        update_cost(p);
    forget_changes();
}

std::vector<Index> Tour::order() const {
    std::vector<Index> order;
    order.reserve(stops_.size());
    std::ranges::transform(stops_, std::back_inserter(order), &Stop::vertex);
    return order;
}

std::vector<Index> Tour::regions() const {
    std::vector<Index> stops;
    stops.reserve(stops_.size());
    Index from = 0;
    bool forward = true;
    if (layout().has_ends) {
        from = position(layout().start());
        forward = at(after(from)) != layout().end();
    } else if (layout().directed) // regions are entered before they are left
    {
        Index p = 0;
        while (at(p) >= layout().regions)
            ++p;
        forward = at(after(p)) == at(p) + layout().regions;
        from = forward ? 0 : size() - 1;
    }
    auto p = from;
    do {
        if (at(p) < layout().regions)
            stops.push_back(at(p));
        p = forward ? after(p) : before(p);
    } while (p != from);
    return stops;
}

void Tour::rearrange(Move const &move) {
    auto const first = before(move.first < size() ? move.first : 0); // the edge behind this position changes, too
    auto const length = move.written + 1;
    auto const noted = journal_.size();
    auto const here = stops_.begin() + first;
    auto const straight = std::min<std::ptrdiff_t>(length, stops_.end() - here);
    journal_.insert(journal_.end(), here, here + straight);
    journal_.insert(journal_.end(), stops_.begin(), stops_.begin() + (length - straight));
    changes_.push_back({first, length});
    auto p = first;
    auto const write = [&](Index vertex, double cost) {
        p = after(p);
        stops_[p] = {vertex, cost};
        position_[vertex] = p;
    };
    std::array<Index, Move::most_edges> added; // positions that added edges leave
    added[0] = first;
    for (int i = 0; i + 1 < move.edges; ++i) {
        auto const &segment = move.segments[i];
        auto begin = segment.begin - first;
        if (begin < 0)
            begin += size();
        else if (begin >= size())
            begin -= size();
        auto const *const from = journal_.data() + noted + begin;
        if (segment.reversed)
            for (auto const *stop = from + segment.length; stop-- != from;)
                write(stop->vertex, stop[-1].cost);
        else
            for (auto const *stop = from; stop != from + segment.length; ++stop)
                write(stop->vertex, stop->cost);
        added[i + 1] = p;
    }
    std::for_each_n(added.begin(), move.edges, [this](Index position) { update_cost(position); });
}

std::pair<Index, Index> Tour::undo() {
    auto const [first, length] = changes_.back();
    changes_.pop_back();
    auto p = first;
    for (auto i = journal_.size() - length; i < journal_.size(); ++i) {
        stops_[p] = journal_[i];
        position_[journal_[i].vertex] = p;
        p = after(p);
    }
    journal_.resize(journal_.size() - length);
    return {after(first), length - 1};
}

void Tour::forget_changes() {
    journal_.clear();
    changes_.clear();
}
} // namespace learnroute
