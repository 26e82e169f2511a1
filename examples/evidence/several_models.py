"""Where does a second model pay, and does the law say so beforehand? Data by place, ten draws, seeds fixed.

    pip install '.[evidence]'
    python examples/evidence/several_models.py -o several-models.json

Each draw deals a region's samples to two halves that share none. One half gives the dissimilarities; plans for 1, 2 and
4 models are made from them, merged or serving their own regions. Along each plan, models are trained on a part of the
other half and tested on the rest. λ grows with each training (0.01, 1, 2, …), so that a model is about the mean of the
fits in its regions, in any order: what a plan decides is which model trains where. All regions are visited once, and
travel costs nothing.

Plans go by the unbiased estimates of the dissimilarities, which are not squared distances of any models, or by the
squared distances nearest to them (classical scaling without negative eigenvalues).

Prints tables; docs/appendix/evidence-fleets.md discusses them. About three minutes of processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import regional
from report import said

from learnroute import Fleet, Problem, plan
from learnroute.learning import RegionData, estimate, follow

STUDY = 2030  # all random numbers come from this and the seed
REPEATS = 3  # deals of the judging half to training and test
AMES = [0, 1, 2, 3, 4, 7, 8, 9]  # columns that change within each neighbourhood
SETS: dict[str, tuple[Callable[[], Any], int, list[int] | None]] = {  # data, samples per region, columns
    "flights": (regional.flights, 1600, None),
    "ozone": (regional.ozone, 800, None),
    "Ames": (regional.ames, 100, AMES),
    "storms": (regional.storms, 400, None),
}
FLEETS = {
    "1 model": None,
    "2 models, merged": Fleet(models=2, serve="merged"),
    "2 models, own": Fleet(models=2, serve="own"),
    "4 models, merged": Fleet(models=4, serve="merged"),
    "4 models, own": Fleet(models=4, serve="own"),
}
ONE = "1 model"
ESTIMATES, DISTANCES = "unbiased estimates", "squared distances"
POOLED, EACH = "all samples pooled", "one model per region"


def one_seed(regions: dict[str, tuple[Any, Any]], most: int, columns: list[int] | None, seed: int) -> dict[str, Any]:
    """Estimate, plan all fleets, train and test them."""
    rng = np.random.default_rng((STUDY, seed))
    drawn = {}
    for name, (features, targets) in regions.items():
        rows = rng.permutation(len(targets))[:most]
        kept = list(range(features.shape[1] - 1)) if columns is None else columns  # the last feature is 1
        drawn[name] = (features[np.ix_(rows, kept)], targets[rows])
    found = estimate(drawn, seed=seed, scaling="whiten", intercept=True)
    size = len(found.regions)
    strengths = [0.01, *map(float, range(1, size))]
    asked = found.to_problem(np.zeros((size, size)), regularization=strengths)
    judged = found.held_out()
    results: dict[str, Any] = {"failures": dict(found.failures), "regions": size, "references": references(judged)}
    for law, problem in ((ESTIMATES, asked), (DISTANCES, euclidean(asked))):
        rows = {}
        for name, fleet in FLEETS.items():
            made = plan(problem.replace(fleet=fleet), "search", seed)
            final = follow(made, judged, repeats=REPEATS, seed=seed).final
            rows[name] = {"expected": final.expected, "measured": final.measured}
        results[law] = rows
    return results


def euclidean(problem: Problem) -> Problem:
    """Return the problem with the squared distances nearest to its dissimilarities, the initial model included."""
    between = np.array([problem.dissimilarities_to(i) for i in range(problem.size)])
    first = problem.initial_errors
    squares = np.block([[between, first[:, None]], [first[None, :], np.zeros((1, 1))]])
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, axes = np.linalg.eigh(-(centred + centred.T) / 4)
    points = axes * np.sqrt(np.maximum(values, 0.0))
    return problem.replace(
        vectors=points[:-1], initial=((points[:-1] - points[-1]) ** 2).sum(axis=1), dissimilarity=None,
        dissimilarity_low=None, dissimilarity_estimate=None, initial_estimate=None,
    )  # fmt: skip


def references(judged: dict[str, RegionData]) -> dict[str, float]:
    """Return the mean test errors of least squares on all training samples, and on those of each region alone."""
    parts = list(judged.values())
    features, targets = (np.concatenate([region.train[k] for region in parts]) for k in (0, 1))
    models = {POOLED: [_fit(features, targets)] * len(parts), EACH: [_fit(*region.train) for region in parts]}
    return {
        name: float(np.mean([np.mean((x @ model - y) ** 2) for model, (x, y) in zip(given, tests, strict=True)]))
        for tests in ([region.test for region in parts],)
        for name, given in models.items()
    }


def _fit(features: Any, targets: Any) -> Any:
    return np.linalg.lstsq(features, targets, rcond=None)[0]


def tables(found: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Return one table per data set and way to plan, and one of choices."""
    lines, choices = [], []
    for name, seeds in found.items():
        digits = 3 if np.mean([one["references"][POOLED] for one in seeds]) > 0.1 else 4
        lines += [f"### {name}", "", f"{len(seeds)} draws, {seeds[0]['regions']} regions.", ""]
        lines += ["| planned by | | predicted | measured | measured minus 1 model | predicted minus 1 model | "
                  "draws: predicted to pay, paid, agree |", "|---|---|---|---|---|---|---|"]  # fmt: skip
        for law in (ESTIMATES, DISTANCES):
            for fleet in FLEETS:
                expected, measured = (_of(seeds, law, fleet, what) for what in ("expected", "measured"))
                row = f"| {law} | {fleet} | {expected.mean():.{digits}f} | {measured.mean():.{digits}f} | "
                if fleet == ONE:
                    lines.append(f"{row} | | |")
                    continue
                more, hoped = measured - _of(seeds, law, ONE, "measured"), expected - _of(seeds, law, ONE, "expected")
                agree = f"{(hoped < 0).sum()}, {(more < 0).sum()}, {((hoped < 0) == (more < 0)).sum()}"
                lines.append(f"{row}{said(more, digits, '+')} | {said(hoped, digits, '+')} | {agree} |")
            best = [min(FLEETS, key=lambda fleet, one=one: one[law][fleet]["expected"]) for one in seeds]
            taken = np.array([one[law][fleet]["measured"] for one, fleet in zip(seeds, best, strict=True)])
            counts = ", ".join(f"{fleet} in {best.count(fleet)}" for fleet in FLEETS if fleet in best)
            less = taken - _of(seeds, law, ONE, "measured")
            choices.append(f"| {name} | {law} | {counts} | {taken.mean():.{digits}f} | {said(less, digits, '+')} |")
        for name_of in (POOLED, EACH):
            row = np.array([one["references"][name_of] for one in seeds])
            less = row - _of(seeds, DISTANCES, ONE, "measured")
            lines.append(f"| | {name_of} | | {row.mean():.{digits}f} | {said(less, digits, '+')} | | |")
        lines.append("")
    head = ["| data | planned by | fleet with the least predicted error | measured | minus 1 model |",
            "|---|---|---|---|---|"]  # fmt: skip
    return [*head, *choices, "", *lines]


def _of(seeds: list[dict[str, Any]], law: str, fleet: str, what: str) -> Any:
    return np.array([one[law][fleet][what] for one in seeds])


def main() -> None:
    """Run all draws, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("-o", "--output", type=Path, default=Path("several-models.json"),
                        help="where to write all numbers; sets that are there are not run again")  # fmt: skip
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=list(SETS), metavar="SET")
    given = parser.parse_args()
    found = json.loads(given.output.read_text()) if given.output.exists() else {}
    for name in (name for name in given.sets if name not in found):
        data, most, columns = SETS[name]
        try:
            regions = data()[0]
        except ImportError as error:
            print(f"{name}: skipped, {error}")
            continue
        began = time.process_time()
        found[name] = [one_seed(regions, most, columns, seed) for seed in range(given.seeds)]
        found[name][0]["seconds"] = time.process_time() - began
        part = given.output.with_suffix(".part")
        part.write_text(json.dumps(found, indent=1))
        part.replace(given.output)
    print("\n".join(tables({name: found[name] for name in given.sets if name in found})))
    print(f"{sum(seeds[0]['seconds'] for seeds in found.values()):.0f} s of processor time")


if __name__ == "__main__":
    main()
