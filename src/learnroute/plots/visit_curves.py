"""VisitCurve -> picture: error and total loss against travel, one point per number of visits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnroute.errors import check_type
from learnroute.model.problem import Problem
from learnroute.plots.pictures import (
    BLUE,
    GREY,
    VERMILLION,
    entitle,
    own_or_new,
    shape_line,
    unboxed,
)
from learnroute.visit_curves import VisitCurve

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEYOND = 2.0  # times the range of all other rows: how far above them the untrained model is drawn
MOST_LABELS = 16  # points that are labelled by their number of visits


def draw_visit_curve(found: VisitCurve, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw expected error and total loss against travel; points are labelled by their number of visits.

    Parameters
    ----------
    found, problem
        What `visit_curve` found, and for which problem.
    ax
        Axes to draw in; a figure is made if omitted.

    Returns
    -------
    matplotlib.figure.Figure
        The picture; the figure of `ax` where that is given, made without pyplot otherwise.

    Raises
    ------
    InputError
        Without matplotlib.
    """
    check_type("found", found, VisitCurve)
    check_type("problem", problem, Problem)
    figure, axes = own_or_new(ax, figsize=(8.4, 5.4))
    rows, untrained = found.rows, None
    shown = [value for row in rows if row.visits for value in (row.error, row.total)] + [found.floor]
    if rows[0].visits == 0 and rows[0].total > max(shown) + BEYOND * (max(shown) - min(shown)):
        untrained, rows = rows[0], rows[1:]  # so far above that the others would be one line
    travel = [row.travel for row in rows]
    for side, name, colour, marker in (
        ("total", "total loss (error and travel)", VERMILLION, "s"), ("error", "expected error", BLUE, "o"),
    ):  # fmt: skip
        axes.plot(travel, [getattr(row, side) for row in rows], marker=marker, color=colour, ms=5, lw=1.4, label=name)
    best = found.rows[found.best]
    axes.plot([best.travel], [best.total], "o", mfc="none", mec=VERMILLION, mew=2.0, ms=15, label="least total loss")
    axes.axhline(found.floor, color=GREY, ls="--", lw=1.0, label="error of the mean of all models")
    step = max(1, -(-len(rows) // MOST_LABELS))
    labels: dict[tuple[float, float], list[int]] = {}  # rows in one place share a label
    for row in [*rows[:-1:step], rows[-1]]:
        labels.setdefault((round(row.travel, 9), round(row.total, 9)), []).append(row.visits)
    for (place, total), visits in labels.items():
        text = "untrained" if visits == [0] else ", ".join(map(str, visits))
        axes.annotate(
            text, (place, total), xytext=(6, 7), textcoords="offset points", fontsize=9, color=VERMILLION
        )  # fmt: skip
    if untrained is not None:
        axes.plot([], [], " ", label=f"untrained model, not shown: {untrained.total:.4g}")
    unit = f" ({problem.travel_unit})" if problem.travel_unit else ""
    axes.set_xlabel(f"travel of the whole route{unit}; points are labelled by their number of visits")
    axes.set_ylabel("loss per region")
    axes.legend(loc="best", fontsize=9, frameon=False)
    unboxed(axes)
    name = f"{problem.title}: " if problem.title else ""
    entitle(figure, axes, ax is None, f"{name}{found.summary}\n{shape_line(found.problem or problem)}", 12)
    return figure
