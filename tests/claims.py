"""Random problems of every kind, the exact loss of all their orders in fractions, and checks of a plan's claims."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from learnroute import (
    Calibrated,
    Constraints,
    Fleet,
    Gradient,
    InputError,
    Learner,
    Plan,
    Problem,
    Proximal,
    Visits,
)
from learnroute.model.depot import Depot
from learnroute.model.fleet_objective import FleetRoutes
from learnroute.model.spectrum import largest_rate
from learnroute.model.validation import FloatArray

TOLERANCE = Fraction(1, 10**10)  # share of the total by which an optimal route may exceed the optimum
SMALLEST = Fraction(2) ** -690  # numbers that differ by less count as equal

EDGES = (0.0, 0.0, 1.0, 1.0, 0.5, 0.25, 1e-9, 1 - 1e-9)


def random_problem(seed: int, size: int | None = None) -> Problem | None:
    """Return a problem of any kind that a file may hold; None if the drawn problem is invalid."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 6)) if size is None else size
    scale = float(rng.choice([1.0, 1.0, 1.0, 1e-6, 1e6, 1e-90, 1e60]))
    fields: dict[str, Any] = {"learner": _learner(rng, scale), **_models(rng, size, scale)}
    travel = rng.random((size, size)) * rng.choice([0.0, 1e-3, 1.0, 1.0, 10.0]) * scale
    travel[rng.random((size, size)) < rng.choice([0.0, 0.3])] = 0.0
    fields["travel"] = travel * (1 - np.eye(size)) if rng.random() < 0.3 else np.triu(travel, 1) + np.triu(travel, 1).T
    fields["travel_rate"] = float(rng.choice([1.0, 1.0, 0.1, 0.0, 1e-90]))
    names = [f"R{i + 1}" for i in range(size)]
    ends = [str(x) for x in rng.permutation(names)[:2]]
    closed = bool(rng.random() < 0.3)
    if rng.random() < 0.2:
        costs = (rng.random(size) * scale).tolist()
        fields["depot"] = Depot("Base", travel=costs, returns=closed)
        closed = False
    start = ends[0] if rng.random() < 0.25 and "depot" not in fields else None
    end = ends[1] if rng.random() < 0.25 else None
    fields["constraints"] = Constraints(start=start, end=end, returns=closed)
    if fields["learner"].rule != "calibrated" and rng.random() < 0.25:
        fields["samples"] = [int(n) for n in rng.choice([40, 90, 100, 140, 400], size)]
    fields["importance"] = _importance(np.random.default_rng([seed, 1]), size)
    try:
        return Problem(**fields)
    except InputError:
        return None


def random_fleet(seed: int, most: int = 4) -> Problem | None:
    """Return a problem of any kind with several vehicles or models; None if the drawn problem is invalid."""
    rng = np.random.default_rng([seed, 30])
    problem = random_problem(seed, int(rng.integers(2, most + 1)))
    if problem is None:
        return None
    names = [str(name) for name in rng.permutation(problem.regions)]
    longest, fixed = float(problem.ways.matrix.max()), (problem.constraints.start, problem.constraints.end)
    visits = None
    if rng.random() < 0.6:
        repeat = int(rng.choice([1, 1, 2]))
        visits = Visits(
            required=[name for name in names[1:] if rng.random() < 0.3],
            forbidden=names[:1] if rng.random() < 0.2 and names[0] not in fixed else [],
            repeat=repeat, at_most=3 if repeat > 1 else None, at_least=int(rng.choice([1, 1, 2])),
            budget=float(rng.random()) * 4 * longest if rng.random() < 0.2 else None,
        )  # fmt: skip
    size = int(rng.choice([1, 2, 2, 3]))
    try:
        members: dict[str, Any] = {
            str(rng.choice(["vehicles", "models"])): size,
            "serve": str(rng.choice(["merged", "own"])) if size > 1 else "own",
            "weights": "equal" if rng.random() < 0.2 else "chosen",
            "travel": str(rng.choice(["total", "longest"])),
            "limit": float(rng.random()) * 3 * longest if rng.random() < 0.3 else None,
        }
        fleet = Fleet(**members)
        ends = Constraints(returns=problem.constraints.returns) if fleet.vehicles > 1 else problem.constraints
        return problem.replace(fleet=fleet, visits=visits, constraints=ends)
    except InputError:
        return None


