"""A slow and obvious oracle: the paper's formulas, and the law training by training, for all routes.

It takes numbers and rules from the package, but no formula.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np

from learnroute import Problem
from learnroute.model.instance import Instance
from learnroute.model.routes import Routes
from learnroute.model.rules import FleetRules, VisitRules

Number = Any  # float or Fraction
Law = tuple[Number, ...]  # p₁, its complement, q, ρ and ν of one training
ROOM = Fraction(1, 10**12)  # share of a limit by which travel may exceed it


def loss_parts(
    order: Sequence[int], travel: Any, delta: Any, initial: Any, m: int, n: int, sigma: float
) -> dict[str, float]:
    """Return the parts of the loss by (e8) for m <= n - 2 and (e14) for m >= n + 2, sum by sum."""
    size = len(order)
    way = sum(float(travel[order[t]][order[t + 1]]) for t in range(size - 1)) / size
    if m < n:
        dissimilarity = sum(float(delta[order[i]][order[-1]]) for i in range(size - 1)) / size
        start, noise = 0.0, m * sigma**2 / (n - m - 1)
    else:
        r = 1 - n / m
        dissimilarity = sum(
            (1 - r) * r ** (size - i) / size * sum(float(delta[order[i - 1]][j]) for j in range(size))
            for i in range(1, size + 1)
        )
        start = r**size / size * sum(float(x) for x in initial)
        noise = (1 - r**size) * m * sigma**2 / (m - n - 1)
    return {
        "total": way + dissimilarity + start + noise,
        "travel": way,
        "dissimilarity": dissimilarity,
        "initial": start,
        "noise": noise,
        "pairs": 0.0,
    }


def squared_distances(vectors: Any) -> list[list[float]]:
    return [[sum((float(a) - float(b)) ** 2 for a, b in zip(u, v, strict=True)) for v in vectors] for u in vectors]


def delta_of(problem: Any) -> Any:
    return problem.dissimilarity if problem.dissimilarity is not None else squared_distances(problem.vectors)


def loss_of(problem: Any, order: Sequence[int]) -> dict[str, float]:
    learner = problem.learner
    return loss_parts(
        order, problem.travel, delta_of(problem), problem.initial, learner.features, learner.samples, learner.noise
    )


def errors_over_time(problem: Any, order: Sequence[int]) -> list[list[float]]:
    """Return the errors of all regions after each visit by Lemma 2, as one sum over the visits so far."""
    m, n, sigma = problem.learner.features, problem.learner.samples, problem.learner.noise
    delta, size, r = delta_of(problem), len(order), 1 - n / m
    rows = [[float(x) for x in problem.initial]]
    for t in range(1, size + 1):
        if m < n:
            rows.append([float(delta[order[t - 1]][i]) + m * sigma**2 / (n - m - 1) for i in range(size)])
            continue
        noise = (1 - r**t) * m * sigma**2 / (m - n - 1)
        rows.append([
            sum((1 - r) * r ** (t - k) * float(delta[order[k - 1]][i]) for k in range(1, t + 1))
            + r**t * float(problem.initial[i]) + noise
            for i in range(size)
        ])  # fmt: skip
    return rows


@functools.cache
def all_orders(size: int) -> np.ndarray:
    return np.array(list(itertools.permutations(range(size))))


def least_loss(problem: Any) -> float:
    """Return the lowest total loss of all orders, with order-dependent terms computed as arrays."""
    size, m, n = len(problem.travel), problem.learner.features, problem.learner.samples
    orders = all_orders(size)
    way = np.zeros(len(orders))
    for t in range(size - 1):
        way += problem.travel[orders[:, t], orders[:, t + 1]]
    delta = np.asarray(delta_of(problem))
    error = np.zeros(len(orders))
    if m < n:
        for i in range(size - 1):
            error += delta[orders[:, i], orders[:, -1]]
    else:
        r, sums = 1 - n / m, delta.sum(axis=1)
        for i in range(size):
            error += (1 - r) * r ** (size - 1 - i) * sums[orders[:, i]]
    best = orders[int(np.argmin(way + error))]
    return loss_of(problem, [int(i) for i in best])["total"]


def corners(problem: Any) -> list[tuple[float, float]]:
    """Return travel and error of the routes that are best at some travel rate: the lower convex hull of all orders."""
    points = set()
    for order in itertools.permutations(range(len(problem.travel))):
        parts = loss_of(problem, order)
        points.add((round(parts["travel"], 12), round(parts["total"] - parts["travel"], 12)))
    hull: list[tuple[float, float]] = []
    for x, y in sorted(points):
        if hull and y >= hull[-1][1]:
            continue
        while len(hull) > 1:
            (ax, ay), (bx, by) = hull[-2:]
            if (by - ay) * (x - bx) < (y - by) * (bx - ax) - 1e-12:
                break
            hull.pop()
        hull.append((x, y))
    return hull


def shortest_path(travel: Any) -> float:
    size = len(travel)
    return min(sum(float(travel[o[t]][o[t + 1]]) for t in range(size - 1)) for o in itertools.permutations(range(size)))


def lightest_matching(weights: Any) -> float:
    """Return the lowest weight of all perfect matchings."""

    def of(left: tuple[int, ...]) -> float:
        if not left:
            return 0.0
        first, rest = left[0], left[1:]
        return min(float(weights[first][v]) + of(tuple(x for x in rest if x != v)) for v in rest)

    return of(tuple(range(len(weights))))


def journey_loss(problem: Problem, order: Sequence[int], delta: Any = None, initial: Any = None) -> dict[str, float]:
    """Return the loss of a route, its error and travel; optionally for other dissimilarities and initial errors."""
    law = law_of(problem, float)
    if delta is not None:
        law = replace(law, delta=delta, initial=initial or law.initial, reached={})
    error, routes = law.error(order) / law.size, Routes.of_order(order)
    (way,) = law.travels(routes)
    return {"total": law.rate * way / law.size + error, "error": error, "travel_cost": way}


def true_error(problem: Any, order: Sequence[int]) -> float:
    """Return the expected final error if the true models are known."""
    delta = squared_distances(problem.truth)
    initial = [
        sum((float(a) - float(b)) ** 2 for a, b in zip(w, problem.initial_model, strict=True)) for w in problem.truth
    ]
    return journey_loss(problem, order, delta, initial)["error"]


def allowed_orders(problem: Any) -> list[tuple[int, ...]]:
    """Return all orders with the required ends."""
    start, end, names = problem.constraints.start, problem.constraints.end, list(problem.regions)
    return [
        order for order in itertools.permutations(range(len(names)))
        if start in (None, names[order[0]]) and end in (None, names[order[-1]])
    ]  # fmt: skip


def values(
    travel: Any, scores: Any, weights: Any, factors: Any, first: int | None, last: int | None, closed: bool
) -> dict[tuple[int, ...], float]:
    """Return the value of every order with the required ends, without the constant."""
    size = len(scores)
    found = {}
    for order in itertools.permutations(range(size)):
        if (first is not None and order[0] != first) or (last is not None and order[-1] != last):
            continue
        value = sum(float(travel[order[t]][order[t + 1]]) for t in range(size - 1))
        if closed:
            value += float(travel[order[-1]][order[0]])
        for t, region in enumerate(order):
            share = float(weights[t])
            if factors is not None:
                share = 1.0
                for later in order[t + 1 :]:
                    share *= float(factors[later])
            value += share * float(scores[region])
        found[order] = value
    return found


def regularised_loss(
    problem: Problem, order: Sequence[int], laws: Sequence[Sequence[float]], delta: Any = None
) -> float:
    """Return the total loss if `laws[t]` are p₁, p₂ and ν of visit t."""
    law = law_of(problem, float)
    rows = [[(kept, 1 - kept, kept - second, second, noise)] * law.size for kept, second, noise in laws]
    changed: float = replace(law, laws=rows, delta=law.delta if delta is None else delta, reached={}).total(order)
    return changed


@functools.lru_cache(maxsize=4)
def law_of(problem: Problem, number: Callable[[Any], Number] = Fraction) -> LawOfDistances:
    """Return the law of a problem, from the numbers that it was given, in fractions or floats."""
    size, constraints, learner = problem.size, problem.constraints, problem.learner
    if problem.vectors is not None:
        vectors = _convert(problem.vectors, number)
        delta = [[sum((a - b) ** 2 for a, b in zip(u, v, strict=True)) for v in vectors] for u in vectors]
    else:
        delta = _convert(problem.dissimilarity if problem.transfer is None else problem.transfer, number)
    given = [1.0] * size if problem.importance is None else problem.importance.tolist()
    if learner.rule == "least-squares":
        m, variance = learner.features, Fraction(learner.noise) ** 2
        counts = [learner.samples] * size if problem.samples is None else [int(n) for n in problem.samples]
        laws = [[_least_squares(m, n, variance, number) for n in counts]] * problem.most_visits
    else:
        laws = _laws(problem.updates.tables, number)
    places, names = problem.ways.matrix, problem.regions.index
    fixed = [None if name is None else names(name) for name in (constraints.start, constraints.end)]
    return LawOfDistances(
        _convert(places, number), number(problem.travel_rate), delta, [number(float(x)) for x in problem.initial],
        [number(size * one / math.fsum(given)) for one in given], laws, problem.visit_rules, problem.fleet_rules,
        fixed[0], fixed[1], problem.closed, problem.depot is not None,
    )  # fmt: skip


def _least_squares(m: int, n: int, variance: Fraction, number: Callable[[Any], Number]) -> Law:
    """Return the law of Lemma 2: all is forgotten if n > m, otherwise a share of 1 - n/m is kept."""
    kept, noise = Fraction(max(0, m - n), m), min(n, m) * variance / (abs(n - m) - 1)
    return number(kept), number(1 - kept), number(0), number(kept), number(noise)


def law_of_instance(instance: Instance) -> LawOfDistances:
    """Return the law of an instance, in floats."""
    known, ends = instance.known, instance.ends
    return LawOfDistances(
        _convert(instance.travel.matrix, float), instance.rate, _convert(known.matrix, float), known.initial.tolist(),
        known.region_weights.tolist(), _laws(instance.updates.tables, float), instance.visits, instance.fleet,
        instance.first, ends.last, ends.closed, instance.origin is not None,
    )  # fmt: skip


def _convert(matrix: Any, number: Callable[[Any], Number]) -> list[list[Number]]:
    return [[number(float(x)) for x in row] for row in matrix]


def _laws(tables: Sequence[Any], number: Callable[[Any], Number]) -> list[list[Law]]:
    positions, size = tables[0].shape
    return [[tuple(number(float(x[t, k])) for x in tables) for k in range(size)] for t in range(positions)]


@dataclass(frozen=True)
class LawOfDistances:
    """The value of routes by the law, training by training, and all routes that satisfy the rules.

    `laws[t][k]` is the effect of training t of a model in region k. A depot is the last stop of `travel`.
    """

    travel: list[list[Number]]
    rate: Number
    delta: list[list[Number]]
    initial: list[Number]
    weights: list[Number]
    laws: list[list[Law]]
    visits: VisitRules
    fleet: FleetRules
    first: int | None
    last: int | None
    closed: bool
    has_depot: bool
    reached: dict[tuple[int, ...], tuple[list[Number], Number]] = field(default_factory=dict)
    shared: dict[tuple[int, ...], list[Number]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.initial)

    # Errors

    def after(self, regions: tuple[int, ...]) -> tuple[list[Number], Number]:
        """Return a_j and c of the errors e_j = a_j + c after trainings in some regions; equal beginnings are shared.

        The last a_j is the part of the distance to the initial model.
        """
        if not regions:
            return [*self.initial, 0], 0
        if regions not in self.reached:
            own, common = self.after(regions[:-1])
            k, (p, learnt, q, second, noise) = regions[-1], self.laws[len(regions) - 1][regions[-1]]
            towards = [*self.delta[k], self.initial[k]]
            self.reached[regions] = (
                [p * here + learnt * far for here, far in zip(own, towards, strict=True)],
                second * common - q * own[k] + noise,
            )
        return self.reached[regions]

    def errors(self, regions: Sequence[int]) -> list[Number]:
        """Return the errors of a model in all regions."""
        own, common = self.after(tuple(regions))
        return [here + common for here in own[:-1]]

    def shares(self, regions: tuple[int, ...]) -> list[Number]:
        """Return the shares of all regions and, last, of the initial model in a model."""
        if not regions:
            return [0] * self.size + [1]
        if regions not in self.shared:
            p, learnt, *_ = self.laws[len(regions) - 1][regions[-1]]
            before = self.shares(regions[:-1])
            self.shared[regions] = [p * share + learnt * (j == regions[-1]) for j, share in enumerate(before)]
        return self.shared[regions]

    def programme(self, routes: Routes) -> tuple[list[Number], list[list[Number]]]:
        """Return the summed errors of models, and T times the distances between them."""
        trained = [tuple(regions) for regions in routes.trainings(self.fleet.size)]
        means = [self._weigh(self.errors(regions)) for regions in trained]
        apart: list[list[Number]] = [[0] * len(trained) for _ in trained]
        for a, b in itertools.combinations(range(len(trained)), 2):
            (own, common), (_, other) = self.after(trained[a]), self.after(trained[b])
            far = sum(share * (here + common) for share, here in zip(self.shares(trained[b]), own, strict=True))
            apart[a][b] = apart[b][a] = self.size * (far + other)
        return means, apart

    def _weigh(self, errors: Sequence[Number]) -> Number:
        return sum(weight * error for weight, error in zip(self.weights, errors, strict=True))

    def error(self, routes: Routes | Sequence[int]) -> Number:
        """Return T times the error, with models serving in the best way."""
        routes = as_routes(routes)
        trained = routes.trainings(self.fleet.size)
        if self.fleet.single:
            return self._weigh(self.errors(trained[0]))
        if not self.fleet.merged:
            return self._weigh([min(row) for row in zip(self.initial, *map(self.errors, trained), strict=True)])
        means, apart = self.programme(routes)
        if self.fleet.equal:
            used = sum(map(bool, trained))
            return average(means, apart, [Fraction(bool(regions), used) for regions in trained])
        return least_average(means, apart)

    # Values

    def travels(self, routes: Routes) -> list[Number]:
        """Return the travel of each vehicle, leg by leg."""
        found = []
        for route in routes.vehicles:
            stops = [self.size, *route] if self.has_depot else list(route)
            stops += stops[:1] if self.closed else []
            found.append(sum(self.travel[a][b] for a, b in itertools.pairwise(stops)) if route else 0)
        return found

    def value(self, routes: Routes | Sequence[int]) -> Number:
        """Return travel times its rate, plus T times the error."""
        routes = as_routes(routes)
        travels = self.travels(routes)
        return self.rate * (max(travels) if self.fleet.longest else sum(travels)) + self.error(routes)

    def total(self, routes: Routes | Sequence[int]) -> Number:
        """Return the loss per region."""
        return self.value(routes) / self.size

    # All routes

    @functools.cached_property
    def _required(self) -> set[int]:
        return set(np.flatnonzero(self.visits.required).tolist())

    def sequences(self, begun: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
        """Yield all sequences of visits that begin with given ones and satisfy the rules about numbers of visits."""
        rules = self.visits
        if len(begun) >= max(1, rules.at_least) and self._required <= set(begun):
            yield begun
        if len(begun) < rules.at_most:
            for k in range(self.size):
                if begun.count(k) < rules.repeats[k]:
                    yield from self.sequences((*begun, k))

    def routes(self) -> Iterator[Routes]:
        """Yield all routes that satisfy the rules, with interchangeable vehicles and models in one order only."""
        for sequence in self.sequences():
            for routes in self._splits(sequence):
                used = [route for route in routes.vehicles if route]
                if all(self.first in (None, one[0]) and self.last in (None, one[-1]) for one in used):
                    travels = self.travels(routes)
                    if _is_within(sum(travels), self.visits.budget) and _is_within(max(travels), self.fleet.limit):
                        yield routes

    def _splits(self, visits: tuple[int, ...]) -> Iterator[Routes]:
        if self.fleet.vehicles == 1:
            for models in itertools.product(range(self.fleet.models), repeat=len(visits) - 1):
                yield Routes.of_models(visits, (0, *models))
            return
        for cuts in itertools.combinations_with_replacement(range(len(visits) + 1), self.fleet.vehicles - 1):
            parts = [visits[a:b] for a, b in itertools.pairwise((0, *cuts, len(visits)))]
            if parts == sorted(parts):
                yield Routes.of_vehicles(parts)

    def orders(self) -> list[tuple[int, ...]]:
        """Return the visits of all routes of one vehicle with one model."""
        return [routes.vehicles[0] for routes in self.routes()]

    def best(self) -> tuple[Number, Routes | None]:
        """Return the lowest value of all routes, and the routes that have it; infinity and None if there are none."""
        return min(((self.value(routes), routes) for routes in self.routes()), default=(math.inf, None),
                   key=lambda pair: pair[0])  # fmt: skip

    def least(self) -> Number:
        """Return the lowest loss per region of all routes; infinity if there are none."""
        return self.best()[0] / self.size


def as_routes(given: Routes | Sequence[int]) -> Routes:
    return given if isinstance(given, Routes) else Routes.of_order(given)


def _is_within(travel: Number, limit: float) -> bool:
    return math.isinf(limit) or bool(Fraction(travel) <= Fraction(limit) * (1 + ROOM))


def average(means: Sequence[Number], apart: Sequence[Sequence[Number]], weights: Sequence[Number]) -> Number:
    """Return the summed error of an average of models; `apart` are T times their distances."""
    some = range(len(means))
    pairs = sum(weights[a] * weights[b] * apart[a][b] for a in some for b in some)
    return sum(weights[a] * means[a] for a in some) - pairs / 2


def least_average(means: Sequence[Number], apart: Sequence[Sequence[Number]]) -> Number:
    """Return the lowest error of an average of models: that of the stationary points of all faces of the simplex."""
    best, size = min(means), len(means)
    for count in range(2, size + 1):
        for face in itertools.combinations(range(size), count):
            # the slopes of all models of the face are equal, and the weights sum to 1
            rows = [[*(apart[a][b] for b in face), 1, means[a]] for a in face]
            found = solve([*rows, [*[1] * count, 0, 1]])
            if found is not None and min(found[:-1]) > 0:
                weights = [0] * size
                for a, weight in zip(face, found[:-1], strict=True):
                    weights[a] = weight / sum(found[:-1])
                best = min(best, average(means, apart, weights))
    return best


def solve(rows: list[list[Number]]) -> list[Number] | None:
    """Return the solution of linear equations with the right side last, by elimination; None if they are singular."""
    rows, many = [list(row) for row in rows], len(rows)
    for k in range(many):
        pivot = max(range(k, many), key=lambda i: abs(rows[i][k]))
        rows[k], rows[pivot] = rows[pivot], rows[k]
        if not rows[k][k]:
            return None
        for i in range(many):
            if i != k:
                share = rows[i][k] / rows[k][k]
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return [row[-1] / row[k] for k, row in enumerate(rows)]
