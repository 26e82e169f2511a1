"""Robustness -> picture: where the best routes end, and on which pairs the plan hangs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from learnroute.errors import check_type
from learnroute.model.problem import Problem
from learnroute.plots.pictures import BLUE, GREY, VERMILLION, new_figure, save_figure, shape_line, unboxed
from learnroute.robust import Robustness

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ENDS = 12  # last regions drawn


def save_robustness(found: Robustness, problem: Problem, path: str | Path) -> None:
    """Write the picture of a plan's robustness: .png, .svg or .pdf."""
    save_figure(path, lambda: draw_robustness(found, problem))


def draw_robustness(found: Robustness, problem: Problem) -> Figure:
    """Draw how often each region is the last one of the best route, and on which pairs the plan hangs."""
    check_type("found", found, Robustness)
    check_type("problem", problem, Problem)
    figure = new_figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    ends = list(found.last.items())[:MOST_ENDS][::-1]
    colours = [VERMILLION if name == found.plan.route[-1] else BLUE for name, _ in ends]
    left.barh([name for name, _ in ends], [100 * share for _, share in ends], color=colours)
    left.set_xlabel("last region of the best route, % of draws (orange: the plan's)")
    pairs = found.pairs[::-1]
    places = np.arange(len(pairs))
    for k, pair in zip(places, pairs, strict=True):
        right.plot([pair.low, pair.high], [k, k], color=GREY, lw=2)
        right.plot([pair.low, pair.switch], [k, k], color=VERMILLION, lw=5, solid_capstyle="butt")
    right.set_yticks(places, [" – ".join(pair.regions) for pair in pairs])
    right.set_xlabel("dissimilarity of a pair; orange: another route is better")
    if not pairs:
        right.set_yticks([])
        right.text(0.5, 0.5, "the plan hangs on no single pair", ha="center", va="center", transform=right.transAxes)
    for axes in (left, right):
        unboxed(axes)
    name = f"{problem.title}: " if problem.title else ""
    figure.suptitle(
        f"{name}the planned route is best in {found.unchanged:.0%} of {found.draws} draws, "
        f"at most {found.worst_regret:.3g} above the best\n{shape_line(problem)}", fontsize=12, x=0.015, ha="left",
    )  # fmt: skip
    return figure
