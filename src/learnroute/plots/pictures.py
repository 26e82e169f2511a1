"""How all pictures are made, written and coloured. This is where matplotlib comes in."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from learnroute.errors import InputError
from learnroute.formats import PICTURES
from learnroute.formats.files import check_destination, written_whole
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
PART_COLOURS = {"travel": BLUE, "dissimilarity": VERMILLION, "initial": GREEN, "noise": "#999999"}
PART_NAMES = {
    "travel": "travel",
    "dissimilarity": "error: dissimilar regions",
    "initial": "error: first model",
    "noise": "error: noise",
}
NEGLIGIBLE = 1e-4  # share of the loss below which a part is not drawn


def check_picture(path: str | Path) -> None:
    """Refuse a picture that could not be drawn or written later."""
    check_destination(as_path("path", path), PICTURES, "picture format")
    new_figure()


def save_figure(path: str | Path, draw: Callable[[], Figure]) -> None:
    """Draw a figure and write it: .png, .svg or .pdf."""
    path = as_path("path", path)
    check_picture(path)
    figure = draw()
    with written_whole(path) as temporary:
        figure.savefig(temporary, dpi=150, metadata={"Date": None} if path.suffix.lower() == ".svg" else None)


def new_figure(**options: Any) -> Figure:
    """Make a figure without touching pyplot's global state or needing a display."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError("pictures need matplotlib: pip install 'learnroute[plot]'") from None
    return Figure(**options)


def tidy(axes: Axes) -> None:
    """A light grid, no box."""
    axes.grid(True, color="#DDDDDD", lw=0.6)
    axes.set_axisbelow(True)
    unboxed(axes)


def unboxed(axes: Axes) -> None:
    """No box: the left and the lower line are enough."""
    axes.spines[["top", "right"]].set_visible(False)


def shape_line(problem: Problem) -> str:
    """Say in a line what the learner is like."""
    learner = problem.learner
    counts = problem.counts
    n = f"{counts[0]}" if counts.min() == counts.max() else f"{counts.min()} … {counts.max()}"
    return f"{problem.regime} regime: m = {learner.features}, n = {n}, σ = {learner.noise:g}"
