"""Everything the paper claims, measured: what is run, how much of it, and the tables it gives."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError
from learnroute.formats.csv_files import table_text
from learnroute.formats.files import write_text
from learnroute.formats.json_files import write as write_problem_file
from learnroute.kernels import always_compiled
from learnroute.model.metric import check_metric
from learnroute.model.problem import Learner
from learnroute.solvers.contract import Progress
from learnroute.study.engines import engine
from learnroute.study.experiment import Experiment
from learnroute.study.families import random_problem
from learnroute.study.growth import Timing, time_algorithm1
from learnroute.study.lemmas import LemmaCheck, check_lemma
from learnroute.study.readings import Improvement, improvements
from learnroute.study.store import Store
from learnroute.study.summary import Statistics, ratios
from learnroute.study.sweeps import sweep
from learnroute.study.worst_cases import Search, Space, WorstCase, find_worst

SAMPLES = 100  # the paper's n
UNDER, OVER = 80, 120  # the paper's m in Figure 2
NOISE = (0.0, 0.1, 0.5, 1.0)
FAMILIES = ("uniform", "closure", "uniform5", "euclidean")
METHODS = ("algorithm1", "baseline", "exact")
SEED = 2025
GROUP = ("family", "regions", "features", "noise", "method")

Group = tuple[str, int, int, float, str]
Ratios = dict[Group, list[float]]


@dataclass(frozen=True)
class Scale:
    """How much is run: `QUICK` takes about a minute, `FULL` some ten."""

    name: str
    figure1: Experiment
    figure2: Experiment
    lemmas: tuple[tuple[Learner, int, int], ...]  # learner, regions, runs
    searches: tuple[Search, ...]
    growth: tuple[int, ...]  # numbers of regions
    repeats: int
    triples: int  # problems a family for the metric check


@dataclass
class Reproduction:
    """All that was measured."""

    scale: Scale
    figure1: Ratios = field(default_factory=dict)
    figure2: Ratios = field(default_factory=dict)
    improvements: list[Improvement] = field(default_factory=list)
    lemmas: list[LemmaCheck] = field(default_factory=list)
    worst: list[WorstCase] = field(default_factory=list)
    growth: list[Timing] = field(default_factory=list)
    violated: dict[tuple[str, int], float] = field(default_factory=dict)  # share of triples, by family and size


def _experiment(regions: Iterable[int], features: Iterable[int], replicates: int, draws: int) -> Experiment:
    return Experiment(
        FAMILIES, tuple(regions), tuple(features), (SAMPLES,), NOISE, METHODS, replicates, draws, SEED, "reproduction"
    )


def _searches(
    regions: Iterable[int], features: Iterable[int], spaces: Iterable[Space], starts: int, steps: int
) -> tuple[Search, ...]:
    return tuple(
        Search(space, size, Learner(m, SAMPLES), starts, steps, SEED + size)
        for space in spaces
        for m in features
        for size in regions
    )


QUICK = Scale(
    name="quick",
    figure1=_experiment([6, 10], [20, 50, 80, 95, 105, 120, 200, 1000], 8, 5),
    figure2=_experiment([2, 4, 6, 8, 10, 12], [UNDER, OVER], 30, 10),
    lemmas=(
        (Learner(UNDER, SAMPLES, 0.5), 5, 400), (Learner(OVER, SAMPLES, 0.5), 5, 400),
        (Learner(10, 30, 1.0), 6, 5000), (Learner(30, 10, 1.0), 6, 5000),
    ),
    searches=_searches([5], [UNDER, OVER, 10_000], ("metric", "metric-in-range", "raw-in-range"), 2, 800),
    growth=(50, 100, 200, 400),
    repeats=2,
    triples=50,
)  # fmt: skip
FULL = Scale(
    name="full",
    figure1=_experiment(
        [4, 6, 10, 14],
        [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 98, 102, 105, 110, 120, 130, 140, 160, 180, 200, 250, 300, 400, 600,
         1000],
        60, 10,
    ),
    figure2=_experiment(range(2, 15), [UNDER, OVER], 100, 20),
    lemmas=tuple(
        (Learner(m, n, noise), size, runs)
        for m, n, size, runs in ((80, 100, 5, 3000), (120, 100, 5, 3000), (10, 30, 8, 40_000), (30, 10, 8, 40_000))
        for noise in (0.0, 0.5, 1.0)
        if m > n or noise > 0
    ),
    searches=_searches(
        [4, 6, 8], [UNDER, 102, OVER, 200, 1000, 10_000], ("metric", "metric-in-range", "raw-in-range"), 4, 1500
    ),
    growth=(50, 100, 200, 400, 800, 1600),
    repeats=2,
    triples=200,
)  # fmt: skip


def reproduce(scale: Scale, folder: Path, workers: int | None = None, progress: Progress | None = None) -> Reproduction:
    """Run everything; sweeps are kept in `folder`, so that an interrupted run goes on where it was."""
    tell = progress or (lambda _stage, _share: None)
    found = Reproduction(scale)
    for number, experiment in ((1, scale.figure1), (2, scale.figure2)):
        place = folder / "sweeps" / f"{scale.name}-figure{number}"
        sweep(experiment, place, True, workers, None, lambda _, share, n=number: tell(f"figure {n}", share))  # type: ignore[misc]
        store = Store(place)
        setattr(found, f"figure{number}", ratios(store.rows(), GROUP))
        _refuse_failures(store, found.figure1 if number == 1 else found.figure2)
    found.improvements = improvements(found.figure2)
    streams = np.random.SeedSequence(SEED).spawn(len(scale.lemmas))
    with engine(workers) as (run, _):
        checks = []
        for number, check in run(_check_lemma, enumerate(zip(scale.lemmas, streams, strict=True))):
            checks.append((number, check))
            tell("lemmas", len(checks) / len(scale.lemmas))
        found.lemmas = [check for _, check in sorted(checks, key=lambda entry: entry[0])]
        for case in run(_find_worst, scale.searches):
            found.worst.append(case)
            tell("worst cases", len(found.worst) / len(scale.searches))
    found.worst.sort(key=lambda case: scale.searches.index(case.search))
    found.growth = list(_growth(scale, tell))
    found.violated = {
        (family, size): _violated(family, size, scale.triples) for family in FAMILIES for size in (6, 10, 14)
    }
    return found


def write_tables(found: Reproduction, folder: Path) -> None:
    """Write every table as CSV, and the worst instances as problems for `learnroute compare`."""
    for name in ("tables", "worst"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    for name, rows in tables(found).items():
        write_text(folder / "tables" / f"{name}.csv", table_text(rows))
    for case in found.worst:
        write_problem_file(case.problem, folder / "worst" / f"{case_name(case)}.json")


def tables(found: Reproduction) -> dict[str, list[list[Any]]]:
    """Return all tables by name, each with its header."""
    return {
        "figure1": _ratio_table(found.figure1),
        "figure2": _ratio_table(found.figure2),
        "improvement": [
            ["regime", "family", "noise", "regions", "reading", "improvement", "low", "high", "claimed", "holds"],
            *([i.regime, i.family, i.noise, i.regions, i.reading, i.value, i.low, i.high, i.claimed, i.holds]
              for i in found.improvements),
        ],
        "lemmas": [
            ["lemma", "regions", "features", "samples", "noise", "runs", "closed_form", "simulated", "standard_error",
             "deviation"],
            *([*vars(check).values(), check.deviation] for check in found.lemmas),
        ],
        "worst": [
            ["space", "regions", "features", "samples", "worst_of_random", "worst_climbed", "paper_bound",
             "sharper_bound", "flat_bound", "problem"],
            *([c.search.space, c.search.regions, c.search.learner.features, c.search.learner.samples, c.random,
               c.climbed, c.paper, c.sharper, c.flat, f"worst/{case_name(c)}.json"] for c in found.worst),
        ],
        "growth": [["family", "regions", "seconds"], *([t.family, t.regions, t.seconds] for t in found.growth)],
        "triangle": [
            ["family", "regions", "share_of_triples_violated"],
            *([family, size, share] for (family, size), share in found.violated.items()),
        ],
    }  # fmt: skip


def case_name(case: WorstCase) -> str:
    """The name of a worst instance's file."""
    return f"{case.search.space}-m{case.search.learner.features}-T{case.search.regions}"


