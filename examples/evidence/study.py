"""Does a planned order help a learner that the theory knows nothing of? One command, all results, seeds fixed.

    python examples/evidence/study.py -o evidence

Interrupted, it goes on where it was. `--seeds`, `--orders` and `--runs` make it larger.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
from orders import LITERATURE
from settings import SETTINGS, Setting

from learnroute import RefusedError, evaluate, plan
from learnroute.learning import calibrate, follow, transfer
from learnroute.learning.calibration import _student
from learnroute.learning.following import seeded

PILOTS = 2  # routes that the law is fitted to


def one_seed(setting: Setting, seed: int, orders: int, runs: int) -> dict[str, Any]:
    """Measure D, fit the law, plan, and train along the planned order, those of the literature and random ones."""
    rng = np.random.default_rng((2026, seed))
    planning, judged = setting.draw(rng)
    names, size = list(planning), len(planning)
    started = time.perf_counter()
    moved = transfer(planning, setting.learner, 2, setting.error, seed)
    pilots = [
        follow(rng.permutation(size).tolist(), planning, seeded(setting.learner, 1000 + k), setting.error)
        for k in range(PILOTS)
    ]
    cost = time.perf_counter() - started
    try:
        law = calibrate(moved, pilots)
    except RefusedError as refusal:
        return {"refused": str(refusal)}
    problem = law.to_problem()
    planned = list(plan(problem, "search", seed).order)

    def final(order: Any, run: int) -> float:
        stops = [names[int(k)] for k in order]
        learner = seeded(setting.learner, 5000 + 100 * seed + run)
        return follow(stops, judged, learner, setting.error).metrics.average_final_error

    random_orders = [rng.permutation(size).tolist() for _ in range(orders)]
    started = time.perf_counter()
    random = [final(order, k % runs) for k, order in enumerate(random_orders)]
    route_seconds = (time.perf_counter() - started) / orders
    chosen = {"planned": planned, **{name: order(np.array(moved.errors)) for name, order in LITERATURE.items()}}
    return {
        "law": {k: v for k, v in law.to_dict().items() if k != "residuals"},
        "predicted": [evaluate(problem, order).loss.error for order in random_orders],
        "random": random,
        "chosen": {name: float(np.mean([final(order, k) for k in range(runs)])) for name, order in chosen.items()},
        "predicted_planned": evaluate(problem, planned).loss.error,
        "planning_seconds": cost,
        "route_seconds": route_seconds,
        "regions": size,
    }


def ranks(numbers: Any) -> Any:
    """Ranks, ties at their mean."""
    values = np.asarray(numbers)
    return np.array([((values < v).sum() + (values <= v).sum() - 1) / 2 for v in values])


def with_interval(numbers: Any) -> tuple[float, float, float]:
    """The mean over seeds and its 95 % interval (Student's t)."""
    values = np.asarray(numbers, dtype=float)
    if len(values) < 3:
        return float(values.mean()), math.nan, math.nan
    half = _student(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return float(values.mean()), float(values.mean() - half), float(values.mean() + half)


def summary(name: str, found: list[dict[str, Any]]) -> list[str]:
    """Tables of one setting, in Markdown."""
    good = [one for one in found if "refused" not in one]
    lines = [f"## {name}", ""]
    if len(good) < len(found):
        lines += [f"Refused in {len(found) - len(good)} of {len(found)} seeds: {found[0].get('refused', '')}", ""]
    if not good:
        return lines

    def law(part: str) -> Any:
        return np.array([one["law"][part]["value"] for one in good])

    explained, total = np.array([one["law"]["r_squared"] for one in good]), law("coefficient_sum")
    related = [float(np.corrcoef(ranks(one["predicted"]), ranks(one["random"]))[0, 1]) for one in good]
    baseline = np.array([np.mean(one["random"]) for one in good])
    lines += [
        f"{len(good)} seeds, {good[0]['regions']} regions, {len(good[0]['random'])} random orders each. "
        f"The law: R² {explained.mean():.2f} ({explained.min():.2f} … {explained.max():.2f}), p₁ "
        f"{law('retention').mean():.2f}, q {law('coupling').mean():.2f}, sum of the coefficients of e and D "
        f"{total.mean():.2f} ({total.min():.2f} … {total.max():.2f}), off 1 by more than 0.1 "
        f"in {int((abs(total - 1) > 0.1).sum())} seeds.",
        "",
        "| | final error | minus the random mean (95 % paired interval) |",
        "|---|---|---|",
        f"| random orders, mean | {baseline.mean():.4f} | |",
    ]
    rows = {
        "random orders, median": [np.median(one["random"]) for one in good],
        "random orders, best": [np.min(one["random"]) for one in good],
        **{which: [one["chosen"][which] for one in good] for which in good[0]["chosen"]},
    }
    for which, values in rows.items():
        mean, low, high = with_interval(np.array(values) - baseline)
        lines.append(f"| {which} | {np.mean(values):.4f} | {mean:+.4f} ({low:+.4f} … {high:+.4f}) |")
    mean, low, high = with_interval(related)
    predicted = np.mean([one["predicted_planned"] for one in good])
    size = good[0]["regions"]
    lines += [
        "",
        f"Rank correlation of predicted and measured final error over random orders: {mean:.2f} ({low:.2f} … "
        f"{high:.2f}). The planned order's error was predicted to be {predicted:.4f}.",
        f"Cost: {2 * size} trainings for D and {PILOTS * size} along pilot routes, as much as {2 + PILOTS} routes "
        f"({np.mean([one['planning_seconds'] for one in good]):.1f} s; one route with its tests "
        f"{np.mean([one['route_seconds'] for one in good]):.2f} s).",
        "",
    ]
    return lines


def main() -> None:
    """Run what is not there yet, and write the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, default=Path("evidence"))
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--orders", type=int, default=50)
    parser.add_argument("--runs", type=int, default=2, help="trainings along each chosen order, with other seeds")
    parser.add_argument("--settings", nargs="*", default=list(SETTINGS))
    given = parser.parse_args()
    given.output.mkdir(parents=True, exist_ok=True)
    text = []
    for name in given.settings:
        found = []
        for seed in range(given.seeds):
            file = given.output / f"{name.replace(' ', '-').replace(',', '')}-{seed}-{given.orders}-{given.runs}.json"
            if not file.exists():
                try:
                    result = one_seed(SETTINGS[name], seed, given.orders, given.runs)
                except ImportError as error:
                    print(f"{name}: skipped, {error}")
                    break
                part = file.with_suffix(".part")
                part.write_text(json.dumps(result))
                part.replace(file)
                print(f"{name}, seed {seed}: done", flush=True)
            found.append(json.loads(file.read_text()))
        if found:
            text += summary(name, found)
    (given.output / "tables.md").write_text("\n".join(text))
    print("\n".join(text))


if __name__ == "__main__":
    main()
