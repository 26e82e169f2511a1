"""The bound that a certificate proves, by the package's own checker."""

from __future__ import annotations

import math
from fractions import Fraction

from learnroute.model.certificates import BranchAndBound, Certificate, HeldKarp
from learnroute.model.linear import Linear
from learnroute.verification import held_karp
from learnroute.verification.bounds import Checker, Outcome
from learnroute.verification.checks import EffortExceededError
from learnroute.verification.exact import model_of


def recomputed_bound(objective: Linear, certificate: Certificate, ceiling: float) -> float:
    """Return the bound that a certificate proves, up to `ceiling`; a tree proves no more than its stated bound."""
    if isinstance(certificate, BranchAndBound) or not math.isfinite(ceiling):
        ceiling = min(ceiling, certificate.bound)
    model = model_of(objective)
    checker = Checker(model, certificate)
    goal = Fraction(ceiling) - model.constant.low
    outcome = checker._by_certificate(goal, False) if goal > 0 else Outcome(proved=True)
    if isinstance(certificate, HeldKarp) and model.size <= held_karp.MOST_REGIONS and goal > 0:
        below, order = held_karp.better_order(model, goal)
        outcome = Outcome(follows=model.value(order).low) if below else Outcome(proved=True)
    if outcome.proved:
        return ceiling
    if outcome.follows is None:
        raise EffortExceededError(outcome.why)
    return float(outcome.follows + model.constant.low)
