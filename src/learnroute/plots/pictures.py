"""Creation, saving and colours of all pictures. matplotlib is first imported here."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, ParamSpec

from learnroute.errors import InputError, check_type, install_hint
from learnroute.formats import PICTURES
from learnroute.formats.files import atomic_write, check_destination
from learnroute.model.learners import Learner
from learnroute.model.problem import Problem
from learnroute.model.validation import as_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

P = ParamSpec("P")

# Okabe and Ito's colours, distinguishable with all kinds of colour vision
BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, YELLOW, BLACK = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442", "#000000",
)  # fmt: skip
GREY = "#555555"
LETTER = 0.56  # width of a letter, as a share of the font size
DOCUMENTED = """

    Parameters
    ----------
    {parameters}

    Returns
    -------
    matplotlib.figure.Figure
        The picture: the figure of `ax` if that is given, otherwise a new one, made without pyplot.

    Raises
    ------
    InputError
        If an argument has the wrong type, or without matplotlib.
    """


def picture_of(
    kind: type | None, result: str, **described: str
) -> Callable[[Callable[P, Figure]], Callable[P, Figure]]:
    """Return a decorator for functions that draw a result, which checks arguments and completes the docstring.

    `kind` is the type of the result, which is the first parameter (None: the function checks it itself), and `result`
    describes it. `described` has a sentence for each parameter other than the result, `problem` and `ax`.
    """

    def decorate(draw: Callable[P, Figure]) -> Callable[P, Figure]:
        signature = inspect.signature(draw)
        first, *others = signature.parameters
        known = {"ax": "Axes to draw in; a new figure if omitted.", **described}
        about = {first: f"{result}."}
        if "problem" in others:
            about = {f"{first}, problem": f"{result}, and the problem that it is about."}
        about |= {name: known[name] for name in others if name != "problem"}

        @functools.wraps(draw)
        def checked(*args: P.args, **kwargs: P.kwargs) -> Figure:
            given = signature.bind(*args, **kwargs).arguments
            if kind is not None:
                check_type(first, given[first], kind)
            if "problem" in others:
                check_type("problem", given["problem"], Problem)
            check_axes(given.get("ax"))
            return draw(*args, **kwargs)

        parameters = "\n    ".join(f"{names}\n        {text}" for names, text in about.items())
        checked.__doc__ = f"{(draw.__doc__ or '').rstrip()}{DOCUMENTED.format(parameters=parameters)}"
        return checked

    return decorate


def check_picture(path: str | Path) -> None:
    """Check that a picture can be drawn and written later.

    Parameters
    ----------
    path
        Path of the picture: .png, .svg or .pdf.

    Raises
    ------
    InputError
        If the suffix is unknown, the path cannot be written, or matplotlib is not installed.
    """
    check_destination(as_path("path", path), PICTURES, "picture format")
    new_figure()


def save_figure(figure: Figure, path: str | Path) -> None:
    """Write a figure to a path that `check_picture` accepts."""
    path = as_path("path", path)
    with atomic_write(path) as temporary:
        figure.savefig(temporary, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def new_figure(**options: Any) -> Figure:
    """Return a new figure, without changing pyplot's global state or needing a display."""
    try:
        import_module("matplotlib.figure")
        from learnroute.plots.inline import InlineFigure
    except ImportError:
        raise InputError(f"pictures need matplotlib: {install_hint('plot')}") from None
    return InlineFigure(**options)


def check_axes(ax: object) -> None:
    """Raise InputError unless `ax` is None or matplotlib axes."""
    axes = sys.modules.get("matplotlib.axes")  # imported if the caller has axes
    if ax is not None and (axes is None or not isinstance(ax, axes.Axes)):
        raise InputError("expected axes of matplotlib, or nothing", field="ax", value=ax)


class Picture:
    """The caller's axes with their figure, or a new figure of `size` inches with `columns` axes side by side."""

    def __init__(self, ax: Axes | None, size: tuple[float, float], columns: int = 1) -> None:
        self.is_new = ax is None
        self.figure: Figure
        self.axes: Axes
        self.others: list[Axes]  # the axes to the right; the caller has none
        if ax is None:
            self.figure = new_figure(layout="constrained", figsize=size)
            self.axes, *self.others = self.figure.subplots(1, columns, squeeze=False)[0]
        else:
            self.figure, self.axes, self.others = root_figure(ax), ax, []

    def finish(self, title: str, size: float = 12, legend_columns: int = 0, box: bool = False) -> Figure:
        """Remove the box, and write title and legend: above and below a new figure, otherwise inside the axes.

        Title lines wider than the picture are wrapped.
        """
        if not box:
            remove_box(self.axes)
        title = literal(title)
        if not self.is_new:
            self.axes.set_title(title, fontsize=size - 2, loc="left")
            if legend_columns:
                self.axes.legend(loc="best", fontsize=8)
            return self.figure
        width = int(72 * self.figure.get_figwidth() / (LETTER * size))
        title = "\n".join(fill(line, width) for line in title.split("\n"))
        self.figure.suptitle(title, fontsize=size, x=0.015, ha="left")
        if legend_columns:
            self.figure.legend(loc="outside lower center", ncols=legend_columns, frameon=False, fontsize=9)
        return self.figure


def root_figure(ax: Axes) -> Figure:
    """Return the figure that contains the axes, directly or in a subfigure."""
    return ax.figure.figure


def name_of(problem: Problem) -> str:
    """Return the problem's title, or its number of regions."""
    return problem.title or f"{problem.size} regions"


def travel_label(problem: Problem) -> str:
    """Return the label of an axis for the travel of whole routes, with its unit."""
    return f"travel of the whole route ({problem.travel_unit or 'units of travel'})"


def literal(text: str) -> str:
    """Return text that is drawn literally; matplotlib would read text between two dollar signs as a formula."""
    return text.replace("$", r"\$")


def tidy(axes: Axes) -> None:
    """Draw a light grid, and remove the box."""
    axes.grid(True, color="#DDDDDD", lw=0.6)
    axes.set_axisbelow(True)
    remove_box(axes)


def remove_box(axes: Axes) -> None:
    """Remove the box except for the left and lower line."""
    axes.spines[["top", "right"]].set_visible(False)


def shape_line(problem: Problem, learner: Learner | None = None) -> str:
    """Return a line about the learner, with σ in four digits and the chosen λ if `learner` has one."""
    known = problem.learner if learner is None else learner
    shape = replace(known, noise=float(f"{known.noise:.4g}")).shape_text(problem.samples)
    return ", ".join(filter(None, [f"{problem.regime} regime: {shape}", known.training_text]))
