"""The experiments for the paper's claims, and their scale."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from learnroute.model.learners import Learner
from learnroute.reproduction.worst_cases import Search, Space
from learnroute.study.experiment import Experiment

SAMPLES = 100  # the paper's n
UNDER, OVER = 80, 120  # the paper's m in Figure 2
NOISE = (0.0, 0.1, 0.5, 1.0)
FAMILIES = ("uniform", "closure", "uniform5", "euclidean")
METHODS = ("algorithm1", "baseline", "exact")
SEED = 2025


@dataclass(frozen=True)
class Scale:
    """The scale of the experiments: `QUICK` takes half a minute, `FULL` about ten minutes."""

    name: str
    figure1: Experiment
    figure2: Experiment
    lemmas: tuple[tuple[Learner, int, int], ...]  # learner, regions, runs
    searches: tuple[Search, ...]
    growth: tuple[int, ...]  # numbers of regions
    repeats: int
    triples: int  # problems per family for the metric check


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
    figure1=_experiment([6, 10], [20, 50, 80, 95, 105, 120, 200, 1000], 4, 5),
    figure2=_experiment([2, 6, 9, 12], [UNDER, OVER], 10, 10),
    lemmas=(
        (Learner(UNDER, SAMPLES, 0.5), 5, 400), (Learner(OVER, SAMPLES, 0.5), 5, 400),
        (Learner(10, 30, 1.0), 6, 5000), (Learner(30, 10, 1.0), 6, 5000),
    ),
    searches=_searches([5], [UNDER, OVER, 10_000], ("metric", "metric-in-range", "raw-in-range"), 4, 800),
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
