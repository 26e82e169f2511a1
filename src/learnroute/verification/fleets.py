"""The claims of a plan for a fleet: routes, how models serve, and all claims of plans with one route."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from learnroute.errors import show
from learnroute.model.problem import Problem
from learnroute.model.rounding import margin
from learnroute.model.routes import UNTRAINED, Routes
from learnroute.verification.checks import CONFIRMED, NOT_CHECKED, REFUTED, Check
from learnroute.verification.claims import DIGITS, SMALLEST, TOLERANCE, PlanClaims, format_number, is_near, is_same
from learnroute.verification.fleet_losses import (
    FEW,
    FleetLosses,
    Service,
    average_error,
    counted_models,
)
from learnroute.verification.fleet_routes import FleetChecker
from learnroute.verification.fleet_values import FleetValues
from learnroute.verification.guarantees import Ratios


def check_routes(problem: Problem, plan: Mapping[str, Any]) -> Check:
    """Check that the routes of a plan satisfy all rules."""
    found = read_routes(problem, plan)
    if isinstance(found, str):
        return Check("routes", REFUTED, found)
    if why := FleetChecker(FleetLosses(problem, problem.fleet_rules)).violated_rule(found):
        return Check("routes", REFUTED, why)
    return Check("routes", CONFIRMED, f"{len(found.regions)} visits, all allowed")


def read_routes(problem: Problem, plan: Mapping[str, Any]) -> Routes | str:
    """Return the routes of a plan by index, or the reason why they are not valid."""
    rules, given = problem.fleet_rules, plan["routes"]
    assert rules is not None
    index = {name: i for i, name in enumerate(problem.regions)}
    if not isinstance(given, list) or not all(isinstance(route, list) for route in given):
        return "expected a list of region names per vehicle"
    if not 1 <= len(given) <= rules.vehicles:
        return f"{len(given)} routes for {rules.vehicles} vehicles"
    unknown = [name for route in given for name in route if not isinstance(name, str) or name not in index]
    if unknown:
        return f"there is no region {show(unknown[0])}"
    routes = [[index[name] for name in route] for route in given]
    visits = [region for route in routes for region in route]
    if rules.vehicles > 1:
        more = next((member for member in ("route", "order", "models") if plan.get(member) is not None), None)
        if more is not None:
            return f"{more} is that of one vehicle; there are {rules.vehicles}"
        return Routes.of_vehicles([*routes, *([[]] * (rules.vehicles - len(routes)))])
    if plan.get("route", given[0]) != given[0] or not is_same(plan.get("order", visits), visits):
        return "routes, route and order disagree"
    models = plan.get("models", [0] * len(visits) if rules.models == 1 else None)
    if not isinstance(models, list) or len(models) != len(visits):
        return "models: one number of a model per visit is needed"
    if not all(type(one) is int and 0 <= one < rules.models for one in models):
        return f"models: numbers from 0 to {rules.models - 1} are needed"
    return Routes.of_models(visits, models)


class FleetClaims(PlanClaims):
    """The claims of a plan with valid routes of a fleet."""

    def _price(self) -> None:
        """Set the routes, their loss with the claimed service, and the checker that compares it with all others."""
        problem, rules, routes = self.problem, self.problem.fleet_rules, read_routes(self.problem, self.plan)
        assert rules is not None
        assert isinstance(routes, Routes)
        self.rules, self.routes, self.visits = rules, routes, routes.regions
        self.losses = FleetLosses(problem, rules)
        said = self._read_service()
        self.service = self.losses.best_service(routes) if said is None else said
        self.parts = self.losses.parts(routes, self.service)
        self.sizes = self.losses.of_sizes.parts(routes, self.service)
        self.total = self.value = self.losses.total(routes, self.service)
        self.checker = FleetChecker(self.losses, self.certificate)
        self.travelled = self.losses.paid_travel(routes)

    def _read_service(self) -> Service | None:
        """Return how models are claimed to serve; None if the plan does not say so, or not in a valid way."""
        weights, served = self.plan.get("weights"), self.plan.get("served_by")
        if self.rules.merged:
            if not isinstance(weights, list) or len(weights) != self.rules.size:
                return None
            if not all(type(one) in (int, float) and 0 <= one <= 2 for one in weights) or not any(weights):
                return None
            shares = [Fraction(one) for one in weights]
            return Service(weights=[share / sum(shares) for share in shares])
        if not isinstance(served, dict) or set(served) != set(self.problem.regions):
            return None
        numbers = [served[name] for name in self.problem.regions]
        if not all(one is None or (type(one) is int and 0 <= one < self.rules.size) for one in numbers):
            return None
        return Service(served_by=[UNTRAINED if one is None else one for one in numbers])

    # How models serve

    def _service(self) -> list[Check]:
        plan, found = self.plan, []
        wrong = "served_by" if self.rules.merged else "weights"
        if plan.get(wrong) is not None:
            mode = "are averaged" if self.rules.merged else "serve their own regions"
            found.append(Check(wrong, REFUTED, f"claimed though models {mode}"))
        if plan.get("weights") is not None and self.rules.merged:
            found.append(self._weights())
        if plan.get("served_by") is not None and not self.rules.merged:
            found.append(self._check_served_by())
        if plan.get("models") is not None:
            found.append(Check("models", CONFIRMED, "one per visit, as required"))
        if plan.get("travels") is not None:
            found.append(self._travels())
        return found

    def _weights(self) -> Check:
        """Check that weights are valid and that no others are better."""
        given, said = self.plan["weights"], self._read_service()
        if said is None or abs(sum(map(Fraction, given), Fraction(-1))) > DIGITS:
            return Check("weights", REFUTED, f"expected {self.rules.size} numbers >= 0 that add up to 1")
        if self.rules.equal:
            wanted = self.losses.best_service(self.routes).weights
            assert wanted is not None
            assert said.weights is not None
            same = all(is_near(one, share) for one, share in zip(said.weights, wanted, strict=True))
            out = sum(map(bool, wanted))
            detail = f"equal for {out} trained models" if same else f"1/{out} is needed for each trained model"
            return Check("weights", CONFIRMED if same else REFUTED, detail)
        return self._best_weights(said.weights or [])

    def _best_weights(self, weights: list[Fraction]) -> Check:
        """Compare the error of weights with the least one; with more than 8 models, by slopes only."""
        linear, quadratic = self.losses.programme(self.losses.models(self.routes))
        sizes = self.losses.of_sizes.programme(self.losses.of_sizes.models(self.routes))
        reached = average_error(linear, quadratic, weights)

        def room_for(others: list[Fraction]) -> Fraction:
            """Return how much better others may be: what `optimal` allows, and what rounding may hide."""
            hidden = sum((average_error(*sizes, some, 1) for some in (weights, others)), Fraction(0))
            return max(TOLERANCE * abs(reached), self.rounding * hidden, self.size * SMALLEST)

        pulls = [_dot(row, weights) for row in quadratic]
        slopes = [c - pull for c, pull in zip(linear, pulls, strict=True)]
        steepest = min(range(len(slopes)), key=lambda a: slopes[a])
        gap = _dot(slopes, weights) - slopes[steepest]  # no weights are better by more if the programme is convex
        if (lost := gap + _concavity(quadratic)) <= (room := room_for(weights)):
            return Check("weights", CONFIRMED, "no others are better")
        if len(counted_models(self.routes, self.rules.size)) <= FEW:
            best = self.losses.best_service(self.routes).weights or weights
            gained = lost = reached - average_error(linear, quadratic, best)
        else:  # a step towards the model with the least slope
            curve = 2 * pulls[steepest] - _dot(weights, pulls)
            step = min(Fraction(1), gap / curve) if curve > 0 else Fraction(1)
            gained = step * gap - step**2 * curve / 2
            best = [(1 - step) * weight + step * (a == steepest) for a, weight in enumerate(weights)]
        if gained > (room := room_for(best)):
            return Check("weights", REFUTED, f"others are better by {format_number(gained / self.size, 3)}")
        if lost <= room:
            return Check("weights", CONFIRMED, "no others are better")
        return Check("weights", NOT_CHECKED, f"others may be better by {format_number(lost / self.size, 3)}")

    def _check_served_by(self) -> Check:
        """Check that each region is served by a model with the smallest expected error there, up to rounding."""
        said, best = self._read_service(), self.losses.best_service(self.routes)
        if said is None:
            return Check("served_by", REFUTED, "the number of a model, or null, is needed for each region")
        errors, least = self.losses.errors(self.routes, said), self.losses.errors(self.routes, best)
        sizes = (self.losses.of_sizes.errors(self.routes, service) for service in (said, best))
        scales = [self.rounding * sum(pair) for pair in zip(*sizes, strict=True)]
        for name, one, other, rounding in zip(self.problem.regions, errors, least, scales, strict=True):
            if one - other > max(DIGITS * abs(other), rounding, SMALLEST):
                detail = f"the error in {name!r} is {format_number(one)}, and {format_number(other)} with another model"
                return Check("served_by", REFUTED, detail)
        return Check("served_by", CONFIRMED, "each region by the model with the least expected error there")

    def _travels(self) -> Check:
        given, travels = self.plan["travels"], self.losses.travels(self.routes)
        if not isinstance(given, list) or len(given) != len(travels):
            return Check("travels", REFUTED, f"expected {len(travels)} numbers, one per vehicle")
        for vehicle, (one, travel) in enumerate(zip(given, travels, strict=True), 1):
            if not is_near(one, travel):
                return Check(
                    "travels", REFUTED, f"vehicle {vehicle}: is {format_number(travel)}; the plan says {show(one)}"
                )
        return Check("travels", CONFIRMED, ", ".join(format_number(travel, 4) for travel in travels))

    # Claims of plans with one route

    @cached_property
    def ratios(self) -> Ratios:
        """No ratios: nothing is proved about fleets in advance."""
        return Ratios()

    def _true_parts(self) -> tuple[Mapping[str, Fraction], Mapping[str, Fraction]]:
        true = FleetLosses(self.problem, self.rules, true=True)
        return true.parts(self.routes, self.service), true.of_sizes.parts(self.routes, self.service)

    def _final_errors(self) -> tuple[list[Fraction], list[Fraction]]:
        order = dict.fromkeys([*self.visits, *range(self.size)])
        both = (losses.errors(self.routes, self.service) for losses in (self.losses, self.losses.of_sizes))
        errors, sizes = ([found[j] for j in order] for found in both)
        return errors, sizes

    def _contributions(self) -> Check:
        if not self.rules.merged or self.rules.equal or len(counted_models(self.routes, self.rules.size)) <= FEW:
            return super()._contributions()
        return Check("contributions", NOT_CHECKED, f"the best weights of more than {FEW} models are not computed")

    def _totals_without(self) -> Iterator[tuple[Fraction, Fraction]]:
        places = [(vehicle, place) for vehicle, route in enumerate(self.routes.vehicles) for place in range(len(route))]
        with np.errstate(all="ignore"):
            found = FleetValues(self.losses).of([self.routes.without(*where) for where in places])
        assert found is not None
        for value, rounding in zip(*(some.tolist() for some in found), strict=True):
            yield Fraction(value) / self.size, Fraction(rounding) / self.size

    def _most(self) -> Check:
        return Check("loss_at_most", REFUTED, "claimed though it is not known for fleets")


def _dot(some: Iterable[Fraction], others: Iterable[Fraction]) -> Fraction:
    return sum((x * y for x, y in zip(some, others, strict=True)), Fraction(0))


def _concavity(quadratic: list[list[Fraction]]) -> Fraction:
    """Return the most by which c·α - α'Qα/2 may be below its tangents, for α >= 0 of sum 1; about 0 if it is convex."""
    largest, many = max(map(max, quadratic)) or Fraction(1), len(quadratic)
    apart = np.array([[float(x / largest) for x in row] for row in quadratic])
    gram = (apart[:1] + apart[:, :1] - apart) / 2
    least = float(np.linalg.eigvalsh(gram).min()) - margin(4 * many**2, 1.0)
    return 2 * Fraction(max(0.0, -least)) * largest
