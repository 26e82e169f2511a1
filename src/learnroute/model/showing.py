"""What all results share: the problem they answer, and how they are shown, drawn, saved and tabulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnroute.model.problem import DissimilarityKind, Problem

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

MOST_NAMES = 6  # regions up to which a route is written out
LONGEST_NAME = 24  # characters
KINDS: dict[DissimilarityKind, str] = {
    "estimate": "unbiased estimates of the dissimilarities",
    "upper": "upper bounds on the dissimilarities",
    "measured": "measured errors (transfer)",
}


@dataclass(frozen=True, eq=False, repr=False)
class Shown:
    """A result that a notebook shows as a table and a picture.

    `problem` is what was asked. It is no part of the result's JSON, equality or pickle: a result that comes from
    another process or from a file of pickles has none, and is told it where it needs it (`plot(problem=…)`).
    """

    problem: Problem | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "problem": None}  # whoever asked has it: T x T numbers need not travel back

    def _repr_html_(self) -> str:
        from learnroute import notebooks

        return notebooks.html_of(self)

    def plot(self, ax: Axes | None = None, *, path: str | Path | None = None, problem: Problem | None = None) -> Figure:
        """Draw the result; the picture is that of the matching function of `learnroute.plots`.

        Parameters
        ----------
        ax
            Axes to draw in, of a figure of yours; where the picture has two parts, the left one alone goes there.
            If omitted, a figure is made, without pyplot; a notebook shows it.
        path
            Where to write the picture as well: .png, .svg or .pdf.
        problem
            What was planned, where the result does not know it (see `problem`).

        Returns
        -------
        matplotlib.figure.Figure
            The picture.

        Raises
        ------
        InputError
            Without matplotlib, without a problem, or for a path that cannot be written; before anything is drawn.
        """
        from learnroute import notebooks

        return notebooks.figure_of(self, ax, path, problem)

    def save(self, path: str | Path, *, problem: Problem | None = None) -> None:
        """Write the result in the format that the name ends in, whole or not at all.

        All results: .json (`to_dict`), .csv (the table of `to_frame`), and as a picture .png, .svg or .pdf. Plans
        also: all other formats of `write_plan`, and their .csv is that of `write_plan`. Learners also: .md.

        Parameters
        ----------
        path
            Where to.
        problem
            What was planned, where the result does not know it (see `problem`).

        Raises
        ------
        InputError
            For another ending or a path that cannot be written, before any work is done.
        """
        from learnroute import notebooks

        notebooks.save(self, path, problem)

    def to_frame(self, *, problem: Problem | None = None) -> DataFrame:
        """Return the result as a table.

        Parameters
        ----------
        problem
            What was planned, where the result does not know it (see `problem`); plans without one have fewer columns.

        Returns
        -------
        pandas.DataFrame
            A plan: one row a stop. A comparison: one row a method. A trade-off: one row a route. Learners: one
            row a learner and route. Robustness: one row a pair of regions on which the plan hangs. A simulation: one
            row a run.

        Raises
        ------
        InputError
            Without pandas.
        """
        from learnroute import notebooks

        return notebooks.frame_of(self, problem)


def shortened(route: Sequence[str], closed: bool = False, depot: str | None = None) -> str:
    """Write a route in few words: `A → B → C`, `Depot → A → B → C → … 54 more … → Y → Z → back`."""
    names = [clipped(name) for name in (*route[:3], *route[-2:])] if len(route) > MOST_NAMES else map(clipped, route)
    stops = list(names)
    if len(route) > MOST_NAMES:
        stops.insert(3, f"… {len(route) - 5:,} more …")
    stops = stops if depot is None else [clipped(depot), *stops]
    return " → ".join([*stops, "back"] if closed else stops)


def clipped(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name, cut to a readable length."""
    return name if len(name) <= most else name[: most - 1] + "…"
