"""From real flights to an order of airports: estimate Δ on a split, plan, train along many orders, compare.

    pip install 'learnroute[flights]'
    python examples/flights/run.py --output flights-results

Writes results.json and flights.png to the output folder; docs/flights.md discusses them. A few minutes.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from flights_data import COLUMNS, great_circle, load

from learnroute import Problem, evaluate, expected_loss, plan
from learnroute.formats.files import atomic_write, write_text
from learnroute.learning import Estimate, ProximalRegressor, RegionData, RouteRegressor, estimate, follow

try:
    from scipy.stats import spearmanr
    from sklearn.decomposition import PCA
    from sklearn.linear_model import RidgeCV
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler
    from threadpoolctl import threadpool_limits
except ImportError:
    raise SystemExit("this example needs: pip install 'learnroute[flights]'") from None

LEAST_FLIGHTS = 7000
PRICE = 0.01  # min² a km: what a kilometre of travel is worth in squared minutes of error, per region
TESTED = 1000  # test samples a region, at most
STRENGTH = 1.0  # of the proximal learner, fixed in advance
CHOSEN = {"λ and route": "auto", "λ by stop and route": "schedule"}  # what is planned for the proximal learner
METHODS = ("exact", "algorithm1", "baseline", "travel", "nearest")
SETTINGS = {
    "under": {"samples": 100, "features": lambda: PCA(whiten=True), "intercept": True},
    "over": {"samples": 50, "features": lambda: frozen_layer(200), "intercept": False},
}


def frozen_layer(width: int) -> Any:
    """Return a random layer of a network, never trained, and a rotation that makes its outputs uncorrelated."""
    rng = np.random.default_rng(2013)
    weights, shift = rng.standard_normal((len(COLUMNS), width)) / 2, rng.standard_normal(width)
    layer = FunctionTransformer(lambda inputs: np.tanh(inputs @ weights + shift))
    return make_pipeline(StandardScaler(), layer, PCA(whiten=True))


def draw(data: dict[str, RegionData], samples: int, seed: int) -> dict[str, RegionData]:
    """Draw each region's training batch from what is left to train on."""
    rng = np.random.default_rng(seed)
    drawn = {}
    for name, region in data.items():
        rows = rng.choice(len(region.train[1]), samples, replace=False)
        drawn[name] = RegionData((region.train[0][rows], region.train[1][rows]), region.test)
    return drawn


def fewer_tests(data: dict[str, RegionData]) -> dict[str, RegionData]:
    """Keep some of each region's test samples, drawn once for all orders and seeds."""
    rng = np.random.default_rng(1)
    kept = {}
    for name, region in data.items():
        rows = rng.permutation(len(region.test[1]))[:TESTED]
        kept[name] = RegionData(region.train, (region.test[0][rows], region.test[1][rows]))
    return kept


def final_error(order: Sequence[str], data: dict[str, RegionData], learner: Any) -> float:
    """Train along an order, and return the mean test error over all regions at the end."""
    for name in order:
        learner.partial_fit(*data[name].train)
    return error_everywhere(learner, data)


def error_everywhere(model: Any, data: dict[str, RegionData]) -> float:
    """Return the mean over regions of the mean squared test error."""
    return float(np.mean([np.mean((model.predict(r.test[0]) - r.test[1]) ** 2) for r in data.values()]))


def summary(values: Any) -> dict[str, float]:
    """Return mean and half width of its 95 % interval over seeds."""
    return {"mean": float(np.mean(values)), "half": float(1.96 * np.std(values, ddof=1) / len(values) ** 0.5)}


