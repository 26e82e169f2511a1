"""Comparison -> picture: the loss of each method, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from learnroute.comparison import Comparison
from learnroute.errors import InputError, check_type
from learnroute.model.problem import Problem
from learnroute.plots.pictures import (
    NEGLIGIBLE,
    PART_COLOURS,
    PART_NAMES,
    entitle,
    own_or_new,
    save_figure,
    shape_line,
    unboxed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def save_comparison(comparison: Comparison, problem: Problem, path: str | Path, title: str | None = None) -> None:
    """Write the picture of a comparison.

    Parameters
    ----------
    comparison, problem
        What `compare` found, and for which problem.
    path
        Where to: .png, .svg or .pdf.
    title
        What the picture is called; the problem's own title if omitted.

    Raises
    ------
    InputError
        For another ending or a path that cannot be written, or without matplotlib; before anything is drawn.
    """
    save_figure(path, lambda: draw_comparison(comparison, problem, title=title))


def draw_comparison(
    comparison: Comparison, problem: Problem, ax: Axes | None = None, title: str | None = None
) -> Figure:
    """Draw the loss of each method as a stacked bar, and the best lower bound as a line.

    Parameters
    ----------
    comparison, problem
        What `compare` found, and for which problem.
    ax
        Axes to draw in; a figure is made if omitted.
    title
        What the picture is called; the problem's own title if omitted.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; the figure of `ax` where that is given, made without pyplot otherwise.

    Raises
    ------
    InputError
        Without matplotlib.
    """
    check_type("comparison", comparison, Comparison)
    check_type("problem", problem, Problem)
    if not isinstance(title, str | None):
        raise InputError("a text is needed, or nothing", field="title", value=title)
    rows = [row for row in comparison.rows if row.loss is not None]
    figure, axes = own_or_new(ax, figsize=(1.6 + 1.25 * max(len(rows), 3), 4.8))
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
        text = "" if ratio is None else f"{ratio:.3f}"
        axes.annotate(text, (k, base[k]), (0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=9)
    names = [f"{row.method}\n(mean of {row.draws})" if row.draws > 1 else row.method for row in rows]
    axes.set_xticks(range(len(rows)), names)
    room = 1.12 if ax is None else 1.5  # for the legend, which is in the axes where these are given
    axes.set_ylim(0, (base.max(initial=0) * room) or 1.0)
    axes.set_ylabel("expected loss per region")
    unboxed(axes)
    name = title or problem.title or f"{problem.size} regions"
    headline = f"{name}: {len(rows)} methods compared\n{shape_line(problem)}\nabove the bars: times the {kind}"
    entitle(figure, axes, ax is None, headline, 11, 3)
    return figure
