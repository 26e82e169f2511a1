"""Processor time of evaluating an order by rehearsal: 14 regions, 12 features, 32 draws.

python benchmarks/rehearsal.py
"""

from __future__ import annotations

import time

import numpy as np

from learnroute.learning import ProximalRegressor, RegionData
from learnroute.learning.affine_maps import Draws, LinearTrainings
from learnroute.solvers.rehearsal import RehearsalModel

REGIONS, FEATURES, DRAWS, ORDERS = 14, 12, 32, 5000


def main() -> None:
    """Compute the maps, evaluate random orders, and print the time of each."""
    rng = np.random.default_rng(0)
    regions = []
    for _ in range(REGIONS):
        inputs = rng.standard_normal((50, FEATURES))
        targets = inputs @ rng.standard_normal(FEATURES) + rng.standard_normal(50)
        regions.append(RegionData((inputs[:25], targets[:25]), (inputs[25:], targets[25:])))
    started = time.process_time()
    names = [f"R{k + 1}" for k in range(REGIONS)]
    trainings = LinearTrainings(ProximalRegressor(0.3), Draws(regions, DRAWS, 0), np.ones(REGIONS), names)
    found = trainings.maps(REGIONS)
    priced = RehearsalModel(found.maps, found.constants, found.start, found.root, found.aims, found.rest)
    print(f"maps: {1e3 * (time.process_time() - started):.0f} ms of processor time")
    orders = [rng.permutation(REGIONS) for _ in range(ORDERS)]
    started = time.process_time()
    for order in orders:
        priced.errors(order)
    print(f"an order: {1e3 * (time.process_time() - started) / ORDERS:.4f} ms of processor time")


if __name__ == "__main__":
    main()
