"""LearnerTable -> picture: total loss against λ, one curve per route, with least squares (λ = 0) on the left."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from learnroute.comparison.of_learners import OWN, PAPERS, PROXIMAL, RECURSIVE, SHORTEST, Curve, LearnerTable
from learnroute.model.learners import LeastSquares
from learnroute.model.problem import Problem
from learnroute.plots.label_placement import fix_layout, label_curves
from learnroute.plots.pictures import BLUE, GREEN, GREY, VERMILLION, Picture, name_of, picture_of, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LOOKS = {SHORTEST: (BLUE, "-", 2.6), PAPERS: (VERMILLION, "--", 1.6), OWN: (GREEN, "-.", 1.6)}
NAMES = {SHORTEST: "shortest", PAPERS: "best for least squares (paper)", OWN: "best for one λ"}
DRAWN = (LeastSquares.rule, PROXIMAL)  # learners whose routes have a curve
WIDE = 6.0  # multiple of the floor beyond which losses are drawn on a logarithmic axis
ROOM = 0.06  # share of the height left free above and below


@picture_of(LearnerTable, "What `compare_learners` returned")
def draw_learners(found: LearnerTable, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw the total loss against λ on each route, least squares at λ = 0, and the floor."""
    picture = Picture(ax, (8.4, 5.4))
    axes = picture.axes
    values = found.regularizations
    axes.set_xscale("log")
    marked = False
    minima = []  # total loss and λ at the minimum of each curve
    for curve in found.curves:
        colour, dash, width = LOOKS[curve.route_kind]
        axes.plot(values, curve.totals, color=colour, ls=dash, lw=width, label=_name(found, curve), zorder=2)
        minima.append(min(zip(curve.totals, values, strict=True)))
        axes.plot([minima[-1][1]], [minima[-1][0]], "o", color=colour, ms=6, zorder=3)
        if curve.limit is not None:
            label = None if marked else "least squares (paper), λ → 0"
            axes.plot([values[0]], [curve.limit], "D", color=colour, ms=8, mec="black", label=label, zorder=4,
                      clip_on=False)  # fmt: skip
            marked = True
    recursive = next(row for row in found.rows if row.learner == RECURSIVE)
    for row, dash, name in (
        (recursive, ":", "recursive least squares"),
        (found.floor, "--", "floor: error of the mean model"),
    ):
        assert row.total is not None
        axes.axhline(row.total, color=GREY if dash == ":" else "black", ls=dash, lw=1.3, label=name, zorder=1)
    _limit(axes, found)
    axes.set_xlim(values[0], values[-1])
    axes.set_xlabel("regularisation λ")
    axes.set_ylabel("expected total loss per region")
    tidy(axes)
    learner = problem.learner
    shape = f"m = {learner.features}, n = {_counts(problem)}, σ = {learner.noise:.4g}"
    figure = picture.finish(f"{name_of(problem)}: learners compared\n{shape}", legend_columns=2)
    if picture.is_new:
        fix_layout(figure)
    total, best = min(minima)
    foot = np.array([[best, axes.get_ylim()[0]], [best, total]])
    axes.plot(*foot.T, color=GREY, lw=0.8, zorder=1)
    lines = [np.column_stack([values, curve.totals]) for curve in found.curves]
    level = [np.array([[values[0], row.total], [values[-1], row.total]]) for row in (recursive, found.floor)]
    label_curves(axes, {0: f"best λ = {_two_digits(best)}"}, np.array([[best, total]]), [*lines, *level, foot])
    return figure


def _two_digits(value: float) -> str:
    """Return a λ of the grid with two digits."""
    return f"{float(f'{value:.2g}'):g}"


def _limit(axes: Axes, found: LearnerTable) -> None:
    """Set the loss axis: from the floor to the losses of the paper's learner and of the initial model."""
    floor = found.floor.total
    assert floor is not None
    known = [curve.limit for curve in found.curves if curve.limit is not None]
    ends = [total for curve in found.curves for total in (curve.totals[0], curve.totals[-1])]
    low = min([floor, *(min(curve.totals) for curve in found.curves)])
    top = max(known) if known else min(max(ends), WIDE * max(floor, min(ends))) if low > 0 else max(ends)
    top = max(top, min(max(ends), top + 0.5 * abs(top)))
    if low > 0 and top > WIDE * low:
        axes.set_yscale("log")
        axes.set_ylim(low * (low / top) ** ROOM, top * (top / low) ** ROOM)
    elif top > low:
        axes.set_ylim(low - ROOM * (top - low), top + ROOM * (top - low))


def _name(found: LearnerTable, curve: Curve) -> str:
    """Return the name of a route, which may be shortest and best at once."""
    kinds = {row.route_kind: None for row in found.rows if row.order == curve.order and row.learner in DRAWN}
    return f"route: {', '.join(NAMES[kind] for kind in kinds)}"


def _counts(problem: Problem) -> str:
    counts = problem.counts
    return f"{counts[0]}" if counts.min() == counts.max() else f"{counts.min()} … {counts.max()}"
