"""The pipeline from an instance to an answer: start, improvers in turn, rungs of proofs in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from learnroute.errors import RefusedError
from learnroute.model.instance import Instance
from learnroute.model.routes import Routes
from learnroute.solvers.contract import Answer, Budget, Improver, Rung
from learnroute.solvers.exact.proof import branching_alone
from learnroute.solvers.methods import Method
from learnroute.solvers.params import DEFAULTS, SolverParams
from learnroute.solvers.ruin_and_recreate import RuinAndRecreate, infeasible
from learnroute.solvers.tours import GIVEN, TourSearch, construct_start, shorten_ties

IMPROVERS: tuple[Improver, ...] = (TourSearch(), RuinAndRecreate())


def solve(
    instance: Instance, method: Method, rng: np.random.Generator, budget: Budget, params: SolverParams = DEFAULTS,
    initial: Routes | None = None, bounds: bool = True,
) -> Answer:  # fmt: skip
    """Return routes and what is proved about them. Without `bounds`, only optima are proved.

    `initial` are routes to start from, which may violate the rules. If they do not, the answer is never worse.
    """
    used = instance.without_idle()
    rungs: Iterator[Rung] = (rung for rung in method.rungs if (bounds or rung.exact) and rung.supports(used, params))
    first, kept = None if method.construct is not None else next(rungs, None), False
    if method.construct is not None:
        answer = _construct(used, method, rng, budget, params)
    elif first is not None and first.is_alone(used):
        answer = first.prove(used, None, rng, budget, params)
    else:
        usable = [first, *rungs] if first is not None else []
        kept = any(rung.exact for rung in usable)  # the proofs may not need the rest of the time
        part = replace(budget, spend_all=False) if kept else budget
        answer, rungs = _search(used, method, usable, rng, part, params, initial), iter(usable)
    if used.rate == 0 and used.permutation and method.warm:
        answer = replace(answer, routes=shorten_ties(used, answer.routes, budget, params))
    answer = climb(used, rungs, answer, rng, budget, params)
    if kept and budget.spend_all and not answer.optimal and not budget.exhausted:
        better = _improve(used, answer, rng, budget, params)
        answer = answer if better is None else replace(answer, routes=better.routes)
    return replace(answer, routes=answer.routes.resize(instance.fleet.vehicles))


def climb(
    instance: Instance, rungs: Iterator[Rung], answer: Answer, rng: np.random.Generator, budget: Budget,
    params: SolverParams,
) -> Answer:  # fmt: skip
    """Return an answer with what the rungs prove in turn, until it is proved optimal; one lower bound is enough."""
    while not answer.optimal and (rung := next(rungs, None)) is not None:
        if rung.exact or answer.certificate is None:
            answer = rung.prove(instance, answer, rng, budget, params)
    return answer


def _search(
    instance: Instance, method: Method, rungs: Sequence[Rung], rng: np.random.Generator, budget: Budget,
    params: SolverParams, initial: Routes | None,
) -> Answer:  # fmt: skip
    """Return the best routes found, in the time that the rungs leave."""
    if method.must_prove and not any(rung.exact for rung in rungs):
        raise _refusal(instance, params)
    part = budget.part(min((rung.search_share(instance, budget, params) for rung in rungs), default=1.0))
    answer = None if initial is None else Answer(initial, GIVEN)
    if method.starts_from_algorithm1 and instance.permutation:
        answer = construct_start(instance, rng, budget, params, initial) or answer
    found = _improve(instance, answer, rng, part, params)
    if found is None:
        raise infeasible(instance, budget, params)
    return found


def _improve(
    instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
) -> Answer | None:
    """Return the answer of the improvers in turn; None if no routes were found that satisfy the rules."""
    for improver in IMPROVERS:
        if improver.supports(instance, params):
            answer = improver.improve(instance, answer, rng, budget, params)
    return answer


def _construct(
    instance: Instance, method: Method, rng: np.random.Generator, budget: Budget, params: SolverParams
) -> Answer:
    """Return the route of a method that constructs an order."""
    if not instance.permutation:
        feature = "optional visits (visits)" if instance.single else "several vehicles or models (fleet)"
        raise RefusedError(f"method {method.name} does not support {feature}; use auto, exact or search")
    assert method.construct is not None
    seen = replace(instance, rate=1.0) if method.by_travel and instance.rate == 0 else instance
    found = method.construct(seen.orders.typical, rng, budget, params)
    return Answer(instance.orders.routes(found.order), method.name, complete=found.complete, notes=found.notes)


def _refusal(instance: Instance, params: SolverParams) -> RefusedError:
    """Return the reason why no optimum can be proved."""
    size, most = len(instance.visits.regions), params.suffix_labelling.most_regions
    search = "use method auto or search, which bound the distance to the optimum"
    if not instance.single:
        fleet = instance.fleet
        count = f"{fleet.size} {'vehicles' if fleet.vehicles > 1 else 'models'}"
        return RefusedError(f"exact: too many routes of {count}; use method auto or search")
    if not instance.permutation:
        visits = f"up to {instance.visits.at_most} visits to {size} regions"
        return RefusedError(f"exact: too many sequences of {visits}; use method auto or search")
    if instance.coupled and size <= most:
        return RefusedError(
            "exact: with steps so long that P has negative eigenvalues, optima are proved up to 10 regions; " + search
        )
    if instance.coupled:
        reason = f"with a regularised learner, proofs are attempted up to {most} regions"
        return RefusedError(f"exact: {size} regions; {reason}; {search}")
    proof = params.proof
    alone, many = branching_alone(instance.orders.relaxation, proof), proof.branch_and_cut.most_regions
    more = "" if alone else f" (up to {many} where travel is symmetric and m < n)"
    reason = f"proofs are attempted up to {many if alone else proof.ng_route.most_regions} regions{more}"
    return RefusedError(f"exact: {instance.orders.size} regions; {reason}; {search}")
