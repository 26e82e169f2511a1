"""Does a planned order help a learner that the theory knows nothing of? One command, all results, seeds fixed.

    python examples/evidence/study.py -o evidence

It saves each seed as soon as it is done; interrupted, it goes on where it was. `--table` only reports what is there.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from orders import LITERATURE
from report import write_report
from settings import SETTINGS, Setting

from learnroute import Problem, RefusedError, expected_loss, plan
from learnroute.learning import RegionData, calibrate, follow, rehearse, transfer
from learnroute.learning.adapters import as_learner
from learnroute.learning.affine_maps import Draws, LinearTrainings, is_linear
from learnroute.learning.calibration import FORMS, Calibration
from learnroute.learning.data import resample_region
from learnroute.learning.following import regions_of, reseed
from learnroute.learning.measures import measure_of
from learnroute.solvers.rehearsal import RehearsalModel

STUDY = 2027  # all random numbers come from this and the seed
PILOTS = 3  # routes that the law is fitted to
LAWS = {"planned, linear law": ("linear",), "planned": FORMS}


def one_seed(setting: Setting, seed: int) -> dict[str, Any]:
    """Measure D, fit the law, plan, and train along the planned order, those of the literature and random ones."""
    rng = np.random.default_rng((STUDY, seed))
    planning, judged = setting.draw(rng)
    size = len(planning)
    started = time.perf_counter()
    moved = transfer(planning, setting.learner, setting.repeats, setting.error, seed, resample=setting.resample)
    pilots = []
    for k in range(PILOTS):
        sample = (
            {name: resample_region(region, rng) for name, region in planning.items()} if setting.resample else planning
        )
        learner = reseed(setting.learner, 1000 + k)
        pilots.append(follow(rng.permutation(size).tolist(), sample, learner, setting.error))
    cost = time.perf_counter() - started
    laws: dict[str, Calibration] = {}
    for name, forms in LAWS.items():
        try:
            laws[name] = calibrate(moved, pilots, forms=forms)
        except RefusedError as refusal:
            return {"refused": str(refusal), "regions": size}
    problems = {name: law.to_problem() for name, law in laws.items()}
    chosen = {name: list(plan(problem, "search", seed).order) for name, problem in problems.items()}
    chosen |= {name: order(np.array(moved.errors)) for name, order in LITERATURE.items()}
    rehearsal = None
    if setting.resample:  # linear learners, on few samples that each training draws anew
        rehearsal = rehearse(planning, setting.learner, seed=seed)
        chosen["rehearsed"] = list(rehearsal.order)
    lengths = None
    if setting.places is not None:
        where = Problem(coordinates=setting.places(), geographic=True, learner=laws["planned"].learner,
                        transfer=moved.errors, initial=moved.errors.mean(axis=0))  # fmt: skip
        chosen["travel only"] = list(plan(where, "travel", seed).order)
        lengths = {name: expected_loss(where, order).travel * size for name, order in chosen.items()}
    final = _Judge(setting, judged, seed)
    random_orders = [rng.permutation(size).tolist() for _ in range(setting.orders)]
    priced = None if rehearsal is None else rehearsed_errors(planning, setting.learner, seed)
    started = time.perf_counter()
    random = [final(order, k) for k, order in enumerate(random_orders)]
    seconds = (time.perf_counter() - started) / (len(random) * (setting.runs if setting.resample else 1))
    return {
        "law": {k: v for k, v in laws["planned"].to_dict().items() if k != "residuals"},
        "linear_law": {k: v for k, v in laws["planned, linear law"].to_dict().items() if k != "residuals"},
        "predicted": {
            **{
                name: [expected_loss(problem, order).error for order in random_orders]
                for name, problem in problems.items()
            },
            **({} if priced is None else {"rehearsed": [priced(order) for order in random_orders]}),
        },
        "random": random,
        "chosen": {
            name: float(np.mean([final(order, k) for k in range(1 if setting.resample else setting.runs)]))
            for name, order in chosen.items()
        },
        "predicted_chosen": {name: expected_loss(problems["planned"], order).error for name, order in chosen.items()},
        "orders": chosen,
        "lengths": lengths,
        "planning_seconds": cost,
        "route_seconds": seconds,
        "rehearsal": None if rehearsal is None else rehearsal.to_dict(),
        "regions": size,
        "repeats": setting.repeats,
        "pilots": PILOTS,
    }


def rehearsed_errors(planning: Any, learner: Any, seed: int) -> Callable[[list[int]], float]:
    """Return what gives the rehearsed error of an order on the samples to plan with."""
    draws = Draws(list(planning.values()), 32, seed)
    return priced_by(learner, draws, list(planning))


def priced_by(learner: Any, draws: Draws, names: list[str]) -> Callable[[list[int]], float]:
    """Return what gives the mean error of an order over draws, by affine maps: what training a linear learner does."""
    found = LinearTrainings(learner, draws, np.ones(len(names)), names).maps(len(names))
    priced = RehearsalModel(found.maps, found.constants, found.start, found.root, found.aims, found.rest)
    return lambda order: float(priced.errors(np.array(order)).mean())


class _Judge:
    """The mean final error of an order on the samples that nothing was planned with."""

    def __init__(self, setting: Setting, judged: Any, seed: int) -> None:
        self.setting, self.seed = setting, seed
        _, regions, self.classes = regions_of(list(judged), judged)
        rng = np.random.default_rng((STUDY, seed, 1))
        self.draws = [regions]
        if setting.resample:  # the same draws for each order
            self.draws = [[resample_region(region, rng) for region in regions] for _ in range(setting.runs)]
        self.priced = None
        if setting.resample and is_linear(setting.learner) and setting.error == "squared":  # the same, in less time
            draws = Draws(regions, setting.runs, seed)
            draws.divisions = self.draws
            self.priced = priced_by(setting.learner, draws, list(judged))

    def __call__(self, order: list[int], run: int) -> float:
        if self.priced is not None:
            return self.priced(order)
        return float(np.mean([self._trained(order, regions, run) for regions in self.draws]))

    def _trained(self, order: list[int], regions: Any, run: int) -> float:
        learner = reseed(self.setting.learner, 5000 + 100 * self.seed + run % self.setting.runs)
        model = as_learner(learner, self.classes)
        for k in order:
            model.partial_fit(*regions[k].train)
        everything = [np.concatenate([region.test[part] for region in regions]) for part in (0, 1)]
        whole = RegionData((everything[0][:1], everything[1][:1]), (everything[0], everything[1]))
        return float(measure_of(self.setting.error)(model, whole))  # regions have the same number of test samples


def file_of(folder: Path, name: str, seed: int) -> Path:
    """Return where a seed's results are."""
    return folder / f"{name.replace(',', '').replace(' ', '-')}-{seed}.json"


