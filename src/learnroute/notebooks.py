"""Results as HTML, pictures and files: the implementation of the methods of `ResultMixin`."""

from __future__ import annotations

import base64
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from learnroute.errors import InputError
from learnroute.formats import PICTURES, PLAN_WRITERS, check_plan_destination, write_plan
from learnroute.formats.files import check_destination, write_text
from learnroute.formats.json_files import dumps
from learnroute.model.notes import describe
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.result_mixin import PictureMixin, ResultMixin, TableMixin
from learnroute.model.table import Sheet, Table, clip
from learnroute.model.validation import as_path

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

REPORTS: dict[str, Callable[[TableMixin], str]] = {
    ".json": lambda result: dumps(result.to_dict()),
    ".csv": lambda result: result.table().to_csv(),
    ".md": lambda result: _sheet(result).to_markdown(),
}  # file formats of results other than plans, besides pictures
MOST_ROWS = 12  # rows of a displayed table
LONGEST_CELL = 60  # characters
LINE = "border-bottom:1px solid rgba(128,128,128,.45);"  # visible on light and on dark backgrounds
MOST_DRAWN = 20_000  # regions up to which a picture accompanies the table
MOST_SCALED = 500  # and up to which coordinates are computed for it if there are none


def to_html(result: TableMixin) -> str:
    """Return a result as self-contained HTML: its sheet, and a picture if matplotlib is installed."""
    sheet = _sheet(result)
    about = [] if result.problem is None else [clip(line, 200) for line in describe(result.problem)]
    lines = [*(f"{label}: {text}" for label, text in sheet.lines), *about]
    parts = [
        f"<div><strong>{escape(sheet.headline)}</strong></div>",
        *map(_html_table, sheet.tables),
        *(f"<div>{escape(line)}</div>" for line in lines),
        _image(result),
    ]
    return f'<div style="max-width:64em">{"".join(parts)}</div>'


def draw(
    result: ResultMixin | PictureMixin, ax: Axes | None, path: str | Path | None, problem: Problem | None
) -> Figure:
    """Draw a result, and write the picture to a file if a path is given."""
    from learnroute.plots.pictures import check_picture, save_figure

    known = result.known_problem(problem) if isinstance(result, ResultMixin) else None
    if known is None and isinstance(result, ResultMixin):
        raise InputError("unknown after pickling; give the problem that was planned: problem=…", field="problem")
    if path is not None:
        check_picture(path)
    figure = _figure(result, known, ax)
    if path is not None:
        save_figure(figure, path)
    return figure


def save(result: TableMixin, path: str | Path, problem: Problem | None) -> tuple[Path, ...]:
    """Write a result in the format given by the file's extension; return all files written."""
    path = as_path("path", path)
    pictures = PICTURES if isinstance(result, ResultMixin | PictureMixin) else ()
    check_destination(path, (*(PLAN_WRITERS if isinstance(result, Plan) else REPORTS), *pictures))
    suffix = path.suffix.lower()
    if isinstance(result, ResultMixin | PictureMixin) and suffix in PICTURES:
        draw(result, None, path, problem)
    elif isinstance(result, Plan):
        known = result.known_problem(problem)
        if known is not None:
            check_plan_destination(path, known)
        return write_plan(result, path, known)
    else:
        write_text(path, REPORTS[suffix](result))
    return (path,)


def _sheet(result: TableMixin) -> Sheet:
    """Return the sheet of a result, with the title of the problem in its headline."""
    sheet, title = result.sheet(), "" if result.problem is None else result.problem.title
    return sheet._replace(headline=f"{clip(title, 80)}: {sheet.headline}") if title else sheet


def _html_table(table: Table) -> str:
    """Return a table as HTML with escaped names and inherited colours; an empty text if there are no rows."""
    if not table.rows:
        return ""
    sides = ["left" if column.left else "right" for column in table.printed]
    heads = zip((column.head or "" for column in table.printed), sides, strict=True)
    head = "".join(_html_cell("th", text, side, LINE) for text, side in heads)
    body = "".join(
        f"<tr>{''.join(_html_cell('td', text, side) for text, side in zip(row, sides, strict=True))}</tr>"
        for row in table.texts(MOST_ROWS)
    )
    return (
        f'<table style="border-collapse:collapse;margin:.4em 0"><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table>"
    )


def _html_cell(tag: str, text: str, side: str, style: str = "") -> str:
    return f'<{tag} style="padding:.15em .7em;text-align:{side};{style}">{escape(clip(text, LONGEST_CELL))}</{tag}>'


def _image(result: TableMixin) -> str:
    """Return the picture of a result as HTML; an empty text if it cannot be drawn, or not quickly."""
    problem = result.problem
    if result.picture is None or (problem is None and not isinstance(result, PictureMixin)):
        return ""
    if problem is not None and problem.size > MOST_DRAWN:
        return ""
    if isinstance(result, Plan) and problem is not None and problem.coordinates is None and problem.size > MOST_SCALED:
        return ""
    from learnroute.plots.pictures import new_figure

    try:
        new_figure()
    except InputError:  # matplotlib is not installed
        return ""
    from learnroute.plots.inline import png_of

    data = base64.b64encode(png_of(_figure(result, problem, None))).decode()
    alternative = escape(clip(repr(result), 300))
    return (
        f'<img alt="{alternative}" src="data:image/png;base64,{data}" '
        'style="max-width:100%;background:white;margin-top:.5em">'
    )


def _figure(result: TableMixin, problem: Problem | None, ax: Axes | None) -> Figure:
    from learnroute import plots

    arguments = [] if isinstance(result, PictureMixin) else [problem]
    figure: Figure = getattr(plots, str(result.picture))(result, *arguments, ax=ax)
    return figure
