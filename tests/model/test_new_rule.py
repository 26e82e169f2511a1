"""A new learning rule, added as docs/extending.md says, for plans, simulations and checks."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from learnroute import InputError, Learner, Problem, expected_loss, plan, verify
from learnroute.learning import simulate
from learnroute.model.validation import FloatArray, as_number


@pytest.fixture
def rule() -> Iterator[type[Learner]]:
    @dataclass(frozen=True)
    class Iterated(Learner):
        """Two proximal steps on the same batch, the second from the result of the first: P = (λ(C + λI)⁻¹)²."""

        rule: str = "iterated"
        strength: float = field(kw_only=True)

        def _check_members(self) -> dict[str, Any]:
            return {"strength": as_number("learner.strength", self.strength, least=1e-9, meaning="the strength")}

        def shares(self, eigenvalues: FloatArray) -> tuple[FloatArray, FloatArray]:
            once = self.strength / (eigenvalues + self.strength)
            return once**2, (eigenvalues / (eigenvalues + self.strength)) * (1 + once)

        @property
        def training_text(self) -> str:
            return f"iterated, λ = {self.strength:g}"

    yield Iterated
    del Iterated
    gc.collect()  # other tests know nothing of it


def problem_of(learner: Learner) -> Problem:
    rng = np.random.default_rng(1)
    truth, first = rng.standard_normal((5, 3)), rng.standard_normal(3)
    places = rng.random((5, 2))
    return Problem(coordinates=places, learner=learner, vectors=truth, truth=truth, initial_model=first,
                   initial=((truth - first) ** 2).sum(axis=1))  # fmt: skip


def test_files_name_it_and_its_members(rule: type[Learner]) -> None:
    made = Learner(6, 9, 0.4, rule="iterated", strength=0.7)
    assert type(made) is rule
    assert made.to_dict() == {"features": 6, "samples": 9, "noise": 0.4, "rule": "iterated", "strength": 0.7}
    assert Learner(**made.to_dict()) == made
    with pytest.raises(InputError, match="the strength"):
        Learner(6, 9, 0.4, rule="iterated", strength=-1.0)
    with pytest.raises(InputError, match="the rule iterated needs strength"):
        Learner(6, 9, 0.4, rule="iterated")
    with pytest.raises(InputError, match="the rule iterated has no steps"):
        Learner(6, 9, 0.4, rule="iterated", strength=1.0, steps=3)


@pytest.mark.parametrize("shape", [(6, 9), (9, 6), (8, 8)])
def test_plans_are_optimal_simulated_and_verified(rule: type[Learner], shape: tuple[int, int]) -> None:
    problem = problem_of(rule(*shape, 0.4, strength=0.7))
    found = plan(problem, "exact")
    assert found.optimal
    assert verify(problem, found).holds
    assert not verify(problem, {**found.to_dict(), "learner": {"rule": "least-squares"}}).holds
    for sampler in ("low-dimensional", "direct"):
        drawn = simulate(problem, found.order, runs=4000, sampler=sampler)
        assert drawn.expected == pytest.approx(expected_loss(problem, found.order).error, rel=1e-9)
        assert drawn.deviation is not None
        assert abs(drawn.deviation) < 4
