"""A feature map in front: regions whose targets bend, seen as they are and through a frozen network's last layer.

    pip install 'learnroute[learning]'
    python examples/feature_map.py

Every region follows the same straight line; what differs between them is a wave on top of it, of which a straight
line sees little. Through the frozen layer (its outputs made uncorrelated, as the theory assumes) the regions come
apart, and the learner learns the wave.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from learnroute import plan
from learnroute.learning import RouteRegressor, estimate, follow

WAVES = {"flat": 0.0, "ripple": 0.4, "mild": 0.8, "usual": 1.0, "lively": 1.2, "storm": 3.0}
HIDDEN = 24


def frozen_network(seed: int = 1) -> Any:
    """Return a network's last hidden layer as a plain function. Any function from samples to features will do."""
    rng = np.random.default_rng(seed)
    slopes, shifts = rng.normal(0, 3, HIDDEN), rng.uniform(-3, 3, HIDDEN)
    return lambda inputs: np.column_stack([np.tanh(inputs[:, [0]] * slopes + shifts), inputs])


def samples(count: int = 1200, seed: int = 0) -> dict[str, tuple[Any, Any]]:
    """Draw the regions' samples: y = x + size·sin(3x) + noise."""
    rng = np.random.default_rng(seed)
    data = {}
    for name, size in WAVES.items():
        x = rng.uniform(-2, 2, (count, 1))
        data[name] = (x, x[:, 0] + size * np.sin(3 * x[:, 0]) + rng.normal(0, 0.2, count))
    return data


def main() -> None:
    """Estimate, plan and follow, without the map and with it."""
    places = np.arange(len(WAVES))
    travel = 0.02 * np.abs(places[:, None] - places)
    for title, features in (("as it is", None), ("through the frozen layer", frozen_network())):
        found = estimate(samples(), features=features, scaling="whiten")
        chosen = plan(found.to_problem(travel, samples=200))
        errors = follow(chosen.route, found.held_out(), RouteRegressor()).metrics
        print(f"x {title}: {found.models.shape[1]} features")
        for name, score in zip(found.regions, found.score_estimates / len(WAVES), strict=True):
            print(f"  {name:7s} mean dissimilarity {score:8.3f}")
        print(f"  route {' > '.join(chosen.route)}")
        print(
            f"  average final error {errors.average_final_error:.3f}, right after learning {errors.learning_error:.3f}"
        )


if __name__ == "__main__":
    main()
