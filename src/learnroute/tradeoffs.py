"""Trade-off between travel and expected error: the Pareto front of routes that no other route beats in both."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_type, count_text
from learnroute.model.given_routes import check_one_model
from learnroute.model.losses import expected_loss, travel_cost
from learnroute.model.problem import UPPER, DissimilarityKind, Problem
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.rounding import PRINTED, is_less
from learnroute.model.routes import Routes
from learnroute.model.table import Column, Sheet, Table, route_text
from learnroute.model.validation import as_count
from learnroute.planner import plan_within
from learnroute.solvers.contract import Budget, Progress, Rounds
from learnroute.solvers.exact.pareto import pareto_front, pareto_front_routes
from learnroute.solvers.methods import METHODS
from learnroute.solvers.solve import solve
from learnroute.tuning import decide_learner

MOST_EXACT = 14  # regions up to which the whole Pareto front is computed, ...
MOST_VISITS = 8  # ... and the limit for both regions and visits if visits are optional
EXTREME = 1e6  # even rate times or over this: "travel only" or "error only", with ties broken by the other
MOST_POINTS = 1000
MARK_SHARE = 0.1  # share of the remaining time for each of these routes
MARKED = ("algorithm1", "baseline", "travel", "nearest")  # methods shown beside the curve


def _check_number(field: str, value: float) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value):
        raise InputError("expected a number", field=field, value=value)


@dataclass(frozen=True)
class Choice:
    """A route with its two objectives: travel cost of the whole route, in units of travel, and error per region.

    `size` is the number of regions, visited or not. `rates` is the range of travel rates for which no other route of
    the curve has a smaller loss; None if there is no such rate.
    """

    order: tuple[int, ...]
    route: tuple[str, ...]
    travel_cost: float
    error: float
    size: int
    rates: tuple[float, float] | None = None

    def __repr__(self) -> str:
        return f"<Choice {route_text(self.route)}: travel {self.travel_cost:.5g}, error {self.error:.5g}>"

    @property
    def rates_text(self) -> str:
        """The travel rates for which the route is best, in words."""
        if self.rates is None:
            return ""
        low, high = self.rates
        return f"above {low:.4g}" if math.isinf(high) else f"{low:.4g} … {high:.4g}"

    def loss(self, rate: float) -> float:
        """Return the overall loss per region at a travel rate."""
        return rate * self.travel_cost / self.size + self.error

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values; an unbounded range of rates ends with null."""
        rates = None if self.rates is None else [x if math.isfinite(x) else None for x in self.rates]
        return {
            "travel_cost": self.travel_cost,
            "error": self.error,
            "rates": rates,
            "order": list(self.order),
            "route": list(self.route),
        }


