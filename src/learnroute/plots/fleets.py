"""FleetTable -> picture: the loss of each fleet as a bar."""

from __future__ import annotations

from typing import TYPE_CHECKING

from learnroute.fleet_tables import FleetTable
from learnroute.model.problem import Problem
from learnroute.plots.losses import number_text
from learnroute.plots.pictures import BLUE, GREY, VERMILLION, Picture, name_of, picture_of, shape_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROW = 0.34  # inches per row


@picture_of(FleetTable, "What `compare_fleets` returned")
def draw_fleets(found: FleetTable, problem: Problem, ax: Axes | None = None) -> Figure:
    """Draw expected error and travel of each fleet as a stacked bar, with the name of the best one in bold."""
    rows = found.rows
    picture = Picture(ax, (8.4, 1.9 + ROW * max(len(rows), 4)))
    axes = picture.axes
    kinds: dict[str, list[int]] = {"expected error": [], "expected error, no vehicle": []}
    for k, row in enumerate(rows):
        kinds["expected error" if row.rounds is None else "expected error, no vehicle"].append(k)
    for (name, places), colour in zip(kinds.items(), (VERMILLION, GREY), strict=True):
        if places:
            axes.barh(places, [rows[k].error for k in places], color=colour, height=0.66, label=name)
    errors, paid = [row.error for row in rows], [row.total - row.error for row in rows]
    axes.barh(range(len(rows)), paid, left=errors, color=BLUE, height=0.66, label="travel")
    for k, row in enumerate(rows):
        axes.annotate(
            number_text(row.total), (row.total, k), (4, 0), textcoords="offset points", va="center", fontsize=9,
            weight="bold" if k == found.best else "normal",
        )  # fmt: skip
    axes.set_yticks(range(len(rows)), [row.name for row in rows], fontsize=9)
    axes.get_yticklabels()[found.best].set_fontweight("bold")
    axes.invert_yaxis()
    axes.set_xlim(0, 1.12 * max(row.total for row in rows) or 1.0)
    axes.set_xlabel("expected loss per region")
    return picture.finish(f"{name_of(problem)}: vehicles and models\n{shape_line(problem)}", 11, 3)
