"""The values in the core's search are those of the instance, for routes of any length."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from learnroute import _core
from learnroute.model.law import Updates
from learnroute.model.rules import FleetRules
from learnroute.solvers.core_instance import CoreInstance
from samples import random_instance

SIZE = 40  # a model keeps 0.1 of itself at each training: of the first of 20 nothing is left at the end


@pytest.mark.parametrize("by_position", [False, True])
@pytest.mark.parametrize("coupling", [0.0, 0.04])
@pytest.mark.parametrize(
    "rules",
    [
        FleetRules(2, 1, merged=True),
        FleetRules(2, 1, merged=True, equal=True, longest=True),
        FleetRules(2, 1, merged=False),
        FleetRules(1, 2, merged=True),
        FleetRules(1, 2, merged=False),
    ],
)
def test_values_along_long_routes(rules: FleetRules, coupling: float, by_position: bool) -> None:
    rng = np.random.default_rng([rules.vehicles, rules.merged, by_position])
    alone = random_instance(rng, SIZE, required=range(SIZE), vectors=True, origin=True, symmetric=True, rate=0.1)
    retention = np.full((SIZE, SIZE), 0.1)
    if by_position:
        retention[1::2] = 0.2
    second = retention - coupling
    updates = Updates(retention, 1 - retention, np.full_like(retention, coupling), second, 0 * retention + 0.05)
    instance = replace(alone, updates=updates, fleet=rules)
    problem = CoreInstance(instance)
    search = _core.RuinAndRecreate(
        problem.core, problem.nearest(10), rearranged=0.5, removed=10.0, string=10, added=5,
        blink=0.01, contrary=0.1, seed=1,
    )  # fmt: skip
    served = [] if rules.merged else [0] * (SIZE // 2) + [1] * (SIZE // 2)
    search.start([[]] * rules.vehicles, [[]] * rules.vehicles, [0.5, 0.5] if rules.merged else [], served)
    search.insert(np.arange(SIZE))
    for temperature in (1.0, 0.0):
        search.run(200, temperature)
        found = problem.routes(search.best)
        assert found is not None
        assert instance.allows(found)
        shorter = 0.01 / rules.vehicles * sum(instance.travels(found)) if rules.longest else 0.0
        value = search.best_value - instance.rate * shorter  # where the longest route counts, the others do a little
        assert value == pytest.approx(instance(found), rel=1e-8)
