"""Base classes of results: how they are displayed, saved and tabulated, and drawn if they answer a problem."""

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
    """A result with a table and a readable sheet."""

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
        """Return the readable form: printed in a terminal, shown in a notebook, saved as Markdown."""

    def _repr_html_(self) -> str:
        from learnroute import notebooks

        return notebooks.to_html(self)

    def save(self, path: str | Path, *, problem: Problem | None = None) -> tuple[Path, ...]:
        """Write the result atomically, in the format given by the file's extension.

        All results support .json (`to_dict`) and .csv (the table of `to_frame`). Plans also support all other formats
        of `write_plan`, and other results .md (the sheet). Results that can be drawn support .png, .svg and .pdf.

        Parameters
        ----------
        path
            The file to write.
        problem
            The problem, if a plan or picture needs it and the result does not contain it (see `problem`).

        Returns
        -------
        tuple of pathlib.Path
            All files written: one file or, for some formats, one per vehicle.

        Raises
        ------
        InputError
            If the extension is unknown or the path cannot be written; raised before any work is done.
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
            If pandas is not installed.
        """
        return self.table().to_frame()


class PictureMixin(TableMixin):
    """A result that can be drawn without a problem."""

    def plot(self, ax: Axes | None = None, *, path: str | Path | None = None) -> Figure:
        """Draw the result with the matching function of `learnroute.plots`.

        Parameters
        ----------
        ax
            Axes of an existing figure. If omitted, a new figure is created without pyplot; a notebook shows it.
        path
            File to which the picture is written as well: .png, .svg or .pdf.

        Returns
        -------
        matplotlib.figure.Figure
            The picture.

        Raises
        ------
        InputError
            If matplotlib is not installed or the path cannot be written; raised before anything is drawn.
        """
        from learnroute import notebooks

        return notebooks.draw(self, ax, path, None)


@dataclass(frozen=True, eq=False, repr=False)
class ResultMixin(TableMixin):
    """A result that answers a problem and can be drawn.

    `problem` is that problem. It is not part of the result's JSON, equality or pickle: a result from another process or
    from a pickle file has none, and the problem must be given if it is needed (`plot(problem=…)`).
    """

    problem: Problem | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "problem": None}  # the caller has it, so T x T numbers need not be copied

    @abstractmethod
    def _some_route(self) -> tuple[Sequence[str], Sequence[int]]:
        """Return a route of the result, as names and as indices."""

    def known_problem(self, problem: Problem | None = None) -> Problem | None:
        """Return the problem that the result answers: the given one, if it fits, or the stored one."""
        if problem is None:
            return self.problem
        if not isinstance(problem, Problem):
            raise InputError("expected a Problem", field="problem", value=problem)
        route, order = self._some_route()
        whole = not problem.visits_all_once or len(route) == problem.size
        if not whole or any(problem.regions[i] != name for name, i in zip(route, order, strict=True)):
            raise InputError("has other regions; give the problem that was planned", field="problem")
        return problem

    def plot(self, ax: Axes | None = None, *, path: str | Path | None = None, problem: Problem | None = None) -> Figure:
        """Draw the result with the matching function of `learnroute.plots`.

        Parameters
        ----------
        ax
            Axes of an existing figure; if the picture has two parts, only the left one is drawn there.
            If omitted, a new figure is created without pyplot; a notebook shows it.
        path
            File to which the picture is written as well: .png, .svg or .pdf.
        problem
            The problem, if the result does not contain it (see `problem`).

        Returns
        -------
        matplotlib.figure.Figure
            The picture.

        Raises
        ------
        InputError
            If matplotlib is not installed, the problem is missing or the path cannot be written; raised before anything
            is drawn.
        """
        from learnroute import notebooks

        return notebooks.draw(self, ax, path, problem)
