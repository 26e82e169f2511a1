from __future__ import annotations

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import oracle
from learnroute import InputError, Learner, Problem, plan
from learnroute.cli import commands
from learnroute.robust import robustness
from learnroute.study.families import random_problem
from samples import OVER, UNDER


def at(problem: Problem, delta: np.ndarray, order: tuple[int, ...]) -> float:
    return oracle.journey_loss(problem, order, delta)["total"]


@pytest.mark.parametrize("learner", [UNDER, OVER], ids=["under", "over"])
def test_cases_regrets_and_ends_against_all_orders(learner: Learner) -> None:
    problem = random_problem("uniform", 5, learner, 6)
    assert problem.dissimilarity is not None
    high = np.array(problem.dissimilarity)
    low = high * np.array([[0.2 + 0.1 * abs(i - j) for j in range(5)] for i in range(5)])
    found = robustness(problem.replace(dissimilarity_low=low), draws=40, seed=3)
    assert found.complete
    route = found.plan.order
    assert found.best_case == pytest.approx(at(problem, low, route), rel=1e-12)
    assert found.worst_case == pytest.approx(at(problem, high, route), rel=1e-12)
    rng, ends, regrets = np.random.default_rng(3), [], []
    for _ in range(40):
        share = np.triu(rng.random((5, 5)), 1)
        delta = low + (share + share.T) * (high - low)
        best = min(itertools.permutations(range(5)), key=lambda order: at(problem, delta, order))
        regret = at(problem, delta, route) - at(problem, delta, best)
        regrets.append(regret)
        ends.append(best[-1] if regret > 1e-9 else route[-1])
    assert found.mean_regret == pytest.approx(np.mean(regrets), rel=1e-9, abs=1e-9)
    assert found.worst_regret == pytest.approx(max(regrets), rel=1e-9)
    assert found.unchanged == np.mean(np.array(regrets) < 1e-9)
    assert found.last == {
        name: pytest.approx(np.mean([problem.regions[end] == name for end in ends])) for name in found.last
    }
    assert sum(found.last.values()) == pytest.approx(1)
    for pair in found.pairs:
        i, j = (problem.regions.index(name) for name in pair.regions)
        one = high.copy()
        one[i, j] = one[j, i] = pair.low
        best_loss = min(at(problem, one, order) for order in itertools.permutations(range(5)))
        assert 0 < pair.regret <= at(problem, one, route) - best_loss + 1e-9  # of the routes that came up
        for shift, better in ((1e-6, False), (-1e-6, True)):
            one[i, j] = one[j, i] = pair.switch * (1 + shift)
            assert (
                min(at(problem, one, o) for o in itertools.permutations(range(5))) < at(problem, one, route) - 1e-9
            ) >= better


def test_plan_that_is_sensitive_to_one_number() -> None:
    """Two regions tie for the end except for one pair, which is uncertain."""
    delta = np.array([[0, 4, 3, 3], [4, 0, 3, 3.2], [3, 3, 0, 9], [3, 3.2, 9, 0]], dtype=float)
    problem = Problem(np.ones((4, 4)) - np.eye(4), UNDER, delta)
    assert plan(problem).route[-1] == "R1"
    low = delta.copy()
    low[1, 3] = low[3, 1] = 1.0
    found = robustness(problem.replace(dissimilarity_low=low), draws=30)
    assert [pair.regions for pair in found.pairs] == [("R2", "R4")]
    assert found.pairs[0].switch == pytest.approx(3.0)
    assert set(found.last) == {"R1", "R2"}
    assert robustness(problem.replace(dissimilarity_low=delta), draws=3).unchanged == 1


def test_without_bounds_it_says_what_is_missing() -> None:
    problem = random_problem("vectors", 5, OVER, 1)
    with pytest.raises(
        InputError, match="dissimilarity_low: missing; add lower bounds to the problem, or give the share"
    ):
        robustness(problem)
    with pytest.raises(InputError, match=r"within = 1\.5: expected a share above 0"):
        robustness(problem, 1.5)
    with pytest.raises(InputError, match="draws = 0: the number of draws must be >= 1"):
        robustness(problem, 0.1, draws=0)
    with pytest.raises(InputError, match=r"dissimilarity_low\[0, 1\] = 5: above dissimilarity\[0, 1\] = 4"):
        Problem([[0, 1], [1, 0]], UNDER, [[0, 4], [4, 0]], dissimilarity_low=[[0, 5], [5, 0]])
    assert robustness(problem, 0.1, draws=5).draws == 5


def test_the_command_reports() -> None:
    call = ["robustness", "examples/warehouse-robot.json", "--within", "0.3", "--draws", "20"]
    text = CliRunner().invoke(commands, call, catch_exceptions=False).output
    assert "planned route is best" in text
    assert "sensitive to" in text
    data = json.loads(CliRunner().invoke(commands, [*call, "--json"], catch_exceptions=False).output)
    assert data["draws"] == 20
    assert data["plan"]["route"]
