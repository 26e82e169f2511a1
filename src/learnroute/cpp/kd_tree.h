#pragma once

#include "matrix_view.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

namespace learnroute {
/// A k-d tree of places in three dimensions (Bentley 1975): nearest neighbours and spanning trees without a matrix.
///
/// The places are halved recursively along the longest side of their bounding box. The halves of node k are the nodes
/// 2k + 1 and 2k + 2. Searches skip every box that is farther away than the places found so far.
class KdTree {
public:
    using Place = std::array<double, 3>;

    /// A range of the items and the bounding box of their places.
    struct Node {
        Index first = 0, end = 0;
        Place low, high;
    };

private:
    std::vector<Place> places_;
    std::vector<Index> items_; ///< the places; those of a node are contiguous
    std::vector<Node> nodes_;

    void enclose(Node &node) const;
    void select(std::size_t axis, Index first, Index last, Index wanted);
    [[nodiscard]] bool is_leaf(std::size_t node) const { return 2 * node + 2 >= nodes_.size(); }
    [[nodiscard]] double squared_distance(Index i, Index j) const;
    [[nodiscard]] double squared_distance_to_box(std::size_t node, Index i) const;

    /// Call `visit` for the places, nearer halves first, except in nodes for which `skip` is true.
    template <typename Skip, typename Visit> void search(Index from, Skip const &skip, Visit const &visit) const;

public:
    explicit KdTree(std::vector<Place> places);

    [[nodiscard]] std::vector<Index> const &items() const { return items_; }

    /// Return the `count` nearest others of each place, one row per place, nearest first. Ties are broken by number.
    /// There must be that many others.
    [[nodiscard]] std::vector<Index> nearest(std::size_t count) const;

    /// Return the two nearest places, if any, in each quadrant of the first two axes around a place.
    [[nodiscard]] std::vector<Index> quadrant_neighbours(Index i) const;

    /// Return the edges of a minimum spanning tree by Borůvka's algorithm: in each round, every component adds its
    /// shortest outgoing edge.
    ///
    /// Ties are broken by number, so that edges are strictly ordered and no round closes a cycle.
    [[nodiscard]] std::vector<std::pair<Index, Index>> spanning_edges() const;
};
} // namespace learnroute
