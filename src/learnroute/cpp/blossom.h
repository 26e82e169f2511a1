#pragma once

#include "indexed_heap.h"
#include "matrix_view.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace learnroute {
/// Minimum-weight perfect matching on a sparse graph with even integer weights: Edmonds' blossom algorithm (1965), one
/// alternating tree at a time, with variable duals and a queue of dual events.
///
/// The LP. Minimise the weight of the chosen edges so that at least one of them leaves every vertex and every odd set
/// of vertices. Its dual has a value for each vertex v and a value (`lift`) >= 0 for each odd set B, such that the
/// weight of an edge is at least the sum of the values of the sets it leaves. `dual` of v is the sum of the values of
/// all sets that contain v, so that an edge between different outermost sets has the reduced cost
/// `slack = weight - dual(u) - dual(v) >= 0`. A perfect matching of tight edges (slack 0) is optimal if exactly one of
/// its edges leaves each set with a positive lift.
///
/// One search. From an unmatched root, grow an alternating tree of tight edges in which nodes (vertices, or odd sets
/// shrunk to one node: blossoms) are outer and inner in turn. With the time of the search, the duals of outer nodes
/// increase and those of inner nodes decrease at unit speed, so the time of every event is known: an edge from an outer
/// node reaches a free node (grow, or augment if the node is unmatched), an edge between two outer nodes closes an odd
/// cycle (shrink), the lift of an inner blossom reaches 0 (expand). Duals are updated only when the label of a node
/// changes. Weights must be even: then all duals have the same parity along the tight edges of a tree, and every event
/// time is an integer.
///
/// A blossom stores only the vertex through which it is matched. The matching inside is determined when the blossom is
/// expanded.
class MinimumWeightMatching {
public:
    using Weight = std::int64_t;
    static constexpr Index none = -1;

    struct Arc {
        Index source;
        Index target;
        Weight weight;
    };

    /// An odd set of vertices with its dual value.
    struct OddSet {
        std::vector<Index> members; // sorted
        Weight lift = 0;
    };

    struct DualSolution {
        std::vector<Weight> duals; // value of each vertex alone, without the sets around it
        std::vector<OddSet> sets;  // sets with a positive value
    };

    /// Start with feasible duals and a greedy matching along tight edges.
    ///
    /// `arcs` contains each edge once in each direction, sorted by source. Every vertex has at least one edge.
    MinimumWeightMatching(Index size, std::vector<Arc> arcs);

    /// Search from up to `most` unmatched vertices, beginning at vertex `first`. Return the vertex to continue from:
    /// the number of vertices if all are matched, or `none` if there is no perfect matching.
    Index match_next(Index first, Index most);

    /// The dual values, which are optimal once all vertices are matched.
    [[nodiscard]] DualSolution dual_solution() const;

    /// Determine the matching inside all blossoms, outermost first. Return each vertex's mate (`none` if unmatched).
    /// This removes the blossoms and thereby the dual solution.
    std::vector<Index> unfold();

    [[nodiscard]] Index size() const { return static_cast<Index>(vertices_.size()); }
    [[nodiscard]] Index node_count() const { return static_cast<Index>(nodes_.size()); }
    [[nodiscard]] Weight dual(Index vertex) const { return vertices_[vertex].dual; }
    [[nodiscard]] Weight lift(Index blossom) const { return nodes_[blossom].lift; }
    [[nodiscard]] Index parent(Index node) const { return nodes_[node].parent; }

private:
    static constexpr Weight never = Weight{1} << 62;

    enum class Label : std::uint8_t { free, outer, inner };

    /// An edge that leaves a node: its vertex inside the node, and its vertex outside.
    struct Exit {
        Index inside = none;
        Index outside = none;

        [[nodiscard]] Exit reversed() const { return {outside, inside}; }
    };

    // Vertex data are small and separate from node data, because loops over the vertices of a node are frequent.
    struct Vertex {
        Weight dual = 0;   // sum over the sets that contain it
        Index top = none;  // the outermost node around it
        Index next = none; // in the chain of the vertices of its node
    };

    // Vertices 0 … n - 1 are nodes of one vertex, the others blossoms.
    struct Node {
        Weight since = 0;          // time up to which the duals of an outermost node are updated
        Weight lift = 0;           // dual value of a blossom
        Label label = Label::free; // of an outermost node
        bool is_touched = false;   // whether it was labelled in this search
        Exit match;                // its matching edge
        Exit tree;                 // an inner node's edge towards the root
        Index parent = none;       // the enclosing blossom
        Index follower = none;     // the next node on the parent's cycle, ...
        Exit onward;               // ... and the edge to it
        Index head = none;         // the first vertex of its chain (see Vertex::next) ...
        Index tail = none;         // ... and the last
        std::int64_t mark = 0;     // for finding common ancestors
    };

    /// A chain of vertices, to loop over.
    struct Chain {
        MinimumWeightMatching const &matching;
        Index vertex; // `none` after the last one
        Index tail;

        [[nodiscard]] Chain begin() const { return *this; }
        [[nodiscard]] Index end() const { return none; }
        bool operator!=(Index other) const { return vertex != other; }
        Index operator*() const { return vertex; }
        void operator++() { vertex = vertex == tail ? none : matching.vertices_[vertex].next; }
    };

    std::vector<Arc> arcs_;
    std::vector<std::size_t> start_; // the arcs start_[v] … start_[v + 1] - 1 leave vertex v
    std::vector<Vertex> vertices_;
    std::vector<Node> nodes_;
    std::vector<Index> spare_;   // unused blossoms, a stack
    std::vector<Index> touched_; // nodes labelled in this search
    std::int64_t last_mark_ = 0;
    IndexedHeap<Weight> events_; // items are arcs, then blossoms
    Weight now_ = 0;
    Weight limit_ = never; // upper bound on the end time of the search

    void match_greedily();
    bool search(Index root);
    void end_search();
    void schedule(Weight time, Index item);

    [[nodiscard]] std::span<Arc const> arcs_of(Index v) const;
    [[nodiscard]] Index top(Index vertex) const { return vertices_[vertex].top; }
    [[nodiscard]] Label label_of(Index vertex) const { return nodes_[top(vertex)].label; }
    [[nodiscard]] Weight dual_now(Index vertex) const;
    [[nodiscard]] Index outer_above(Index outer) const;
    [[nodiscard]] Index child_with(Index blossom, Index vertex) const;
    Index common_ancestor(Index a, Index b);

    [[nodiscard]] Chain vertices_of(Index node) const { return {*this, nodes_[node].head, nodes_[node].tail}; }
    [[nodiscard]] std::vector<Index> cycle_of(Index first) const;

    Weight elapse(Index node);
    void move(Index node, Weight moved, Index outermost);
    void set_label(Index node, Label label);
    void scan_outer(Index node);
    void scan_free(Index node);
    void grow(Index inside, Index outside);
    void shrink(Index u, Index v);
    void expand(Index blossom);
    void augment(Index inside, Index outside);
    void follow(Index node, Index follower, Exit onward);
    Index settle_inside(Index blossom);
};
} // namespace learnroute
