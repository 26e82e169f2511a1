#include "moves.h"

#include "or_opt.h"
#include "recombine.h"
#include "relabel.h"
#include "turn.h"
#include "two_opt.h"

#include <algorithm>
#include <utility>

namespace learnroute {
Moves::Moves(Instance const &instance) {
    std::unique_ptr<RouteMove> all[] = {std::make_unique<TwoOpt>(), std::make_unique<OrOpt>(), std::make_unique<Turn>(),
                                        std::make_unique<Recombine>(instance), std::make_unique<Relabel>(instance)};
    for (auto &move : all)
        if (move->supports(instance)) {
            weights_.push_back((weights_.empty() ? 0.0 : weights_.back()) + move->weight());
            moves_.push_back(std::move(move));
        }
}

RouteMove &Moves::draw(Rng &rng) const {
    auto const drawn = std::ranges::upper_bound(weights_, rng.uniform() * weights_.back()) - weights_.begin();
    return *moves_[std::min(static_cast<std::size_t>(drawn), moves_.size() - 1)];
}
} // namespace learnroute
