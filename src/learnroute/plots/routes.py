"""Plan -> picture: the route on a map, beside what its loss is made of."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from learnroute.errors import check_type
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.validation import FloatArray
from learnroute.plots.pictures import (
    GREY,
    NEGLIGIBLE,
    PART_COLOURS,
    PART_NAMES,
    VERMILLION,
    new_figure,
    save_figure,
    shape_line,
    unboxed,
)
from learnroute.plots.scaling import scaled_places

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MAP_PROPORTION = 1.6  # width over height of the map
MOST_LABELS = 40  # regions up to which names are written
MOST_NUMBERS = 120  # and order numbers


def save_plan(plan: Plan, problem: Problem, path: str | Path) -> None:
    """Write the picture of a plan: .png, .svg or .pdf."""
    save_figure(path, lambda: draw_plan(plan, problem))


def draw_plan(plan: Plan, problem: Problem) -> Figure:
    """Draw a plan: the route on a map on the left, the loss on the right."""
    check_type("plan", plan, Plan)
    check_type("problem", problem, Problem)
    figure = new_figure(figsize=(10.5, 5.6), layout="constrained")
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
    axes.plot(line[:, 0], line[:, 1], color=GREY, lw=0.8 if small else 1.4, zorder=1)
    if not small and problem.streets is None:
        for a, b in pairwise(way):
            axes.annotate(
                "", xy=a + 0.58 * (b - a), xytext=a + 0.5 * (b - a), zorder=2,
                arrowprops={"arrowstyle": "-|>", "color": GREY, "lw": 1.4, "mutation_scale": 13},
            )  # fmt: skip
    scores = problem.scores[list(plan.order)] / problem.size
    dots = axes.scatter(
        stops[:-1, 0], stops[:-1, 1], c=scores[:-1], s=size, cmap="cividis_r", edgecolors="black", linewidths=0.8,
        vmin=scores.min(), vmax=scores.max(), zorder=3,
    )  # fmt: skip
    axes.scatter(
        stops[-1:, 0], stops[-1:, 1], c=scores[-1:], s=max(3.2 * size, 120), marker="*", cmap="cividis_r",
        edgecolors=VERMILLION, linewidths=1.6, vmin=scores.min(), vmax=scores.max(), zorder=4,
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
    unboxed(axes)
    handles, labels = axes.get_legend_handles_labels()
    axes.legend(handles[::-1], labels[::-1], loc="upper center", bbox_to_anchor=(0.5, -0.02), frameon=False, fontsize=9)


def _headline(plan: Plan, problem: Problem) -> str:
    name = f"{problem.title}: " if problem.title else ""
    return f"{name}{plan.method} route, {plan.quality}\n{shape_line(problem)}"


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
