"""Robustness -> picture: where the best routes end, and the pairs that change the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.problem import Problem
from learnroute.plots.pictures import (
    BLUE,
    GREY,
    VERMILLION,
    Picture,
    literal,
    name_of,
    picture_of,
    remove_box,
    shape_line,
)
from learnroute.robust import Robustness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ENDS = 12  # maximum number of last regions drawn
FEWEST_BARS = 4  # number of bars that there is room for at least


@picture_of(
    Robustness,
    "What `robustness` returned",
    ax="Axes to draw the last regions in; a new figure with both parts if omitted.",
)
def draw_robustness(found: Robustness, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw how often each region is the last one of the best route, and the pairs that change the plan."""
    title = (
        f"{name_of(problem)}: the planned route is best in {100 * found.unchanged:.3g} % of {found.draws} draws, "
        f"and its loss is at most {found.worst_regret:.3g} above the best\n{shape_line(problem, found.plan.learner)}"
    )
    picture = Picture(ax, (10.5, 4.6), columns=2)
    _draw_ends(picture.axes, found)
    for right in picture.others:
        _draw_pairs(right, found)
    return picture.finish(title)


def _draw_ends(left: Axes, found: Robustness) -> None:
    ends = list(found.last.items())[:MOST_ENDS][::-1]
    colours = [VERMILLION if name == found.plan.route[-1] else BLUE for name, _ in ends]
    left.barh([literal(name) for name, _ in ends], [100 * share for _, share in ends], color=colours)
    left.set_ylim(len(ends) - max(len(ends), FEWEST_BARS) - 0.5, len(ends) - 0.5)
    left.set_xlabel("last region of the best route, % of draws (orange: plan)")


def _draw_pairs(right: Axes, found: Robustness) -> None:
    pairs = found.pairs[::-1]
    places = np.arange(len(pairs))
    for k, pair in zip(places, pairs, strict=True):
        right.plot([pair.low, pair.high], [k, k], color=GREY, lw=2)
        right.plot([pair.low, pair.switch], [k, k], color=VERMILLION, lw=5, solid_capstyle="butt")
    right.set_yticks(places, [literal(" – ".join(pair.regions)) for pair in pairs])
    right.set_xlabel("dissimilarity (orange: another route is better)")
    remove_box(right)
    if not pairs:
        right.set_axis_off()
        right.text(0.5, 0.5, "no single pair changes the plan", ha="center", va="center", transform=right.transAxes)
