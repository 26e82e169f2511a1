"""Pictures: a plan on a map beside what its loss is made of. Needs matplotlib (`pip install 'learnroute[plot]'`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from learnroute.errors import InputError
from learnroute.formats.files import check_destination, written_whole
from learnroute.frontier import Choice, Tradeoff
from learnroute.learning.simulation import Simulation
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.validation import FloatArray
from learnroute.planner import Comparison
from learnroute.stability import Robustness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by all kinds of colour vision
PART_COLOURS = {"travel": "#0072B2", "dissimilarity": "#D55E00", "initial": "#009E73", "noise": "#999999"}
PART_NAMES = {
    "travel": "travel",
    "dissimilarity": "error: dissimilar regions",
    "initial": "error: first model",
    "noise": "error: noise",
}
MARKS = (("D", "#E69F00"), ("s", "#CC79A7"), ("^", "#56B4E9"), ("v", "#F0E442"))  # methods beside a curve
SUFFIXES = (".png", ".svg", ".pdf")
NEGLIGIBLE = 1e-4  # share of the loss below which a part is not drawn
MAP_PROPORTION = 1.6  # width over height of the map
MOST_ENDS = 12  # last regions drawn
MOST_LABELS = 40  # regions up to which names are written
MOST_NUMBERS = 120  # and order numbers


def check_picture(path: Path) -> None:
    """Refuse a picture that could not be drawn or written later."""
    check_destination(path, SUFFIXES, "picture format")
    _new_figure()


def save_plan(plan: Plan, problem: Problem, path: str | Path) -> None:
    """Write the picture of a plan: .png, .svg or .pdf."""
    _save(path, lambda: draw_plan(plan, problem))


def save_comparison(comparison: Comparison, problem: Problem, path: str | Path) -> None:
    """Write the picture of a comparison: .png, .svg or .pdf."""
    _save(path, lambda: draw_comparison(comparison, problem))


def save_simulations(simulations: Sequence[tuple[str, Simulation]], problem: Problem, path: str | Path) -> None:
    """Write the picture of some routes' simulations, each with its name: .png, .svg or .pdf."""
    _save(path, lambda: draw_simulations(simulations, problem))


def save_tradeoff(found: Tradeoff, problem: Problem, path: str | Path, picked: Choice | None = None) -> None:
    """Write the picture of a trade-off curve: .png, .svg or .pdf."""
    _save(path, lambda: draw_tradeoff(found, problem, picked))


def save_robustness(found: Robustness, problem: Problem, path: str | Path) -> None:
    """Write the picture of a plan's robustness: .png, .svg or .pdf."""
    _save(path, lambda: draw_robustness(found, problem))


def draw_plan(plan: Plan, problem: Problem) -> Figure:
    """Draw a plan: the route on a map on the left, the loss on the right."""
    figure = _new_figure(figsize=(10.5, 5.6), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=[3, 1])
    draw_route(left, plan, problem)
    draw_loss(right, plan)
    figure.suptitle(_headline(plan, problem), fontsize=12, x=0.015, ha="left")
    return figure


def draw_route(axes: Axes, plan: Plan, problem: Problem) -> None:
    """Draw regions coloured by score, the way through them with arrows and numbers, and the last region as a star."""
    places = scaled_places(problem.travel) if problem.coordinates is None else _unwrapped(problem)
    stops = places[list(plan.order)]
    way = stops[[*range(len(stops)), 0]] if plan.closed else stops
    small = problem.size > MOST_NUMBERS
    size = 12 if small else 260 if problem.size <= MOST_LABELS else 90
    line = _way(plan, problem, way)
    axes.plot(line[:, 0], line[:, 1], color="#555555", lw=0.8 if small else 1.4, zorder=1)
    if not small and problem.streets is None:
        for a, b in pairwise(way):
            axes.annotate(
                "", xy=a + 0.58 * (b - a), xytext=a + 0.5 * (b - a), zorder=2,
                arrowprops={"arrowstyle": "-|>", "color": "#555555", "lw": 1.4, "mutation_scale": 13},
            )  # fmt: skip
    scores = problem.scores[list(plan.order)] / problem.size
    dots = axes.scatter(
        stops[:-1, 0], stops[:-1, 1], c=scores[:-1], s=size, cmap="cividis_r", edgecolors="black", linewidths=0.8,
        vmin=scores.min(), vmax=scores.max(), zorder=3,
    )  # fmt: skip
    axes.scatter(
        stops[-1:, 0], stops[-1:, 1], c=scores[-1:], s=max(3.2 * size, 120), marker="*", cmap="cividis_r",
        edgecolors=PART_COLOURS["dissimilarity"], linewidths=1.6, vmin=scores.min(), vmax=scores.max(), zorder=4,
    )  # fmt: skip
    if not small:
        _number_stops(axes, stops, scores, size)
    if problem.size <= MOST_LABELS:
        _name_stops(axes, plan, stops)
    bar = axes.figure.colorbar(dots, ax=axes, fraction=0.045, pad=0.02)
    bar.set_label("mean dissimilarity to all regions (score / T)")
    _frame(axes, stops, problem.geographic)
    if problem.coordinates is None:
        axes.set_xticks([])
        axes.set_yticks([])
        axes.set_xlabel("places made up from travel costs (multidimensional scaling)")
    axes.set_title(f"first {plan.route[0]}, last {plan.route[-1]} (star)", fontsize=10, loc="left")


