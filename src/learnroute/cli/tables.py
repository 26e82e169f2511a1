"""Standard output of commands: tables and lines that are safe for a terminal, whatever names they contain."""

from __future__ import annotations

import os
import sys
from itertools import zip_longest
from textwrap import wrap
from unicodedata import combining, east_asian_width

import click

from learnroute.errors import printable
from learnroute.model.notes import describe
from learnroute.model.problem import Problem
from learnroute.model.table import Sheet, Table

WIDTH = 100  # of tables not printed to a terminal
NARROWEST = 8  # minimum width of a text column
APART = "   "  # between columns
MOST_ROWS = 60  # printed of a table


def show(line: str = "") -> None:
    """Print a line."""
    click.echo(printable(line, None))


def print_sheet(sheet: Sheet, problem: Problem | None = None, *about: str) -> None:
    """Print the kind of problem and lines `about` it (otherwise the headline), then tables and lines."""
    if problem is None:
        show(sheet.headline)
    else:
        first, *others = describe(problem)
        if problem.has_estimates:
            others[-1] += " (--dissimilarities upper: their upper bounds)"
        for line in (f"{problem.title or 'problem'}: {first}", *others, *about):
            show(line)
    for table in sheet.tables:
        print_table(table)
    width = max([10, *(len(label) for label, _ in sheet.lines)])
    for label, text in sheet.lines:
        show(f"{label:<{width}} {text}")


def print_table(table: Table) -> None:
    """Print a table; for a long one, only the first and last rows."""
    most = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else WIDTH
    rule = "─" if (sys.stdout.encoding or "").lower().startswith("utf") else "-"
    click.echo("\n".join(table_lines(table, most, rule)))


def table_lines(table: Table, most: int, rule: str) -> list[str]:
    """Return the lines of a table, wrapping text columns to fit it into `most` characters if possible."""
    rows = [tuple(column.head or "" for column in table.printed)]
    rows += [tuple(printable(cell, None) for cell in row) for row in table.texts(MOST_ROWS)]
    left = [column.left for column in table.printed]
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    while any(left) and (beyond := 2 + sum(widths) + len(APART) * (len(widths) - 1) - most) > 0:
        widest = max((k for k, text in enumerate(left) if text), key=widths.__getitem__)
        if widths[widest] <= NARROWEST:
            break
        widths[widest] = max(widths[widest] - beyond, NARROWEST)
    head, *others = [_lines(row, widths, left) for row in rows]
    line = rule * (sum(widths) + len(APART) * (len(widths) - 1))
    heads = [click.style(text, bold=True) for text in head]
    return ["", *heads, f" {line}", *(text for row in others for text in row), ""]


def _lines(cells: tuple[str, ...], widths: list[int], left: list[bool]) -> list[str]:
    """Return the lines of one row."""
    wrapped = [wrap(cell, width) if _width(cell) > width else [cell] for cell, width in zip(cells, widths, strict=True)]
    found = []
    for parts in zip_longest(*wrapped, fillvalue=""):
        spaces = [" " * (width - _width(part)) for part, width in zip(parts, widths, strict=True)]
        texts = [p + s if text else s + p for p, s, text in zip(parts, spaces, left, strict=True)]
        found.append(f" {APART.join(texts)}".rstrip())
    return found


def _width(text: str) -> int:
    """Return the width of a text in terminal columns."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
