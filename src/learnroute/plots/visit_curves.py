"""VisitCurve -> picture: error and total loss against travel, one point per number of visits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.problem import Problem
from learnroute.plots.label_placement import fix_layout, label_curves
from learnroute.plots.pictures import BLUE, GREY, VERMILLION, Picture, name_of, picture_of, shape_line, travel_label
from learnroute.visit_curves import VisitCurve, VisitRow

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BEYOND = 2.0  # multiple of the other rows' range up to which the initial model is drawn above them
MOST_LABELS = 16  # maximum number of points labelled by their number of visits


@picture_of(VisitCurve, "What `visit_curve` returned")
def draw_visit_curve(found: VisitCurve, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw expected error and total loss against travel; points are labelled by their number of visits."""
    picture = Picture(ax, (8.4, 5.4))
    axes = picture.axes
    rows, untrained = found.rows, None
    shown = [value for row in rows if row.visits for value in (row.error, row.total)] + [found.floor]
    if rows[0].visits == 0 and rows[0].total > max(shown) + BEYOND * (max(shown) - min(shown)):
        untrained, rows = rows[0], rows[1:]  # so far above that the other rows would appear as one line
    travel = [row.travel for row in rows]
    for side, name, colour, marker in (
        ("total", "total loss (error and travel)", VERMILLION, "s"), ("error", "expected error", BLUE, "o"),
    ):  # fmt: skip
        axes.plot(travel, [getattr(row, side) for row in rows], marker=marker, color=colour, ms=5, lw=1.4, label=name)
    best = found.rows[found.best]
    axes.plot([best.travel], [best.total], "o", mfc="none", mec=VERMILLION, mew=2.0, ms=15, label="least total loss")
    axes.axhline(found.floor, color=GREY, ls="--", lw=1.0, label="error of the mean of all models")
    if untrained is not None:
        axes.plot([], [], " ", label=f"initial model, not shown: {untrained.total:.4g}")
    axes.set_xlabel(travel_label(problem))
    axes.set_ylabel("loss per region")
    headline = f"{name_of(problem)}: {found.summary}\n{shape_line(found.problem or problem)}"
    figure = picture.finish(headline, legend_columns=3)
    if picture.is_new:
        fix_layout(figure)
    _label_visits(axes, rows, found.floor, best)
    return figure


def _label_visits(axes: Axes, rows: Sequence[VisitRow], floor: float, best: VisitRow) -> None:
    """Label points of the total by their number of visits; rows at the same point share a label."""
    places: dict[tuple[float, float], list[int]] = {}
    for row in rows:
        places.setdefault((row.travel, row.total), []).append(row.visits)
    step = max(1, -(-len(places) // MOST_LABELS))
    texts = {
        k: "untrained" if visits == [0] else ", ".join(map(str, visits))
        for k, visits in enumerate(places.values())
        if k % step == 0 or k == len(places) - 1
    }
    first = min(k for k, text in texts.items() if text != "untrained")
    texts[first] += " visit" if texts[first] == "1" else " visits"
    sides = [np.array([(row.travel, getattr(row, side)) for row in rows]) for side in ("total", "error")]
    level = np.array([(rows[0].travel, floor), (rows[-1].travel, floor)])
    ring = list(places).index((best.travel, best.total)) if best in rows else None
    label_curves(axes, texts, np.array(list(places)), [*sides, level], dict.fromkeys(texts, VERMILLION), ring)
