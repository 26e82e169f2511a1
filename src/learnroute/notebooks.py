"""Results in a notebook: as HTML, as a figure, as a table, as a file. `Shown` has the methods, this does the work."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from functools import singledispatch
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from learnroute.comparison import Comparison
from learnroute.errors import InputError
from learnroute.formats import PICTURES, PLAN_WRITERS, check_plan_destination, write_plan
from learnroute.formats.csv_files import PLACES, report_text
from learnroute.formats.files import check_destination, write_text
from learnroute.formats.json_files import dumps
from learnroute.learning.simulation import Simulation
from learnroute.model.itinerary import itinerary
from learnroute.model.losses import model_shares
from learnroute.model.problem import ESTIMATE, Problem
from learnroute.model.result import Plan
from learnroute.model.showing import KINDS, Shown, clipped, shortened
from learnroute.model.validation import as_path
from learnroute.plots import (
    draw_comparison,
    draw_learners,
    draw_plan,
    draw_robustness,
    draw_simulations,
    draw_tradeoff,
)
from learnroute.plots.pictures import check_picture, new_figure, save_figure
from learnroute.robust import Robustness
from learnroute.tradeoffs import Tradeoff
from learnroute.worth import COLUMNS, LEARNERS, ROUTES, LearnerTable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pandas import DataFrame

REPORTS = (".json", ".csv")  # what results other than plans are written as, besides pictures
MARKDOWN = ".md"  # what comparisons of learners are written as, too
PARTS = ("travel", "dissimilarity", "initial", "noise", "pairs")
MOST_ROWS = 12  # of a table that is shown
MOST_DRAWN = 20_000  # regions up to which a picture goes with the table
MOST_SCALED = 500  # and up to which places are made up for it
LINE = "border-bottom:1px solid rgba(128,128,128,.45);"  # seen on light and on dark


class Table(NamedTuple):
    """Named columns and the rows below them."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class Sheet(NamedTuple):
    """What is shown of a result: a headline, a table of texts, and lines below it."""

    headline: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    lines: tuple[str, ...] = ()


Row = TypeVar("Row")


# What is asked for


def html_of(result: Shown) -> str:
    """Return a result as HTML that needs nothing else: a table, and a picture where matplotlib is installed."""
    sheet = _sheet(result)
    image = _image(result)
    parts = [
        f"<div><strong>{escape(sheet.headline)}</strong></div>",
        _html_table(sheet.columns, sheet.rows),
        *(f"<div>{escape(line)}</div>" for line in sheet.lines),
        *([image] if image else []),
    ]
    return f'<div style="max-width:64em">{"".join(parts)}</div>'


def figure_of(result: Shown, ax: Axes | None, path: str | Path | None, problem: Problem | None) -> Figure:
    """Draw a result, and write the picture where a path is given."""
    asked = _asked(result, problem)
    if path is not None:
        check_picture(path)
    figure = _drawn(result, asked, ax)
    if path is not None:
        save_figure(path, lambda: figure)
    return figure


def frame_of(result: Shown, problem: Problem | None) -> DataFrame:
    """Return a result as a pandas table."""
    try:
        from pandas import DataFrame
    except ImportError:
        raise InputError("tables need pandas: pip install pandas") from None
    columns, rows = table_of(result, _known(result, problem))
    frame = DataFrame(rows, columns=list(columns))
    if isinstance(result, Plan) and result.depot is not None and "index" in columns:
        frame["index"] = frame["index"].astype("Int64")  # the depot has none
    return frame


def save(result: Shown, path: str | Path, problem: Problem | None) -> None:
    """Write a result in the format that the name ends in."""
    path = as_path("path", path)
    formats = PLAN_WRITERS if isinstance(result, Plan) else REPORTS
    formats = (*formats, MARKDOWN) if isinstance(result, LearnerTable) else formats
    check_destination(path, (*formats, *PICTURES))
    suffix = path.suffix.lower()
    if suffix in PICTURES:
        figure_of(result, None, path, problem)
    elif isinstance(result, Plan):
        known = _known(result, problem)
        if known is not None:
            check_plan_destination(path, known)
        write_plan(result, path, known)
    elif suffix == ".json":
        write_text(path, dumps(result.to_dict()))  # type: ignore[attr-defined]
    elif suffix == MARKDOWN:
        write_text(path, _markdown(_sheet(result)))
    else:
        columns, rows = table_of(result, _known(result, problem))
        write_text(path, report_text([list(columns), *([_cell(value) for value in row] for row in rows)]))