@dataclass(frozen=True)
class Tradeoff(ResultMixin):
    """Routes from minimum travel to minimum error.

    Attributes
    ----------
    points
        Routes none of which is beaten by another in both travel and error.
    complete
        Whether this is proved among all routes; otherwise it holds among the routes found.
    marks
        The routes of some methods for comparison: on, above or beyond the curve. There are none if visits are optional,
        because these methods visit each region once.
    rate
        The travel rate of the problem. `chosen` is the index in `points` of the route with the lowest loss at it.
    dissimilarities
        The dissimilarities behind all errors: `estimate`, `upper` or `measured`.
    """

    picture = "draw_tradeoff"
    points: tuple[Choice, ...]
    complete: bool
    marks: dict[str, Choice]
    rate: float
    dissimilarities: DissimilarityKind = UPPER

    def __repr__(self) -> str:
        first, last = self.points[0], self.points[-1]
        kind = "all that no other beats" if self.complete else "the best found"
        return (
            f"<Tradeoff of {len(self.points)} routes, {kind}: travel {first.travel_cost:.5g} … {last.travel_cost:.5g}, "
            f"error {first.error:.5g} … {last.error:.5g}>"
        )

    @property
    def chosen(self) -> int:
        """The index of the route with the lowest loss at the problem's travel rate."""
        return min(range(len(self.points)), key=lambda k: self.points[k].loss(self.rate))

    def within(self, budget: float) -> Choice:
        """Return the route with the lowest error whose travel is within a budget."""
        _check_number("budget", budget)
        allowed = [point for point in self.points if not is_less(budget, point.travel_cost, PRINTED)]
        if not allowed:
            raise InputError(
                f"no route is that short; the shortest one travels {self.points[0].travel_cost:.6g}{self._limits()}",
                field="budget",
                found=f"= {budget:g}",
            )
        return allowed[-1]

    def below(self, ceiling: float) -> Choice:
        """Return the route with the least travel whose expected error is at most a ceiling."""
        _check_number("ceiling", ceiling)
        for point in self.points:
            if not is_less(ceiling, point.error, PRINTED):
                return point
        raise InputError(
            f"no route has an error that small; the least error is {self.points[-1].error:.6g}{self._limits()}",
            field="ceiling",
            found=f"= {ceiling:g}",
        )

    def _limits(self) -> str:
        return "" if self.complete else " (of the routes found)"

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.points[0].route, self.points[0].order

    def table(self, picked: Choice | None = None, marks: Mapping[str, Choice] | None = None) -> Table:
        """Return one row per route of the curve and, if `marks` are given, one row per method in them."""
        optional = self.problem is not None and not self.problem.visits_all_once
        columns = (
            Column("method" if marks else None, "", left=True),
            Column(*(("visits",) * 2 if optional else (None, None))),
            Column("travel_cost", "travel", ".6g"),
            Column("error", "expected error", ".6g"),
            Column("loss"),
            Column("least_rate"),
            Column("largest_rate"),
            Column("chosen"),
            Column("route"),
            *(Column(None, head, left=k > 0) for k, head in enumerate(("best for travel rates", "first", "last"))),
        )
        chosen = self.points[self.chosen]
        marked, label = (chosen, "chosen") if picked is None else (picked, "picked")
        labels = [label if point is marked else "" for point in self.points]
        rows = [
            (label, len(point.order), point.travel_cost, point.error, point.loss(self.rate),
             *(point.rates or (math.nan, math.nan)), point is chosen, point.route, point.rates_text, point.route[0],
             point.route[-1])
            for label, point in [*zip(labels, self.points, strict=True), *(marks or {}).items()]
        ]  # fmt: skip
        return Table(columns, rows)

    @property
    def size_text(self) -> str:
        """The number of routes in words."""
        return count_text(len(self.points), "route")

    def sheet(self, picked: Choice | None = None) -> Sheet:
        """Return the curve, the routes of some methods, and the picked route, or else the one chosen at the rate."""
        best = self.points[self.chosen] if picked is None else picked
        label, why = ("chosen", f" at travel rate {self.rate:g}") if picked is None else ("picked", "")
        kind = "all Pareto-optimal routes" if self.complete else "the best routes found; the list may be incomplete"
        lines = [
            ("curve", f"{self.size_text}: {kind}"),
            (label, f"travel {best.travel_cost:.6g}, error {best.error:.6g}{why}"),
        ]
        if picked is not None:
            problem = self.problem
            home = () if problem is None else problem.stops[problem.size :]
            back = ["back"] if problem is not None and problem.closed else []
            lines.append(("route", " → ".join([*home, *picked.route, *back])))
        headline = f"{len(self.points)} routes between least travel and least error"
        return Sheet(headline, (self.table(picked, self.marks),), tuple(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "points": [point.to_dict() for point in self.points],
            "complete": self.complete,
            "rate": self.rate,
            "chosen": self.chosen,
            "dissimilarities": self.dissimilarities,
            "marks": {name: mark.to_dict() for name, mark in self.marks.items()},
        }


def tradeoff(
    problem: Problem, points: int = 20, seed: int = 0, time_limit: float | None = None, progress: Progress | None = None
) -> Tradeoff:
    """Return the routes between minimum travel and minimum error.

    Up to 14 regions (8 with a regularised learner), the whole Pareto front is computed. Beyond, about `points` plans
    are made: at rates where two neighbours on the curve tie and, if only the last region counts, with each region as
    the last one. If visits are optional, the curve covers all choices of visits; it is complete up to 8 regions and
    visits.

    Parameters
    ----------
    problem
        The planning problem; its `travel_rate` only marks a point of the curve.
    points
        Approximate number of plans to make beyond these sizes.
    seed, time_limit, progress
        As for `plan`.

    Returns
    -------
    Tradeoff
        The routes, from minimum travel to minimum error, and whether the front is complete.

    Raises
    ------
    InputError
        If an argument has the wrong type or is out of range.
    """
    check_type("problem", problem, Problem)
    points = as_count("points", points, least=2, meaning="the number of points")
    if points > MOST_POINTS:
        raise InputError(f"must be <= {MOST_POINTS}", field="points", value=points)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    budget = Budget.of(time_limit, progress)
    check_one_model(problem)
    problem = decide_learner(problem, seed, budget.part(0.5))
    found, routes = None, _Routes(problem, seed, budget)
    if problem.visits_all_once and problem.size <= MOST_EXACT:
        found = pareto_front_routes(_at_rate(problem, 1.0).instance, budget)
    complete = found is not None
    marks = routes.method_routes() if problem.visits_all_once else {}
    if found is None:
        some, complete = _search(routes, points)
        choices = [*some, *marks.values()]
    else:
        choices = [routes.add(one) for one in found]
    travel, errors = np.array([c.travel_cost for c in choices]), np.array([c.error for c in choices])
    front = pareto_front(travel, errors, np.array([routes.sizes[c.order] for c in choices]))
    return Tradeoff(
        _with_rates([choices[k] for k in front]), complete, marks, problem.travel_rate, problem.dissimilarity_kind,
        problem=problem,
    )  # fmt: skip


class _Routes:
    """Plans routes and evaluates each route once."""

    def __init__(self, problem: Problem, seed: int, budget: Budget) -> None:
        self.problem, self.seed, self.budget, self.rounds = problem, seed, budget, Rounds(budget)
        self.choices: dict[tuple[int, ...], Choice] = {}
        self.sizes: dict[tuple[int, ...], float] = {}  # scale of rounding errors, as parts may cancel

    @property
    def is_late(self) -> bool:
        """Whether it is too late to start another plan; the first plan is always started."""
        return self.rounds.is_late

    def add(self, visits: Routes) -> Choice:
        """Evaluate a route."""
        problem, key = self.problem, tuple(visits.regions)
        if key not in self.choices:
            route, loss = tuple(problem.regions[i] for i in key), expected_loss(problem, key)
            self.choices[key] = Choice(key, route, travel_cost(problem, key), loss.error, problem.size)
            self.sizes[key] = replace(loss, travel=0.0).magnitude
        return self.choices[key]

    def method_routes(self) -> dict[str, Choice]:
        """Return the routes of some methods for comparison, as far as time allows."""
        instance, found = self.problem.instance, {}
        for name in MARKED if instance.travel.symmetric else MARKED[1:]:
            if self.is_late:
                break
            part, rng = self.budget.part(MARK_SHARE).for_one_job(), np.random.default_rng(self.seed)
            with self.rounds.measure():
                found[name] = self.add(solve(instance, METHODS[name], rng, part, bounds=False).routes)
        return found

    def plan(self, problem: Problem, left: int) -> tuple[Choice, bool]:
        """Plan for another rate or end, with `left` plans to go; return the route and whether it is proved optimal."""
        with self.rounds.measure():
            part = self.budget.part(1 / max(2, left)).for_one_job()
            made = plan_within(problem, METHODS["auto"], self.seed, part)
            return self.add(made.visits), made.optimal


def _at_rate(problem: Problem, rate: float) -> Problem:
    return problem if rate == problem.travel_rate else problem.with_travel_rate(rate)


def _search(routes: _Routes, points: int) -> tuple[list[Choice], bool]:
    """Return routes found at some rates, and whether they are proved to contain the whole Pareto front."""
    problem = routes.problem
    if max(problem.size, problem.most_visits) <= MOST_VISITS and not problem.visits_all_once:
        return _within_budgets(routes)
    curve, corners, planned = _corners(routes, points)
    if not problem.visits_all_once or not problem.instance.orders.typical.only_last_counts:
        return curve, False
    # The error depends on the last region alone, so the shortest route to each end gives the whole front
    ends = np.argsort(problem.scores, kind="stable").tolist()
    proved = corners
    for k, end in enumerate(e for e in ends if e != problem.ends.first and problem.ends.last in (None, e)):
        if routes.is_late or planned + k >= points:
            return curve, False
        constraints = replace(problem.constraints, end=problem.regions[end])
        variant = _at_rate(problem.replace(constraints=constraints), 1.0)
        found, optimal = routes.plan(variant, points - planned - k)
        proved = proved and optimal
        curve.append(found)
        routes.budget.progress("trade-off", (planned + k + 1) / points)
    return curve, proved


def _within_budgets(routes: _Routes) -> tuple[list[Choice], bool]:
    """Return the routes with the lowest error within decreasing travel budgets, and whether all are proved optimal.

    This is the ε-constraint method (Haimes, Lasdon and Wismer 1971).
    """
    problem, visits, proved = routes.problem, routes.problem.visits, True
    assert visits is not None
    rate, budget, curve = _even_rate(problem) / EXTREME**2, visits.budget, list[Choice]()  # travel only breaks ties
    while len(curve) < MOST_POINTS and not routes.is_late:
        variant = problem.replace(visits=replace(visits, budget=budget)).with_travel_rate(rate)
        try:
            found, optimal = routes.plan(variant, MOST_POINTS)
        except InputError:  # no route travels less
            if not curve:
                raise
            return curve, proved and not routes.budget.exhausted
        curve.append(found)
        proved, budget = proved and optimal, found.travel_cost * (1 - PRINTED)
        if found.travel_cost == 0:
            return curve, proved
    return curve, False


def _corners(routes: _Routes, points: int) -> tuple[list[Choice], bool, int]:
    """Return the corners found of the convex curve, whether they are complete, and the number of plans made.

    For two neighbours, a route is planned at the rate at which they tie; a better route is inserted between them.
    """
    problem, planned = routes.problem, 0
    even = _even_rate(problem)
    ends: list[Choice] = []
    proved = True
    for rate in (even * EXTREME, even / EXTREME):
        if routes.is_late:
            return ends, False, planned
        found, optimal = routes.plan(_at_rate(problem, rate), points - planned)
        ends.append(found)
        planned, proved = planned + 1, proved and optimal
    same = abs(ends[0].travel_cost - ends[1].travel_cost) <= PRINTED * max(c.travel_cost for c in ends)
    curve = ends[:1] if same else ends
    spans = list(pairwise(curve))
    while spans and planned < points and not routes.is_late:
        left, right = max(spans, key=_area)
        spans.remove((left, right))
        rate = problem.size * _slope(left, right)
        if not 0 < rate < math.inf:
            continue
        middle, optimal = routes.plan(_at_rate(problem, rate), points - planned)
        planned, proved = planned + 1, proved and optimal
        routes.budget.progress("trade-off", planned / points)
        if is_less(middle.loss(rate), left.loss(rate), PRINTED):
            curve.append(middle)
            spans += [(left, middle), (middle, right)]
    return curve, proved and not spans, planned


def _area(span: tuple[Choice, Choice]) -> float:
    left, right = span
    return (right.travel_cost - left.travel_cost) * (left.error - right.error)


def _slope(left: Choice, right: Choice) -> float:
    """Return the error saved per unit of travel between two neighbouring points; infinity if travel is equal."""
    travel = right.travel_cost - left.travel_cost
    return (left.error - right.error) / travel if travel else math.inf


def _even_rate(problem: Problem) -> float:
    """Return a rate at which travel and error weigh about the same."""
    rng = np.random.default_rng(0)
    pairs = rng.integers(problem.size, size=(1000, 2))
    costs = float(problem.ways.between(pairs[:, 0], pairs[:, 1]).mean())
    scores = float(problem.scores.mean()) / problem.size
    return scores / costs if scores > 0 and costs > 0 else 1.0


def _with_rates(points: Iterable[Choice]) -> tuple[Choice, ...]:
    """Add to each point the travel rates at which it is best; only corners of the lower convex hull have such rates."""
    curve = list(points)
    size = curve[0].size
    hull: list[int] = []
    for k, point in enumerate(curve):
        while len(hull) > 1:
            a, b = curve[hull[-2]], curve[hull[-1]]
            if _slope(a, b) > _slope(b, point):
                break
            hull.pop()
        hull.append(k)
    ties = [size * _slope(curve[i], curve[j]) for i, j in pairwise(hull)]
    ranges = {k: (low, high) for k, low, high in zip(hull, [*ties, 0.0], [math.inf, *ties], strict=True)}
    return tuple(replace(point, rates=ranges.get(k)) for k, point in enumerate(curve))
