"""The standard figure of sweep rows: the ratio of each method to the optimum against one dimension."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import TYPE_CHECKING, Any

from learnroute.errors import InputError
from learnroute.model.validation import as_choice
from learnroute.plots.lines import (
    AXIS_NAMES,
    Line,
    break_at,
    counts,
    dimension_text,
    draw_line,
    style_of,
    whole_ticks,
)
from learnroute.plots.pictures import new_figure, tidy
from learnroute.study.cells import Row
from learnroute.study.summary import DIMENSIONS, NUMERIC, Statistics

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PANELS = 12
WIDEST = 34  # maximum letters per line above a panel
ACROSS = 4  # panels per row
BANDS = {  # descriptions of the shaded band
    "interval": "; shaded: 95 % interval of the mean",
    "spread": "; shaded: where 90 % of the problems are",
    "none": "",
}


def draw_ratios(
    rows: Iterable[Row], axis: str | None = None, where: Mapping[str, Any] | None = None, band: str = "interval"
) -> Figure:
    """Draw mean ratios of all methods against `axis`, with one panel per combination of other varying dimensions.

    Parameters
    ----------
    rows
        Rows of a sweep, as returned by `learnroute.study.store.Store.rows`.
    axis
        The dimension to draw against: regions, features, samples or noise; the one with the most values if omitted.
    where
        Only rows with these values: `{"family": "closure"}`.
    band
        What is shaded: `interval` (95 % of the mean), `spread` (5 … 95 % of problems) or `none`.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, made without pyplot.

    Raises
    ------
    InputError
        If there is nothing to draw, there are too many panels to be legible, or matplotlib is not installed.
    """
    _check(rows, axis, where, band)
    groups, proved = _groups(rows, dict(where or {}))
    if not groups:
        wanted = ", ".join(f"{name}={value}" for name, value in (where or {}).items())
        raise InputError(f"no row with a ratio{' has ' + wanted if wanted else ''}: nothing to draw")
    values = {name: sorted({key[k] for key in groups}) for k, name in enumerate(DIMENSIONS)}
    axis = axis or max(NUMERIC, key=lambda name: len(values[name]))
    varying = [name for name in DIMENSIONS if name != axis and len(values[name]) > 1]
    panels = _panels(groups, axis, varying)
    if len(panels) > MOST_PANELS:
        hint = " ".join(f"--where {name}={values[name][0]}" for name in varying)
        raise InputError(
            f"{len(panels)} panels ({' x '.join(varying)}): at most {MOST_PANELS} are legible; choose, e.g. {hint}"
        )
    across = min(ACROSS, len(panels))
    down = -(-len(panels) // across)
    figure = new_figure(figsize=(max(5.6, 3.1 * across + 0.6), 2.9 * down + 1.1), layout="constrained")
    grid = figure.subplots(down, across, sharex=True, sharey=True, squeeze=False)
    for axes, (key, lines) in zip(grid.flat, panels.items(), strict=False):
        for k, (method, line) in enumerate(lines.items()):
            draw_line(axes, line, style_of(method, k), band)
        tidy(axes)
        if key:
            title = ", ".join(dimension_text(*pair) for pair in zip(varying, key, strict=True))
            axes.set_title(fill(title, WIDEST), fontsize=10 if len(title) <= WIDEST else 8)
        if axis == "features" and len(values["samples"]) == 1:
            break_at(axes, values["samples"][0])
    for axes in list(grid.flat)[len(panels) :]:
        axes.set_visible(False)
    if axis != "noise" and values[axis][-1] > 20 * values[axis][0]:
        grid[0, 0].set_xscale("log")
    handles, labels = grid[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=9)
    for axes in grid[-1] if down == 1 else grid.flat:
        axes.set_xlabel(AXIS_NAMES[axis], fontsize=9)
        whole_ticks(axes, axis)
    figure.supylabel("loss ÷ " + ("optimum" if proved else "best lower bound"), fontsize=10)
    fixed = ", ".join(dimension_text(name, values[name][0]) for name in DIMENSIONS if name not in (axis, *varying))
    every = {(*key, method): line for key, lines in panels.items() for method, line in lines.items()}
    title = f"{fixed}\nmean ratio, {counts(every)}{BANDS[band]}"
    figure.suptitle(title, fontsize=10, x=0.01, ha="left")
    return figure


def _check(rows: Any, axis: Any, where: Any, band: Any) -> None:
    if not isinstance(rows, Iterable) or isinstance(rows, str | type):
        raise InputError("expected rows of a sweep", field="rows", value=rows)
    if axis is not None:
        as_choice("axis", axis, NUMERIC)
    as_choice("band", band, BANDS)
    if not isinstance(where, Mapping | None):
        raise InputError("expected an object with a value for each column", field="where", value=where)


def _groups(rows: Iterable[Row], where: dict[str, Any]) -> tuple[dict[tuple[Any, ...], list[float]], bool]:
    """Return ratios by dimensions and method, and whether all of them refer to a proved optimum."""
    groups: dict[tuple[Any, ...], list[float]] = {}
    proved = True
    for row in rows:
        if not isinstance(row, Mapping) or not {*DIMENSIONS, "method", "ratio", "bound_is_optimum"} <= set(row):
            raise InputError("expected rows of a sweep, as read_rows gives them", field="rows", value=row)
        if row["ratio"] is None or any(row[name] != value for name, value in where.items()):
            continue
        groups.setdefault((*(row[name] for name in DIMENSIONS), row["method"]), []).append(row["ratio"])
        proved = proved and bool(row["bound_is_optimum"])
    return groups, proved


def _panels(
    groups: dict[tuple[Any, ...], list[float]], axis: str, varying: list[str]
) -> dict[tuple[Any, ...], dict[str, Line]]:
    panels: dict[tuple[Any, ...], dict[str, Any]] = {}
    for key, sample in groups.items():
        place = dict(zip((*DIMENSIONS, "method"), key, strict=True))
        lines = panels.setdefault(tuple(place[name] for name in varying), {})
        lines.setdefault(place["method"], []).append((float(place[axis]), Statistics.of(sample)))
    return panels
