"""The loss of the routes of a fleet in whole numbers: each model by the law of distances, then how models serve.

Training model a in region k turns its squared distance E[a, x] to any other point x into
p₁·E[a, x] - q·E[a, k] + (1 - p₁)·E[k, x] + ν. Points are the regions, the initial model, and the models trained before.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from learnroute.model.problem import Problem
from learnroute.model.routes import UNTRAINED, Routes
from learnroute.model.rules import FleetRules
from learnroute.verification.exact import ONE, Interval
from learnroute.verification.law import law_of, times
from learnroute.verification.pairs import PairLosses

Parts = dict[str, Fraction]


class Service(NamedTuple):
    """How models serve: by weights in their average, or each region by one of them."""

    weights: list[Fraction] | None = None
    served_by: list[int] | None = None


class TrainedModel(NamedTuple):
    """A model after its trainings, in whole numbers of 2^-PLACES.

    Attributes
    ----------
    learnt, initial
        The parts of its errors in all regions that come from visits, and from the initial model.
    noise, paired
        The amounts that noise adds to all errors, and that coupling subtracts from them.
    to_first, to_models
        Its distances to the initial model, and to the models before it.
    """

    learnt: NDArray[Any]
    initial: NDArray[Any]
    noise: int
    paired: int
    to_first: int
    to_models: list[int]

    @property
    def errors(self) -> NDArray[Any]:
        """Its distances to all regions."""
        return np.asarray(self.learnt + self.initial + (self.noise - self.paired))


class FleetLosses:
    """The loss of the routes of a fleet; with `true`, for the true models."""

    def __init__(self, problem: Problem, rules: FleetRules, true: bool = False) -> None:
        self.problem, self.rules, self.size = problem, rules, problem.size
        single = PairLosses(problem, true)
        self.terms, self.plain = single.terms, single.plain
        self.law, self.sign = law_of(problem), -1  # the sign of the gain from averaging models
        self.weights = [Fraction(w) for w in problem.region_weights.tolist()]

    def travels(self, routes: Routes) -> list[Fraction]:
        """Return the travel of each vehicle; 0 if it is not used."""
        return [self._travel_of(route) if route else Fraction(0) for route in routes.vehicles]

    def _travel_of(self, route: Sequence[int]) -> Fraction:
        return self.plain.travel_of(self.problem.from_depot(np.array(route, dtype=np.int64)).tolist())

    def paid_travel(self, routes: Routes) -> Fraction:
        """Return the travel that is paid for."""
        travels = self.travels(routes)
        return max(travels) if self.rules.longest else sum(travels, Fraction(0))

    def models(self, routes: Routes) -> list[TrainedModel]:
        """Return all models after their trainings."""
        found: list[TrainedModel] = []
        for regions in routes.trainings(self.rules.size):
            found.append(self._train(regions, found if self.rules.merged else []))
        return found

    def _train(self, regions: Sequence[int], others: Sequence[TrainedModel]) -> TrainedModel:
        terms = self.terms
        learnt, initial = terms.initial * 0, terms.initial.copy()
        beyond = np.array([0, *(other.to_first for other in others)], dtype=object)  # to the initial model and others
        errors = [other.errors for other in others]
        noisy, paired = 0, 0
        for t, k in enumerate(regions):
            retention, plasticity, coupling, second, noise = self.law(t, k)
            if self.rules.merged:  # a linear law: p₂ follows from p₁ and q
                second = retention - coupling
            paired = times(paired, second) + times(int(learnt[k] + initial[k]), coupling)
            noisy = times(noisy, second) + times(ONE, noise)
            learnt = times(learnt, retention) + times(terms.row(k), plasticity)
            initial = times(initial, retention)
            row = np.array([terms.initial[k], *(one[k] for one in errors)], dtype=object)
            beyond = times(beyond, retention) + times(row, plasticity)
        to_first, *to_models = (int(x) + noisy - paired for x in beyond)
        return TrainedModel(learnt, initial, noisy, paired, to_first, to_models)

    def programme(self, models: Sequence[TrainedModel]) -> tuple[list[Fraction], list[list[Fraction]]]:
        """Return c and Q: an average with weights α has the summed error c·α - α'Qα/2."""
        linear = [
            (self._weighted_sum(one.learnt + one.initial, self.weights) + self.size * Fraction(one.noise - one.paired))
            / ONE
            for one in models
        ]
        quadratic = [[Fraction(0)] * len(models) for _ in models]
        for a, one in enumerate(models):
            for b, apart in enumerate(one.to_models):
                quadratic[a][b] = quadratic[b][a] = Fraction(self.size * apart, ONE)
        return linear, quadratic

    def best_service(self, routes: Routes) -> Service:
        """Return the best service; with more than 8 models, all weight goes to the single best one."""
        models = self.models(routes)
        if not self.rules.merged:
            rows = [self.terms.initial, *(one.errors for one in models)]
            found = [min(range(len(rows)), key=lambda a: rows[a][j]) + UNTRAINED for j in range(self.size)]
            return Service(served_by=found)
        some = counted_models(routes, self.rules.size)
        weights = [Fraction(0)] * self.rules.size
        if self.rules.equal:
            trained = [a for a, regions in enumerate(routes.trainings(self.rules.size)) if regions] or [0]
            best = [Fraction(int(a in trained), len(trained)) for a in some]
        else:
            linear, quadratic = self.programme(models)
            best = least_weights([linear[a] for a in some], [[quadratic[a][b] for b in some] for a in some])
        for a, weight in zip(some, best, strict=True):
            weights[a] = weight
        return Service(weights=weights)

    def parts(self, routes: Routes, service: Service) -> Parts:
        """Return the parts of the loss per region; the gain from averaging models is in `pairs`."""
        models, one = self.models(routes), self.size * ONE
        first = np.array(self.terms.initial, dtype=object)
        found = {part: Fraction(0) for part in ("dissimilarity", "initial", "noise", "pairs")}

        def add(share: Fraction, model: TrainedModel, weights: list[Fraction], count: Fraction) -> None:
            found["dissimilarity"] += share * self._weighted_sum(model.learnt, weights) / one
            found["initial"] += share * self._weighted_sum(model.initial, weights) / one
            found["noise"] += share * count * model.noise / one
            found["pairs"] -= share * count * model.paired / one

        if service.weights is not None:
            for share, model in zip(service.weights, models, strict=True):
                if share:
                    add(share, model, self.weights, Fraction(self.size))
            _, quadratic = self.programme(models)
            found["pairs"] += self.sign * _product(service.weights, quadratic) / (2 * self.size)
        else:
            assert service.served_by is not None
            nothing = TrainedModel(first * 0, first, 0, 0, 0, [])
            for number, model in enumerate([nothing, *models], UNTRAINED):
                pairs = zip(service.served_by, self.weights, strict=True)
                weights = [w if by == number else Fraction(0) for by, w in pairs]
                add(Fraction(1), model, weights, sum(weights, Fraction(0)))
        parts = {"travel": self.plain.rate * self.paid_travel(routes) / self.size, **found}
        return {"total": sum(parts.values(), Fraction(0)), **parts}

    @cached_property
    def of_sizes(self) -> Self:
        """The same losses with the absolute values of all terms: the scale of their rounding errors."""
        found, law = copy(self), self.law
        found.law, found.sign = lambda position, region: law(position, region).of_sizes, 1
        return found

    def total(self, routes: Routes, service: Service) -> Interval:
        """Return T times the loss as an interval: each step of the recursion may be off by a few units."""
        value = self.parts(routes, service)["total"] * self.size
        off = Fraction(64 * self.size * (self.size + len(routes.regions) + 2) ** 2, ONE)
        return Interval(value - off, value + off)

    def errors(self, routes: Routes, service: Service) -> list[Fraction]:
        """Return the expected error in each region."""
        models = self.models(routes)
        rows = [[Fraction(int(x), ONE) for x in row] for row in (self.terms.initial, *(m.errors for m in models))]
        if service.served_by is not None:
            return [rows[by - UNTRAINED][j] for j, by in enumerate(service.served_by)]
        assert service.weights is not None
        gain = self.sign * _product(service.weights, self.programme(models)[1]) / (2 * self.size)
        shares = list(zip(service.weights, rows[1:], strict=True))
        return [sum((share * row[j] for share, row in shares), gain) for j in range(self.size)]

    @staticmethod
    def _weighted_sum(numbers: NDArray[Any], weights: Sequence[Fraction]) -> Fraction:
        return sum((weight * int(x) for weight, x in zip(weights, numbers, strict=True) if weight), Fraction(0))


