"""Tradeoff -> picture: error against travel, with the chosen route."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnroute.errors import check_type
from learnroute.model.problem import Problem
from learnroute.plots.pictures import (
    BLUE,
    GREEN,
    GREY,
    ORANGE,
    PURPLE,
    SKY,
    VERMILLION,
    YELLOW,
    Picture,
    name_of,
    picture_of,
    shape_line,
    travel_label,
)
from learnroute.tradeoffs import Choice, Tradeoff

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = {  # methods marked beside the curve
    "algorithm1": ("D", ORANGE, "Algorithm 1"), "baseline": ("s", PURPLE, "baseline route"),
    "travel": ("^", SKY, "shortest route"), "nearest": ("v", YELLOW, "nearest neighbour"),
}  # fmt: skip


@picture_of(Tradeoff, "What `tradeoff` returned", picked="A route of the curve to mark, such as `found.within(40)`.")
def draw_tradeoff(found: Tradeoff, problem: Problem, picked: Choice | None = None, ax: Axes | None = None) -> Figure:
    """Draw the routes between minimum travel and minimum error, the chosen one, and the routes of other methods."""
    if picked is not None:
        check_type("picked", picked, Choice)
    picture = Picture(ax, (8.4, 5.4))
    axes = picture.axes
    travel, error = ([getattr(point, side) for point in found.points] for side in ("travel_cost", "error"))
    axes.step(travel, error, where="post", color=GREY, lw=1.0, zorder=1)
    kind = "best trade-offs (proved)" if found.complete else "best trade-offs found"
    axes.plot(travel, error, "o", color=BLUE, ms=5, label=kind, zorder=2)
    for name, mark in found.marks.items():
        shape, colour, label = MARKS[name]
        axes.plot([mark.travel_cost], [mark.error], shape, color=colour, ms=9, mec="black", label=label, zorder=3)
    chosen = found.points[found.chosen]
    rings = [(chosen, VERMILLION, f"least loss at travel rate {found.rate:g}")]
    rings += [(picked, GREEN, "picked")] if picked else []
    for k, (point, colour, label) in enumerate(rings):
        axes.plot([point.travel_cost], [point.error], "o", mfc="none", mec=colour, mew=2.2, ms=14 + 5 * k, label=label,
                  zorder=4)  # fmt: skip
    axes.set_xlabel(travel_label(problem))
    axes.set_ylabel("expected error per region")
    headline = f"{name_of(problem)}: {found.size_text} from least travel to least error"
    return picture.finish(f"{headline}\n{shape_line(found.problem or problem)}", legend_columns=3)
