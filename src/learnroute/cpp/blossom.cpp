#include "blossom.h"

#include <algorithm>
#include <new>
#include <utility>

namespace learnroute {
namespace {
/// Return the number of events: arcs and blossoms are numbered together.
std::size_t count_events(std::size_t arcs, std::size_t nodes) {
    if (arcs + nodes > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
        throw std::bad_alloc();
    return arcs + nodes;
}

/// Return the maximum number of nodes. Blossoms are disjoint or nested, and odd cycles of at least three nodes.
/// Therefore there are at most half as many blossoms as vertices, plus one while a blossom is being made.
std::size_t count_nodes(Index size) {
    return static_cast<std::size_t>(size) + size / 2 + 1;
}
} // namespace

MinimumWeightMatching::MinimumWeightMatching(Index size, std::vector<Arc> arcs)
    : arcs_(std::move(arcs)), start_(size + 1), vertices_(size), nodes_(count_nodes(size)),
      events_(count_events(arcs_.size(), nodes_.size())) {
    for (auto const &arc : arcs_)
        ++start_[arc.source + 1];
    for (Index v = 0; v < size; ++v) {
        start_[v + 1] += start_[v];
        vertices_[v].top = nodes_[v].head = nodes_[v].tail = v;
    }
    for (auto blossom = node_count() - 1; blossom >= size; --blossom)
        spare_.push_back(blossom);
    match_greedily();
}

std::span<MinimumWeightMatching::Arc const> MinimumWeightMatching::arcs_of(Index v) const {
    return std::span{arcs_}.subspan(start_[v], start_[v + 1] - start_[v]);
}

void MinimumWeightMatching::match_greedily() {
    for (Index v = 0; v < size(); ++v) {
        auto least = never;
        for (auto const &arc : arcs_of(v))
            least = std::min(least, arc.weight);
        vertices_[v].dual = least / 2; // weights are even
    }
    for (Index v = 0; v < size(); ++v) {
        if (nodes_[v].match.inside != none)
            continue;
        auto least = never;
        for (auto const &arc : arcs_of(v))
            least = std::min(least, arc.weight - vertices_[v].dual - vertices_[arc.target].dual);
        vertices_[v].dual += least;
        for (auto const &arc : arcs_of(v)) {
            auto const x = arc.target;
            if (nodes_[x].match.inside == none && arc.weight == vertices_[v].dual + vertices_[x].dual) {
                nodes_[v].match = {v, x};
                nodes_[x].match = {x, v};
                break;
            }
        }
    }
}

/// Return the nodes of a cycle.
std::vector<Index> MinimumWeightMatching::cycle_of(Index first) const {
    std::vector<Index> cycle{first};
    for (auto node = nodes_[first].follower; node != first; node = nodes_[node].follower)
        cycle.push_back(node);
    return cycle;
}

MinimumWeightMatching::Weight MinimumWeightMatching::dual_now(Index vertex) const {
    auto const &node = nodes_[top(vertex)];
    if (node.label == Label::outer)
        return vertices_[vertex].dual + now_ - node.since;
    if (node.label == Label::inner)
        return vertices_[vertex].dual - now_ + node.since;
    return vertices_[vertex].dual;
}

/// Insert an event into the queue, or change its time. Events after the latest possible end of the search are ignored.
void MinimumWeightMatching::schedule(Weight time, Index item) {
    if (time <= limit_)
        events_.set(item, time);
}

/// Return the change of an outermost node's duals since their last update, and update its lift.
MinimumWeightMatching::Weight MinimumWeightMatching::elapse(Index node) {
    auto &settled = nodes_[node];
    auto moved = now_ - std::exchange(settled.since, now_);
    if (settled.label != Label::outer)
        moved = settled.label == Label::inner ? -moved : 0;
    settled.lift += moved; // the lift of a vertex is never read
    return moved;
}

/// Change the duals of a node's vertices, and set the outermost node around them.
void MinimumWeightMatching::move(Index node, Weight moved, Index outermost) {
    for (auto const v : vertices_of(node)) {
        vertices_[v].dual += moved;
        vertices_[v].top = outermost;
    }
}

void MinimumWeightMatching::set_label(Index node, Label label) {
    auto &labelled = nodes_[node];
    labelled.label = label;
    labelled.since = now_;
    if (!std::exchange(labelled.is_touched, true))
        touched_.push_back(node);
    if (label == Label::inner && node >= size())
        schedule(now_ + labelled.lift, static_cast<Index>(arcs_.size()) + node - size());
}

/// Schedule the edges of all vertices of a node that has just become outer (or is now inside an outer one).
void MinimumWeightMatching::scan_outer(Index node) {
    auto const own = top(nodes_[node].head);
    for (auto const v : vertices_of(node)) {
        auto const reach = dual_now(v) - now_;
        auto item = static_cast<Index>(start_[v]);
        for (auto const &arc : arcs_of(v)) {
            auto const this_item = item++;
            auto const &target = vertices_[arc.target];
            auto const &other = nodes_[target.top];
            if (target.top == own || other.label == Label::inner)
                continue;
            auto time = arc.weight - reach -
                        target.dual; // time at which the edge is tight if its target's dual does not change
            if (other.label == Label::outer)
                time = now_ + (time - (now_ - other.since) - now_) / 2;
            else if (other.match.inside == none && time < limit_)
                limit_ = time; // the search ends at the latest when it reaches this node
            schedule(time, this_item);
        }
    }
}

/// Schedule the edges from outer vertices to a node that has just become free.
void MinimumWeightMatching::scan_free(Index node) {
    for (auto const v : vertices_of(node)) {
        auto item = static_cast<Index>(start_[v]);
        for (auto const &arc : arcs_of(v)) {
            if (label_of(arc.target) == Label::outer)
                schedule(now_ + arc.weight - dual_now(v) - dual_now(arc.target), item);
            ++item;
        }
    }
}

/// Add a matched free node and its mate to the tree.
void MinimumWeightMatching::grow(Index inside, Index outside) {
    auto const inner = top(outside);
    nodes_[inner].tree = {outside, inside};
    set_label(inner, Label::inner);
    auto const outer = top(nodes_[inner].match.outside);
    set_label(outer, Label::outer);
    scan_outer(outer);
}

/// Return the next outer node towards the root, or `none` at the root.
Index MinimumWeightMatching::outer_above(Index outer) const {
    auto const &match = nodes_[outer].match;
    return match.inside == none ? none : top(nodes_[top(match.outside)].tree.outside);
}

/// Return the lowest common ancestor of two outer nodes of the tree.
Index MinimumWeightMatching::common_ancestor(Index a, Index b) {
    ++last_mark_;
    for (;; std::swap(a, b))
        if (a != none) {
            if (std::exchange(nodes_[a].mark, last_mark_) == last_mark_)
                return a;
            a = outer_above(a);
        }
}

/// Make one node the successor of another on a cycle.
void MinimumWeightMatching::follow(Index node, Index follower, Exit onward) {
    nodes_[node].follower = follower;
    nodes_[node].onward = onward;
}

/// Shrink the odd cycle that the edge u-v closes to one outer node.
void MinimumWeightMatching::shrink(Index u, Index v) {
    auto const a = top(u);
    auto const b = top(v);
    auto const base = common_ancestor(a, b);
    auto const blossom = spare_.back();
    spare_.pop_back();
    // one side, from a up to the base: the cycle is directed downwards, so edges are reversed
    auto node = a;
    follow(a, b, {u, v});
    while (node != base) {
        auto const match = nodes_[node].match;
        auto const inner = top(match.outside);
        follow(inner, node, match.reversed());
        auto const tree = nodes_[inner].tree;
        node = top(tree.outside);
        follow(node, inner, tree.reversed());
    }
    // the other side, from b up to the base
    node = b;
    while (node != base) {
        auto const inner = top(nodes_[node].match.outside);
        follow(node, inner, nodes_[node].match);
        node = top(nodes_[inner].tree.outside);
        follow(inner, node, nodes_[inner].tree);
    }
    // make the blossom the parent of the nodes of the cycle, and join their chains of vertices
    std::vector<Index> former_inner;
    auto end = none;
    for (auto const child : cycle_of(base)) {
        move(child, elapse(child), blossom);
        if (nodes_[child].label == Label::inner)
            former_inner.push_back(child);
        nodes_[child].label = Label::free;
        nodes_[child].parent = blossom;
        if (end != none)
            vertices_[end].next = nodes_[child].head;
        end = nodes_[child].tail;
    }
    auto &made = nodes_[blossom];
    made.head = nodes_[base].head;
    made.tail = end;
    made.parent = none;
    made.lift = 0;
    made.match = nodes_[base].match;
    set_label(blossom, Label::outer);
    for (auto const child : former_inner)
        scan_outer(child);
}

/// Return the node on a blossom's cycle that contains a vertex.
Index MinimumWeightMatching::child_with(Index blossom, Index vertex) const {
    auto node = vertex;
    while (nodes_[node].parent != blossom)
        node = nodes_[node].parent;
    return node;
}

/// Match the nodes of a blossom's cycle, given the matching edge of the blossom. Return the node matched outwards.
Index MinimumWeightMatching::settle_inside(Index blossom) {
    auto const outward = child_with(blossom, nodes_[blossom].match.inside);
    nodes_[outward].match = nodes_[blossom].match;
    for (auto node = nodes_[outward].follower; node != outward;) {
        auto const mate = nodes_[node].follower;
        nodes_[node].match = nodes_[node].onward;
        nodes_[mate].match = nodes_[node].onward.reversed();
        node = nodes_[mate].follower;
    }
    return outward;
}

/// Replace an inner blossom by the nodes of its cycle, of which a path of even length stays in the tree.
void MinimumWeightMatching::expand(Index blossom) {
    auto const moved = elapse(blossom);
    auto const entry = child_with(blossom, nodes_[blossom].tree.inside);
    auto const cycle = cycle_of(settle_inside(blossom)); // starts at the node matched outwards
    for (auto const node : cycle) {
        nodes_[node].parent = none;
        nodes_[node].label = Label::free;
        move(node, moved, node);
    }
    nodes_[blossom].label = Label::free;
    spare_.push_back(blossom);
    // the path of even length from the entry to the outward node: inner, outer, …, inner
    auto const position = static_cast<std::size_t>(std::ranges::find(cycle, entry) - cycle.begin());
    std::vector<Index> way{entry};
    if (position % 2 == 0)
        way.insert(way.end(), cycle.rend() - position, cycle.rend());
    else {
        way.insert(way.end(), cycle.begin() + position + 1, cycle.end());
        way.push_back(cycle.front());
    }
    nodes_[entry].tree = nodes_[blossom].tree;
    for (std::size_t k = 1; k < way.size(); k += 2) {
        auto const outer = way[k];
        auto const inner = way[k + 1];
        nodes_[inner].tree = position % 2 == 0 ? nodes_[inner].onward : nodes_[outer].onward.reversed();
        set_label(outer, Label::outer);
    }
    for (std::size_t k = 0; k < way.size(); k += 2)
        set_label(way[k], Label::inner);
    for (auto const node : cycle)
        if (nodes_[node].label == Label::outer)
            scan_outer(node);
        else if (nodes_[node].label == Label::free)
            scan_free(node);
}

/// Match an unmatched free node to the tree, and swap matched and unmatched edges along the path to the root.
void MinimumWeightMatching::augment(Index inside, Index outside) {
    nodes_[top(outside)].match = {outside, inside};
    while (true) {
        auto const former = std::exchange(nodes_[top(inside)].match, {inside, outside});
        if (former.outside == none)
            return;
        auto &inner = nodes_[top(former.outside)];
        inner.match = inner.tree;
        inside = inner.tree.outside;
        outside = inner.tree.inside;
    }
}

void MinimumWeightMatching::end_search() {
    for (auto const node : touched_) {
        if (auto const moved = elapse(node); moved != 0)
            move(node, moved, node);
        nodes_[node].label = Label::free;
        nodes_[node].is_touched = false;
    }
    touched_.clear();
    events_.clear();
    now_ = 0;
    limit_ = never;
}

/// Match one unmatched outermost node. Return false if there is no perfect matching.
bool MinimumWeightMatching::search(Index root) {
    set_label(root, Label::outer);
    scan_outer(root);
    auto const arc_count = static_cast<Index>(arcs_.size());
    auto is_matched = false;
    while (!is_matched && !events_.empty()) {
        auto const event = events_.pop();
        now_ = std::max(now_, event.key);
        if (event.item >= arc_count) {
            auto const blossom = event.item - arc_count + size();
            if (nodes_[blossom].label == Label::inner) // otherwise an outer blossom contains it now
                expand(blossom);
            continue;
        }
        auto const &arc = arcs_[event.item];
        auto u = arc.source;
        auto v = arc.target;
        if (label_of(u) != Label::outer)
            std::swap(u, v);
        if (top(u) == top(v) || label_of(u) != Label::outer || label_of(v) == Label::inner)
            continue;
        auto const slack = arc.weight - dual_now(u) - dual_now(v);
        auto const is_outer = label_of(v) == Label::outer;
        if (slack != 0) // labels have changed since the event was scheduled
            schedule(now_ + (is_outer ? slack / 2 : slack), event.item);
        else if (is_outer)
            shrink(u, v);
        else if (nodes_[top(v)].match.inside != none)
            grow(u, v);
        else {
            augment(u, v);
            is_matched = true;
        }
    }
    end_search();
    return is_matched;
}

Index MinimumWeightMatching::match_next(Index first, Index most) {
    Index done = 0;
    for (auto v = first; v < size(); ++v) {
        auto const root = top(v);
        if (nodes_[root].match.inside != none)
            continue;
        if (done == most)
            return v;
        if (!search(root))
            return none;
        ++done;
    }
    return size();
}

MinimumWeightMatching::DualSolution MinimumWeightMatching::dual_solution() const {
    DualSolution found;
    found.sets.resize(nodes_.size()); // one per node at first
    for (Index v = 0; v < size(); ++v) {
        auto own = vertices_[v].dual;
        for (auto b = nodes_[v].parent; b != none; b = nodes_[b].parent)
            if (nodes_[b].lift != 0) {
                own -= nodes_[b].lift;
                found.sets[b].lift = nodes_[b].lift;
                found.sets[b].members.push_back(v);
            }
        found.duals.push_back(own);
    }
    std::erase_if(found.sets, [](OddSet const &set) { return set.members.empty(); });
    return found;
}

std::vector<Index> MinimumWeightMatching::unfold() {
    std::vector<Index> mates;
    for (Index v = 0; v < size(); ++v) // expand the outermost blossom around v, then the next one, and so on
        while (nodes_[v].parent != none && nodes_[top(v)].match.inside != none)
            for (auto const node : cycle_of(settle_inside(top(v)))) {
                nodes_[node].parent = none;
                move(node, 0, node);
            }
    for (Index v = 0; v < size(); ++v)
        mates.push_back(nodes_[v].match.outside);
    return mates;
}
} // namespace learnroute