def counted_models(routes: Routes, models: int) -> list[int]:
    """Return the models in an average: those that were trained, and one of the others, which are all equal."""
    trained = [bool(regions) for regions in routes.trainings(models)]
    found = [a for a in range(models) if trained[a]]
    return found if all(trained) else [*found, trained.index(False)]


def least_weights(linear: Sequence[Fraction], quadratic: Sequence[Sequence[Fraction]]) -> list[Fraction]:
    """Return the weights α >= 0 of sum 1 that minimise c·α - α'Qα/2: the best stationary point of all faces.

    A face on which stationary points are not unique has none in its interior, or equally good ones on its boundary.
    With more than 8 models, only the vertices are considered.
    """
    count = len(linear)
    best = min(range(count), key=lambda a: linear[a])
    found, least = [Fraction(int(a == best)) for a in range(count)], linear[best]
    for many in range(2, count + 1 if count <= FEW else 0):
        for face in combinations(range(count), many):
            rows = [[*(quadratic[a][b] for b in face), Fraction(1), linear[a]] for a in face]
            solution = _solve([*rows, [*([Fraction(1)] * many), Fraction(0), Fraction(1)]])
            if solution is None or min(solution[:many]) <= 0:
                continue
            weights = [Fraction(0)] * count
            for a, weight in zip(face, solution, strict=False):
                weights[a] = weight
            value = average_error(linear, quadratic, weights)
            if value < least:
                found, least = weights, value
    return found


FEW = 8  # models up to which all faces are tried


def average_error(
    linear: Sequence[Fraction], quadratic: Sequence[Sequence[Fraction]], weights: Sequence[Fraction], sign: int = -1
) -> Fraction:
    """Return c·α - α'Qα/2, or the sum of both terms."""
    return sum((c * w for c, w in zip(linear, weights, strict=True)), sign * _product(weights, quadratic) / 2)


def _product(weights: Sequence[Fraction], quadratic: Sequence[Sequence[Fraction]]) -> Fraction:
    some = [a for a, weight in enumerate(weights) if weight]
    return sum((weights[a] * weights[b] * quadratic[a][b] for a in some for b in some), Fraction(0))


def _solve(rows: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of a system whose last column is the right-hand side; None if it is not unique."""
    size = len(rows)
    for column in range(size):
        pivot = next((row for row in range(column, size) if rows[row][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for row in range(size):
            if row != column and rows[row][column]:
                factor = rows[row][column] / rows[column][column]
                rows[row] = [x - factor * y for x, y in zip(rows[row], rows[column], strict=True)]
    return [rows[k][size] / rows[k][k] for k in range(size)]
