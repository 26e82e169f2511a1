"""Check a plan against its problem, member by member: docs/bounds.md says what is confirmed then, and in what sense."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from functools import cached_property
from numbers import Rational
from typing import Any

from learnroute.errors import InputError, check_type, shown
from learnroute.model.certificates import read_certificate
from learnroute.model.learners import LeastSquares
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.rounding import OPTIMALITY, PRINTED
from learnroute.model.validation import as_flag, as_number
from learnroute.verification.bounds import Checker, Outcome, recomputed_bound
from learnroute.verification.checks import CONFIRMED, NOT_CHECKED, REFUTED, Check, Verdict, Verification
from learnroute.verification.exact import Losses, initial_sum, losses_of
from learnroute.verification.final_errors import final_errors
from learnroute.verification.guarantees import Ratios, largest_total, ratios_of_algorithm1
from learnroute.verification.pairs import PairChecker, PairLosses
from learnroute.verification.visits import VisitChecker, why_not

__all__ = ["recomputed_bound", "verify"]

TOLERANCE = Fraction(str(OPTIMALITY))  # an optimum is a total that no route undercuts by more than this share of it
DIGITS = Fraction(str(PRINTED))  # of a loss: what is written in decimal may be off by this much
SMALLEST = Fraction(2) ** -1022  # below it, float64 loses digits: losses per region that differ by less count as equal

CLAIMS = (
    "route", "routes", "order", "loss", "true_loss", "travel_cost", "travel_rate", "loss_in_travel_units", "closed",
    "constraints", "regime", "lower_bound", "optimal", "certificate", "gap", "certified_ratio", "guarantee",
    "guarantee_paper", "guarantee_sharper", "learner", "loss_at_most", "depot", "dissimilarities", "features",
    "samples", "features_scaling", "expected_errors", "importance", "label_noise", "skipped", "untrained",
    "contributions",
)  # fmt: skip


def verify(problem: Problem, plan: Plan | Mapping[str, Any]) -> Verification:
    """Recompute what a plan (itself, or its JSON object) claims about a route of this problem.

    Claims that are confirmed are true for the numbers of the problem, in exact arithmetic; docs/bounds.md says in what
    sense. `Verification.holds` only if every claim is confirmed.

    Parameters
    ----------
    problem
        The problem that was planned.
    plan
        The plan, or what `read_plan` returns.

    Returns
    -------
    Verification
        One check a claim: confirmed, refuted or not checked.

    Raises
    ------
    InputError
        Where the plan is neither a `Plan` nor an object with route, order and loss.
    """
    check_type("problem", problem, Problem)
    data = plan.to_dict() if isinstance(plan, Plan) else plan
    if not isinstance(data, Mapping):
        raise InputError("a Plan or its JSON object is needed; read_plan reads a file", field="plan", value=plan)
    if not {"route", "order", "loss"} <= set(data):
        raise InputError("an object with route, order and loss is needed", field="plan", value=data)
    remarks = tuple(str(member) for member in data if member not in CLAIMS)
    try:
        problem = problem.with_dissimilarities(data.get("dissimilarities", problem.dissimilarity_kind))
    except InputError as error:
        return Verification((Check("dissimilarities", REFUTED, str(error)),), remarks)
    learner = _learner(problem, data)
    if learner.verdict == REFUTED:
        return Verification((learner,), remarks)
    if problem.learner.undecided:
        problem = problem.regularized(data["learner"]["regularization"])
    route = _route(problem, data)
    if route.verdict == REFUTED:
        return Verification((route,), remarks)
    return Verification((route, learner, *_PlanChecker(problem, data).checks()), remarks)


def _learner(problem: Problem, plan: Mapping[str, Any]) -> Check:
    """Check how the learner trains: as the problem says, or, where that leaves λ open, with a λ that is one."""
    claimed = plan.get("learner", {"rule": LeastSquares.rule})
    own = problem.learner
    if not isinstance(claimed, Mapping):
        raise InputError("an object with rule is needed", field="learner", value=claimed)
    said = {name: value for name, value in claimed.items() if name not in ("chosen", "range")}
    if not own.undecided:
        wanted = {"rule": own.rule, **own.training}
        if said == wanted:
            return Check("learner", CONFIRMED, f"{own.rule}, as the problem says")
        return Check("learner", REFUTED, f"the problem says {shown(wanted)}; the plan says {shown(said)}")
    chosen: Any = said.get("regularization")
    numbers = chosen if isinstance(chosen, list) else [chosen]
    right = set(said) == {"rule", "regularization"} and said["rule"] == own.rule
    if not right or any(isinstance(one, bool) or not isinstance(one, int | float) for one in numbers):
        return Check("learner", REFUTED, f"the problem leaves λ open; the plan says {shown(said)}")
    try:
        problem.regularized(chosen)
    except InputError as error:
        return Check("learner", REFUTED, str(error))
    return Check("learner", CONFIRMED, "a λ is given; all else is checked for it, not that no other λ is better")


def _route(problem: Problem, plan: Mapping[str, Any]) -> Check:
    order, regions = plan["order"], problem.regions
    if not isinstance(order, list) or not all(type(i) is int for i in order):
        return Check("route", REFUTED, "order: a list of region indices is needed")
    outside = [i for i in order if not 0 <= i < problem.size]
    if outside:
        return Check("route", REFUTED, f"there is no region {outside[0]}; indices go from 0 to {problem.size - 1}")
    visits = Counter(order)
    wrong = next((v for v in range(problem.size) if visits[v] != 1), None)
    if problem.rules is not None:
        if why := why_not(problem, problem.rules, order):
            return Check("route", REFUTED, why)
    elif wrong is not None:
        said = f"visited {visits[wrong]} times" if visits[wrong] else "missing"
        return Check("route", REFUTED, f"region {regions[wrong]!r} is {said}; visit each region once")
    if not isinstance(plan["route"], list) or plan["route"] != [regions[i] for i in order]:
        return Check("route", REFUTED, "names and indices disagree, or belong to another problem")
    if plan.get("routes", [plan["route"]]) != [plan["route"]]:
        return Check("route", REFUTED, "routes are not the one route of the plan")
    try:
        problem.constraints.check(plan["route"])
    except InputError as error:
        return Check("route", REFUTED, str(error))
    if problem.rules is None:
        return Check("route", CONFIRMED, f"visits each of {problem.size} regions once")
    if not VisitChecker(PairLosses(problem), problem.rules).keeps_budget(order):
        return Check("route", REFUTED, f"travels farther than its budget, {problem.rules.budget:g}")
    return Check("route", CONFIRMED, f"{len(order)} visits, as they are allowed")


class _PlanChecker:
    """The claims of a plan whose route is one, and what they are compared with."""

    def __init__(self, problem: Problem, plan: Mapping[str, Any]) -> None:
        self.problem, self.plan, self.size = problem, plan, problem.size
        self.order: list[int] = problem.from_depot(plan["order"]).tolist()  # of stops: the depot first
        self.coupled = problem.learner.couples or problem.rules is not None  # the recursion holds for all learners
        self.losses: Losses | PairLosses = PairLosses(problem) if self.coupled else losses_of(problem)
        self.parts = self.losses.parts(self.order)
        self.scale = _scale(self.parts)
        if isinstance(self.losses, PairLosses):
            self.model = self.losses.plain
            self.total = self.value = self.losses.total(self.order)
            self.constant = Fraction(0)
        else:
            self.model = self.losses.model
            self.value = self.model.value(self.order)  # T times the loss, without the constant
            self.total = self.value.plus(self.model.constant)
            self.constant = self.model.constant.low
        self.bound = self._number("lower_bound", "bounds")
        self.optimal = as_flag("optimal", plan.get("optimal", False))
        given = plan.get("certificate")
        self.certificate = None if given is None else read_certificate(given, len(problem.stops), problem.size)
        self.certified = None if given is None else _rational(given["bound"])
        self.checker: Checker | PairChecker | VisitChecker = Checker(self.model, self.certificate)
        if isinstance(self.losses, PairLosses):
            if problem.rules is None:
                self.checker = PairChecker(self.losses, self.certificate)
            else:
                self.checker = VisitChecker(self.losses, problem.rules, self.certificate)

    def checks(self) -> list[Check]:
        """Return the verdicts on all claims but the route."""
        found = [self._parts_check("loss", self.parts)]
        found += self._bounds()
        found += self._ratios({check.what: check.verdict for check in found})
        found += self._guarantees()
        return [*found, *self._others()]

    def _number(self, member: str, meaning: str) -> Fraction | None:
        """Return a number that a plan claims; None where it says nothing; refuse what is no number."""
        given = self.plan.get(member)
        if given is None:
            return None
        as_number(member, given, meaning=meaning, most=math.inf, least=-math.inf)
        return _rational(given)

    def _parts_check(
        self, member: str, parts: Mapping[str, Fraction], unit: str = "per region", smallest: Fraction = SMALLEST
    ) -> Check:
        """Compare the parts of a loss; they may be off by nine digits of the total, or twelve of their sizes."""
        claimed, scale = self.plan[member], _scale(parts)
        if isinstance(claimed, Mapping) and set(claimed) - set(parts):
            return Check(member, REFUTED, f"has other parts than {', '.join(parts)}")
        for part, value in parts.items():
            given = claimed.get(part, 0 if part == "pairs" else None) if isinstance(claimed, Mapping) else None
            if not _near(given, value, scale, smallest):
                return Check(member, REFUTED, f"{part} is {_printed(value)}; the plan says {shown(given)}")
        return Check(member, CONFIRMED, f"{_printed(parts['total'])} {unit}, all parts as claimed")

    # Bounds

    def _goal(self, claimed: Fraction, tolerance: Fraction = Fraction(0)) -> Fraction:
        """Return the goal below which no order may be if no route is below a claimed bound (per region)."""
        total = claimed * self.size
        return total - max(tolerance * abs(total), self.size * SMALLEST) - self.constant

    def _below(self, ratio: Fraction = Fraction(1)) -> Fraction:
        """Return the goal below which no order may be if the plan's own total is at most `ratio` times the least one.

        The tolerance is a share of the total's size, whatever its sign. Of all totals in the interval, the one counts
        that asks most; what is taken off is convex in it, with its kink at 0.
        """
        low, high = self.total
        asked = {low, high, min(max(low, Fraction(0)), high)}
        room = self.size * SMALLEST
        return self.value.high - min(total - (total - max(TOLERANCE * abs(total), room)) / ratio for total in asked)

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
            what: self.checker.settle(goal, optimum=self.optimal and what != "certificate")
            for what, goal in sorted(goals, key=lambda pair: -pair[1])
        }
        says = {"optimum": self._optimum, "bound": self._bound, "certificate": self._certificate}
        return [says[what](outcomes[what]) for what, _ in goals]

    def _optimum(self, outcome: Outcome) -> Check:
        if outcome.proved:
            return Check("optimum", CONFIRMED, "no route is better")
        if outcome.better is not None:
            by = outcome.better + TOLERANCE * abs(self.total.high)
            return Check("optimum", REFUTED, f"a route that is better by {_printed(by / self.size, 3)} exists")
        least = self.checker.known + self.constant
        if least <= 0:
            return Check("optimum", NOT_CHECKED, outcome.why)
        gap = f"{_printed(100 * (self.total.high / least - 1), 3)} % above the best"
        return Check("optimum", NOT_CHECKED, f"{outcome.why}; confirmed is that the route is at most {gap}")

    def _bound(self, outcome: Outcome) -> Check:
        assert self.bound is not None
        check = self._stated("bound", self.bound, outcome)
        if self.optimal and check.verdict == REFUTED and outcome.better is None:
            return Check("bound", NOT_CHECKED, f"{_printed(self.bound)}: the optimum it rests on was not shown")
        return check

    def _certificate(self, outcome: Outcome) -> Check:
        assert self.certified is not None
        return self._stated("certificate", self.certified, outcome)

    def _stated(self, what: str, claimed: Fraction, outcome: Outcome) -> Check:
        """Say whether a stated bound (per region) is one."""
        kind = self.certificate.kind if self.certificate is not None else "no certificate"
        said = f"{_printed(claimed)} ({kind})"
        if outcome.proved:
            return Check(what, CONFIRMED, f"no route is below {said}")
        if outcome.better is not None:
            return Check(what, REFUTED, f"a route below {said} exists")
        if outcome.follows is None:
            return Check(what, NOT_CHECKED, f"{said}: {outcome.why}")
        follows = _printed((outcome.follows + self.constant) / self.size)
        return Check(what, REFUTED, f"{said} does not follow; what follows is {follows}")

    def _ratios(self, verdicts: Mapping[str, Verdict]) -> list[Check]:
        """Check what follows from loss and bound: the gap, and the ratio."""
        found = []
        ratio: Fraction | None = None
        if self.optimal:
            ratio = Fraction(1)
        elif self.bound is not None and self.bound > 0:
            ratio = self.parts["total"] / self.bound
        base = "optimum" if self.optimal else "bound"
        for member, less in (("gap", 1), ("certified_ratio", 0)):
            given = self._number(member, "ratios")
            if given is None:
                continue
            if ratio is None:
                found.append(Check(member, REFUTED, "claimed without a lower bound > 0"))
            elif not _near(given, ratio - less, ratio if self.optimal else self.scale / abs(self.bound or Fraction(1))):
                said = shown(self.plan[member])
                found.append(Check(member, REFUTED, f"is {_printed(ratio - less)}; the plan says {said}"))
            else:
                found.append(Check(member, verdicts[base], f"{_printed(given)}, from the loss and the {base}"))
        return found

    def _guarantees(self) -> list[Check]:
        """Check the ratios to the least loss that are said to be known in advance."""
        found = []
        claimed = self._number("guarantee", "ratios")
        if claimed is not None:
            found.append(self._guarantee(claimed))
        for member, name in (("guarantee_paper", "paper"), ("guarantee_sharper", "sharper")):
            given = self._number(member, "ratios")
            if given is None:
                continue
            known: Fraction | None = getattr(self.ratios, name)
            right = known is not None and _near(given, known, known)
            proved = "not proved for this problem" if known is None else f"{_printed(known)}"
            detail = f"{_printed(given)} for Algorithm 1" if right else f"is {proved}; the plan says {_printed(given)}"
            found.append(Check(member, CONFIRMED if right else REFUTED, detail))
        return found

    @cached_property
    def ratios(self) -> Ratios:
        """What is proved about Algorithm 1 in advance."""
        return ratios_of_algorithm1(self.problem)

    def _guarantee(self, claimed: Fraction) -> Check:
        """Show that the total is at most so many times the least one, by whatever bound is known."""
        said = _printed(claimed)
        if claimed <= 0:
            return Check("guarantee", REFUTED, f"{said}: ratios are > 0")
        outcome = self.checker.settle(self._below(claimed), optimum=self.optimal)
        if outcome.proved:
            return Check("guarantee", CONFIRMED, f"the total is at most {said} times the least one, by the bound")
        if outcome.better is not None or claimed < 1:
            return Check("guarantee", REFUTED, f"the total is more than {said} times the least one")
        known = self.ratios.least
        if known is not None and claimed >= known * (1 - DIGITS):
            why = "proved for routes of Algorithm 1 and better ones; whether this is one was not repeated"
            return Check("guarantee", NOT_CHECKED, f"{said} is {why}")
        if self.optimal or outcome.follows is None:
            return Check("guarantee", NOT_CHECKED, f"{said}: {outcome.why}")
        return Check("guarantee", REFUTED, f"{said} follows neither from the bound nor from what is known in advance")

    # What else follows from route and problem

    def _others(self) -> list[Check]:
        problem, plan, found = self.problem, self.plan, []
        if plan.get("true_loss") is not None:
            if problem.truth is None:
                found.append(Check("true_loss", REFUTED, "claimed though the problem has no true models"))
            else:
                true = PairLosses(problem, true=True) if self.coupled else losses_of(problem, true=True)
                found.append(self._parts_check("true_loss", true.parts(self.order)))
        if plan.get("loss_in_travel_units") is not None:
            rate = self.model.rate
            if rate == 0:
                found.append(Check("loss_in_travel_units", REFUTED, "claimed though travel is worth nothing"))
            else:
                one = self.size / rate
                parts = {part: value * one for part, value in self.parts.items()}
                found.append(self._parts_check("loss_in_travel_units", parts, "units of travel", SMALLEST * one))
        if plan.get("loss_at_most") is not None:
            found.append(self._most())
        if plan.get("expected_errors") is not None:
            found.append(self._errors())
        if plan.get("contributions") is not None:
            found.append(self._contributions())
        travelled, learner = self.model.travelled(self.order), problem.learner
        known = learner.has_shape
        visited = None if problem.samples is None else [int(problem.samples[v]) for v in plan["order"]]
        scaling, everyone = problem.features_scaling, dict.fromkeys([*plan["order"], *range(self.size)])
        counted = None if problem.importance is None else [float(problem.importance[v]) for v in everyone]
        wanted: dict[str, Any] = {
            "travel_cost": travelled,
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
            "skipped": [name for i, name in enumerate(problem.regions) if i not in plan["order"]],
            "untrained": self._untrained,
        }
        for member, value in wanted.items():
            if plan.get(member) is None:
                continue
            given = plan[member]
            number = isinstance(value, Fraction)
            same = _near(given, value, value) if number else type(given) is type(value) and given == value
            print_ = _printed(value) if number else shown(value)
            detail = print_ if same else f"is {print_}; the plan says {shown(given)}"
            found.append(Check(member, CONFIRMED if same else REFUTED, detail))
        return found

    def _errors(self) -> Check:
        """Check the expected error on each region of the route after the last visit."""
        given, (errors, scale) = self.plan["expected_errors"], final_errors(self.problem, self.plan["order"])
        if not isinstance(given, list) or len(given) != self.size:
            return Check("expected_errors", REFUTED, f"{self.size} numbers are needed, one per region")
        for place, (one, value) in enumerate(zip(given, errors, strict=True)):
            if not _near(one, Fraction(value), Fraction(scale)):
                said = f"entry {place} is {value:.9g}; the plan says {shown(one)}"
                return Check("expected_errors", REFUTED, said)
        return Check("expected_errors", CONFIRMED, f"{min(errors):.4g} … {max(errors):.4g} by region")

    def _contributions(self) -> Check:
        """Check the total loss without each visit."""
        given, order = self.plan["contributions"], self.plan["order"]
        if not isinstance(given, list) or len(given) != len(order) or self.problem.rules is None:
            return Check("contributions", REFUTED, "one number per visit is needed, where visits are optional")
        losses, depot = PairLosses(self.problem), self.order[: len(self.order) - len(order)]
        for t, one in enumerate(given):
            rest = [*order[:t], *order[t + 1 :]]
            parts = losses.parts([*depot, *rest]) if rest else {"total": self._untrained}
            if not _near(one, parts["total"], _scale(parts)):
                said = f"entry {t} is {_printed(parts['total'])}; the plan says {shown(one)}"
                return Check("contributions", REFUTED, said)
        return Check("contributions", CONFIRMED, "the total loss without each visit")

    @property
    def _untrained(self) -> Fraction:
        """The loss without any visit."""
        return initial_sum(self.problem) / self.size

    def _most(self) -> Check:
        """Check the largest loss with dissimilarities between their bounds."""
        most, given = largest_total(self.problem, self.order), self.plan["loss_at_most"]
        if most is None:
            return Check("loss_at_most", REFUTED, "claimed though the problem has no dissimilarity_low")
        right = _near(given, most, max(self.scale, abs(most)))
        detail = _printed(most) if right else f"is {_printed(most)}; the plan says {shown(given)}"
        return Check("loss_at_most", CONFIRMED if right else REFUTED, detail)


def _scale(parts: Mapping[str, Fraction]) -> Fraction:
    """Return the size of a loss, or a thousandth of the sizes of its parts where they cancel: rounding is of these."""
    sizes = sum((abs(value) for part, value in parts.items() if part != "total"), Fraction(0))
    return max(abs(parts["total"]), sizes / 1000)


def _near(given: Any, value: Fraction, scale: Fraction, smallest: Fraction = SMALLEST) -> bool:
    """Whether a number that was written in decimal is this one, as far as nine digits of a scale."""
    if isinstance(given, bool) or not isinstance(given, int | float | Fraction):
        return False
    if isinstance(given, float) and not math.isfinite(given):
        return False
    return abs(Fraction(given) - value) <= max(DIGITS * abs(scale), smallest)


def _rational(number: Any) -> Fraction:
    return Fraction(number) if isinstance(number, Rational) else Fraction(float(number))


def _printed(number: Fraction, digits: int = 9) -> str:
    try:
        return f"{float(number):.{digits}g}"
    except OverflowError:
        return "a number beyond float64"