def _cell(value: Any) -> Any:
    return " > ".join(value) if isinstance(value, tuple) else value


def _markdown(sheet: Sheet) -> str:
    """Return a sheet as a table in Markdown, with the lines below it; names cannot end a cell."""
    rows = [sheet.columns, tuple("---" for _ in sheet.columns), *sheet.rows]
    table = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    lines = [sheet.headline, "", *table, ""] + [f"- {line}" for line in sheet.lines]
    return "\n".join(" ".join(line.splitlines()) for line in lines).rstrip() + "\n"


def _known(result: Shown, problem: Problem | None) -> Problem | None:
    """Return the problem that a result answers: the given one, if it can be that, or its own."""
    if problem is None:
        return result.problem
    if not isinstance(problem, Problem):
        raise InputError("a Problem is needed", field="problem", value=problem)
    route, order = _route(result)
    if len(route) != problem.size or any(problem.regions[i] != name for name, i in zip(route, order, strict=True)):
        raise InputError("has other regions; give the problem that was planned", field="problem")
    return problem


def _asked(result: Shown, problem: Problem | None) -> Problem:
    known = _known(result, problem)
    if known is None:
        raise InputError("unknown after pickling; give the problem that was planned: problem=…", field="problem")
    return known


def _route(result: Shown) -> tuple[Sequence[str], Sequence[int]]:
    """Return some route of a result, as names and as indices."""
    if isinstance(result, Plan | Simulation):
        return result.route, result.order
    if isinstance(result, Robustness):
        return result.plan.route, result.plan.order
    if isinstance(result, LearnerTable):
        return result.floor.route or (), result.floor.order or ()
    if isinstance(result, Tradeoff):
        return result.points[0].route, result.points[0].order
    assert isinstance(result, Comparison)
    plans = [row.plan for row in result.rows if row.plan is not None]
    return (plans[0].route, plans[0].order) if plans else ((), ())


# Pictures


@singledispatch
def _drawn(result: Shown, problem: Problem, ax: Axes | None) -> Figure:
    raise TypeError(f"{type(result).__name__} has no picture")


@_drawn.register
def _(result: Plan, problem: Problem, ax: Any) -> Any:
    return draw_plan(result, problem, ax)


@_drawn.register
def _(result: Comparison, problem: Problem, ax: Any) -> Any:
    return draw_comparison(result, problem, ax)


@_drawn.register
def _(result: Tradeoff, problem: Problem, ax: Any) -> Any:
    return draw_tradeoff(result, problem, ax=ax)


@_drawn.register
def _(result: LearnerTable, problem: Problem, ax: Any) -> Any:
    return draw_learners(result, problem, ax)


@_drawn.register
def _(result: Robustness, problem: Problem, ax: Any) -> Any:
    return draw_robustness(result, problem, ax)


@_drawn.register
def _(result: Simulation, problem: Problem, ax: Any) -> Any:
    return draw_simulations([("route", result)], problem, ax)


def _image(result: Shown) -> str:
    """Return the picture of a result as HTML; nothing where it cannot be drawn, or not in a moment."""
    problem = result.problem
    if problem is None or problem.size > MOST_DRAWN:
        return ""
    if isinstance(result, Plan) and problem.coordinates is None and problem.size > MOST_SCALED:
        return ""
    try:
        new_figure()
    except InputError:  # there is no matplotlib
        return ""
    from learnroute.plots.inline import png_of

    data = base64.b64encode(png_of(_drawn(result, problem, None))).decode()
    alternative = escape(clipped(repr(result), 300))
    return (
        f'<img alt="{alternative}" src="data:image/png;base64,{data}" '
        'style="max-width:100%;background:white;margin-top:.5em">'
    )


