"""What commands print on standard output: tables and lines, safe for a terminal whatever names are in them."""

from __future__ import annotations

import os
import sys
from itertools import zip_longest
from textwrap import wrap
from unicodedata import combining, east_asian_width

import click

from learnroute.errors import printable

WIDTH = 120  # of tables that do not go to a terminal
NARROWEST = 8  # a column of text
APART = "   "  # between columns


class Table:
    """Headed columns, the first `left` of them text, which is wrapped if need be, and the others numbers."""

    def __init__(self, *columns: str, left: int = 1) -> None:
        self._left = left
        self._rows = [columns]

    def add_row(self, *cells: str) -> None:
        """Add a row; cells that are not given are empty."""
        self._rows.append(tuple(printable(cell, None) for cell in cells) + ("",) * (len(self._rows[0]) - len(cells)))

    def lines(self, most: int, rule: str) -> list[str]:
        """Return the lines of a table that is `most` characters wide if its text can be wrapped to that."""
        widths = [max(map(_width, column)) for column in zip(*self._rows, strict=True)]
        while (beyond := 2 + sum(widths) + len(APART) * (len(widths) - 1) - most) > 0:
            widest = max(range(self._left), key=widths.__getitem__)
            if widths[widest] <= NARROWEST:
                break
            widths[widest] = max(widths[widest] - beyond, NARROWEST)
        head, *rows = [self._row(row, widths) for row in self._rows]
        head = [click.style(line, bold=True) for line in head]
        line = rule * (sum(widths) + len(APART) * (len(widths) - 1))
        return ["", *head, f" {line}", *(line for row in rows for line in row), ""]

    def _row(self, cells: tuple[str, ...], widths: list[int]) -> list[str]:
        wrapped = [wrap(c, w) if _width(c) > w else [c] for c, w in zip(cells, widths, strict=True)]
        return [
            f" {APART.join(self._cell(k, part, widths[k]) for k, part in enumerate(parts))}".rstrip()
            for parts in zip_longest(*wrapped, fillvalue="")
        ]

    def _cell(self, column: int, text: str, width: int) -> str:
        space = " " * (width - _width(text))
        return text + space if column < self._left else space + text


def show(what: Table | str = "") -> None:
    """Print a table, or a line."""
    if isinstance(what, str):
        return click.echo(printable(what, None))
    width = os.get_terminal_size(sys.stdout.fileno()).columns if sys.stdout.isatty() else WIDTH
    rule = "─" if (sys.stdout.encoding or "").lower().startswith("utf") else "-"
    return click.echo("\n".join(what.lines(width, rule)))


def _width(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1 for c in text)
