"""Sensitivity of a plan to its dissimilarities: its loss and regret if they are smaller than assumed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from learnroute.errors import InputError, check_type
from learnroute.model.given_routes import check_one_model
from learnroute.model.losses import expected_loss
from learnroute.model.problem import UPPER, DissimilarityKind, Problem
from learnroute.model.result import Plan
from learnroute.model.result_mixin import ResultMixin
from learnroute.model.rounding import PRINTED, is_less
from learnroute.model.routes import Routes
from learnroute.model.table import Column, Sheet, Table, route_text
from learnroute.model.validation import SMALLEST_VALUE, FloatArray, as_count, as_number
from learnroute.model.value import slopes
from learnroute.planner import plan_within
from learnroute.solvers.contract import Budget, Progress, Rounds
from learnroute.solvers.methods import METHODS
from learnroute.tuning import decide_learner

MOST_DRAWS = 100_000
MOST_REGIONS = 2000
DRAWS_SHARE = 0.85  # share of the time for the plan and the draws; the rest is for the sensitive pairs
PLAN_SHARE = 0.3  # share of the remaining time for each plan
TOLD = 5  # number of pairs of regions to report
MOST_ENDS = 12  # number of last regions to list
LATE = 0.95  # the reported quantile of the regret


@dataclass(frozen=True)
class Pair:
    """One dissimilarity that the plan is sensitive to.

    With this dissimilarity at its lower bound and all others at their upper bounds, another of the routes found is
    better by `regret`. `switch` is the value below which another of them is better.
    """

    regions: tuple[str, str]
    low: float
    high: float
    switch: float
    regret: float

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {"regions": list(self.regions), "low": self.low, "high": self.high, "switch": self.switch,
                "regret": self.regret}  # fmt: skip


@dataclass(frozen=True)
class Robustness(ResultMixin):
    """Sensitivity of a plan to dissimilarities anywhere between their bounds. Losses are per region.

    Attributes
    ----------
    plan
        The route planned for the upper bounds, whatever estimates the problem has.
    best_case, worst_case
        The smallest and the largest loss of the plan with dissimilarities between their bounds.
    draws
        Number of times that dissimilarities were drawn uniformly between their bounds and a route planned for them.
    unchanged
        The share of the draws in which no other route was better.
    mean_regret, late_regret, worst_regret
        Excess of the plan's loss over that of the best route of each draw: mean, 95 % quantile, maximum.
    last
        The share of the draws in which each region was the last one of the best route, largest first.
    pairs
        The single dissimilarities to which the choice is most sensitive, largest regret first.
    complete
        Whether all draws were made and the best route of each was proved optimal.
    dissimilarities
        The dissimilarities behind the plan: always `upper`.
    """

    picture = "draw_robustness"
    plan: Plan
    best_case: float
    worst_case: float
    draws: int
    unchanged: float
    mean_regret: float
    late_regret: float
    worst_regret: float
    last: dict[str, float]
    pairs: tuple[Pair, ...]
    complete: bool
    dissimilarities: DissimilarityKind = UPPER

    def __repr__(self) -> str:
        way = route_text(self.plan.route, self.plan.closed, self.plan.depot)
        return (
            f"<Robustness of {way}: best in {100 * self.unchanged:.3g} % of {self.draws} draws, "
            f"regret {self.mean_regret:.3g} on average and at most {self.worst_regret:.3g}>"
        )

    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        return self.plan.route, self.plan.order

    def table(self) -> Table:
        """Return one row per pair of regions whose dissimilarity the plan is sensitive to."""
        heads = {
            "low": "lower bound",
            "high": "upper bound",
            "switch": "other route better below",
            "regret": "by up to",
        }
        columns = (
            Column("region"),
            Column("other"),
            Column(None, "sensitive to", left=True),
            *(Column(name, head, ".4g") for name, head in heads.items()),
        )
        rows = [(*pair.regions, " – ".join(pair.regions), pair.low, pair.high, pair.switch, pair.regret)
                for pair in self.pairs]  # fmt: skip
        return Table(columns, rows)

    def sheet(self) -> Sheet:
        """Return the losses and regrets of the plan, the last regions of the best routes, and the sensitive pairs."""
        facts = {
            "largest loss per region": f"{self.worst_case:.6g}",
            "smallest loss per region": f"{self.best_case:.6g}",
            "draws": f"{self.draws}",
            "planned route is best": f"{100 * self.unchanged:.3g} %",
            "mean excess over the best route": f"{self.mean_regret:.4g}",
            "95 % quantile of the excess": f"{self.late_regret:.4g}",
            "largest excess": f"{self.worst_regret:.4g}",
        }
        ends = [
            (name + (" (planned)" if name == self.plan.route[-1] else ""), f"{100 * share:.3g} %")
            for name, share in list(self.last.items())[:MOST_ENDS]
        ]
        pairs = (self.table(),) if self.pairs else ()
        lines = [] if self.pairs else [("sensitive to", "no single dissimilarity")]
        if not self.complete:
            said = "not all routes were proved optimal in time: excesses are lower bounds"
            lines.append(("note", f"{said}, and pairs may be missing"))
        return Sheet(
            f"the planned route is best in {100 * self.unchanged:.3g} % of {self.draws} draws",
            (
                Table.of_texts(("plan with dissimilarities within their bounds", ""), facts.items()),
                Table.of_texts(("last region of the best route", "share of draws"), ends),
                *pairs,
            ),
            tuple(lines),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""
        data = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "problem"}
        return {**data, "plan": self.plan.to_dict(), "pairs": [pair.to_dict() for pair in self.pairs]}


def robustness(
    problem: Problem,
    within: float | None = None,
    draws: int = 200,
    seed: int = 0,
    time_limit: float | None = None,
    progress: Progress | None = None,
) -> Robustness:
    """Plan for the upper bounds, and test how the choice and its loss change if dissimilarities are smaller.

    Lower bounds are the problem's `dissimilarity_low`, or smaller than the upper bounds by a share of `within`.
    Unbiased estimates, which `plan` uses if the problem has them, are ignored.

    Parameters
    ----------
    problem
        The planning problem.
    within
        Share by which dissimilarities may be smaller than their given values.
    draws
        Number of sets of dissimilarities to draw.
    seed, time_limit, progress
        As for `plan`.

    Returns
    -------
    Robustness
        The plan, its loss at both bounds, how often it stays best, and the dissimilarities that it is sensitive to.

    Raises
    ------
    InputError
        If there are neither lower bounds nor `within`, or an argument is out of range.
    """
    check_type("problem", problem, Problem)
    check_one_model(problem)
    budget = Budget.of(time_limit, progress)
    problem = problem.with_upper_bounds()
    low, high = dissimilarity_bounds(problem, within)
    draws = as_count("draws", draws, meaning="the number of draws")
    if draws > MOST_DRAWS:
        raise InputError(f"at most {MOST_DRAWS:,} draws", field="draws", value=draws)
    seed = as_count("seed", seed, least=0, meaning="the seed")
    problem = decide_learner(problem, seed, budget.part(0.5).for_one_job())
    upper, part = _with(problem, high), budget.part(DRAWS_SHARE).for_one_job()
    rounds = Rounds(part)
    with rounds.measure():
        planned = plan_within(upper, METHODS["auto"], seed, part.part(PLAN_SHARE))
    rng = np.random.default_rng(seed)
    regrets: list[float] = []
    routes, ends, proved = Counter([planned.order]), Counter[str](), planned.optimal
    for k in range(draws):
        if rounds.is_late:
            break
        with rounds.measure():
            drawn = _with(problem, _draw_between(low, high, rng))
            best = plan_within(drawn, METHODS["auto"], seed, part.part(PLAN_SHARE))
            own = expected_loss(drawn, planned.order)
            better = is_less(best.loss.total, own.total, PRINTED, own.magnitude)
            order = best.order if better else planned.order
            regrets.append(own.total - best.loss.total if better else 0.0)
            ends[problem.regions[order[-1]]] += 1
            routes[order] += 1
            proved = proved and best.optimal
            budget.progress("draws", (k + 1) / draws)
    made = len(regrets)
    if not made:
        reason = "too few seconds for a single draw; give more"
        raise InputError(reason, field="time_limit", value=time_limit)
    counts, _ = slopes(upper.instance, planned.visits)
    pairs, looked = _sensitive_pairs(upper, planned, counts, list(routes), low, high, budget)
    return Robustness(
        plan=replace(planned, problem=problem),
        best_case=planned.loss.total - _spread(counts, low, high, 1.0),
        worst_case=planned.loss.total + _spread(counts, low, high, -1.0),
        draws=made,
        unchanged=regrets.count(0.0) / made,
        mean_regret=math.fsum(regrets) / made,
        late_regret=float(np.quantile(regrets, LATE)),
        worst_regret=max(regrets),
        last={name: count / made for name, count in ends.most_common()},
        pairs=pairs,
        complete=proved and made == draws and looked == len(routes),
        problem=problem,
    )


def dissimilarity_bounds(problem: Problem, within: float | None) -> tuple[FloatArray, FloatArray]:
    """Return the lower and the upper bounds of all dissimilarities."""
    if problem.size > MOST_REGIONS:
        raise InputError(f"{problem.size} regions; robustness supports at most {MOST_REGIONS:,}")
    problem.check_symmetric("robustness varies")
    high = problem.dissimilarities.matrix
    if within is not None:
        if not 0 < as_number("within", within, meaning="the share") <= 1:
            raise InputError("expected a share above 0 and up to 1, such as 0.2", field="within", value=within)
        return (1 - within) * high, high
    if problem.dissimilarity_low is None:
        raise InputError(
            "missing; add lower bounds to the problem, or give the share by which dissimilarities may be smaller "
            "(--within 0.2)",
            field="dissimilarity_low",
        )
    return problem.dissimilarity_low, high


def _with(problem: Problem, delta: FloatArray) -> Problem:
    delta = np.where(delta < SMALLEST_VALUE, 0.0, delta)  # drawn between bounds, of which the lower one may be 0
    return problem.replace(dissimilarity=delta, vectors=None, dissimilarity_low=None)


def _spread(counts: FloatArray, low: FloatArray, high: FloatArray, sign: float) -> float:
    """Return the amount by which smaller dissimilarities can lower the loss (sign 1) or raise it (sign -1)."""
    return math.fsum(np.triu(np.maximum(sign * counts, 0.0) * (high - low), 1).sum(axis=1))


def _draw_between(low: FloatArray, high: FloatArray, rng: np.random.Generator) -> FloatArray:
    share = np.triu(rng.random(low.shape), 1)
    return low + (share + share.T) * (high - low)


def _sensitive_pairs(
    upper: Problem, planned: Plan, counted: FloatArray, routes: list[tuple[int, ...]], low: FloatArray,
    high: FloatArray, budget: Budget,
) -> tuple[tuple[Pair, ...], int]:  # fmt: skip
    """Return the pairs whose lower bound alone makes another route better, and the number of routes examined.

    A loss is linear in each dissimilarity; `counted` are the slopes of the planned route's loss.
    """
    own = planned.loss
    best, least = np.zeros_like(high), np.full(high.shape, np.inf)
    rounds, looked = Rounds(budget), 0
    for order in routes:
        if rounds.is_late or budget.exhausted:
            break
        looked += 1
        with rounds.measure():
            slope = slopes(upper.instance, Routes.of_order(order))[0] - counted
            behind = expected_loss(upper, order).total - own.total
            best = np.maximum(best, slope * (high - low) - behind)
            with np.errstate(divide="ignore", invalid="ignore"):  # how much smaller it must be for a tie
                smaller = behind / slope if behind > 0 else np.zeros_like(high)  # 0 if it is better already
            least = np.where((slope > 0) | (behind < 0), np.minimum(least, smaller), least)
    found, gains = [], np.triu(best, 1).ravel()
    places = np.flatnonzero(gains > PRINTED * own.magnitude)
    for place in places[np.argsort(-gains[places], kind="stable")[:TOLD]].tolist():
        i, j = divmod(place, upper.size)
        switch = float(high[i, j] - least[i, j])
        found.append(Pair((upper.regions[i], upper.regions[j]), float(low[i, j]), float(high[i, j]), switch,
                          float(best[i, j])))  # fmt: skip
    return tuple(found), looked
