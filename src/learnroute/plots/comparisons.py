"""Comparison -> picture: the loss of each method, side by side."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from learnroute.comparison.of_methods import Comparison
from learnroute.errors import InputError
from learnroute.model.problem import Problem
from learnroute.plots.losses import PART_COLOURS, draw_bars, draw_bound, number_text
from learnroute.plots.pictures import Picture, name_of, picture_of, shape_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BAR = 0.66  # width of a bar


@picture_of(Comparison, "What `compare` returned", title="A title for the picture; the problem's title if omitted.")
def draw_comparison(
    comparison: Comparison, problem: Problem, ax: Axes | None = None, title: str | None = None
) -> Figure:
    """Draw the loss of each method as a stacked bar, and the best lower bound as a line."""
    if not isinstance(title, str | None):
        raise InputError("expected a text, or nothing", field="title", value=title)
    rows = [row for row in comparison.rows if row.loss is not None]
    losses = [row.loss for row in rows if row.loss is not None]
    picture = Picture(ax, (1.6 + 1.25 * max(len(rows), 3), 4.8))
    axes = picture.axes
    draw_bars(axes, losses, BAR)
    kind = "optimum" if comparison.optimal else "lower bound"
    if comparison.lower_bound is not None:
        draw_bound(axes, comparison.lower_bound, kind)
    known = {k: ratio for k, row in enumerate(rows) if (ratio := comparison.ratio(row)) is not None}
    for k, loss in enumerate(losses):
        text = f"{known[k]:.3f}" if known else number_text(loss.total)
        top = max(loss.total, math.fsum(max(0.0, getattr(loss, part)) for part in PART_COLOURS))
        axes.annotate(text, (k, top), (0, 2), textcoords="offset points", ha="center", va="bottom", fontsize=9)
    names = [f"{row.method}\n(mean of {row.draws})" if row.draws > 1 else row.method for row in rows]
    axes.set_xticks(range(len(rows)), names)
    if not picture.is_new:  # room for the legend, which is inside the caller's axes
        low, high = axes.get_ylim()
        axes.set_ylim(low, high + 0.35 * (high - low))
    axes.set_ylabel("expected loss per region")
    above = f"times the {kind}" if known else "total loss"
    learner = next((row.plan.learner for row in rows if row.plan is not None), None)
    name = title or name_of(problem)
    headline = f"{name}: {len(rows)} methods compared\n{shape_line(problem, learner)}\nabove the bars: {above}"
    return picture.finish(headline, 11, 3)