def saved(folder: Path, name: str, seed: int) -> str:
    """Run one seed of a setting, unless it is there; return what to say."""
    file = file_of(folder, name, seed)
    if file.exists():
        return ""
    try:
        result = one_seed(SETTINGS[name], seed)
    except ImportError as error:
        return f"{name}: skipped, {error}"
    part = file.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(result))
    part.replace(file)
    return f"{name}, seed {seed}: done"


def main() -> None:
    """Run what is not there yet, and write tables and pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("evidence"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--orders", type=int, help="random orders, instead of those of the settings")
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS), choices=list(SETTINGS), metavar="SETTING")
    parser.add_argument("--workers", type=int, default=2, help="seeds at a time")
    parser.add_argument("--table", action="store_true", help="run nothing, report what is there")
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    seeds = range(given.first_seed, given.first_seed + given.seeds)
    halves = (seeds[: given.seeds // 2], seeds[given.seeds // 2 :])  # something of each setting early
    jobs = [] if given.table else [(name, seed) for half in halves for name in given.settings for seed in half]
    if given.orders:
        for setting in SETTINGS.values():
            object.__setattr__(setting, "orders", given.orders)
    if given.workers > 1 and jobs:
        import joblib

        tasks = (joblib.delayed(saved)(given.output, *job) for job in jobs)
        done = joblib.Parallel(n_jobs=given.workers, return_as="generator_unordered", pre_dispatch=given.workers)(tasks)
    else:
        done = (saved(given.output, *job) for job in jobs)
    said = set()
    for line in done:
        if line and line not in said:
            print(line, flush=True)
            said.add(line)
    found = {}
    for name in given.settings:
        files = [file_of(given.output, name, seed) for seed in seeds]
        found[name] = [json.loads(file.read_text()) for file in files if file.exists()]
    write_report(given.output, {name: seeds for name, seeds in found.items() if seeds})
    print(f"The tables are {given.output / 'tables.md'}, the pictures beside it.")


if __name__ == "__main__":
    main()
