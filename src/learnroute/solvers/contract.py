"""What solvers share: budgets, answers, and the signatures of constructions, improvers and rungs of proofs."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import NamedTuple, Protocol

import numpy as np

from learnroute.errors import InputError, check_callable, check_type
from learnroute.model.certificates import Certificate
from learnroute.model.instance import Instance
from learnroute.model.linear import Linear
from learnroute.model.routes import Routes
from learnroute.model.validation import IntArray, as_number
from learnroute.solvers.params import DEFAULTS, SolverParams

MOMENT = 1e-3  # seconds that an exhausted time limit still leaves
Progress = Callable[[str, float], None]


def _silent(_stage: str, _share: float) -> None:
    pass


@dataclass(frozen=True)
class Budget:
    """The time limit, stop flag and progress callback of a solver, checked between calls of the core.

    Setting `stop` ends the work early. With `spend_all`, a search continues until the deadline; otherwise it ends
    after its usual effort.
    """

    deadline: float = float("inf")
    progress: Progress = field(default=_silent)
    stop: threading.Event | None = None
    spend_all: bool = False

    @classmethod
    def of(
        cls,
        time_limit: float | None = None,
        progress: Progress | None = None,
        stop: threading.Event | None = None,
        spend_all: bool = False,
    ) -> Budget:
        """Start the clock now; refuse a non-positive time limit."""
        if time_limit is not None and as_number("time_limit", time_limit, meaning="seconds") <= 0:
            raise InputError("seconds must be > 0; omit it for no limit", field="time_limit", value=time_limit)
        check_callable("progress", progress)
        check_type("stop", stop, threading.Event, type(None))
        limit = float("inf") if time_limit is None else time_limit
        return cls(time.monotonic() + limit, progress or _silent, stop, spend_all and time_limit is not None)

    @property
    def seconds_left(self) -> float | None:
        """Seconds until the deadline, at least `MOMENT`; None without a time limit."""
        return None if self.deadline == float("inf") else max(self.deadline - time.monotonic(), MOMENT)

    def silent(self) -> Budget:
        """Return the same budget without progress."""
        return replace(self, progress=_silent)

    def for_one_job(self) -> Budget:
        """Return the same budget for one of several jobs: without progress, and with the usual effort only."""
        return replace(self.silent(), spend_all=False)

    def without_limit(self) -> Budget:
        """Return the same budget without a deadline, for short work; an interrupt still ends it."""
        return replace(self, deadline=float("inf"), spend_all=False)

    def part(self, share: float) -> Budget:
        """Return a budget that ends after this share of the remaining time."""
        now = time.monotonic()
        return replace(self, deadline=now + share * (self.deadline - now))

    def portion(self, number: int, count: int) -> Budget:
        """Return the budget of one of several jobs of the same length, given the number of earlier ones.

        The job reports the progress of all of them.
        """
        part = self.part(1 / (count - number))
        return replace(part, progress=lambda stage, share: self.progress(stage, (number + share) / count))

    def has_seconds(self, seconds: float) -> bool:
        """Whether at least this many seconds remain and the work was not stopped."""
        return not self.stopped and time.monotonic() + seconds < self.deadline

    @property
    def exhausted(self) -> bool:
        """Whether the deadline has passed or the work was stopped."""
        return self.stopped or time.monotonic() >= self.deadline

    @property
    def stopped(self) -> bool:
        """Whether the work was stopped."""
        return self.stop is not None and self.stop.is_set()

    @property
    def end(self) -> str:
        """The reason why the budget is exhausted, in words."""
        return "the calculation was interrupted" if self.stopped else "the time limit was reached"


class Rounds:
    """Rounds of work of similar length: a round starts only if the longest one so far still fits into the budget.

    The first round always starts, unless the length of earlier rounds is given.
    """

    def __init__(self, budget: Budget, longest: float = 0.0) -> None:
        self.budget, self.longest = budget, longest

    @property
    def is_late(self) -> bool:
        """Whether the budget is too small for another round."""
        return self.longest > 0 and not self.budget.has_seconds(self.longest)

    @contextmanager
    def measure(self) -> Iterator[None]:
        """Measure one round."""
        began = time.monotonic()
        yield
        self.longest = max(self.longest, time.monotonic() - began)


class Order(NamedTuple):
    """An order of stops that a construction returns, without claims about it.

    `complete` is False if the time limit ended the construction early. `notes` are remarks for the user.
    """

    order: IntArray
    complete: bool = True
    notes: tuple[str, ...] = ()


class Proof(NamedTuple):
    """An order, a lower bound on all orders if one is proved, whether the order is optimal, and if not, the cause."""

    order: IntArray
    certificate: Certificate | None
    optimal: bool
    cause: str = ""


@dataclass(frozen=True, eq=False)
class Answer:
    """Routes and the claims of their solver.

    `optimal`: no routes have a smaller value, up to the rounding of float64 sums. `complete` is False if the time limit
    ended the method early; its guarantee does not hold then. `basis` names another method whose result is no better, so
    that its guarantee holds too.
    """

    routes: Routes
    method: str
    optimal: bool = False
    complete: bool = True
    notes: tuple[str, ...] = ()
    certificate: Certificate | None = None
    basis: str = ""


class Construction(Protocol):
    """The signature of methods that construct an order of stops."""

    def __call__(
        self, objective: Linear, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS, /
    ) -> Order:
        """Return an order."""
        ...


class Improver(Protocol):
    """A search that improves routes."""

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether the search can be used for this instance."""
        ...

    def improve(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer | None:
        """Return an answer that is no worse than the given one; None if none was found that satisfies the rules."""
        ...


class Rung(ABC):
    """One step of the ladder of proofs.

    `exact`: whether it ends with the proved optimum if time and memory suffice; other rungs prove a lower bound.
    """

    exact = True

    @abstractmethod
    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether the rung can prove anything about this instance, in acceptable time."""

    def is_alone(self, instance: Instance) -> bool:
        """Whether the rung finds routes by itself, so that no search comes first."""
        return False

    def search_share(self, instance: Instance, budget: Budget, params: SolverParams) -> float:
        """Return the share of the time that the rung leaves to the search before it."""
        return 1.0

    @abstractmethod
    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the answer with what is proved about it, or better routes; None stands for no answer yet."""
