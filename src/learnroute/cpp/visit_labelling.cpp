#include "visit_labelling.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <tuple>
#include <utility>

namespace learnroute {
VisitLabelling::VisitLabelling(std::shared_ptr<Instance const> instance, double bound, std::size_t most_labels)
    : instance_(std::move(instance)), bound_(bound), most_labels_(most_labels),
      bits_(std::bit_width(static_cast<unsigned>(*std::ranges::max_element(instance_->repeats)))),
      floor_(std::min(instance_->total, *std::ranges::min_element(instance_->scores))),
      reach_(instance_->regions, inf) {
    auto const regions = instance_->regions;
    for (Index k = 0; k < regions; ++k)
        if (instance_->may_begin(k))
            reach_[k] = instance_->travel(instance_->outside(), k);
    for (Index round = 0; round < regions; ++round) // Bellman–Ford
        for (Index u = 0; u < regions; ++u)
            for (Index v = 0; v < regions; ++v)
                reach_[v] = std::min(reach_[v], reach_[u] + instance_->travel(u, v));
    layers_.push_back({{0.0, 0.0, 0, instance_->outside()}});
    made_.push_back({0, 0});
    next_layer();
}

Index VisitLabelling::count(Code code, Index region) const {
    return static_cast<Index>(code >> (region * bits_) & ((Code{1} << bits_) - 1));
}

void VisitLabelling::next_layer() {
    auto const left = instance_->at_most - static_cast<Index>(layers_.size());
    before_ = std::exchange(made_, {});
    codes_.clear();
    for (auto const &members : before_)
        for (Index k = 0; k < instance_->regions; ++k)
            if (count(members.code, k) < instance_->repeats[k])
                codes_.push_back(members.code + (Code{1} << (k * bits_)));
    std::ranges::sort(codes_, std::greater{}); // codes are processed from the end
    auto const rest = std::ranges::unique(codes_);
    codes_.erase(rest.begin(), rest.end());
    std::erase_if(codes_, [&](Code code) {
        Index missing = 0;
        for (Index k = 0; k < instance_->regions; ++k)
            missing += instance_->required[k] && count(code, k) == 0 ? 1 : 0;
        return missing > left;
    });
    layers_.emplace_back();
}

std::size_t VisitLabelling::make(Code code) {
    auto &labels = layers_.back();
    auto const &rest = layers_[layers_.size() - 2];
    Multiset members{code, static_cast<std::uint32_t>(labels.size())};
    std::size_t looks = 0;
    for (Index k = 0; k < instance_->regions; ++k) {
        if (count(code, k) == 0)
            continue;
        auto const fewer = code - (Code{1} << (k * bits_));
        auto const found = std::ranges::lower_bound(before_, fewer, {}, &Multiset::code);
        if (found == before_.end() || found->code != fewer)
            continue;
        auto const &update = instance_->update(0, k);
        members.retention = found->retention * update.retention;
        members.second = found->second * update.second;
        if (layers_.size() == 2 && !instance_->may_end(k))
            continue;
        auto const error = found->retention * update.plasticity * instance_->scores[k] +
                           found->second * instance_->count * update.noise;
        auto const limit = bound_ - instance_->rate * reach_[k] - members.retention * floor_;
        auto const end = found + 1 == before_.end() ? rest.size() : (found + 1)->labels;
        front_.clear();
        for (auto i = found->labels; i < end; ++i) {
            auto const leg = instance_->travel(k, rest[i].first);
            Label const label{rest[i].travel + leg, rest[i].value + instance_->rate * leg + error, i, k};
            if (label.travel + reach_[k] <= instance_->budget && label.value <= limit)
                front_.push_back(label);
        }
        looks += end - found->labels;
        keep_front();
    }
    if (labels.size() > members.labels) {
        for (auto i = members.labels; i < labels.size(); ++i)
            complete(members, labels[i]);
        made_.push_back(members);
    }
    return looks;
}

void VisitLabelling::keep_front() {
    auto const order = [](Label const &label) { return std::tuple(label.value, label.travel, label.next); };
    std::ranges::sort(front_, {}, order);
    auto least = inf;
    for (auto const &label : front_) {
        if (label.travel >= least)
            continue;
        least = instance_->budget == inf ? -inf : label.travel; // without a budget, one label is enough
        layers_.back().push_back(label);
    }
}

void VisitLabelling::complete(Multiset const &members, Label const &label) {
    auto const begin = instance_->travel(instance_->outside(), label.first);
    auto const value = label.value + instance_->rate * begin + members.retention * instance_->total;
    if (static_cast<Index>(layers_.size()) <= instance_->at_least || !instance_->may_begin(label.first) ||
        label.travel + begin > instance_->budget || value >= value_)
        return;
    for (Index k = 0; k < instance_->regions; ++k)
        if (instance_->required[k] && count(members.code, k) == 0)
            return;
    value_ = value;
    best_.clear();
    auto const *at = &label;
    for (auto layer = layers_.size() - 1; layer > 0; --layer) {
        best_.push_back(at->first);
        at = &layers_[layer - 1][at->next];
    }
}

double VisitLabelling::done() const {
    return static_cast<double>(layers_.size() - 2) / instance_->at_most;
}

bool VisitLabelling::advance(std::int64_t looks) {
    while (looks > 0 && !full()) {
        if (codes_.empty()) {
            labels_ += layers_.back().size();
            if (static_cast<Index>(layers_.size()) > instance_->at_most || made_.empty())
                return true;
            next_layer();
            continue;
        }
        looks -= 1 + static_cast<std::int64_t>(make(codes_.back()));
        codes_.pop_back();
    }
    return full();
}
} // namespace learnroute
