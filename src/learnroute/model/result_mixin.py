"""What all results share: how they are shown, saved and tabulated; and drawn, if they answer a problem."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from learnroute.errors import InputError
from learnroute.model.problem import Problem
from learnroute.model.table import Sheet, Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame


class TableMixin(ABC):
    """A result that has a table, and a sheet to be read."""

    problem: Problem | None = None
    picture: ClassVar[str | None] = None  # the function of `learnroute.plots` that draws it

    @abstractmethod
    def table(self) -> Table:
        """Return the table of `to_frame` and of .csv files."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values."""

    @abstractmethod
    def sheet(self) -> Sheet:
        """Return what is read: printed in a terminal, shown in a notebook, saved as Markdown."""

    def _repr_html_(self) -> str:
        from learnroute import notebooks

        return notebooks.to_html(self)

    def save(self, path: str | Path, *, problem: Problem | None = None) -> tuple[Path, ...]:
        """Write the result in the format that the name ends in, whole or not at all.

        All results: .json (`to_dict`) and .csv (the table of `to_frame`). Plans also: all other formats of
        `write_plan`. Other results also: .md (the sheet). Results that can be drawn: .png, .svg or .pdf.

        Parameters
        ----------
        path
            Where to.
        problem
            What was planned, where a plan or picture needs it and the result does not know it (see `problem`).

        Returns
        -------
        tuple of pathlib.Path
            All files that were written: one, or for some formats one per vehicle.

        Raises
        ------
        InputError
            For another ending or a path that cannot be written, before any work is done.
        """
        from learnroute import notebooks

        return notebooks.save(self, path, problem)

    def to_frame(self) -> DataFrame:
        """Return the table of the result.

        Returns
        -------
        pandas.DataFrame
            A plan: one row per stop. A comparison: one row per method. A trade-off: one row per route. Learners: one
            row per learner and route. Robustness: one row per pair of regions that can change the choice. A simulation:
            one row per run. A journey: one row per visit. A verification: one row per claim. A calibration: one row per
            coefficient. A sweep: one row per method. Estimates, transfers and followed routes: a matrix with names.

        Raises
        ------
        InputError
            Without pandas.
        """
        return self.table().to_frame()


class PictureMixin(TableMixin):
    """A result that has a picture of its own, without a problem."""

    def plot(self, ax: Axes | None = None, *, path: str | Path | None = None) -> Figure:
        """Draw the result; the picture is that of the matching function of `learnroute.plots`.

        Parameters
        ----------
        ax
            Axes to draw in, of a figure of yours. If omitted, a figure is made, without pyplot; a notebook shows it.
        path
            Where to write the picture as well: .png, .svg or .pdf.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.

        Raises
        ------
        InputError
            Without matplotlib, or for a path that cannot be written; before anything is drawn.
        """
        from learnroute import notebooks

        return notebooks.draw(self, ax, path, None)


@dataclass(frozen=True, eq=False, repr=False)
class ResultMixin(TableMixin):
    """A result that answers a problem, and has a picture.

    `problem` is what was asked. It is no part of the result's JSON, equality or pickle: a result that comes from
    another process or from a file of pickles has none, and is told it where it needs it (`plot(problem=…)`).
    """

    problem: Problem | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "problem": None}  # whoever asked has it: T x T numbers need not travel back

    @abstractmethod
    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        """Return some route of the result, as names and as indices."""

    def known_problem(self, problem: Problem | None = None) -> Problem | None:
        """Return the problem that the result answers: the given one, if it can be that, or its own."""
        if problem is None:
            return self.problem
        if not isinstance(problem, Problem):
            raise InputError("expected a Problem", field="problem", value=problem)
        route, order = self._some_route()
        whole = problem.rules is not None or len(route) == problem.size
        if not whole or any(problem.regions[i] != name for name, i in zip(route, order, strict=True)):
            raise InputError("has other regions; give the problem that was planned", field="problem")
        return problem

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

        return notebooks.draw(self, ax, path, problem)
