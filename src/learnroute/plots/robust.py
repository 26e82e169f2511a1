"""Robustness -> picture: where the best routes end, and the pairs that change the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.problem import Problem
from learnroute.plots.pictures import (
    BLUE,
    GREY,
    VERMILLION,
    entitle,
    literal,
    name_of,
    new_figure,
    picture_of,
    remove_box,
    root_figure,
    shape_line,
)
from learnroute.robust import Robustness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ENDS = 12  # maximum number of last regions drawn


@picture_of(
    Robustness,
    "What `robustness` returned",
    ax="Axes to draw the last regions in; a new figure with both parts if omitted.",
)
def draw_robustness(found: Robustness, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw how often each region is the last one of the best route, and the pairs that change the plan."""
    title = (
        f"{name_of(problem)}: the planned route is best in {found.unchanged:.0%} of {found.draws} draws, "
        f"and its loss is at most {found.worst_regret:.3g} above the best\n{shape_line(problem, found.plan.learner)}"
    )
    if ax is not None:
        _draw_ends(ax, found)
        entitle(root_figure(ax), ax, False, title, 12)
        return root_figure(ax)
    figure = new_figure(figsize=(10.5, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    _draw_ends(left, found)
    _draw_pairs(right, found)
    entitle(figure, left, True, title, 12)
    return figure


def _draw_ends(left: Axes, found: Robustness) -> None:
    ends = list(found.last.items())[:MOST_ENDS][::-1]
    colours = [VERMILLION if name == found.plan.route[-1] else BLUE for name, _ in ends]
    left.barh([literal(name) for name, _ in ends], [100 * share for _, share in ends], color=colours)
    left.set_xlabel("last region of the best route, % of draws (orange: last of the plan)")
    remove_box(left)


def _draw_pairs(right: Axes, found: Robustness) -> None:
    pairs = found.pairs[::-1]
    places = np.arange(len(pairs))
    for k, pair in zip(places, pairs, strict=True):
        right.plot([pair.low, pair.high], [k, k], color=GREY, lw=2)
        right.plot([pair.low, pair.switch], [k, k], color=VERMILLION, lw=5, solid_capstyle="butt")
    right.set_yticks(places, [literal(" – ".join(pair.regions)) for pair in pairs])
    right.set_xlabel("dissimilarity of a pair (orange: another route is better)")
    if not pairs:
        right.set_yticks([])
        right.text(0.5, 0.5, "no single pair changes the plan", ha="center", va="center", transform=right.transAxes)
    remove_box(right)