def _importance(rng: np.random.Generator, size: int) -> list[float] | None:
    """Return the importance of regions: none given, equal, different, or close to zero."""
    if rng.random() < 0.6:
        return None
    kind = rng.integers(0, 4)
    if kind == 0:
        return [float(rng.random()) + 0.1] * size
    found = rng.random(size) if kind < 3 else 10.0 ** rng.uniform(-12, 12, size)
    found[rng.random(size) < (0.5 if kind == 2 else 0.0)] = 0.0
    return found.tolist() if found.any() else None


def _learner(rng: np.random.Generator, scale: float) -> Learner:
    rule = str(rng.choice(["calibrated", "calibrated", "calibrated", "proximal", "gradient", "least-squares"]))
    noise = float(rng.choice([0.0, 0.1, 1.0])) * scale**0.5
    if rule == "calibrated":
        p = _share(rng)
        common = _share(rng) if rng.random() < 0.4 else None
        q = _share(rng) * (p if common is None else 1.0)
        nu = float(rng.choice([0.0, rng.normal(), -p * q * rng.random()])) * scale
        nu = 0.0 if abs(nu) < 1e-100 else nu
        return Calibrated(noise=nu, retention=p, coupling=min(q, p) if common is None else q,
                       common_retention=common)  # fmt: skip
    m, n = (int(x) for x in rng.choice([2, 5, 20, 100, 300], 2))
    if rule == "proximal":
        return Proximal(m, n, noise, regularization=float(rng.choice([1e-3, 0.1, 1.0, 20.0])))
    if rule == "gradient":
        rate = float(rng.choice([0.05, 0.5, 0.9])) * largest_rate(m, n)
        return Gradient(m, n, noise, steps=int(rng.integers(1, 4)), rate=rate)
    return Learner(m, n if abs(n - m) > 1 else m + 5, noise)


def _share(rng: np.random.Generator) -> float:
    return float(rng.choice(EDGES)) if rng.random() < 0.3 else float(rng.random())


def _models(rng: np.random.Generator, size: int, scale: float) -> dict[str, Any]:
    """Return the dissimilarities as vectors, as a symmetric matrix, or as measured errors."""
    kind = rng.integers(0, 4)
    initial = None if rng.random() < 0.2 else rng.random(size) * scale * rng.choice([0.0, 1.0, 10.0])
    if kind <= 1:
        vectors = rng.normal(size=(size, int(rng.integers(1, 4)))) * scale**0.5
        if kind == 1:
            vectors = np.rint(rng.normal(size=(size, 1)) * 2)
        elif rng.random() < 0.2:
            vectors = vectors + 1e8 * scale**0.5  # common to all regions
        return {"vectors": vectors, "initial": initial}
    matrix = rng.random((size, size)) * scale * (rng.random((size, size)) < rng.choice([0.5, 1.0]))
    if kind == 2:
        return {"dissimilarity": np.triu(matrix, 1) + np.triu(matrix, 1).T, "initial": initial}
    return {"transfer": matrix, "initial": initial}


def orders_of(problem: Problem) -> Iterator[tuple[int, ...]]:
    """Yield all orders of regions with the required ends."""
    wanted, names = problem.constraints, problem.regions
    for order in itertools.permutations(range(problem.size)):
        if wanted.start in (None, names[order[0]]) and wanted.end in (None, names[order[-1]]):
            yield order


def weights_of(problem: Problem) -> list[Fraction]:
    """Return the importance of each region, scaled to mean 1 as in float64."""
    given = [1.0] * problem.size if problem.importance is None else problem.importance.tolist()
    return [Fraction(problem.size * one / math.fsum(given)) for one in given]


