"""Attacks on the package: each makes one case from a seed and raises an exception if the package is wrong.

`make fuzz` runs them with new seeds for some minutes, the tests with a few hundred fixed ones.
"""

from __future__ import annotations

import copy
import functools
import json
import math
import random
import tempfile
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from claims import false_claims, mixed_magnitudes, random_fleet, random_problem, random_visits
from damaged_files import JUNK, Reader, damage, readers
from forgeries import at, case, case_below_zero, check_verdicts, lists_in, mutate, numbers_in
from learnroute import InputError, Plan, Problem, RefusedError, plan, read_problem, verify
from learnroute.formats.json_files import dumps, parse, problem_to_dict
from learnroute.web.refusals import Refusal
from learnroute.web.settings import Limits
from learnroute.web.tasks import TASKS, Result, run_task
from oracle import law_of

METHODS = ("auto", "search", "nearest", "algorithm1")
LIMITS = Limits(regions=20, seconds=5.0)
MUTANTS = 30  # per plan
CLAIMS = {"optimum": ("loss", "total"), "bound": ("lower_bound",), "certificate": ("certificate", "bound")}
NUMBERS = (
    "loss", "loss_in_travel_units", "travel_cost", "travel_rate", "travels", "expected_errors", "contributions",
    "untrained", "label_noise", "loss_at_most", "importance", "gap", "certified_ratio",
)  # fmt: skip
SMALL = 1e-200  # changes that are too small to be told from what underflows
OTHERS = (0, -1, 0.5, 2, 3, 1e-300, 1e9, 1e60, 1e300, 10**30, None, "x", True)  # replacements for numbers


def attack_plans(seed: int, mixed: bool = False) -> None:
    """Check all claims of plans against all orders in fractions, over all rules, ends, depots and magnitudes."""
    problem = random_problem(seed)
    problem = mixed_magnitudes(problem, seed) if problem is not None and mixed else problem
    if problem is None:
        return
    exact = law_of(problem)
    least = exact.least()
    for method in METHODS:
        try:
            found = plan(problem, method)
        except RefusedError:  # as by Algorithm 1 for asymmetric travel
            continue
        _check_honest(problem, found, false_claims(exact, least, found))


def attack_visits(seed: int, mixed: bool = False) -> None:
    """Check plans with optional visits against all sequences of visits."""
    problem = random_visits(seed, 4)
    problem = mixed_magnitudes(problem, seed) if problem is not None and mixed else problem
    if problem is None:
        return
    exact = law_of(problem)
    losses = {visits: exact.total(visits) for visits in exact.orders()}
    for method in ("auto", "search"):
        try:
            found = plan(problem, method)
        except InputError as refusal:
            assert not losses or method == "search", refusal
            continue
        assert found.order in losses, f"{found.order} does not keep the rules about visits"
        total, least = losses[found.order], min(losses.values())
        room = Fraction(1, 10**9) * abs(least) + Fraction(found.loss.magnitude) / 10**11
        wrong = []
        if found.optimal and total > least + room:
            wrong.append(f"optimal, but {float(total)} is above {float(least)}")
        if found.lower_bound is not None and Fraction(found.lower_bound) > least + room:
            wrong.append(f"lower_bound {found.lower_bound} is above {float(least)}")
        _check_honest(problem, found, wrong)


def attack_fleets(seed: int, mixed: bool = False) -> None:
    """Check plans of fleets against all routes of all vehicles and models."""
    problem = random_fleet(seed)
    problem = mixed_magnitudes(problem, seed) if problem is not None and mixed else problem
    if problem is None or problem.fleet_rules.single:
        return
    exact = law_of(problem)
    least = exact.least()
    for method in ("auto", "search"):
        try:
            found = plan(problem, method)
        except InputError as refusal:
            assert least == math.inf or method == "search", refusal
            continue
        _check_honest(problem, found, false_claims(exact, least, found))


def attack_magnitudes(seed: int) -> None:
    """Do the same with numbers of very different magnitudes in one problem."""
    (attack_plans, attack_visits, attack_fleets)[seed % 3](seed, mixed=True)


def _check_honest(problem: Problem, found: Plan, wrong: list[str]) -> None:
    assert wrong == [], wrong
    refuted = [check for check in verify(problem, parse(dumps(found.to_dict()))) if check.verdict == "refuted"]
    assert refuted == [], refuted


def attack_certificates(seed: int) -> None:
    """Mutate plans and certificates, and check that the verdicts agree with the truth."""
    rng = np.random.default_rng(seed)
    forged = case_below_zero(seed) if seed % 2 else case(seed)
    method = str(rng.choice(["exact", "search", "random", "auto"]))
    data = json.loads(json.dumps(plan(forged.problem, method, seed=seed % 1000).to_dict()))
    for _ in range(MUTANTS):
        check_verdicts(forged, mutate(forged, data, rng))


