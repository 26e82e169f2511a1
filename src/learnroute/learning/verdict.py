"""Whether to plan by a calibrated law: a verdict, its reason, and what would help.

All thresholds are here. Predictions of left-out pilots decide first (selection.py), then the intervals.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from learnroute.errors import percent
from learnroute.learning.laws import COMMON, Coefficient
from learnroute.learning.transfers import Transfer
from learnroute.model.learners.calibrated import NOT_SUPPORTED, SUPPORTED, WEAK

MEANING = {SUPPORTED: "plan with it", WEAK: "plan with care", NOT_SUPPORTED: "do not plan with it"}

ENOUGH = 0.5  # skill of a supported law: it halves the squared error of predictions that ignore the training region
NO_SKILL = 0.0  # skill at which D might as well be the same for all regions, so that no order is better than another
WIDEST = 0.5  # width of p₁'s interval within [0, 1]; wider ones do not separate forgetting most from retaining most
OFF = 0.1  # tolerated deviation from the law of a coefficient, of the sum of those of e and D, and of errors just after
# training, these in standard deviations of D's entries
FEWEST_PILOTS = 2  # a single pilot cannot show whether another route follows the same law
NOISY = 0.2  # share of the variance of D due to noise of single trainings; more biases D's coefficient towards 0
MOST_PILOTS = 30  # maximum number of pilots to recommend


class Evidence(NamedTuple):
    """The evidence on which the verdict is based.

    `skill` is the relative reduction of the squared error of order-blind predictions in left-out pilots. `free` is the
    coefficient of D in the free fit, and `total` the sum of the coefficients of e and D. `own` is the mean difference
    between errors just after training, in the region of the training, and those that the law expects by D's diagonal.
    `plain` are p₁ and q without bounds. `same_learner` says whether D and the pilots belong to one learner (None:
    unknown).
    """

    form: str
    skill: float
    retention: Coefficient
    free: Coefficient
    total: Coefficient
    own: Coefficient
    plain: tuple[float, float]
    pilots: int
    same_learner: bool | None


class Verdict(NamedTuple):
    """Whether to plan by a law, with its reason and, unless nothing is missing, advice on what would help."""

    verdict: str
    reason: str
    advice: str | None
    notes: tuple[str, ...]


def judge(evidence: Evidence, transfer: Transfer) -> Verdict:
    """Return the verdict on a law."""
    against, doubts = _against(evidence), _doubts(evidence, transfer)
    if against:
        return Verdict(NOT_SUPPORTED, "; ".join(against), _advice(evidence, transfer), tuple(doubts))
    if doubts:
        return Verdict(WEAK, "; ".join(doubts), _advice(evidence, transfer), ())
    reason = (
        f"left-out pilots are predicted with {percent(evidence.skill)} less squared error than by ignoring where the "
        f"learner trained; p₁ is {evidence.retention}, the coefficient of D {evidence.free}"
    )
    return Verdict(SUPPORTED, reason, None, ())


def _against(evidence: Evidence) -> list[str]:
    found = []
    if evidence.free.low <= 0:
        found.append(f"the coefficient of D, {evidence.free}, does not differ significantly from 0")
    if evidence.retention.high >= 1:
        found.append(f"p₁, {evidence.retention}, does not differ significantly from 1, where training changes nothing")
    if evidence.skill <= NO_SKILL:
        found.append(f"{_left_out(evidence)} are predicted no better than by ignoring where the learner trained")
    return found


def _doubts(evidence: Evidence, transfer: Transfer) -> list[str]:
    found, kept, total = [], evidence.retention, evidence.total
    if NO_SKILL < evidence.skill < ENOUGH:
        found.append(
            f"{_left_out(evidence)} are predicted with only {percent(evidence.skill)} less squared error than by "
            "ignoring where the learner trained"
        )
    if min(1.0, kept.high) - max(0.0, kept.low) > WIDEST:
        found.append(f"the interval of p₁, {kept}, is too wide to tell how much is retained")
    if evidence.pilots < FEWEST_PILOTS:
        found.append("a single pilot route cannot show whether other routes follow the same law")
    if _is_off(total, 1.0):
        found.append(f"the coefficients of e and D add up to {total}, not to 1: predicted errors may be off")
    if _differs_on_diagonal(evidence, transfer):
        found.append(
            f"errors just after training differ by {evidence.own} from what D's diagonal says: predicted errors may be "
            "off"
        )
    retained, coupled = evidence.plain
    if evidence.form != COMMON and not (coupled > -OFF and coupled - retained < OFF and -OFF < retained < 1 + OFF):
        found.append(
            f"without bounds, least squares has p₁ = {retained:.3g} and q = {coupled:.3g}; a law has 0 <= q <= p₁ <= 1"
        )
    return found


def _is_off(found: Coefficient, wanted: float, scale: float = 1.0) -> bool:
    """Return whether a number differs from the law's by more than `OFF`, and by more than chance."""
    return not found.holds(wanted) and abs(found.value - wanted) > OFF * scale


def _differs_on_diagonal(evidence: Evidence, transfer: Transfer) -> bool:
    return _is_off(evidence.own, 0.0, float(transfer.errors.std()))


def _left_out(evidence: Evidence) -> str:
    return "left-out pilots" if evidence.pilots > 1 else "left-out visits"


def _advice(evidence: Evidence, transfer: Transfer) -> str:
    """Say what would help."""
    found = []
    if evidence.same_learner is False:
        found.append("measure the transfer matrix with the learner of the pilots")
    if evidence.free.high < OFF:
        found.append("train longer in each region: training hardly changes the errors of this learner")
    else:
        needed = _count_pilots(evidence)
        if evidence.pilots < needed <= MOST_PILOTS:
            found.append(f"follow about {needed} pilot routes")
    spread = transfer.standard_errors
    if np.isnan(spread).any():
        found.append(
            "repeat the transfer matrix, with resampling if the learner is deterministic: its noise is unknown"
        )
    elif float((spread**2).mean()) > NOISY * float(transfer.errors.var()):
        found.append(f"repeat the transfer matrix {4 * int(transfer.trainings.max())} times: much of it is noise")
    if _is_off(evidence.total, 1.0) or _differs_on_diagonal(evidence, transfer):
        found.append("train as long for the transfer matrix as along a route")
    return (
        "; ".join(found) or "try other features, longer training or more pilot routes: the law may not fit this learner"
    )


def _count_pilots(evidence: Evidence) -> int:
    """Return approximately how many pilots make the intervals narrow enough, if the estimates stay the same."""
    kept, free = evidence.retention, evidence.free
    shrink = [(min(1.0, kept.high) - max(0.0, kept.low)) / WIDEST]
    if free.low <= 0:
        shrink.append((free.value - free.low) / free.value if free.value > 0 else math.inf)
    if kept.high >= 1:
        shrink.append((kept.high - kept.value) / (1 - kept.value) if kept.value < 1 else math.inf)
    most = min(max(shrink), float(MOST_PILOTS))  # widths are proportional to 1/√pilots
    return max(FEWEST_PILOTS, math.ceil(evidence.pilots * most**2))