def _unwrapped(problem: Problem) -> FloatArray:
    """Return the places; on the globe, with longitudes counted from 0 to 360 where that keeps them together."""
    places = np.array(problem.coordinates)
    around = places[:, 0] % 360
    if problem.geographic and np.ptp(around) < np.ptp(places[:, 0]) and problem.streets is None:
        places[:, 0] = around
    return places


def _way(plan: Plan, problem: Problem, stops: FloatArray) -> FloatArray:
    """Return the places that the line through the stops goes by: along the streets, where they are known."""
    if problem.streets is None:
        return stops
    order = [*plan.order, *plan.order[: int(plan.closed)]]
    return np.concatenate([problem.streets.path(a, b) for a, b in pairwise(order)])


def draw_loss(axes: Axes, plan: Plan) -> None:
    """Draw the loss as a stacked bar, with the lower bound as a line."""
    base = 0.0
    for part, colour in PART_COLOURS.items():
        height = getattr(plan.loss, part)
        if height <= NEGLIGIBLE * plan.loss.total:
            continue
        axes.bar([0], [height], bottom=base, color=colour, width=0.62, label=f"{PART_NAMES[part]}  {height:.4g}")
        base += height
    if plan.lower_bound is not None and not plan.optimal:
        axes.axhline(plan.lower_bound, color="black", ls="--", lw=1.2, label=f"lower bound  {plan.lower_bound:.4g}")
    axes.set_xticks([])
    axes.set_xlim(-0.6, 0.6)
    axes.set_ylim(0, base * 1.08 or 1.0)
    axes.set_ylabel("expected loss per region")
    axes.set_title(f"total {plan.loss.total:.4g}", fontsize=10, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="upper center", bbox_to_anchor=(0.5, -0.02), frameon=False, fontsize=9)


def draw_comparison(comparison: Comparison, problem: Problem) -> Figure:
    """Draw the loss of each method as a stacked bar, and the best lower bound as a line."""
    rows = [row for row in comparison.rows if row.loss is not None]
    figure = _new_figure(figsize=(1.6 + 1.25 * max(len(rows), 3), 4.8), layout="constrained")
    axes = figure.subplots()
    base = np.zeros(len(rows))
    for part, colour in PART_COLOURS.items():
        heights = np.array([getattr(row.loss, part) for row in rows])
        if heights.max(initial=0) > NEGLIGIBLE * comparison.lower_bound:
            axes.bar(range(len(rows)), heights, bottom=base, color=colour, width=0.66, label=PART_NAMES[part])
        base += heights
    kind = "optimum" if comparison.optimal else "lower bound"
    axes.axhline(comparison.lower_bound, color="black", ls="--", lw=1.2, label=f"{kind}  {comparison.lower_bound:.4g}")
    for k, row in enumerate(rows):
        ratio = comparison.ratio(row)
        axes.text(k, base[k], "" if ratio is None else f"{ratio:.3f}", ha="center", va="bottom", fontsize=9)
    names = [f"{row.method}\n(mean of {row.draws})" if row.draws > 1 else row.method for row in rows]
    axes.set_xticks(range(len(rows)), names)
    axes.set_ylim(0, (base.max(initial=0) * 1.12) or 1.0)
    axes.set_ylabel("expected loss per region")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    figure.suptitle(f"{_shape(problem)}\nabove the bars: times the {kind}", fontsize=11, x=0.02, ha="left")
    return figure