def attack_forgeries(seed: int) -> None:
    """Mutate plans with optional visits and of fleets, and check that no false bound or optimum is confirmed."""
    problem = random_visits(seed, 4) if seed % 2 else random_fleet(seed)
    if problem is None:
        return
    least = law_of(problem).least()
    if least == math.inf:
        return
    found = plan(problem)
    room = Fraction(1, 10**9) * abs(least) + Fraction(found.loss.magnitude) / 10**11
    rng, data = np.random.default_rng(seed), json.loads(dumps(found.to_dict()))
    for _ in range(MUTANTS):
        forged = mutate(None, data, rng)
        try:
            verdicts = {check.what: check.holds for check in verify(problem, forged)}
        except InputError:
            continue
        if verdicts.get("loss"):
            claims = {what: Fraction(at(forged, path)) for what, path in CLAIMS.items() if verdicts.get(what)}
            wrong = [what for what, claim in claims.items() if claim > least + room]
            assert wrong == [], (wrong, float(least), dumps(forged))


def attack_members(seed: int) -> None:
    """Change single numbers of honest plans by a factor near 1, and check that each change is refuted."""
    makers: tuple[Callable[[int], Problem | None], ...] = (random_problem, lambda k: random_visits(k, 4), random_fleet)
    problem = makers[seed % 3](seed)
    if problem is None:
        return
    rng = np.random.default_rng(seed)
    for method in ("auto", "search"):
        try:
            found = plan(problem, method)
        except InputError:
            continue
        data = parse(dumps(found.to_dict()))
        _check_honest(problem, found, [])
        for path in numbers_in(data):
            changed, old = copy.deepcopy(data), at(data, path)
            new = old * (1 + float(rng.choice([-1, 1]) * 10.0 ** rng.uniform(-6, -1)))
            if path[0] in NUMBERS and abs(new - old) > (1e-12 if path[0] == "gap" else SMALL):
                at(changed, path[:-1])[path[-1]] = new
                refuted = {check.what for check in verify(problem, changed) if check.verdict == "refuted"}
                assert path[0] in refuted, (path, old, new)


@functools.cache
def _readers() -> list[Reader]:
    with tempfile.TemporaryDirectory() as folder:
        return readers(Path(folder))


def attack_files(seed: int) -> None:
    """Damage files of each format, and check that they are read or rejected in one line."""
    rng = random.Random(seed)
    for reader in _readers():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file = rng.choice(list(reader.files)) if rng.random() < 0.3 or not reader.main else reader.main
            for each, data in reader.files.items():
                (folder / each).write_bytes(damage(data, rng) if each == file else data)
            try:
                assert isinstance(read_problem(folder / reader.main), Problem)
            except InputError as refusal:
                assert "\n" not in str(refusal), refusal


def attack_requests(seed: int) -> None:
    """Mutate requests of each task, and check that they are answered, or rejected with 400 or 422 in one line."""
    rng = random.Random(seed)
    problem = random.Random(seed).choice([random_problem, random_visits, random_fleet])(seed)
    for task, kind in TASKS.items():
        body: dict[str, Any] = dict(kind.request.model_json_schema().get("example", {}))
        if problem is not None and "problem" in body and rng.random() < 0.6:
            body["problem"] = problem_to_dict(problem)
        if "time_limit" in kind.request.model_fields:
            body["time_limit"] = 0.1
        for _ in range(rng.choice((1, 1, 2, 4))):
            _change(body, rng)
        data = dumps(body).encode()
        data = damage(data, rng) if rng.random() < 0.2 else data
        try:
            assert isinstance(run_task(task, data, LIMITS, lambda _stage, _share: None), Result), task
        except Refusal as refusal:
            assert refusal.status in (400, 422), (task, refusal)
            assert "\n" not in refusal.detail, (task, refusal)


def _change(body: Any, rng: random.Random) -> None:
    """Replace a number, empty a list, or replace a member by another value."""
    numbers, lists = numbers_in(body), lists_in(body)
    turn = rng.random()
    if turn < 0.5 and numbers:
        path = rng.choice(numbers)
        at(body, path[:-1])[path[-1]] = rng.choice(OTHERS)
    elif turn < 0.7 and lists:
        row = at(body, rng.choice(lists))
        row[:] = rng.choice([[], row[:1], row[1:], row + row, row[::-1]])
    elif body:
        name = rng.choice(list(body))
        body[name] = rng.choice([None, [], {}, "", 0, [[0]], rng.choice(JUNK).decode("latin-1"), body[name]])


ATTACKS: dict[str, Callable[[int], None]] = {
    "plans": attack_plans,
    "visits": attack_visits,
    "fleets": attack_fleets,
    "magnitudes": attack_magnitudes,
    "certificates": attack_certificates,
    "forgeries": attack_forgeries,
    "members": attack_members,
    "files": attack_files,
    "requests": attack_requests,
}
