"""Lines with bands: one colour, marker and dash pattern per method, also distinct without colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from learnroute.plots.pictures import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILLION
from learnroute.study.summary import Statistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class LineStyle(NamedTuple):
    """Style and name of a line. Wide lines are below narrow ones, so that both are visible where they coincide."""

    name: str
    colour: str
    marker: str
    dash: str
    width: float = 1.6


# a method has the same name in all pictures and tables: the one that selects it
METHOD_LOOKS = {
    "algorithm1": LineStyle("algorithm1", BLUE, "o", "-"),
    "baseline": LineStyle("baseline", VERMILLION, "s", "--"),
    "exact": LineStyle("exact", GREEN, "D", "-", 3.4),
    "search": LineStyle("search", BLACK, "v", "--", 1.2),
    "auto": LineStyle("auto", GREY, "<", "-.", 2.4),
    "travel": LineStyle("travel", PURPLE, "^", "-."),
    "nearest": LineStyle("nearest", SKY, "P", ":"),
    "random": LineStyle("random", ORANGE, "X", ":"),
}
SPARE_LOOKS = tuple((colour, marker, dash) for colour, marker, dash in zip(
    (BLUE, VERMILLION, GREEN, PURPLE, SKY, ORANGE, BLACK), "osD^PXv", ("-", "--", "-.", ":", "-", "--", "-."),
    strict=True))  # fmt: skip
AXIS_NAMES = {
    "regions": "number of regions T",
    "features": "number of features m",
    "samples": "samples per region n",
    "noise": "noise level σ",
}
SYMBOLS = {"regions": "T", "features": "m", "samples": "n", "noise": "σ"}

Line = Sequence[tuple[float, Statistics]]


def style_of(name: str, place: int = 0) -> LineStyle:
    """Return the style of a method, or a spare style for any other name."""
    if name in METHOD_LOOKS:
        return METHOD_LOOKS[name]
    return LineStyle(name, *SPARE_LOOKS[place % len(SPARE_LOOKS)])


def dimension_text(name: str, value: Any) -> str:
    """Return a dimension and its value as text: `T = 8`, `family closure`."""
    if name in SYMBOLS:
        return f"{SYMBOLS[name]} = {value:g}"
    return f"{name} {value}"


def draw_line(axes: Axes, line: Line, look: LineStyle, band: str = "interval", maximum: bool = False) -> None:
    """Draw means as a line over a band (`interval`: 95 % of the mean, `spread`: 5 … 95 % of problems, `none`)."""
    line = sorted(line, key=lambda point: point[0])
    x = [place for place, _ in line]
    means = [found.mean for _, found in line]
    if band != "none":
        low = [found.low if band == "spread" else found.mean - found.half_width for _, found in line]
        high = [found.high if band == "spread" else found.mean + found.half_width for _, found in line]
        axes.fill_between(x, low, high, color=look.colour, alpha=0.18, lw=0)
    axes.plot(
        x, means, color=look.colour, ls=look.dash, marker=look.marker, ms=2.5 + 1.25 * look.width, lw=look.width,
        label=look.name, zorder=2 + 1 / (1 + look.width),
    )  # fmt: skip
    if maximum:
        tops = [found.maximum for _, found in line]
        axes.plot(x, tops, color=look.colour, ls=":", lw=1.1, marker="_", ms=6, label=f"{look.name}, maximum")


def break_at(axes: Axes, samples: int) -> None:
    """Mark m = n - 1, n, n + 1, where the expected error does not exist."""
    axes.axvspan(samples - 1.5, samples + 1.5, color="#BBBBBB", alpha=0.7, lw=0, zorder=0)


def whole_ticks(axes: Axes, axis: str) -> None:
    """Use only integer ticks if the axis counts something."""
    if axis in ("regions", "samples") and axes.get_xscale() == "linear":
        from matplotlib.ticker import MaxNLocator

        axes.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True))


def counts(lines: Mapping[Any, Line]) -> str:
    """Return the number of problems per point as text: one number, or a range."""
    seen = sorted({found.count for line in lines.values() for _, found in line})
    if not seen:
        return "no problems"
    return f"{seen[0]} problems per point" if len(seen) == 1 else f"{seen[0]} to {seen[-1]} problems per point"
