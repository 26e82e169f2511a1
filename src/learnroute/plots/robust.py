"""Robustness -> picture: where the best routes end, and on which pairs the plan hangs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learnroute.errors import check_type
from learnroute.model.problem import Problem
from learnroute.plots.pictures import (
    BLUE,
    GREY,
    VERMILLION,
    check_axes,
    entitle,
    literal,
    new_figure,
    root_figure,
    shape_line,
    unboxed,
)
from learnroute.robust import Robustness

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_ENDS = 12  # last regions drawn


def draw_robustness(found: Robustness, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw how often each region is the last one of the best route, and on which pairs the plan hangs.

    Parameters
    ----------
    found, problem
        What `robustness` found, and for which problem.
    ax
        Axes to draw in, the last regions alone; a figure with both is made if omitted.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; the figure of `ax` where that is given, made without pyplot otherwise.

    Raises
    ------
    InputError
        Without matplotlib.
    """
    check_type("found", found, Robustness)
    check_type("problem", problem, Problem)
    check_axes(ax)
    name = f"{problem.title}: " if problem.title else ""
    title = (
        f"{name}the planned route is best in {found.unchanged:.0%} of {found.draws} draws, "
        f"at most {found.worst_regret:.3g} above the best\n{shape_line(problem, found.plan.learner)}"
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
    left.set_xlabel("last region of the best route, % of draws (orange: the plan's)")
    unboxed(left)


def _draw_pairs(right: Axes, found: Robustness) -> None:
    pairs = found.pairs[::-1]
    places = np.arange(len(pairs))
    for k, pair in zip(places, pairs, strict=True):
        right.plot([pair.low, pair.high], [k, k], color=GREY, lw=2)
        right.plot([pair.low, pair.switch], [k, k], color=VERMILLION, lw=5, solid_capstyle="butt")
    right.set_yticks(places, [literal(" – ".join(pair.regions)) for pair in pairs])
    right.set_xlabel("dissimilarity of a pair; orange: another route is better")
    if not pairs:
        right.set_yticks([])
        right.text(0.5, 0.5, "the plan hangs on no single pair", ha="center", va="center", transform=right.transAxes)
    unboxed(right)