class Exact:
    """The total loss per region of any order, with the problem's numbers as rational numbers."""

    def __init__(self, problem: Problem) -> None:
        self.problem, size = problem, problem.size
        if problem.vectors is not None:
            rows = [[Fraction(float(x)) for x in row] for row in problem.vectors]
            self.delta = [[sum(((a - b) ** 2 for a, b in zip(u, v, strict=True)), Fraction(0)) for v in rows]
                          for u in rows]  # fmt: skip
        else:
            given = problem.dissimilarity if problem.transfer is None else problem.transfer
            assert given is not None
            self.delta = [[Fraction(float(x)) for x in row] for row in given]
        self.initial = [Fraction(float(x)) for x in problem.initial]
        self.weights = weights_of(problem)
        self.travel = [[Fraction(float(x)) for x in row] for row in problem.ways.matrix]
        self.rate = Fraction(problem.travel_rate)
        learner = problem.learner
        if learner.rule == "least-squares":
            m, variance = learner.features, Fraction(learner.noise) ** 2
            counts = [learner.samples] * size if problem.samples is None else [int(n) for n in problem.samples]
            law = [self._least_squares(m, n, variance) for n in counts]
            self.laws = [law] * problem.most_visits
        else:
            tables = problem.updates.tables
            visits = len(tables[0])
            self.laws = [[tuple(Fraction(float(x[t, k])) for x in tables) for k in range(size)] for t in range(visits)]
        self.reached: dict[tuple[int, ...], tuple[list[Fraction], Fraction]] = {(): (self.initial, Fraction(0))}

    @staticmethod
    def _least_squares(m: int, n: int, variance: Fraction) -> tuple[Fraction, ...]:
        kept, noise = Fraction(max(0, m - n), m), min(n, m) * variance / (abs(n - m) - 1)
        return kept, 1 - kept, Fraction(0), kept, noise

    def after(self, visits: tuple[int, ...]) -> tuple[list[Fraction], Fraction]:
        """Return a_j and b of the recursion e_j = a_j - b after some visits; orders that begin alike share them."""
        if visits not in self.reached:
            means, common = self.after(visits[:-1])
            k = visits[-1]
            p, learnt, q, second, noise = self.laws[len(visits) - 1][k]
            self.reached[visits] = (
                [p * mean + learnt * far for mean, far in zip(means, self.delta[k], strict=True)],
                second * common + q * means[k] - noise,
            )
        return self.reached[visits]

    def total(self, order: tuple[int, ...]) -> Fraction:
        """Return the loss, including travel."""
        size, (means, common) = self.problem.size, self.after(tuple(order))
        stops = order if self.problem.depot is None else (size, *order)
        way = sum((self.travel[a][b] for a, b in itertools.pairwise(stops)), Fraction(0))
        if self.problem.closed:
            way += self.travel[stops[-1]][stops[0]]
        summed = sum((weight * mean for weight, mean in zip(self.weights, means, strict=True)), Fraction(0))
        return (self.rate * way + summed - size * common) / size

    def least(self) -> Fraction:
        """Return the lowest loss of all orders."""
        return min(self.total(order) for order in orders_of(self.problem))


