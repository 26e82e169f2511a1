"""Regularised learners: members, rejected input, the recursion of expected errors, relaxations of pair terms."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from learnroute import Constraints, Gradient, InputError, Learner, Problem, Proximal, evaluate, expected_loss, plan
from learnroute.model.losses import error_over_time, true_loss
from learnroute.model.routes import Routes
from learnroute.model.spectrum import largest_rate, proximal_moments
from learnroute.model.value import largest_loss
from oracle import regularised_loss
from samples import gradient_moments

RULES: dict[str, dict[str, Any]] = {
    "proximal": {"rule": "proximal", "regularization": 0.7},
    "by position": {"rule": "proximal", "regularization": [0.1, 3.0, 0.5, 20.0, 1.0]},
    "gradient": {"rule": "gradient", "steps": 3, "rate": 0.05},
    "long steps": {"rule": "gradient", "steps": 3, "rate": 0.14},
}


def problem(rule: dict[str, Any], seed: int = 0, size: int = 5, n: int = 12, **changes: Any) -> Problem:
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((size, 3))
    given = {
        "coordinates": rng.random((size, 2)),
        "learner": Learner(12, n, 0.5, **rule),
        "vectors": vectors,
        "initial": (vectors**2).sum(axis=1),
        "truth": vectors,
    }
    return Problem(**{**given, **changes})


def laws(asked: Problem, order: tuple[int, ...]) -> list[tuple[float, float, float]]:
    """p1, p2 and ν of each visit, from the moments of its own number of samples and its own λ."""
    learner: Any = asked.learner
    found = []
    for t, k in enumerate(order):
        n = int(asked.counts[k])
        moments: Any
        if learner.rule == "proximal":
            given = learner.regularization
            moments = proximal_moments(learner.features, n, given[t] if isinstance(given, tuple) else given)
        else:
            moments = gradient_moments(learner.features, n, learner.steps, learner.rate)
        found.append((moments.retention, moments.second, moments.noise * learner.noise**2))
    return found


@pytest.mark.parametrize("samples", [None, [8, 12, 30, 9, 20]])
@pytest.mark.parametrize("name", RULES)
def test_every_order_is_priced_by_the_recursion(name: str, samples: list[int] | None) -> None:
    asked = problem(RULES[name], samples=samples, constraints=Constraints(returns=True), travel_rate=0.5)
    for order in itertools.permutations(range(5)):
        wanted = regularised_loss(asked, order, laws(asked, order))
        loss = expected_loss(asked, order)
        assert loss.total == pytest.approx(wanted, rel=1e-11)
        assert math.fsum([loss.travel, loss.dissimilarity, loss.initial, loss.noise, loss.pairs]) == loss.total
        assert asked.instance(Routes.of_order(order)) == pytest.approx(5 * wanted, rel=1e-11)
        assert true_loss(asked, order).total == pytest.approx(wanted, rel=1e-11)
        assert error_over_time(asked, order)[-1].mean() == pytest.approx(loss.error, rel=1e-11)


def test_a_matrix_of_dissimilarities_gives_what_its_vectors_give() -> None:
    asked = problem(RULES["proximal"])
    matrix = np.array([asked.dissimilarities_to(i) for i in range(5)])
    other = asked.replace(vectors=None, dissimilarity=matrix)
    for order in itertools.permutations(range(5)):
        assert expected_loss(other, order).pairs == pytest.approx(expected_loss(asked, order).pairs, rel=1e-12)


@pytest.mark.parametrize("n", [8, 20])
def test_without_regularisation_it_is_the_papers_learner(n: int) -> None:
    paper = problem({}, n=n)
    free = problem({"rule": "proximal", "regularization": 0.0}, n=n)
    near = problem({"rule": "proximal", "regularization": 1e-9}, n=n)
    for order in itertools.permutations(range(5)):
        assert expected_loss(free, order).total == pytest.approx(expected_loss(paper, order).total, rel=1e-6)
        assert expected_loss(near, order).total == pytest.approx(expected_loss(paper, order).total, rel=1e-6)


def test_infinite_regularisation_keeps_the_initial_model() -> None:
    asked = problem({"rule": "proximal", "regularization": 1e90})
    assert expected_loss(asked, [0, 1, 2, 3, 4]).error == pytest.approx(asked.initial.mean(), rel=1e-9)


@pytest.mark.parametrize("samples", [None, [8, 12, 30, 9, 20]])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("start", [True, False])
@pytest.mark.parametrize("matrix", [True, False])
def test_no_order_is_below_a_relaxation(name: str, samples: list[int] | None, start: bool, matrix: bool) -> None:
    asked = problem(RULES[name], samples=samples)
    if not start:
        asked = asked.replace(initial=None)
    if matrix:  # not squared distances of any points
        noise = np.random.default_rng(1).uniform(0.5, 2, (5, 5))
        delta = np.array([asked.dissimilarities_to(i) for i in range(5)]) * (noise + noise.T)
        asked = asked.replace(vectors=None, dissimilarity=delta)
    instance, orders, pairs = asked.instance, asked.instance.orders, asked.instance.orders.error
    assert orders.exact is None
    for relaxed in (pairs.rearrangement, pairs.floor):
        assert (relaxed.scores >= 0).all()
        assert (np.diff(relaxed.weights) >= 0).all()
    assert math.isfinite(orders.relaxation.constant)
    values = {order: instance(Routes.of_order(order)) for order in itertools.permutations(range(5))}
    for ratio in (0.0, 0.3, 2.0):
        if pairs.same_samples and pairs.convex:
            scores, weights, constant, _ = pairs._relax(ratio)
            for order, value in values.items():
                legs = sum(orders.relaxation.legs(order))
                assert weights @ scores[list(order)] + constant <= value - legs + 1e-9
    assert all(orders.relaxation(order) <= value + 1e-9 for order, value in values.items())


def test_the_floor_is_the_error_of_the_mean_model_and_nearly_reached() -> None:
    asked = problem({"rule": "proximal", "regularization": 4.0}, size=12, n=1000)
    vectors = asked.vectors
    assert vectors is not None
    floor = ((vectors - vectors.mean(axis=0)) ** 2).sum() / 12
    assert asked.instance.orders.error.floor.constant / 12 <= floor + asked.learner.noise**2
    assert floor <= expected_loss(asked, range(12)).error <= 1.4 * floor


@pytest.mark.slow
def test_the_largest_loss_takes_each_dissimilarity_at_its_worse_bound() -> None:
    asked = problem({"rule": "proximal", "regularization": 3.0}, size=4)
    high = np.array([asked.dissimilarities_to(i) for i in range(4)])
    asked = asked.replace(vectors=None, truth=None, initial_model=None, dissimilarity=high, dissimilarity_low=high / 3)
    pairs = list(itertools.combinations(range(4), 2))
    for order in ((0, 1, 2, 3), (3, 1, 0, 2)):
        worst = -math.inf
        for lowered in itertools.product((False, True), repeat=len(pairs) + 4):
            delta, initial = np.array(high), np.array(asked.initial)
            for low, (i, j) in zip(lowered, pairs, strict=False):
                if low:
                    delta[i, j] = delta[j, i] = high[i, j] / 3
            initial[list(lowered[len(pairs) :])] = 0.0
            one = asked.replace(dissimilarity=delta, dissimilarity_low=None, initial=initial)
            worst = max(worst, expected_loss(one, order).total)
        assert largest_loss(asked, Routes.of_order(order)) == pytest.approx(worst, rel=1e-9)
    made = plan(asked)
    assert made.loss_at_most == pytest.approx(largest_loss(asked, made.visits))
    assert any("do not give an upper bound on the loss" in note for note in made.notes)
    assert largest_loss(asked.replace(dissimilarity_low=None), Routes.of_order(range(4))) is None
    assert evaluate(asked.replace(learner=Learner(12, 30)), range(4)).loss_at_most is not None


def test_any_numbers_of_features_and_samples_are_supported() -> None:
    for m, n in ((12, 11), (12, 12), (12, 13), (1, 1), (1, 3), (5, 1)):
        vectors = np.random.default_rng(0).standard_normal((4, 1))
        asked = Problem(coordinates=np.eye(4)[:, :2], vectors=vectors,
                        learner=Proximal(m, n, 1.0, regularization=0.5))  # fmt: skip
        assert 0 < plan(asked).loss.total < 100


MEMBERS = {"features": 12, "samples": 12}


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"rule": "ridge"}, "learner.rule = 'ridge': unknown; known are least-squares"),
        ({"rule": "proximal"}, "learner.regularization: missing; the rule proximal needs regularization"),
        ({"rule": "gradient", "steps": 3}, "learner.rate: missing; the rule gradient needs steps and rate"),
        ({"rule": "proximal", "regularization": -1}, "learner.regularization = -1.0"),
        ({"rule": "proximal", "regularization": math.nan}, "learner.regularization = nan"),
        (
            {"rule": "proximal", "regularization": [1, 2]},
            "learner.regularization has 2 entries: expected 3, one per position",
        ),
        ({"rule": "proximal", "regularization": [1, -2, 3]}, "learner.regularization[1] = -2"),
        (
            {"rule": "proximal", "regularization": "best"},
            "learner.regularization = 'best': expected a number >= 0, a list",
        ),
        ({"rule": "proximal", "regularization": 0}, "or a regularization > 0"),
        ({"rule": "proximal", "regularization": [1, 0, 1]}, "or a regularization > 0"),
        ({"regularization": 1}, "learner.regularization = 1: the rule least-squares has no regularization"),
        ({"rule": "gradient", "steps": 0, "rate": 0.1}, "learner.steps = 0"),
        ({"rule": "gradient", "steps": 2, "rate": 0.9}, "learner.rate = 0.9: gradient steps diverge unless 0 < rate <"),
        ({"rule": "gradient", "steps": 2, "rate": 0}, "learner.rate = 0.0: gradient steps diverge"),
        ({}, "or the rule proximal"),
        ({"rule": "proximal", "regularisation": 1}, "learner.regularisation: unknown field; did you mean"),
    ],
)
def test_invalid_learners_are_rejected_in_one_line(members: dict[str, Any], message: str) -> None:
    data = {"coordinates": [[0, 0], [1, 0], [0, 1]], "vectors": [[1], [2], [3]], "learner": MEMBERS | members}
    with pytest.raises(InputError) as refusal:
        Problem.from_dict(data)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_steps_that_just_do_not_diverge_are_taken() -> None:
    most = largest_rate(12, 12)
    Gradient(12, 12, steps=5, rate=0.999 * most)
    with pytest.raises(InputError, match="diverge"):
        Gradient(12, 12, steps=5, rate=most)
    with pytest.raises(InputError, match=r"samples\[2\] = 3"):
        problem({"rule": "gradient", "steps": 5, "rate": 0.2}, samples=[12, 12, 3, 12, 12])


def test_undecided_regularisation_cannot_be_evaluated() -> None:
    asked = problem({"rule": "proximal", "regularization": "auto"})
    with pytest.raises(
        InputError, match=r"learner.regularization = 'auto': is chosen by `plan` together with the route"
    ):
        expected_loss(asked, range(5))
