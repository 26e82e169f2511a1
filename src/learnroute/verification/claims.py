"""The claims of a plan with a valid route, the values they are compared with, and the verdicts on them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any

from learnroute.errors import show
from learnroute.model.certificates import read_certificate
from learnroute.model.problem import Problem
from learnroute.model.rounding import OPTIMALITY, PRINTED, margin
from learnroute.model.validation import as_flag, as_number
from learnroute.verification.bounds import Checker, Outcome
from learnroute.verification.checks import CONFIRMED, NOT_CHECKED, REFUTED, Check, Verdict
from learnroute.verification.exact import Losses, initial_sum, losses_of
from learnroute.verification.final_errors import final_errors
from learnroute.verification.fleet_routes import FleetChecker
from learnroute.verification.guarantees import Ratios, largest_total, ratios_of_algorithm1
from learnroute.verification.pairs import PairChecker, PairLosses
from learnroute.verification.visits import VisitChecker

TOLERANCE = Fraction(str(OPTIMALITY))  # a total is optimal if no route is better by more than this share of it
DIGITS = Fraction(str(PRINTED))  # relative error allowed for a number that is written in decimal
SMALLEST = Fraction(2) ** -690  # numbers that differ by less count as equal: 1e100 times a share that underflows


class PlanClaims:
    """The claims of a plan with a valid route, and the values they are compared with."""

    checker: Checker | PairChecker | VisitChecker | FleetChecker

    def __init__(self, problem: Problem, plan: Mapping[str, Any]) -> None:
        self.problem, self.plan, self.size = problem, plan, problem.size
        self.bound = self._number("lower_bound", "bounds")
        self.optimal = as_flag("optimal", plan.get("optimal", False))
        given = plan.get("certificate")
        self.certificate = None if given is None else read_certificate(given, len(problem.stops), problem.size)
        self.certified = None if given is None else _rational(given["bound"])
        self.constant = Fraction(0)  # part of T times the loss that is the same for all routes; `value` is without it
        self._price()
        columns = 0 if problem.vectors is None else problem.vectors.shape[1]
        # of a sum of float64 numbers, relative to the sum of their absolute values
        self.rounding = Fraction(margin(problem.size + len(self.visits) + columns + 16, 1.0))

    def _price(self) -> None:
        """Set the visits, their loss, and the checker that compares it with all other routes."""
        problem = self.problem
        self.visits: list[int] = self.plan["order"]
        self.order: list[int] = problem.from_depot(self.visits).tolist()  # order of stops, the depot first
        self.coupled = problem.learner.couples or not problem.visits_all_once  # the recursion holds for all learners
        losses: Losses | PairLosses = PairLosses(problem) if self.coupled else losses_of(problem)
        self.parts, self.sizes = losses.parts_and_sizes(self.order)
        if isinstance(losses, PairLosses):
            model = losses.plain
            self.total = self.value = losses.total(self.order)
            if problem.visits_all_once:
                self.checker = PairChecker(losses, self.certificate)
            else:
                self.checker = VisitChecker(losses, problem.visit_rules, self.certificate)
        else:
            model = losses.model
            self.value = model.value(self.order)  # T times the loss, without the constant
            self.total = self.value.plus(model.constant)
            self.constant = model.constant.low
            self.checker = Checker(model, self.certificate)
        self.travelled = model.travel_of(self.order)

    def checks(self) -> list[Check]:
        """Return the verdicts on all claims except the route."""
        found = [self._parts_check("loss", self.parts, self.sizes)]
        found += self._bounds()
        found += self._ratios({check.what: check.verdict for check in found})
        found += self._guarantees()
        return [*found, *self._others()]

    def _number(self, member: str, meaning: str) -> Fraction | None:
        """Return a number that a plan claims, or None if it claims none; reject other values."""
        given = self.plan.get(member)
        if given is None:
            return None
        as_number(member, given, meaning=meaning, derived=True)
        return _rational(given)

    def _parts_check(
        self, member: str, parts: Mapping[str, Fraction], sizes: Mapping[str, Fraction], unit: str = "per region"
    ) -> Check:
        """Compare each part of a loss, with the sizes of the terms of each."""
        claimed = self.plan[member]
        if isinstance(claimed, Mapping) and set(claimed) - set(parts):
            return Check(member, REFUTED, f"has other parts than {', '.join(parts)}")
        for part, value in parts.items():
            given = claimed.get(part, 0 if part == "pairs" else None) if isinstance(claimed, Mapping) else None
            if not is_near(given, value, self.rounding * sizes[part]):
                return Check(member, REFUTED, f"{part} is {format_number(value)}; the plan says {show(given)}")
        return Check(member, CONFIRMED, f"{format_number(parts['total'])} {unit}, all parts as claimed")

    # Bounds

    def _goal(self, claimed: Fraction, tolerance: Fraction = Fraction(0)) -> Fraction:
        """Return the goal that no order may be below if a claimed bound (per region) is valid."""
        total = claimed * self.size
        return total - max(tolerance * abs(total), self.size * SMALLEST) - self.constant

    def _below(self, ratio: Fraction = Fraction(1)) -> Fraction:
        """Return the goal that no order may be below if the plan's own total is at most `ratio` times the lowest one.

        The tolerance is a share of the total's absolute value. Of all totals in the interval, the one with the
        strictest goal counts; the subtracted amount is convex in the total, with its kink at 0.
        """
        low, high = self.total
        totals = {low, high, min(max(low, Fraction(0)), high)}
        room = self.size * SMALLEST
        return self.value.high - min(total - (total - max(TOLERANCE * abs(total), room)) / ratio for total in totals)

    def _bounds(self) -> list[Check]:
        """Check optimality, the lower bound, and the bound that the certificate states."""
        goals: list[tuple[str, Fraction]] = []
        if self.optimal:
            goals.append(("optimum", self._below()))
        if self.bound is not None:
            goals.append(("bound", self._goal(self.bound, TOLERANCE if self.optimal else Fraction(0))))
        if self.certified is not None:
            goals.append(("certificate", self._goal(self.certified)))
        outcomes = {
            what: self._decide(goal, optimum=self.optimal and what != "certificate")
            for what, goal in sorted(goals, key=lambda pair: -pair[1])
        }
        says = {"optimum": self._optimum, "bound": self._bound, "certificate": self._certificate}
        return [says[what](outcomes[what]) for what, _ in goals]

    def _decide(self, goal: Fraction, optimum: bool) -> Outcome:
        """Decide whether no route is below a goal: the plan's own is the first to be compared with it."""
        if self.value.high < goal:
            return Outcome(better=goal - self.value.high)
        return self.checker.decide(goal, optimum=optimum)

    def _optimum(self, outcome: Outcome) -> Check:
        if outcome.proved:
            return Check("optimum", CONFIRMED, "no route is better")
        if outcome.better is not None:
            by = outcome.better + TOLERANCE * abs(self.total.high)
            return Check("optimum", REFUTED, f"a route that is better by {format_number(by / self.size, 3)} exists")
        least = self.checker.known + self.constant
        if least <= 0:
            return Check("optimum", NOT_CHECKED, outcome.why)
        gap = f"{format_number(100 * (self.total.high / least - 1), 3)} % above the best"
        return Check("optimum", NOT_CHECKED, f"{outcome.why}; it is confirmed that the route is at most {gap}")

    def _bound(self, outcome: Outcome) -> Check:
        assert self.bound is not None
        check = self._check_bound("bound", self.bound, outcome)
        if self.optimal and check.verdict == REFUTED and outcome.better is None:
            return Check(
                "bound", NOT_CHECKED, f"{format_number(self.bound)}: it depends on the optimum, which was not confirmed"
            )
        return check

    def _certificate(self, outcome: Outcome) -> Check:
        assert self.certified is not None
        return self._check_bound("certificate", self.certified, outcome)

    def _check_bound(self, what: str, claimed: Fraction, outcome: Outcome) -> Check:
        """Check whether a stated bound (per region) is valid."""
        kind = self.certificate.kind if self.certificate is not None else "no certificate"
        said = f"{format_number(claimed)} ({kind})"
        if outcome.proved:
            return Check(what, CONFIRMED, f"no route is below {said}")
        if outcome.better is not None:
            return Check(what, REFUTED, f"a route below {said} exists")
        if outcome.follows is None:
            return Check(what, NOT_CHECKED, f"{said}: {outcome.why}")
        follows = format_number((outcome.follows + self.constant) / self.size)
        return Check(what, REFUTED, f"{said} does not follow; the certificate gives {follows}")

    def _ratios(self, verdicts: Mapping[str, Verdict]) -> list[Check]:
        """Check the gap and the ratio, which follow from loss and bound."""
        found = []
        ratio, of_sizes = (Fraction(1), Fraction(1)) if self.optimal else (None, Fraction(0))
        if not self.optimal and self.bound is not None and self.bound > 0:
            ratio, of_sizes = self.parts["total"] / self.bound, self.sizes["total"] / self.bound
        base = "optimum" if self.optimal else "bound"
        for member, less in (("gap", 1), ("certified_ratio", 0)):
            given = self._number(member, "ratios")
            if given is None:
                continue
            if ratio is None:
                found.append(Check(member, REFUTED, "claimed without a lower bound > 0"))
            elif not is_near(given, ratio - less, self.rounding * of_sizes):
                said = show(self.plan[member])
                found.append(Check(member, REFUTED, f"is {format_number(ratio - less)}; the plan says {said}"))
            else:
                found.append(Check(member, verdicts[base], f"{format_number(given)}, from the loss and the {base}"))
        return found

    def _guarantees(self) -> list[Check]:
        """Check the ratios to the lowest loss that are claimed to be known in advance."""
        found = []
        claimed = self._number("guarantee", "ratios")
        if claimed is not None:
            found.append(self._guarantee(claimed))
        for member, name in (("guarantee_paper", "paper"), ("guarantee_sharper", "sharper")):
            given = self._number(member, "ratios")
            if given is None:
                continue
            known: Fraction | None = getattr(self.ratios, name)
            right = known is not None and is_near(given, known)
            proved = "not proved for this problem" if known is None else f"{format_number(known)}"
            detail = (
                f"{format_number(given)} for Algorithm 1"
                if right
                else f"is {proved}; the plan says {format_number(given)}"
            )
            found.append(Check(member, CONFIRMED if right else REFUTED, detail))
        return found

    @cached_property
    def ratios(self) -> Ratios:
        """The ratios of Algorithm 1 that are proved in advance."""
        return ratios_of_algorithm1(self.problem)

    def _guarantee(self, claimed: Fraction) -> Check:
        """Check that the total is at most `claimed` times the lowest one, by any known bound."""
        said = format_number(claimed)
        if claimed <= 0:
            return Check("guarantee", REFUTED, f"{said}: a ratio must be > 0")
        outcome = self._decide(self._below(claimed), optimum=self.optimal)
        if outcome.proved:
            return Check("guarantee", CONFIRMED, f"the total is at most {said} times the least one, by the bound")
        if outcome.better is not None or claimed < 1:
            return Check("guarantee", REFUTED, f"the total is more than {said} times the least one")
        known = self.ratios.least
        if known is not None and claimed >= known * (1 - DIGITS):
            why = "proved for routes of Algorithm 1 and better ones; this was not checked"
            return Check("guarantee", NOT_CHECKED, f"{said} is {why}")
        if self.optimal or outcome.follows is None:
            return Check("guarantee", NOT_CHECKED, f"{said}: {outcome.why}")
        return Check("guarantee", REFUTED, f"{said} follows neither from the bound nor from the theory")

    # Other claims that follow from route and problem

    def _others(self) -> list[Check]:
        problem, plan = self.problem, self.plan
        found = self._service()
        if plan.get("true_loss") is not None:
            if problem.truth is None:
                found.append(Check("true_loss", REFUTED, "claimed though the problem has no true models"))
            else:
                found.append(self._parts_check("true_loss", *self._true_parts()))
        if plan.get("loss_in_travel_units") is not None:
            rate = Fraction(problem.travel_rate)
            if rate == 0:
                found.append(Check("loss_in_travel_units", REFUTED, "claimed though travel is worth nothing"))
            else:
                one = self.size / rate
                parts, sizes = ({part: x * one for part, x in some.items()} for some in (self.parts, self.sizes))
                found.append(self._parts_check("loss_in_travel_units", parts, sizes, "units of travel"))
        if plan.get("loss_at_most") is not None:
            found.append(self._most())
        if plan.get("expected_errors") is not None:
            found.append(self._errors())
        if plan.get("contributions") is not None:
            found.append(self._contributions())
        learner = problem.learner
        known = learner.has_shape
        visited = None if problem.samples is None else [int(problem.samples[v]) for v in self.visits]
        scaling, everyone = problem.features_scaling, dict.fromkeys([*self.visits, *range(self.size)])
        counted = None if problem.importance is None else [float(problem.importance[v]) for v in everyone]
        wanted: dict[str, Any] = {
            "travel_cost": self.travelled,
            "travel_rate": Fraction(problem.travel_rate),
            "closed": problem.closed,
            "depot": None if problem.depot is None else problem.depot.name,
            "regime": problem.regime,
            "dissimilarities": problem.dissimilarity_kind,
            "constraints": problem.constraints.to_dict(),
            "features": learner.features if known else None,
            "samples": (learner.samples if visited is None else visited) if known else None,
            "features_scaling": None if scaling is None else scaling.to_dict(),
            "importance": counted,
            "label_noise": Fraction(learner.noise) ** 2 if known else Fraction(0),
            "skipped": [name for i, name in enumerate(problem.regions) if i not in self.visits],
            "untrained": self._untrained,
        }
        for member, value in wanted.items():
            if plan.get(member) is None:
                continue
            given = plan[member]
            number = isinstance(value, Fraction)
            same = is_near(given, value) if number else is_same(given, value)
            print_ = format_number(value) if number else show(value)
            detail = print_ if same else f"is {print_}; the plan says {show(given)}"
            found.append(Check(member, CONFIRMED if same else REFUTED, detail))
        return found

    def _service(self) -> list[Check]:
        """Reject claims about how models serve: there is only one model."""
        members = (
            member for member in ("models", "weights", "served_by", "travels") if self.plan.get(member) is not None
        )
        return [Check(member, REFUTED, "claimed though the problem has no fleet") for member in members]

    def _true_parts(self) -> tuple[Mapping[str, Fraction], Mapping[str, Fraction]]:
        """Return the parts of the loss for the true models, and the sizes of their terms."""
        true = PairLosses(self.problem, true=True) if self.coupled else losses_of(self.problem, true=True)
        return true.parts_and_sizes(self.order)

    def _final_errors(self) -> tuple[list[Fraction], list[Fraction]]:
        """Return the expected errors in the order of first visits, and the sizes of their terms."""
        errors, sizes = final_errors(self.problem, self.visits)
        return list(map(Fraction, errors)), list(map(Fraction, sizes))

    def _errors(self) -> Check:
        """Check the expected error on each region of the route after the last visit."""
        given, (errors, sizes) = self.plan["expected_errors"], self._final_errors()
        if not isinstance(given, list) or len(given) != self.size:
            return Check("expected_errors", REFUTED, f"expected {self.size} numbers, one per region")
        for place, (one, value, size) in enumerate(zip(given, errors, sizes, strict=True)):
            if not is_near(one, value, self.rounding * size):
                said = f"entry {place} is {format_number(value)}; the plan says {show(one)}"
                return Check("expected_errors", REFUTED, said)
        least, most = (format_number(one, 4) for one in (min(errors), max(errors)))
        return Check("expected_errors", CONFIRMED, f"{least} … {most} by region")

    def _contributions(self) -> Check:
        """Check the total loss without each visit."""
        given = self.plan["contributions"]
        if not isinstance(given, list) or len(given) != len(self.visits) or self.problem.visits_all_once:
            return Check("contributions", REFUTED, "expected one number per visit, where visits are optional")
        for t, (one, (total, rounding)) in enumerate(zip(given, self._totals_without(), strict=True)):
            if not is_near(one, total, rounding):
                said = f"entry {t} is {format_number(total)}; the plan says {show(one)}"
                return Check("contributions", REFUTED, said)
        return Check("contributions", CONFIRMED, "the total loss without each visit")

    def _totals_without(self) -> Iterator[tuple[Fraction, Fraction]]:
        """Yield the total loss without each visit, and the rounding error that it may have."""
        losses = PairLosses(self.problem)
        for t in range(len(self.visits)):
            rest = [*self.visits[:t], *self.visits[t + 1 :]]
            stops = self.problem.from_depot(rest).tolist()
            if rest:
                total, size = (parts["total"] for parts in losses.parts_and_sizes(stops))
                yield total, self.rounding * size
            else:
                yield self._untrained, Fraction(0)

    @property
    def _untrained(self) -> Fraction:
        """The loss without any visit."""
        return initial_sum(self.problem) / self.size

    def _most(self) -> Check:
        """Check the largest loss for dissimilarities between their bounds."""
        found, given = largest_total(self.problem, self.order), self.plan["loss_at_most"]
        if found is None:
            return Check("loss_at_most", REFUTED, "claimed though the problem has no dissimilarity_low")
        most, size = found
        right = is_near(given, most, self.rounding * size)
        detail = format_number(most) if right else f"is {format_number(most)}; the plan says {show(given)}"
        return Check("loss_at_most", CONFIRMED if right else REFUTED, detail)


def is_near(given: Any, value: Fraction, rounding: Fraction = Fraction(0)) -> bool:
    """Whether a number that was written in decimal is right to nine digits, or up to its rounding error in float64."""
    if isinstance(given, bool) or not isinstance(given, int | float | Fraction):
        return False
    if isinstance(given, float) and not math.isfinite(given):
        return False
    return abs(Fraction(given) - value) <= max(DIGITS * abs(value), rounding, SMALLEST)


def is_same(given: Any, value: Any) -> bool:
    """Whether two JSON values are equal; true and 1 are not."""
    if isinstance(value, Mapping):
        same = isinstance(given, Mapping) and set(given) == set(value)
        return same and all(is_same(given[name], value[name]) for name in value)
    if isinstance(value, list):
        same = isinstance(given, list) and len(given) == len(value)
        return same and all(map(is_same, given, value))
    return isinstance(given, bool) is isinstance(value, bool) and bool(given == value)


def _rational(number: Any) -> Fraction:
    return Fraction(number) if isinstance(number, Rational) else Fraction(float(number))


def format_number(number: Fraction, digits: int = 9) -> str:
    """Return a number in its printed form."""
    try:
        return f"{float(number):.{digits}g}"
    except OverflowError:
        return "a number outside the range of float64"
