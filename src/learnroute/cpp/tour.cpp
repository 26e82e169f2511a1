#include "tour.h"

#include <algorithm>

namespace learnroute {
void Tour::assign(std::span<std::int64_t const> order) {
    order_.assign(order.begin(), order.end());
    std::ranges::fill(position_, -1);
    for (Index p = 0; p < size(); ++p)
        position_[order_[p]] = p;
    forget_changes();
}

std::vector<Index> Tour::regions() const {
    std::vector<Index> stops;
    stops.reserve(order_.size());
    Index from = 0;
    bool forward = true;
    if (layout_.has_ends) {
        from = position(layout_.start());
        forward = at(after(from)) != layout_.end();
    } else if (layout_.directed) // regions are entered before they are left
    {
        auto const entered = std::ranges::find_if(order_, [this](Index v) { return v < layout_.regions; });
        auto const p = static_cast<Index>(entered - order_.begin());
        forward = at(after(p)) == *entered + layout_.regions;
        from = forward ? 0 : size() - 1;
    }
    auto p = from;
    do {
        if (at(p) < layout_.regions)
            stops.push_back(at(p));
        p = forward ? after(p) : before(p);
    } while (p != from);
    return stops;
}

void Tour::rearrange(Move const &move) {
    auto const first = move.first < size() ? move.first : 0;
    auto const noted = journal_.size();
    auto const here = order_.begin() + first;
    auto const straight = std::min<std::ptrdiff_t>(move.written, order_.end() - here);
    journal_.insert(journal_.end(), here, here + straight);
    journal_.insert(journal_.end(), order_.begin(), order_.begin() + (move.written - straight));
    changes_.push_back({first, move.written});
    auto p = first;
    auto const write = [&](Index vertex) {
        order_[p] = vertex;
        position_[vertex] = p;
        p = after(p);
    };
    for (int i = 0; i + 1 < move.edges; ++i) {
        auto const &segment = move.segments[i];
        auto begin = segment.begin - first;
        if (begin < 0)
            begin += size();
        else if (begin >= size())
            begin -= size();
        auto const *const from = journal_.data() + noted + begin;
        if (segment.reversed)
            std::for_each(std::reverse_iterator(from + segment.length), std::reverse_iterator(from), write);
        else
            std::for_each(from, from + segment.length, write);
    }
}

std::pair<Index, Index> Tour::undo() {
    auto const [first, length] = changes_.back();
    changes_.pop_back();
    auto p = first;
    for (auto i = journal_.size() - length; i < journal_.size(); ++i) {
        order_[p] = journal_[i];
        position_[journal_[i]] = p;
        p = after(p);
    }
    journal_.resize(journal_.size() - length);
    return {first, length};
}

void Tour::forget_changes() {
    journal_.clear();
    changes_.clear();
}
} // namespace learnroute
