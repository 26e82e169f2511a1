"""Measurements for all claims of the paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.model.learners import Learner
from learnroute.model.metric import check_metric
from learnroute.reproduction.growth import Timing, time_algorithm1
from learnroute.reproduction.lemmas import LemmaCheck, check_lemma
from learnroute.reproduction.readings import Improvement, improvements
from learnroute.reproduction.scales import FAMILIES, SAMPLES, SEED, UNDER, Scale
from learnroute.reproduction.worst_cases import WorstCase, find_worst
from learnroute.solvers.contract import Progress
from learnroute.study.engines import engine
from learnroute.study.families import random_problem
from learnroute.study.store import Store
from learnroute.study.summary import grouped_ratios
from learnroute.study.sweeps import sweep

GROUP = ("family", "regions", "features", "noise", "method")

Group = tuple[str, int, int, float, str]
Ratios = dict[Group, list[float]]


@dataclass
class Reproduction:
    """All measurements."""

    scale: Scale
    figure1: Ratios = field(default_factory=dict)
    figure2: Ratios = field(default_factory=dict)
    improvements: list[Improvement] = field(default_factory=list)
    lemmas: list[LemmaCheck] = field(default_factory=list)
    worst: list[WorstCase] = field(default_factory=list)
    growth: list[Timing] = field(default_factory=list)
    violated: dict[tuple[str, int], float] = field(default_factory=dict)  # share of triples, by family and size


def reproduce(scale: Scale, folder: Path, workers: int | None = None, progress: Progress | None = None) -> Reproduction:
    """Run all measurements; sweeps are stored in `folder`, so that an interrupted run can be resumed."""
    report = progress or (lambda _stage, _share: None)
    found = Reproduction(scale)
    for number, experiment in ((1, scale.figure1), (2, scale.figure2)):
        place = folder / "sweeps" / f"{scale.name}-figure{number}"
        sweep(experiment, place, True, workers, None, lambda _, share, n=number: report(f"figure {n}", share))  # type: ignore[misc]
        store = Store(place)
        setattr(found, f"figure{number}", grouped_ratios(store.rows(), GROUP))
        _refuse_failures(store, found.figure1 if number == 1 else found.figure2)
    found.improvements = improvements(found.figure2)
    streams = np.random.SeedSequence(SEED).spawn(len(scale.lemmas))
    with engine(workers) as (run, _):
        checks = []
        for number, check in run(_check_lemma, enumerate(zip(scale.lemmas, streams, strict=True))):
            checks.append((number, check))
            report("lemmas", len(checks) / len(scale.lemmas))
        found.lemmas = [check for _, check in sorted(checks, key=lambda entry: entry[0])]
        for case in run(find_worst, scale.searches):
            found.worst.append(case)
            report("worst cases", len(found.worst) / len(scale.searches))
    found.worst.sort(key=lambda case: scale.searches.index(case.search))
    found.growth = list(_growth(scale, report))
    found.violated = {
        (family, size): _violation_rate(family, size, scale.triples) for family in FAMILIES for size in (6, 10, 14)
    }
    return found


def _check_lemma(entry: tuple[int, Any]) -> tuple[int, LemmaCheck]:
    number, ((learner, regions, runs), stream) = entry
    return number, check_lemma(learner, regions, runs, stream)


def _growth(scale: Scale, report: Progress) -> Iterator[Timing]:
    cases = [(family, size) for family in ("uniform", "closure", "euclidean") for size in scale.growth]
    for k, (family, size) in enumerate(cases):
        yield time_algorithm1(family, size, scale.repeats)
        report("growth", (k + 1) / len(cases))


def _violation_rate(family: str, size: int, problems: int) -> float:
    reports = [check_metric(random_problem(family, size, Learner(UNDER, SAMPLES), k).travel) for k in range(problems)]
    return sum(report.violations for report in reports) / sum(report.triples for report in reports)


def _refuse_failures(store: Store, groups: Ratios) -> None:
    expected = store.experiment.size * len(store.experiment.methods)
    solved = sum(len(values) for values in groups.values())
    if solved != expected:
        raise InputError(
            f"{expected - solved} of {expected} rows have no ratio; see `learnroute rows`", where=store.folder
        )