def draw_simulations(simulations: Sequence[tuple[str, Simulation]], problem: Problem) -> Figure:
    """Draw each route's simulated error with its interval, beside the closed form, and the spread of single runs."""
    figure = _new_figure(figsize=(2.2 + 1.6 * max(len(simulations), 2), 5.0), layout="constrained")
    axes = figure.subplots()
    axes.use_sticky_edges = False
    found = [simulation for _, simulation in simulations]
    places = np.arange(len(found))
    low, high = (np.array([np.quantile(s.errors, q) for s in found]) for q in (0.05, 0.95))
    axes.bar(places, high - low, bottom=low, width=0.5, color="#DDDDDD", label="middle 90 % of single runs")
    for k, simulation in enumerate(found):
        axes.plot([k - 0.3, k + 0.3], [simulation.expected] * 2, color=PART_COLOURS["dissimilarity"], lw=2,
                  label="closed form" if k == 0 else None)  # fmt: skip
    axes.errorbar(
        places, [s.mean for s in found], yerr=[s.interval[1] - s.mean for s in found], fmt="o", ms=5, capsize=7,
        color=PART_COLOURS["travel"], label=f"simulated mean, {found[0].level:.0%} interval",
    )  # fmt: skip
    names = [f"{k + 1} {name}" if len(found) > 1 else name for k, (name, _) in enumerate(simulations)]
    axes.set_xticks(places, [f"{name}\nlast {s.route[-1]}" for name, s in zip(names, found, strict=True)])
    axes.set_xlim(-0.7, len(found) - 0.3)
    axes.set_ylabel("average final error")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize=9)
    title = f"{problem.title}\n" if problem.title else ""
    figure.suptitle(f"{title}{_shape(problem)}, {found[0].runs:,} runs a route", fontsize=11, x=0.02, ha="left")
    return figure


def draw_tradeoff(found: Tradeoff, problem: Problem, picked: Choice | None = None) -> Figure:
    """Draw the routes between least travel and least error, the chosen one, and what the methods make of it."""
    figure = _new_figure(figsize=(8.4, 5.4), layout="constrained")
    axes = figure.subplots()
    travel, error = ([getattr(point, side) for point in found.points] for side in ("travel_cost", "error"))
    axes.step(travel, error, where="post", color="#555555", lw=1.0, zorder=1)
    kind = "no route beats these in both" if found.complete else "best routes found"
    axes.plot(travel, error, "o", color=PART_COLOURS["travel"], ms=5, label=kind, zorder=2)
    for (name, mark), (shape, colour) in zip(found.marks.items(), MARKS[-len(found.marks) :], strict=True):
        axes.plot([mark.travel_cost], [mark.error], shape, color=colour, ms=9, mec="black", label=name, zorder=3)
    chosen = found.points[found.chosen]
    rings = [(chosen, PART_COLOURS["dissimilarity"], f"least loss at travel rate {found.rate:g}")]
    rings += [(picked, PART_COLOURS["initial"], "picked")] if picked else []
    for k, (point, colour, label) in enumerate(rings):
        axes.plot([point.travel_cost], [point.error], "o", mfc="none", mec=colour, mew=2.2, ms=14 + 5 * k, label=label,
                  zorder=4)  # fmt: skip
    axes.set_xlabel("travel cost of the whole route")
    axes.set_ylabel("expected final error per region")
    axes.legend(loc="upper right", fontsize=9, frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    name = f"{problem.title}: " if problem.title else ""
    figure.suptitle(f"{name}{len(found.points)} routes between least travel and least error\n{_shape(problem)}",
                    fontsize=12, x=0.015, ha="left")  # fmt: skip
    return figure


def draw_robustness(found: Robustness, problem: Problem) -> Figure:
    """Draw how often each region is the last one of the best route, and on which pairs the plan hangs."""
    figure = _new_figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    ends = list(found.last.items())[:MOST_ENDS][::-1]
    colours = [PART_COLOURS["dissimilarity" if name == found.plan.route[-1] else "travel"] for name, _ in ends]
    left.barh([name for name, _ in ends], [100 * share for _, share in ends], color=colours)
    left.set_xlabel("last region of the best route, % of draws (orange: the plan's)")
    pairs = found.pairs[::-1]
    places = np.arange(len(pairs))
    for k, pair in zip(places, pairs, strict=True):
        right.plot([pair.low, pair.high], [k, k], color="#555555", lw=2)
        right.plot([pair.low, pair.switch], [k, k], color=PART_COLOURS["dissimilarity"], lw=5, solid_capstyle="butt")
    right.set_yticks(places, [" – ".join(pair.regions) for pair in pairs])
    right.set_xlabel("dissimilarity of a pair; orange: another route is better")
    if not pairs:
        right.set_yticks([])
        right.text(0.5, 0.5, "the plan hangs on no single pair", ha="center", va="center", transform=right.transAxes)
    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    name = f"{problem.title}: " if problem.title else ""
    figure.suptitle(
        f"{name}the planned route is best in {found.unchanged:.0%} of {found.draws} draws, "
        f"at most {found.worst_regret:.3g} above the best\n{_shape(problem)}", fontsize=12, x=0.015, ha="left",
    )  # fmt: skip
    return figure


def scaled_places(travel: FloatArray) -> FloatArray:
    """Return places in the plane whose distances resemble the travel costs (classical multidimensional scaling)."""
    squares = ((travel + travel.T) / 2) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, axes = np.linalg.eigh(-centred / 2)
    places: FloatArray = axes[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0))
    return places * np.where(places.sum(axis=0) < 0, -1, 1)  # eigenvectors have no sign of their own


