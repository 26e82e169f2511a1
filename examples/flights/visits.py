"""How many airports are worth a visit? Plan each number of visits from half of the flights, train, test on others.

    pip install 'learnroute[flights]'
    python examples/flights/visits.py

Prints one row for each number of visits; docs/appendix/flights.md discusses them. A few minutes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from flights_data import COLUMNS, great_circle, load
from run import LEAST_FLIGHTS, PRICE, SETTINGS, draw, fewer_tests, final_error, summary

from learnroute import visit_curve
from learnroute.learning import ProximalRegressor, estimate


def main() -> None:
    """Estimate, plan, train and test."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=20, help="training batches per route")
    parser.add_argument("--plot", type=Path, help="where to write the picture of the curve")
    asked = parser.parse_args()
    raw, coordinates = load(LEAST_FLIGHTS)
    setting = SETTINGS["under"]
    found = estimate(raw, features=setting["features"](), intercept=setting["intercept"], columns=COLUMNS)
    samples = setting["samples"]
    problem = found.to_problem(PRICE * great_circle(coordinates), samples, regions=list(raw), title="Airports")
    data = fewer_tests(found.held_out())
    batches = [draw(data, samples, seed) for seed in range(asked.seeds)]
    noise = float(np.mean(found.noise**2))
    curve = visit_curve(problem.with_regularization("schedule"))
    if asked.plot is not None:
        curve.save(asked.plot)
    print(curve.summary, end="\n\n")
    print("| visits | expected error, min² | measured | travel, km | airports |\n|---|---|---|---|---|")
    for row in curve.rows:
        if row.visits:
            measured = summary(
                [final_error(row.route, batch, ProximalRegressor(row.regularization)) for batch in batches]
            )
            said = f"{measured['mean']:.1f} ± {measured['half']:.1f}"
        else:
            said = f"{np.mean([np.mean(region.test[1] ** 2) for region in data.values()]):.1f}"
        kilometres = row.travel / PRICE
        print(
            f"| {row.visits} | {row.error + noise:.1f} | {said} | {kilometres:.0f} | {', '.join(row.route)} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