def experiment(
    regime: str, raw: dict[str, Any], distances: Any, seeds: int, orders: int, tell: Callable[[str], None]
) -> dict[str, Any]:
    """Run one regime from samples to test errors by order."""
    setting = SETTINGS[regime]
    samples = setting["samples"]
    found = estimate(raw, features=setting["features"](), intercept=setting["intercept"], columns=COLUMNS)
    tell(f"{regime}: Δ estimated")
    for name, reason in found.failures.items():
        tell(f"{regime}: region {name!r} left out: {reason}")
    names = list(found.regions)
    problem = found.to_problem(PRICE * distances, samples, regions=list(raw), title="Airports")
    data = fewer_tests(found.held_out())
    rng = np.random.default_rng(0)
    routes = {method: list(plan(problem, method, seed=0).route) for method in METHODS}
    random_orders = [[names[i] for i in rng.permutation(len(names))] for _ in range(orders)]

    def of_random_orders(first_seed: int) -> Any:
        """Return errors[seed, order] of all random orders."""
        errors = np.empty((seeds, orders))
        for k in range(seeds):
            batch = draw(data, samples, first_seed + k)
            errors[k] = [final_error(order, batch, RouteRegressor()) for order in random_orders]
            if k % 5 == 4:
                tell(f"{regime}: {k + 1} of {seeds} seeds of {orders} random orders")
        return errors

    # best, median and worst are picked on one set of seeds and measured on another, as everything else is
    picking = of_random_orders(10_000).mean(axis=0)
    measured = of_random_orders(0)
    place = np.argsort(picking)
    routes |= {f"{label} of {orders}": random_orders[place[k]] for label, k in
               (("best", 0), ("median", orders // 2), ("worst", -1))}  # fmt: skip
    batches = [draw(data, samples, seed) for seed in range(seeds)]
    rows: list[dict[str, Any]] = []
    planned: list[float] = []
    for label, route in routes.items():
        followed = [follow(route, batch, RouteRegressor()).metrics for batch in batches]
        order = [names.index(name) for name in route]
        errors = [m.average_final_error for m in followed]
        planned = planned or errors  # the exact route comes first
        rows.append({
            "order": label,
            "route": route,
            "error": summary(errors),
            "above_exact": summary(np.subtract(errors, planned)),
            "forgetting": summary([m.forgetting for m in followed]),
            "travel_km": float(sum(distances[list(raw).index(a), list(raw).index(b)]
                                   for a, b in itertools.pairwise(route))),
            "travel_loss": expected_loss(problem, order).travel,
            "predicted_error": expected_loss(problem, order).error + float(np.mean(found.noise**2)),
        })  # fmt: skip
        tell(f"{regime}: followed {label}")
    proximal = [
        proximal_row(label, kind, problem, found, distances, list(raw), batches, planned)
        for label, kind in CHOSEN.items()
    ]
    proximal += [
        proximal_row(label.replace("route", "shortest route"), kind, problem, found, distances, list(raw), batches,
                     planned, routes["travel"]) for label, kind in CHOSEN.items()
    ]  # fmt: skip
    tell(f"{regime}: followed the proximal learner's routes")
    exact = routes["exact"]
    references = {
        "random orders": summary(measured.mean(axis=1)),
        "proximal learner, exact route": summary([final_error(exact, b, ProximalRegressor(STRENGTH)) for b in batches]),
        "ridge in the last region alone": summary([error_everywhere(ridge([exact[-1]], b), b) for b in batches]),
        "ridge on all regions at once": summary([error_everywhere(ridge(names, b), b) for b in batches]),
        "no model (0)": summary([error_everywhere(Nothing(), b) for b in batches]),
    }
    return {
        "regime": problem.learner.regime,
        "features": problem.learner.features,
        "samples": samples,
        "noise": problem.learner.noise,
        "regions": names,
        "rows": rows,
        "proximal": proximal,
        "proximal_orders": along_random_orders(proximal[0], problem, found, random_orders, batches),
        "references": references,
        "random_orders": sorted(measured.mean(axis=0).tolist()),
        "checks": checks(found, problem, distances, list(raw), random_orders, measured.mean(axis=0)),
        "caveats": list(found.caveats),
    }


def proximal_row(
    label: str, kind: str, problem: Problem, found: Estimate, distances: Any, names: list[str],
    batches: Sequence[dict[str, RegionData]], planned: Sequence[float], route: Sequence[str] | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Choose λ by the closed form from the estimates alone, with the route or for a given one; train and test."""
    asked = problem.with_regularization(kind)
    made = plan(asked) if route is None else evaluate(asked, route)
    assert made.learner is not None
    strengths = made.learner.regularization
    errors = [final_error(made.route, batch, ProximalRegressor(strengths)) for batch in batches]
    fixed = [final_error(made.route, batch, ProximalRegressor(STRENGTH)) for batch in batches]
    at = [names.index(name) for name in made.route]
    return {
        "order": label,
        "route": list(made.route),
        "regularization": strengths,
        "range": made.regularization_range,
        "error": summary(errors),
        "above_exact": summary(np.subtract(errors, planned)),
        "above_untuned": summary(np.subtract(errors, fixed)),
        "travel_km": float(sum(distances[a, b] for a, b in itertools.pairwise(at))),
        "predicted_error": predicted_error(made.learner, problem, found, made.order),
    }


def predicted_error(learner: Any, problem: Problem, found: Estimate, order: Sequence[int]) -> float:
    """Return the error that the closed form expects with unbiased estimates, and each region's noise."""
    return expected_loss(problem.replace(learner=learner), order).error + float(np.mean(found.noise**2))


def along_random_orders(
    row: dict[str, Any], problem: Problem, found: Estimate, orders: list[list[str]],
    batches: Sequence[dict[str, RegionData]],
) -> dict[str, Any]:  # fmt: skip
    """Train the proximal learner, its λ as planned, along the random orders; compare with what was predicted."""
    learner = problem.learner.with_regularization(row["regularization"])
    measured = [
        float(np.mean([final_error(order, batch, ProximalRegressor(row["regularization"])) for batch in batches]))
        for order in orders
    ]
    predicted = [predicted_error(learner, problem, found, [found.regions.index(n) for n in order]) for order in orders]
    return {
        "mean": float(np.mean(measured)), "least": min(measured), "most": max(measured),
        "predicted_mean": float(np.mean(predicted)),
        "rank_correlation": float(spearmanr(predicted, measured).statistic),
    }  # fmt: skip


def ridge(names: Sequence[str], data: dict[str, RegionData]) -> Any:
    """Fit ridge regression with its strength by cross-validation: on several regions it has to keep all their data."""
    inputs = np.concatenate([data[name].train[0] for name in names])
    outputs = np.concatenate([data[name].train[1] for name in names])
    return RidgeCV(np.logspace(-2, 4, 13)).fit(inputs, outputs)


class Nothing:
    """Predicts 0 minutes."""

    def predict(self, inputs: Any) -> Any:
        """Return zeros."""
        return np.zeros(len(inputs))


def checks(
    found: Estimate, problem: Problem, distances: Any, raw_names: list[str], orders: list[list[str]], errors: Any
) -> dict[str, Any]:
    """Say how well the theory's inputs and predictions fit these data."""
    place = [raw_names.index(name) for name in found.regions]
    above = np.triu_indices(len(place), 1)
    apart = distances[np.ix_(place, place)][above]
    predicted = [expected_loss(problem, [found.regions.index(n) for n in order]).error for order in orders]
    last = np.array([order[-1] for order in orders])
    by_last = {name: float(np.mean(errors[last == name])) for name in found.regions if (last == name).any()}
    scores = [float(found.scores[found.regions.index(name)]) for name in by_last]

    def rank_correlation(a: Any, b: Any) -> float:
        return float(spearmanr(a, b).statistic)

    return {
        "rank_correlation_distance_dissimilarity": rank_correlation(apart, found.dissimilarity[above]),
        "rank_correlation_predicted_measured_error": rank_correlation(predicted, errors),
        "rank_correlation_score_of_last_and_error": rank_correlation(scores, list(by_last.values())),
        "error_by_last_region": by_last,
        "mean_score": {
            name: float(s) / len(found.regions) for name, s in zip(found.regions, found.scores, strict=True)
        },
        "bound_over_estimate": float(found.scores.sum() / found.score_estimates.sum()),
    }


def draw_figure(results: list[dict[str, Any]]) -> Any:
    """Draw each regime: random orders as a cloud, planned and picked orders with intervals, references as lines."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6.4), layout="constrained")
    colours = {"ridge on all regions at once": "#009E73", "proximal learner, exact route": "#CC79A7"}
    for axes, result in zip(figure.subplots(1, len(results), squeeze=False)[0], results, strict=True):
        rows = result["rows"]
        cloud = np.array(result["random_orders"])
        jitter = np.random.default_rng(0).uniform(-0.3, 0.3, len(cloud))
        axes.scatter(cloud, len(rows) + jitter, s=9, color="#BBBBBB", label="random orders, mean over seeds")
        for k, row in enumerate(rows[::-1]):
            colour = "#0072B2" if " of " not in row["order"] else "#999999"
            axes.errorbar(row["error"]["mean"], k, xerr=row["error"]["half"], fmt="o", color=colour, capsize=4)
        together = result["proximal"][1]["error"]
        axes.axvline(together["mean"], color="#D55E00", lw=1.3, label="proximal learner, λ by stop and route planned")
        for name, colour in colours.items():
            axes.axvline(result["references"][name]["mean"], color=colour, ls="--", lw=1.3, label=name)
        axes.set_yticks(range(len(rows) + 1), [row["order"] for row in rows[::-1]] + ["random"])
        axes.set_xlabel("final test error over all airports, min²")
        axes.set_title(f"{result['regime']} regime: m = {result['features']}, n = {result['samples']}", loc="left",
                       fontsize=11)  # fmt: skip
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), frameon=False, fontsize=8)
    figure.suptitle(
        f"Arrival delays at {len(results[0]['regions'])} airports: error by order of visit (95 % intervals over seeds)",
        x=0.01, ha="left", fontsize=12,
    )  # fmt: skip
    return figure


def main() -> None:
    """Run both regimes and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=Path("flights-results"), help="folder to write to")
    parser.add_argument("--seeds", type=int, default=20, help="training draws for each order")
    parser.add_argument("--orders", type=int, default=100, help="random orders")
    options = parser.parse_args()
    started = time.monotonic()

    def tell(text: str) -> None:
        print(f"{time.monotonic() - started:6.1f} s  {text}", file=sys.stderr, flush=True)

    options.output.mkdir(parents=True, exist_ok=True)
    raw, places = load(LEAST_FLIGHTS)
    distances = great_circle(places)
    tell(f"{len(raw)} airports with at least {LEAST_FLIGHTS} flights")
    with threadpool_limits(1):  # small matrices: threads would wait for each other
        results = [experiment(regime, raw, distances, options.seeds, options.orders, tell) for regime in SETTINGS]
    write_text(options.output / "results.json", json.dumps(results, indent=1) + "\n")
    with atomic_write(options.output / "flights.png") as temporary:
        draw_figure(results).savefig(temporary, dpi=130)
    for result in results:
        print(f"\n{result['regime']} regime, m = {result['features']}, n = {result['samples']}, "
              f"noise {result['noise']:.1f} min")  # fmt: skip
        for row in result["rows"]:
            print(f"  {row['order']:14s} error {row['error']['mean']:8.1f} ± {row['error']['half']:5.1f}   "
                  f"above exact {row['above_exact']['mean']:6.1f} ± {row['above_exact']['half']:5.1f}   "
                  f"predicted {row['predicted_error']:8.1f}   travel {row['travel_km']:6.0f} km   "
                  f"loss {row['error']['mean'] + row['travel_loss']:8.1f}   last {row['route'][-1]}")  # fmt: skip
        for row in result["proximal"]:
            given = row["regularization"]
            said = f"{given:.2f}" if isinstance(given, float) else f"{min(given):.2f} … {max(given):.2f}"
            print(f"  {row['order']:28s} error {row['error']['mean']:8.1f} ± {row['error']['half']:5.1f}   "
                  f"above exact {row['above_exact']['mean']:6.1f} ± {row['above_exact']['half']:5.1f}   "
                  f"above λ = {STRENGTH:g} {row['above_untuned']['mean']:6.1f} ± {row['above_untuned']['half']:5.1f}   "
                  f"predicted {row['predicted_error']:8.1f}   travel {row['travel_km']:6.0f} km   "
                  f"λ = {said}")  # fmt: skip
        print(f"  λ as planned, random orders: {result['proximal_orders']}")
        for name, value in result["references"].items():
            print(f"  {name:32s} {value['mean']:8.1f} ± {value['half']:5.1f}")
        print(f"  {', '.join(f'{k} = {v:.2f}' for k, v in result['checks'].items() if isinstance(v, float))}")


if __name__ == "__main__":
    main()