def _headline(plan: Plan, problem: Problem) -> str:
    name = f"{problem.title}: " if problem.title else ""
    return f"{name}{plan.method} route, {plan.quality}\n{_shape(problem)}"


def _shape(problem: Problem) -> str:
    learner = problem.learner
    counts = problem.counts
    n = f"{counts[0]}" if counts.min() == counts.max() else f"{counts.min()} … {counts.max()}"
    return f"{problem.regime} regime: m = {learner.features}, n = {n}, σ = {learner.noise:g}"


def _frame(axes: Axes, stops: FloatArray, geographic: bool) -> None:
    """Show all stops with room for their names, in a frame of fixed proportions and with equal scales.

    A degree of longitude is as long as the cosine of the latitude says.
    """
    low, high = stops.min(axis=0), stops.max(axis=0)
    tall = 1 / max(0.05, float(np.cos(np.radians((low + high)[1] / 2)))) if geographic else 1.0
    wide = np.array([MAP_PROPORTION * tall, 1.0])
    half = 0.66 * wide * (float(max((high - low) / wide)) or 1.0)
    axes.set_xlim(*((low + high)[0] / 2 + np.array([-1, 1]) * half[0]))
    axes.set_ylim(*((low + high)[1] / 2 + np.array([-1, 1]) * half[1]))
    axes.set_aspect(tall, adjustable="box")


def _number_stops(axes: Axes, stops: FloatArray, scores: FloatArray, size: float) -> None:
    low, high = float(scores.min()), float(scores.max())
    for number, (place, score) in enumerate(zip(stops, scores, strict=True), 1):
        dark = high > low and (score - low) / (high - low) > 0.5
        axes.annotate(
            str(number), place, ha="center", va="center", zorder=5, color="white" if dark else "black",
            fontsize=9 if size > 200 else 6, fontweight="bold",
        )  # fmt: skip


def _name_stops(axes: Axes, plan: Plan, stops: FloatArray) -> None:
    """Write each name on the side of its region that the way through it leaves most free."""
    sides = {
        (0, 1): ("center", "bottom"),
        (0, -1): ("center", "top"),
        (1, 0): ("left", "center"),
        (-1, 0): ("right", "center"),
    }
    for k, (name, place) in enumerate(zip(plan.route, stops, strict=True)):
        legs = stops[[j for j in (k - 1, k + 1) if 0 <= j < len(stops)]] - place
        legs = legs / np.maximum(np.hypot(legs[:, 0], legs[:, 1]), 1e-300)[:, None]
        # the largest cosine between a side and a leg, with a liking for above and below
        side = min(sides, key=lambda d: float((legs @ np.array(d)).max()) + 0.35 * (d[0] != 0))
        across, along = sides[side]
        offset = 13 if k < len(stops) - 1 else 19
        axes.annotate(
            name, place, xytext=(offset * side[0], offset * side[1]), textcoords="offset points", ha=across, va=along,
            fontsize=9, zorder=6, bbox={"boxstyle": "round,pad=0.12", "fc": "white", "ec": "none", "alpha": 0.7},
        )  # fmt: skip


def _save(path: str | Path, draw: Callable[[], Figure]) -> None:
    path = Path(path)
    check_picture(path)
    figure = draw()
    with written_whole(path) as temporary:
        figure.savefig(temporary, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def _new_figure(**options: Any) -> Figure:
    """Make a figure without touching pyplot's global state or needing a display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'learnroute[plot]'") from None
    return Figure(**options)


# the way all pictures are made and written, here and in `figures`
new_figure, save_figure = _new_figure, _save
