"""How all pictures are made, written and coloured. This is where matplotlib comes in."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnroute.errors import InputError, install
from learnroute.formats import PICTURES
from learnroute.formats.files import atomic_write, check_destination
from learnroute.model.learners import Learner
from learnroute.model.problem import Problem
from learnroute.model.validation import as_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by all kinds of colour vision
BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, YELLOW, BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442", "#000000",
)  # fmt: skip
GREY = "#555555"


def check_picture(path: str | Path) -> None:
    """Refuse a picture that could not be drawn or written later.

    Parameters
    ----------
    path
        Where the picture is to go: .png, .svg or .pdf.

    Raises
    ------
    InputError
        For another ending or a path that cannot be written, or without matplotlib.
    """
    check_destination(as_path("path", path), PICTURES, "picture format")
    new_figure()


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a path that `check_picture` accepts."""
    path = as_path("path", path)
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def new_figure(**options: Any) -> Figure:
    """Make a figure without touching pyplot's global state or needing a display."""
    try:
        import_module("matplotlib.figure")
        from learnroute.plots.inline import InlineFigure
    except ImportError:
        raise InputError(f"pictures need matplotlib: {install('plot')}") from None
    return InlineFigure(**options)


def check_axes(ax: object) -> None:
    """Refuse what are neither axes of matplotlib nor left out."""
    axes = sys.modules.get("matplotlib.axes")  # whoever has axes has imported it
    if ax is not None and (axes is None or not isinstance(ax, axes.Axes)):
        raise InputError("expected axes of matplotlib, or nothing", field="ax", value=ax)


def own_or_new(ax: Axes | None, **options: Any) -> tuple[Figure, Axes]:
    """Return the caller's axes with their figure, or a new figure with axes of its own."""
    check_axes(ax)
    if ax is None:
        figure = new_figure(layout="constrained", **options)
        return figure, figure.subplots()
    return root_figure(ax), ax


def root_figure(ax: Axes) -> Figure:
    """Return the figure that axes are in, be it through a part of it."""
    return ax.figure.figure


def entitle(figure: Figure, axes: Axes, own: bool, title: str, size: float, legend_columns: int = 0) -> None:
    """Write title and legend: above and below a picture of our own, else within the caller's axes."""
    title = literal(title)
    if own:
        figure.suptitle(title, fontsize=size, x=0.015, ha="left")
        if legend_columns:
            figure.legend(loc="outside lower center", ncols=legend_columns, frameon=False, fontsize=9)
        return
    axes.set_title(title, fontsize=size - 2, loc="left")
    if legend_columns:
        axes.legend(loc="best", fontsize=8)


def literal(text: str) -> str:
    """Return text that is drawn as it is written: between two dollars, matplotlib would read a formula."""
    return text.replace("$", r"\$")


def tidy(axes: Axes) -> None:
    """A light grid, no box."""
    axes.grid(True, color="#DDDDDD", lw=0.6)
    axes.set_axisbelow(True)
    unboxed(axes)


def unboxed(axes: Axes) -> None:
    """No box: the left and the lower line are enough."""
    axes.spines[["top", "right"]].set_visible(False)


def shape_line(problem: Problem, learner: Learner | None = None) -> str:
    """Say in a line what the learner is like, and how it trains: with the λ that was chosen, where `learner` has it."""
    known = problem.learner if learner is None else learner
    return ", ".join(filter(None, [f"{problem.regime} regime: {problem.shape}", known.training_text]))