# Tables


@singledispatch
def table_of(result: Shown, problem: Problem | None) -> Table:
    """Return a result as a table of numbers and names."""
    raise TypeError(f"{type(result).__name__} is no table")


@table_of.register
def _(result: Plan, problem: Any) -> Table:
    columns: tuple[str, ...] = ("position", "region", "index")
    rows: list[tuple[Any, ...]] = [(k + 1, name, result.order[k]) for k, name in enumerate(result.route)]
    if problem is None:
        return Table(columns, rows)
    columns += ("travel_from_previous", "travel_so_far", "score", "weight")
    places = problem.stop_coordinates
    if places is not None:
        columns += PLACES[0] if problem.geographic else PLACES[1]
    if problem.learner.undecided and result.learner is not None:
        problem = problem.changed(learner=result.learner)
    shares = model_shares(problem, result.order).tolist()
    rows, so_far = [], 0.0
    for stop in itinerary(problem, result.order):
        so_far += stop.travel
        known = (stop.place, float(problem.scores[stop.place])) if stop.region else (None, math.nan)
        share = shares[stop.position - 1] if stop.visit else math.nan  # nothing is learnt on coming back
        row = (stop.position, stop.name, known[0], stop.travel, so_far, known[1], share)
        rows.append(row if places is None else (*row, *places[stop.place].tolist()))
    return Table(columns, rows)


@table_of.register
def _(result: Comparison, problem: Any) -> Table:
    rows: list[tuple[Any, ...]] = []
    for row in result.rows:
        losses = (math.nan,) * 6 if row.loss is None else tuple(getattr(row.loss, part) for part in ("total", *PARTS))
        ratio = result.ratio(row)
        known = (math.nan if number is None else number for number in (ratio, result.lower_bound))
        rows.append((row.method, row.draws, *losses, *known, row.seconds, row.refused))
    return Table(("method", "draws", "total", *PARTS, "ratio", "lower_bound", "seconds", "refused"), rows)


@table_of.register
def _(result: Tradeoff, problem: Any) -> Table:
    nowhere = (math.nan, math.nan)
    rows: list[tuple[Any, ...]] = [
        (point.travel_cost, point.error, point.loss(result.rate), *(point.rates or nowhere), k == result.chosen,
         point.route)
        for k, point in enumerate(result.points)
    ]  # fmt: skip
    return Table(("travel_cost", "error", "loss", "least_rate", "largest_rate", "chosen", "route"), rows)


@table_of.register
def _(result: LearnerTable, problem: Any) -> Table:
    columns = ("learner", "route_kind", "error", "travel_cost", "total", "saves", "step", "memory", "regularization",
               "least_regularization", "largest_regularization", "refused", "route")  # fmt: skip
    rows: list[tuple[Any, ...]] = []
    for row in result.rows:
        numbers = (row.error, row.travel_cost, row.total, row.saves, row.step, row.memory)
        known = [math.nan if number is None else number for number in numbers]
        given = row.regularization
        regularization = " ".join(f"{value:.6g}" for value in given) if isinstance(given, tuple) else given
        near = row.regularization_range or (math.nan, math.nan)
        rows.append((row.learner, row.route_kind, *known, regularization, *near, row.refused, row.route))
    return Table(columns, rows)


@table_of.register
def _(result: Robustness, problem: Any) -> Table:
    rows: list[tuple[Any, ...]] = [
        (*pair.regions, pair.low, pair.high, pair.switch, pair.regret) for pair in result.pairs
    ]
    return Table(("region", "other", "low", "high", "switch", "regret"), rows)


@table_of.register
def _(result: Simulation, problem: Any) -> Table:
    return Table(("run", "error"), list(enumerate(result.errors.tolist(), 1)))


# Sheets


@singledispatch
def _sheet(result: Shown) -> Sheet:
    raise TypeError(f"{type(result).__name__} has no sheet")


