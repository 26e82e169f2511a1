"""Why the linear law planned badly, on seeds that the study does not use: rotated digits, and house prices in Ames.

python examples/evidence/causes.py
"""

from __future__ import annotations

from itertools import pairwise

import images
import numpy as np
import regional
from networks import Perceptron
from report import rank_correlation

from learnroute.learning import ProximalRegressor, calibrate, follow, transfer
from learnroute.learning.following import reseed


def rotated_digits(seeds: int = 2, routes: int = 60) -> None:
    """Say what final errors depend on, and what the fits make of it."""
    for seed in range(seeds):
        rng = np.random.default_rng((777, seed))
        data, _ = images.rotated(rng)
        size = len(data)
        moved = transfer(data, Perceptron(), 4, "zero-one", seed)
        orders = [rng.permutation(size).tolist() for _ in range(routes)]
        followed = [follow(order, data, reseed(Perceptron(), 1000 + k), "zero-one") for k, order in enumerate(orders)]
        final = np.array([one.errors[-1].mean() for one in followed])
        apart, scores = moved.errors, moved.errors.mean(axis=1)
        steps = np.array([[apart[i, j] for i, j in pairwise(o)] for o in orders])
        table = np.column_stack([[scores[o[-1]] for o in orders], steps[:, -1], steps[:, -2], steps[:, :-2].sum(axis=1),
                                 np.ones(routes)])  # fmt: skip
        found = np.linalg.lstsq(table, final, rcond=None)[0]
        linear, common = calibrate(moved, followed, forms=()), calibrate(moved, followed)
        q, kept = linear.coupling.value, linear.retention.value
        law = [q * (1 - kept) * (kept - q) ** t for t in range(2)]
        rho = common.common_retention.value if common.common_retention else float("nan")
        print(
            f"rotated digits, seed {seed}: the final error changes with D of the last step by {found[1]:+.3f}, of the "
            f"step before by {found[2]:+.3f}, of earlier steps by {found[3]:+.3f} each; by the linear law "
            f"{-law[0]:+.3f}, {-law[1]:+.3f} and less. Linear: p₁ {kept:.2f}, q {q:.3f}, ν {linear.noise.value:+.3f}."
        )
        print(
            f"  Form taken: {common.form}, p₁ {common.retention.value:.2f}, q {common.coupling.value:.3f}, "
            f"ν {common.noise.value:+.3f}, ρ {rho:.2f}."
        )


def ames(strength: float = 0.3, seeds: int = 10, orders: int = 100) -> None:
    """Say how alike final errors of the same orders are on two halves of the data, and what D's initial model does."""
    alike, kept, allowed = [], [], []
    for seed in range(seeds):
        rng = np.random.default_rng((777, seed))
        halves = regional.dealt(rng, regional.ames()[0])
        tried = [rng.permutation(len(halves[0])).tolist() for _ in range(orders)]
        learner = ProximalRegressor(strength)
        final = [[follow(order, half, learner).errors[-1].mean() for order in tried] for half in halves]
        alike.append(rank_correlation(*final))
        moved = transfer(halves[0], learner)
        pilots = [follow(order, halves[0], learner) for order in tried[:3]]
        kept.append(calibrate(moved, pilots, forms=()).retention.value)
        allowed.append(calibrate(moved, pilots, forms=("held",)).retention.value)
    print(f"Ames, λ = {strength:g}: final errors of the same {orders} orders on two halves have a rank correlation of "
          f"{np.mean(alike):.2f}. p₁ is {np.mean(kept):.2f}, and {np.mean(allowed):.2f} if the initial model is "
          "allowed for.")  # fmt: skip


if __name__ == "__main__":
    ames()
    rotated_digits()