class ExactFleet(Exact):
    """The total loss per region of a fleet's routes in rational numbers, with models serving in the best way."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        assert problem.fleet_rules is not None
        self.fleet, self.visits = problem.fleet_rules, problem.visit_rules
        self.trained: dict[tuple[int, ...], tuple[list[Fraction], list[Fraction], Fraction]] = {}

    def model(self, regions: tuple[int, ...]) -> tuple[list[Fraction], list[Fraction], Fraction]:
        """Return the errors of a model, its shares of regions and (last) the initial model, and the common error term.

        The last error is the distance to the initial model.
        """
        if regions not in self.trained:
            if not regions:
                return [*self.initial, Fraction(0)], [*[Fraction(0)] * self.problem.size, Fraction(1)], Fraction(0)
            errors, shares, common = self.model(regions[:-1])
            k = regions[-1]
            p, learnt, q, second, noise = self.laws[len(regions) - 1][k]
            own = [error - common for error in errors]
            shares = [p * share + learnt * (j == k) for j, share in enumerate(shares)]
            row = [*self.delta[k], self.initial[k]]
            common = second * common - q * own[k] + noise
            errors = [p * here + learnt * far + common for here, far in zip(own, row, strict=True)]
            self.trained[regions] = errors, shares, common
        return self.trained[regions]

    def travels(self, routes: FleetRoutes) -> list[Fraction]:
        """Return the travel of each vehicle."""
        found = []
        for route in routes.routes:
            stops = route if self.problem.depot is None else (self.problem.size, *route)
            stops = (*stops, *stops[:1]) if self.problem.closed else stops
            legs = itertools.pairwise(stops) if route else ()
            found.append(sum((self.travel[a][b] for a, b in legs), Fraction(0)))
        return found

    def programme(self, routes: FleetRoutes) -> tuple[list[Fraction], list[list[Fraction]]]:
        """Return the summed errors of models, and T times the distances between them."""
        size = self.problem.size
        models = [self.model(tuple(regions)) for regions in routes.trainings(self.fleet.size)]
        means = [sum((w * e for w, e in zip(self.weights, errors, strict=False)), Fraction(0))
                 for errors, _, _ in models]  # fmt: skip
        apart = [[Fraction(0)] * len(models) for _ in models]
        for a, b in itertools.combinations(range(len(models)), 2):
            errors, (_, shares, common) = models[a][0], models[b]
            apart[a][b] = apart[b][a] = size * sum((s * e for s, e in zip(shares, errors, strict=True)), common)
        return means, apart

    def total(self, routes: FleetRoutes) -> Fraction:  # type: ignore[override]
        """Return the loss of routes."""
        size, travels = self.problem.size, self.travels(routes)
        paid = self.rate * (max(travels) if self.fleet.longest else sum(travels))
        trained = [tuple(regions) for regions in routes.trainings(self.fleet.size)]
        if not self.fleet.merged:
            rows = [self.initial, *(self.model(regions)[0] for regions in trained)]
            least = (weight * min(row[j] for row in rows) for j, weight in enumerate(self.weights))
            return (paid + sum(least, Fraction(0))) / size
        means, apart = self.programme(routes)
        if self.fleet.equal:
            out = [Fraction(bool(regions)) for regions in trained]
            return (paid + average(means, apart, [one / sum(out) for one in out])) / size
        return (paid + least_average(means, apart)) / size

    def routes(self) -> Iterator[FleetRoutes]:
        """Yield all feasible routes, with vehicles and models in any order."""
        rules, ends, names = self.visits, self.problem.constraints, self.problem.regions
        regions = [k for k in range(self.problem.size) for _ in range(rules.repeats[k])]
        room = 1 + Fraction(1, 10**12)
        for length in range(rules.at_least, rules.at_most + 1):
            for visits in sorted(set(itertools.permutations(regions, length))):
                if not {int(k) for k in np.flatnonzero(rules.required)} <= set(visits):
                    continue
                if ends.start not in (None, names[visits[0]]) or ends.end not in (None, names[visits[-1]]):
                    continue
                for routes in self._splits(visits):
                    travels = self.travels(routes)
                    if math.isfinite(rules.budget) and sum(travels) > Fraction(rules.budget) * room:
                        continue
                    if math.isfinite(self.fleet.limit) and max(travels) > Fraction(self.fleet.limit) * room:
                        continue
                    yield routes

    def _splits(self, visits: tuple[int, ...]) -> Iterator[FleetRoutes]:
        if self.fleet.vehicles == 1:
            for models in itertools.product(range(self.fleet.models), repeat=len(visits)):
                if not models[0]:  # models are interchangeable
                    yield FleetRoutes.of_models(visits, models)
            return
        for cuts in itertools.combinations_with_replacement(range(len(visits) + 1), self.fleet.vehicles - 1):
            yield FleetRoutes.of_vehicles([visits[a:b] for a, b in itertools.pairwise((0, *cuts, len(visits)))])

    def least(self) -> Fraction | None:  # type: ignore[override]
        """Return the lowest loss of all routes; None if no routes are feasible."""
        return min((self.total(routes) for routes in self.routes()), default=None)


def average(means: list[Fraction], apart: list[list[Fraction]], weights: list[Fraction]) -> Fraction:
    """Return the summed error of an average of models."""
    some = range(len(means))
    pairs = sum((weights[a] * weights[b] * apart[a][b] for a in some for b in some), Fraction(0))
    return sum((weights[a] * means[a] for a in some), -pairs / 2)


def least_average(means: list[Fraction], apart: list[list[Fraction]]) -> Fraction:
    """Return the lowest error of an average of up to three models: at a vertex, on an edge or inside the triangle."""
    best = min(means)
    for a, b in itertools.combinations(range(len(means)), 2):
        if apart[a][b] > 0:  # x is the weight of a: the slope of the means equals that of x(1 - x)
            x = (1 + (means[b] - means[a]) / apart[a][b]) / 2
            if 0 < x < 1:
                best = min(best, x * means[a] + (1 - x) * means[b] - x * (1 - x) * apart[a][b])
    if len(means) == 3:
        (ab, ac, bc), (first, second, third) = (apart[0][1], apart[0][2], apart[1][2]), means
        # x and y are the weights of the second and third: gradient 0 gives two equations
        right, matrix = (second - first - ab, third - first - ac), (-2 * ab, bc - ab - ac, -2 * ac)
        below = matrix[0] * matrix[2] - matrix[1] ** 2
        if below:
            x = (right[0] * matrix[2] - right[1] * matrix[1]) / below
            y = (matrix[0] * right[1] - matrix[1] * right[0]) / below
            if x > 0 and y > 0 and x + y < 1:
                best = min(best, average(means, apart, [1 - x - y, x, y]))
    return best


def random_visits(seed: int, most: int = 5) -> Problem | None:
    """Return a random problem of any kind with random rules for its visits; None if the drawn problem is invalid."""
    rng = np.random.default_rng([seed, 29])
    problem = random_problem(seed)
    if problem is None or problem.size > most:
        return None
    names = [str(name) for name in rng.permutation(problem.regions)]
    fixed = {problem.constraints.start, problem.constraints.end}
    forbidden = [name for name in names[:1] if rng.random() < 0.3 and name not in fixed and problem.size > 2]
    required: Any = [name for name in names[1:] if rng.random() < 0.25]
    repeat = int(rng.choice([1, 1, 2]))
    at_most = int(rng.integers(1, 5)) if repeat > 1 or rng.random() < 0.4 else None
    travel = float(problem.travel.max())
    budget = float(rng.random() * 3 * travel) if rng.random() < 0.3 else None
    try:
        return problem.replace(visits=Visits(required, forbidden, repeat, 1, at_most, budget))
    except InputError:
        return None


def mixed_magnitudes(problem: Problem, seed: int) -> Problem | None:
    """Return a problem with numbers times powers of ten of their own; None if it is outside the range of numbers."""
    rng = np.random.default_rng([seed, 31])
    width, size = float(rng.choice([10, 30, 60, 95])), problem.size

    def spread(numbers: Any, share: float = 1.0) -> FloatArray:
        shape, ends = np.shape(numbers), width * share * np.array([-1, 0, 0, 1])
        powers = rng.uniform(ends[0], ends[-1], shape) if rng.random() < 0.5 else rng.choice(ends, shape)
        found: FloatArray = np.clip(np.asarray(numbers) * 10.0**powers, -1e99, 1e99)
        return np.where(np.abs(found) < 1e-100, 0.0, found)

    travel, learner = spread(problem.travel), problem.learner
    changes: dict[str, Any] = {"initial": spread(problem.initial), "importance": spread(np.ones(size))}
    if rng.random() < 0.7:
        changes["travel"] = travel if rng.random() < 0.5 else np.maximum(travel, travel.T)
    for name, share in (("dissimilarity", 1.0), ("transfer", 1.0), ("vectors", 0.45)):
        if getattr(problem, name) is not None:
            found = spread(getattr(problem, name), share)
            changes[name] = np.maximum(found, found.T) if name == "dissimilarity" else found
    changes = {name: value for name, value in changes.items() if rng.random() < 0.7}
    if learner.rule == "proximal" and rng.random() < 0.5:
        learner = Proximal(learner.features, learner.samples, learner.noise, regularization=float(spread(1.0)))
    some = rng.choice(changes.get("travel", problem.travel).ravel()) * rng.choice([0.999, 1, 2, 1e5])
    longest = float(min(some, 1e100))
    if problem.visits is not None and problem.visits.budget is not None:
        changes["visits"] = replace(problem.visits, budget=longest)
    if problem.fleet is not None and problem.fleet.limit is not None:
        changes["fleet"] = replace(problem.fleet, limit=longest)
    try:
        return problem.replace(**changes, learner=learner)
    except InputError:
        return None


def sequences(problem: Problem) -> list[tuple[int, ...]]:
    """Return all feasible sequences of visits, checking rule by rule."""
    visits = problem.visits
    assert visits is not None
    rules = visits.compile(problem.regions)
    may, must = np.flatnonzero(rules.allowed).tolist(), set(np.flatnonzero(rules.required).tolist())
    start, end, found = problem.constraints.start, problem.constraints.end, []
    for many in range(1, rules.at_most + 1):
        for order in itertools.product(may, repeat=many):
            names = [problem.regions[i] for i in order]
            if max(map(order.count, order)) > rules.repeat or not must <= set(order):
                continue
            if start not in (None, names[0]) or end not in (None, names[-1]):
                continue
            if math.isinf(rules.budget) or travel_of(problem, order) <= Fraction(rules.budget) * Fraction(1 + 1e-12):
                found.append(order)
    return found


def travel_of(problem: Problem, visits: tuple[int, ...]) -> Fraction:
    stops = [*([problem.size] if problem.depot is not None else []), *visits]
    stops += stops[:1] if problem.closed else []
    return sum((Fraction(float(problem.ways.matrix[i, j])) for i, j in itertools.pairwise(stops)), Fraction(0))


def false_claims(exact: Exact, least: Fraction, found: Plan) -> list[str]:
    """Return the false claims of a plan."""
    total, wrong = exact.total(found.order if found.fleet is None else found.fleet), []  # type: ignore[arg-type]
    room = max(TOLERANCE * abs(total), SMALLEST)
    if found.optimal and total - least > room:
        wrong.append(f"optimal, but {float(total)} is above {float(least)}")
    if found.lower_bound is not None:
        if not np.isfinite(found.lower_bound):
            wrong.append(f"lower_bound {found.lower_bound}")
        elif Fraction(found.lower_bound) - least > (room if found.optimal else SMALLEST):
            wrong.append(f"lower_bound {found.lower_bound} is above {float(least)}")
    if found.guarantee.value is not None and total - Fraction(found.guarantee.value) * least > room * 2:
        wrong.append(f"guarantee {found.guarantee.value}: {float(total)} and {float(least)}")
    digits = max(abs(total) / 10**9, SMALLEST)
    if found.gap is not None and total - Fraction(1 + found.gap) * least > digits:
        wrong.append(f"gap {found.gap}: {float(total)} and {float(least)}")
    if found.loss_at_most is not None and total > Fraction(found.loss_at_most) + digits:
        wrong.append(f"loss_at_most {found.loss_at_most} is below {float(total)}")
    return wrong