@_sheet.register
def _(result: Plan) -> Sheet:
    headline = f"{_title(result)}{len(result.route):,} regions, total loss {result.loss.total:.5g}, {result.quality}"
    rows: list[tuple[str, ...]] = []
    if result.problem is None:
        rows += [(str(k + 1), clipped(name)) for k, name in _some(result.route)]
        return Sheet(headline, ("visit", "region"), _with_gap(rows, len(result.route), 1), _plan_lines(result))
    table = table_of(result, result.problem)
    size = result.problem.size
    for k, (position, name, _, leg, _, score, weight, *_) in _some(table.rows):
        travel = f"{leg:.4g}" if k else ""
        if 1 <= position <= size:
            rows.append((str(position), clipped(name), travel, f"{score / size:.4g}", f"{weight:.3g}"))
        else:
            rows.append(("", f"{'back to' if k else 'from'} {clipped(name)}", travel, "", ""))
    columns = ("visit", "region", "travel", "score / T", "weight")
    return Sheet(headline, columns, _with_gap(rows, len(table.rows), 1), _plan_lines(result))


def _plan_lines(result: Plan) -> tuple[str, ...]:
    paired = PARTS if result.loss.pairs else PARTS[:-1]
    values = [(part, getattr(result.loss, part)) for part in paired]
    signed = "".join(f" {'-' if value < 0 else '+'} {part} {abs(value):.4g}" for part, value in values)
    loss = signed.removeprefix(" + ")
    trained = "" if result.learner is None or result.problem is None else result.learner.training_text
    bound = "" if result.optimal or result.lower_bound is None else f", lower bound {result.lower_bound:.5g}"
    return (
        *_kind_lines(result),
        f"loss per region: {loss}{bound}",
        f"method {result.method}, {result.seconds:.3f} s; travel {result.travel_cost:.5g} for the whole route",
        *([f"learner: {result.problem.shape}, {trained}"] if trained and result.problem is not None else []),
        *result.notes,
    )


@_sheet.register
def _(result: Comparison) -> Sheet:
    kind = "optimum" if result.optimal else "bound"
    rows: list[tuple[str, ...]] = []
    for row in result.rows:
        name = f"{row.method} (mean of {row.draws})" if row.draws > 1 else row.method
        if row.loss is None:
            rows.append((name, "refused", *("",) * 7))
            continue
        ratio = result.ratio(row)
        losses = (f"{getattr(row.loss, part):.5g}" for part in ("total", *PARTS))
        rows.append((name, *losses, "" if ratio is None else f"{ratio:.4f}", f"{row.seconds:.3f}"))
    columns = ("method", "total", "travel", "dissimilar", "first model", "noise", "pairs", f"× {kind}", "seconds")
    return Sheet(
        f"{_title(result)}{len(rows)} methods, {result.bound_text('.5g')}, per region",
        columns,
        rows,
        (*_kind_lines(result), *(row.refused for row in result.rows if row.refused)),
    )


@_sheet.register
def _(result: Tradeoff) -> Sheet:
    rows = [
        ("chosen" if k == result.chosen else "", f"{point.travel_cost:.5g}", f"{point.error:.5g}", _rates(point.rates),
         clipped(point.route[0]), clipped(point.route[-1]))
        for k, point in _some(result.points)
    ]  # fmt: skip
    chosen = result.points[result.chosen]
    kind = "all that no other beats in both" if result.complete else "the best found"
    return Sheet(
        f"{_title(result)}{len(result.points)} routes between least travel and least error, {kind}",
        ("", "travel", "error", "best for travel rates", "first", "last"),
        _with_gap(rows, len(result.points), 0),
        (*_kind_lines(result), f"chosen at travel rate {result.rate:g}: {shortened(chosen.route)}"),
    )


@_sheet.register
def _(result: LearnerTable) -> Sheet:
    best = result.best
    kind = f"{LEARNERS[best.learner]}, route: {ROUTES[best.route_kind]}"
    return Sheet(
        f"{_title(result)}least total loss {best.total:.5g} per region by {kind}",
        COLUMNS,
        result.cells(),
        result.lines(),
    )