def _ratio_table(groups: Ratios) -> list[list[Any]]:
    header = [*GROUP, "problems", "mean", "half_width_95", "quantile_05", "quantile_95", "maximum"]
    return [header, *([*key, *vars(Statistics.of(values)).values()] for key, values in groups.items())]


def _check_lemma(entry: tuple[int, Any]) -> tuple[int, LemmaCheck]:
    number, ((learner, regions, runs), stream) = entry
    return number, check_lemma(learner, regions, runs, stream)


def _find_worst(search: Search) -> WorstCase:
    with always_compiled():
        return find_worst(search)


def _growth(scale: Scale, tell: Progress) -> Iterator[Timing]:
    time_algorithm1("uniform", 60, 1)  # wakes the compiler
    cases = [(family, size) for family in ("uniform", "closure", "euclidean") for size in scale.growth]
    for k, (family, size) in enumerate(cases):
        yield time_algorithm1(family, size, scale.repeats)
        tell("growth", (k + 1) / len(cases))


def _violated(family: str, size: int, problems: int) -> float:
    reports = [check_metric(random_problem(family, size, Learner(UNDER, SAMPLES), k).travel) for k in range(problems)]
    return sum(report.violations for report in reports) / sum(report.triples for report in reports)


def _refuse_failures(store: Store, groups: Ratios) -> None:
    expected = store.experiment.size * len(store.experiment.methods)
    solved = sum(len(values) for values in groups.values())
    if solved != expected:
        raise InputError(
            f"{expected - solved} of {expected} rows have no ratio; see `learnroute rows`", where=store.folder
        )
