#include "min_cut.h"

#include "components.h"

#include <algorithm>
#include <numeric>

namespace learnroute {
namespace {
/// The graph after merging vertices.
class MergedGraph {
    std::size_t vertices_ = 0;
    std::vector<double> weights_;
    std::vector<std::vector<Index>> members_; // original vertices of each merged vertex
    std::vector<Index> alive_;
    std::vector<Index> left_;
    std::vector<double> reach_;

    double &weight(std::size_t a, std::size_t b) { return weights_[a * vertices_ + b]; }

public:
    /// The last two vertices of a maximum adjacency order, and the cut between the last one and all others.
    struct Phase {
        std::size_t before;
        std::size_t last;
        double cut;
    };

    MergedGraph(MatrixView<double> x, double one) {
        auto const component = connected_components(x.rows(), [&](auto v, auto u) { return x(v, u) > one; });
        vertices_ = static_cast<std::size_t>(*std::ranges::max_element(component)) + 1;
        weights_.assign(vertices_ * vertices_, 0.0);
        members_.resize(vertices_);
        for (std::size_t v = 0; v < x.rows(); ++v) {
            members_[component[v]].push_back(static_cast<Index>(v));
            for (std::size_t u = 0; u < x.rows(); ++u)
                if (component[v] != component[u])
                    weight(component[v], component[u]) += x(v, u);
        }
        alive_.resize(vertices_);
        std::iota(alive_.begin(), alive_.end(), 0);
        reach_.resize(vertices_);
    }

    [[nodiscard]] std::size_t size() const { return alive_.size(); }
    [[nodiscard]] std::vector<Index> const &members(std::size_t v) const { return members_[v]; }

    /// Add vertices one by one, each time the one with the largest weight to those added; ties are broken by number.
    Phase run_phase() {
        left_ = alive_;
        std::ranges::fill(reach_, 0.0);
        Phase phase{0, static_cast<std::size_t>(left_.front()), 0.0};
        std::size_t place = 0;
        while (left_.size() > 1) {
            left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(place));
            auto const *row = &weight(phase.last, 0);
            auto most = -1.0;
            for (std::size_t x = 0; x < left_.size(); ++x) {
                auto &reach = reach_[left_[x]];
                reach += row[left_[x]];
                if (reach > most) {
                    most = reach;
                    place = x;
                }
            }
            phase = {phase.last, static_cast<std::size_t>(left_[place]), most};
        }
        return phase;
    }

    /// Merge the last vertex of a phase into the one before it.
    void merge(Phase const &phase) {
        auto const [before, last, cut] = phase;
        for (std::size_t v = 0; v < vertices_; ++v) {
            weight(before, v) += weight(last, v);
            weight(v, before) += weight(v, last);
        }
        weight(before, before) = 0.0;
        members_[before].insert(members_[before].end(), members_[last].begin(), members_[last].end());
        std::erase(alive_, static_cast<Index>(last));
    }
};
} // namespace

std::vector<std::vector<Index>> minimum_cuts(MatrixView<double> x, double limit, double one) {
    MergedGraph graph(x, one);
    std::vector<std::vector<Index>> found;
    while (graph.size() > 1) {
        auto const phase = graph.run_phase();
        if (phase.cut < limit)
            found.push_back(graph.members(phase.last));
        graph.merge(phase);
    }
    return found;
}
} // namespace learnroute