def _rates(rates: tuple[float, float] | None) -> str:
    if rates is None:
        return ""
    low, high = rates
    return f"above {low:.4g}" if math.isinf(high) else f"{low:.4g} … {high:.4g}"


@_sheet.register
def _(result: Robustness) -> Sheet:
    rows = [
        (" – ".join(map(clipped, pair.regions)), *(f"{x:.4g}" for x in (pair.low, pair.high, pair.switch, pair.regret)))
        for pair in result.pairs
    ]
    lines = [
        f"loss {result.best_case:.5g} at best, {result.worst_case:.5g} at worst",
        f"regret {result.mean_regret:.4g} on average, {result.late_regret:.4g} in 95 % of the draws at most, "
        f"{result.worst_regret:.4g} at most",
        f"planned for the upper bounds: {shortened(result.plan.route, result.plan.closed, result.plan.depot)}",
    ]
    if not result.pairs:
        lines.insert(0, "the plan hangs on no single pair")
    if not result.complete:
        lines.append("some routes were not proved best, or the time limit came: regrets are lower bounds")
    return Sheet(
        f"{_title(result)}the planned route is best in {result.unchanged:.0%} of {result.draws} draws",
        ("the plan hangs on", "from", "to", "another route is better below", "by up to"),
        rows,
        tuple(lines),
    )


@_sheet.register
def _(result: Simulation) -> Sheet:
    low, high = result.interval
    off = "" if result.deviation is None else f"{result.deviation:+.2f} standard errors"
    rows: list[tuple[str, ...]] = [
        ("closed form", f"{result.expected:.6g}", ""),
        ("simulated mean", f"{result.mean:.6g}", off),
        (f"{result.level:.0%} interval", f"{low:.6g} … {high:.6g}", ""),
        ("bound from Δ", f"{result.bound.error:.6g}", ""),
    ]
    return Sheet(
        f"{_title(result)}{result.runs:,} trainings along a route",
        ("average final error", "", ""),
        rows,
        (shortened(result.route), *result.notes),
    )


def _kind_lines(result: Plan | Comparison | Tradeoff) -> tuple[str, ...]:
    """Say what losses go by, where that is not what the problem's own dissimilarities are."""
    return (f"by {KINDS[result.dissimilarities]}",) if result.dissimilarities == ESTIMATE else ()


def _title(result: Shown) -> str:
    return f"{clipped(result.problem.title, 80)}: " if result.problem is not None and result.problem.title else ""


def _some(rows: Sequence[Row]) -> list[tuple[int, Row]]:
    """Return the rows that are shown, with their places: all, or the first and the last ones."""
    half = MOST_ROWS // 2
    numbered = list(enumerate(rows))
    return numbered if len(rows) <= MOST_ROWS else numbered[:half] + numbered[-half:]


def _with_gap(shown: Sequence[tuple[str, ...]], total: int, column: int) -> list[tuple[str, ...]]:
    """Say in a column between the first and the last rows how many are left out."""
    rows = list(shown)
    if len(rows) < total:
        gap = [""] * len(rows[0])
        gap[column] = f"… {total - len(rows):,} more …"
        rows.insert(MOST_ROWS // 2, tuple(gap))
    return rows


def _html_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as HTML, names escaped; colours are those around it. Nothing where there are no rows."""
    if not rows:
        return ""
    sides = ["right" if all(map(_is_number, column)) else "left" for column in zip(*rows, strict=True)]
    head = "".join(_html_cell("th", name, side, LINE) for name, side in zip(columns, sides, strict=True))
    body = "".join(
        f"<tr>{''.join(_html_cell('td', text, side) for text, side in zip(row, sides, strict=True))}</tr>"
        for row in rows
    )
    return (
        f'<table style="border-collapse:collapse;margin:.4em 0"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _html_cell(tag: str, text: str, side: str, style: str = "") -> str:
    return f'<{tag} style="padding:.15em .7em;text-align:{side};{style}">{escape(text)}</{tag}>'


def _is_number(text: str) -> bool:
    return not text.strip("+-.0123456789e") or text in ("inf", "nan", "refused")
