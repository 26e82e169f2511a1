#include "ng_labelling.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

namespace learnroute {
namespace {
constexpr std::size_t most_compared = 100; // maximum number of cheaper labels that a label is compared with
constexpr std::int64_t look_up = 20;       // units of work per hash table lookup
constexpr std::size_t word_bits = 64;

template <std::size_t Words> bool contains(RegionSet<Words> const &set, std::size_t v) {
    return (set[v / word_bits] >> (v % word_bits) & 1) != 0;
}

template <std::size_t Words> bool disjoint(RegionSet<Words> const &one, RegionSet<Words> const &two) {
    std::uint64_t common = 0;
    for (std::size_t x = 0; x < Words; ++x)
        common |= one[x] & two[x];
    return common == 0;
}

template <std::size_t Words> bool subset(RegionSet<Words> const &inner, RegionSet<Words> const &outer) {
    std::uint64_t beyond = 0;
    for (std::size_t x = 0; x < Words; ++x)
        beyond |= inner[x] & ~outer[x];
    return beyond == 0;
}

/// The labels of one node during its labelling: one per forbidden set, in a hash table with open addressing, because
/// std::unordered_map allocates each entry.
template <std::size_t Words> class NodeLabels {
    std::vector<Label<Words>> labels_; // in the order in which their sets were first found
    std::vector<Index> slots_;         // numbers of labels; -1 if a slot is empty
    std::vector<std::pair<double, Index>> by_cost_;

    [[nodiscard]] std::size_t first_slot(RegionSet<Words> const &set) const {
        std::uint64_t mixed = 0x9E3779B97F4A7C15;
        for (auto const word : set) {
            mixed = (mixed ^ word) * 0xBF58476D1CE4E5B9;
            mixed ^= mixed >> 29;
        }
        return mixed & (slots_.size() - 1);
    }

    [[nodiscard]] std::size_t find(RegionSet<Words> const &set) const {
        auto slot = first_slot(set);
        while (slots_[slot] >= 0 && labels_[slots_[slot]].forbidden != set)
            slot = (slot + 1) & (slots_.size() - 1);
        return slot;
    }

    void rehash(std::size_t slots) {
        slots_.assign(slots, -1);
        for (std::size_t y = 0; y < labels_.size(); ++y)
            slots_[find(labels_[y].forbidden)] = static_cast<Index>(y);
    }

public:
    void clear() {
        labels_.clear();
        slots_.assign(64, -1);
    }

    [[nodiscard]] std::size_t size() const { return labels_.size(); }

    /// Insert a label, or lower the cost of the label with the same forbidden set.
    void offer(Label<Words> const &label) {
        auto &slot = slots_[find(label.forbidden)];
        if (slot < 0) {
            slot = static_cast<Index>(labels_.size());
            labels_.push_back(label);
            if (2 * labels_.size() > slots_.size())
                rehash(4 * slots_.size());
        } else if (auto &known = labels_[slot]; label.cost < known.cost) {
            known.cost = label.cost;
            known.parent = label.parent;
        }
    }

    /// Append the labels, sorted by cost, except those dominated by a cheaper label whose forbidden set is a subset.
    void append_undominated(std::vector<Label<Words>> &kept) {
        by_cost_.clear();
        for (auto const &label : labels_)
            by_cost_.emplace_back(label.cost, static_cast<Index>(by_cost_.size()));
        std::ranges::sort(by_cost_);
        auto const begin = kept.size();
        for (auto const &[cost, number] : by_cost_) {
            auto const &label = labels_[number];
            auto const compared = std::min(kept.size() - begin, most_compared);
            auto const first = kept.begin() + static_cast<std::ptrdiff_t>(begin);
            if (std::none_of(first, first + static_cast<std::ptrdiff_t>(compared),
                             [&](auto const &cheaper) { return subset(cheaper.forbidden, label.forbidden); }))
                kept.push_back(label);
        }
    }
};

template <std::size_t Words> class Labelling {
    LayeredNetwork const &network_;
    std::span<double const> multipliers_;
    std::span<std::uint64_t const> ng_sets_;
    LabelStore<Words> const *other_; // labels of the opposite direction, or nullptr
    Direction direction_;
    double limit_;
    LabellingLimits limits_;
    std::size_t size_;
    std::size_t given_words_; // number of words per set of `ng_sets_`, at most `Words`
    std::vector<double> completion_;
    std::vector<std::uint8_t> used_;
    std::int64_t work_ = 0;
    std::int64_t before_ = 0; // number of labels of earlier layers
    std::int64_t met_ = 0;    // number of labels of this layer, including dominated ones
    LabelStore<Words> made_;
    NodeLabels<Words> node_;

    [[nodiscard]] std::size_t position(std::size_t step) const {
        return direction_ == Direction::forward ? step : size_ - 1 - step;
    }

    /// Return the arc from v to w at this step.
    [[nodiscard]] std::size_t arc(std::size_t step, std::size_t v, std::size_t w) const {
        return direction_ == Direction::forward ? network_.arc(step - 1, v, w) : network_.arc(size_ - 1 - step, w, v);
    }

    [[nodiscard]] double arc_cost(std::size_t v, std::size_t w) const {
        return direction_ == Direction::forward ? network_.arc_cost(v, w) : network_.arc_cost(w, v);
    }

    [[nodiscard]] RegionSet<Words> ng_set(std::size_t step, std::size_t w) const {
        RegionSet<Words> found{};
        std::ranges::copy(ng_sets_.subspan((position(step) * size_ + w) * given_words_, given_words_), found.begin());
        return found;
    }

    /// Whether a label of the opposite direction, cheaper than `limit`, has a disjoint forbidden set.
    [[nodiscard]] bool completes(RegionSet<Words> const &kept, std::size_t step, std::size_t w, double limit) {
        auto const cell = (size_ - 1 - step) * size_ + w;
        for (auto y = other_->start[cell]; y < other_->start[cell + 1]; ++y) {
            ++work_;
            auto const &label = other_->labels[y];
            if (label.cost >= limit)
                return false;
            if (disjoint(kept, label.forbidden))
                return true;
        }
        return false;
    }

    [[nodiscard]] LabellingOutcome outcome() const {
        if (work_ > limits_.work)
            return LabellingOutcome::late;
        auto const met = met_ + static_cast<std::int64_t>(node_.size());
        auto const full = met > limits_.labels_in_layer || before_ + met > limits_.labels_in_all;
        return full ? LabellingOutcome::full : LabellingOutcome::complete;
    }

    /// Build the labels of region w from those of the previous layer.
    LabellingOutcome extend_to(std::size_t step, std::size_t w) {
        auto const at = network_.node_cost(position(step), w) - multipliers_[w];
        auto const completion = completion_[position(step) * size_ + w];
        work_ += static_cast<std::int64_t>(size_); // arcs examined
        auto const offer = [&](double cost, Index parent, RegionSet<Words> kept) {
            work_ += look_up;
            if (other_ != nullptr && !completes(kept, step, w, limit_ - (cost - at)))
                return false;
            kept[w / word_bits] |= std::uint64_t{1} << (w % word_bits);
            node_.offer({cost, parent, static_cast<Index>(w), kept});
            return true;
        };
        if (step == 0) {
            if (!(at - at + completion >= limit_))
                offer(at, -1, {});
            return outcome();
        }
        auto const ng_set_here = ng_set(step, w);
        for (std::size_t v = 0; v < size_; ++v) {
            auto const taken = arc(step, v, w);
            if (!network_.is_free(taken))
                continue;
            auto const way = arc_cost(v, w);
            auto const cell = (step - 1) * size_ + v;
            for (auto s = made_.start[cell]; s < made_.start[cell + 1]; ++s) {
                auto const &label = made_.labels[s];
                ++work_;
                auto const cost = label.cost + way + at;
                if (cost - at + completion >= limit_)
                    break; // labels of a node are sorted by cost
                if (contains(label.forbidden, w))
                    continue;
                auto kept = label.forbidden;
                for (std::size_t x = 0; x < Words; ++x)
                    kept[x] &= ng_set_here[x];
                if (offer(cost, static_cast<Index>(s), kept))
                    used_[taken] = 1;
            }
            if (auto const found = outcome(); found != LabellingOutcome::complete)
                return found;
        }
        return LabellingOutcome::complete;
    }

public:
    Labelling(LayeredNetwork const &network, std::span<double const> multipliers,
              std::span<std::uint64_t const> ng_sets, LabelStore<Words> const *other, Direction direction, double limit,
              LabellingLimits const &limits)
        : network_(network), multipliers_(multipliers), ng_sets_(ng_sets), other_(other), direction_(direction),
          limit_(limit), limits_(limits), size_(network.size()), given_words_(ng_sets.size() / (size_ * size_)),
          completion_(network.q_route_costs(multipliers, opposite(direction))), used_(network.arcs(), 0) {
        limits_.labels_in_all = std::min<std::int64_t>(
            limits_.labels_in_all, std::numeric_limits<Index>::max()); // label numbers must fit an Index
        made_.regions = size_;
        made_.start.assign(size_ * size_ + 1, 0);
    }

    LabellingOutcome run() {
        for (std::size_t step = 0; step < size_; ++step) {
            met_ = 0;
            before_ = static_cast<std::int64_t>(made_.labels.size());
            for (std::size_t w = 0; w < size_; ++w) {
                node_.clear();
                if (auto const found = extend_to(step, w); found != LabellingOutcome::complete)
                    return found;
                met_ += static_cast<std::int64_t>(node_.size());
                node_.append_undominated(made_.labels);
                made_.start[step * size_ + w + 1] = made_.labels.size();
            }
        }
        return LabellingOutcome::complete;
    }

    [[nodiscard]] std::span<std::uint8_t const> used() const { return used_; }
    [[nodiscard]] std::int64_t work() const { return work_; }
    [[nodiscard]] LabelStore<Words> take() { return std::move(made_); }
};

template <std::size_t Words> Labels label_with(LayeredNetwork &network, std::span<double const> multipliers,
                                               std::span<std::uint64_t const> ng_sets, Labels const *other,
                                               Direction direction, double limit, LabellingLimits const &limits) {
    auto const *store = other == nullptr || other->size() == 0 ? nullptr : &std::get<LabelStore<Words>>(other->store());
    Labelling<Words> labelling(network, multipliers, ng_sets, store, direction, limit, limits);
    auto const outcome = labelling.run();
    if (outcome != LabellingOutcome::complete)
        return {LabelStore<Words>{}, outcome, labelling.work()};
    network.keep_only(labelling.used());
    return {labelling.take(), outcome, labelling.work()};
}
} // namespace

std::size_t Labels::size() const {
    return std::visit([](auto const &store) { return store.labels.size(); }, store_);
}

CheapestRoute Labels::cheapest_route() const {
    return std::visit(
        [](auto const &store) -> CheapestRoute {
            auto const size = store.regions;
            auto const last = std::span(store.labels).subspan(store.start[(size - 1) * size]);
            if (last.empty())
                return {inf, {}};
            auto const *label = &*std::ranges::min_element(last, {}, [](auto const &one) { return one.cost; });
            auto const cost = label->cost;
            std::vector<Index> route(size);
            for (auto step = size; step-- > 0;) {
                route[step] = label->region;
                if (step > 0)
                    label = &store.labels[label->parent];
            }
            return {cost, std::move(route)};
        },
        store_);
}

Labels label_ng_routes(LayeredNetwork &network, std::span<double const> multipliers,
                       std::span<std::uint64_t const> ng_sets, Labels const *other, Direction direction, double limit,
                       LabellingLimits const &limits) {
    auto const with = [&]<std::size_t Words>() {
        return label_with<Words>(network, multipliers, ng_sets, other, direction, limit, limits);
    };
    auto const words = (network.size() + word_bits - 1) / word_bits;
    if (words <= 1)
        return with.template operator()<1>();
    if (words <= 2)
        return with.template operator()<2>();
    if (words <= 4)
        return with.template operator()<4>();
    if (words <= 16)
        return with.template operator()<16>();
    if (words <= 64)
        return with.template operator()<64>();
    throw std::length_error("ng-routes take at most 4096 regions");
}
} // namespace learnroute
