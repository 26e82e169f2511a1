"""Plain CSV tables as text."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any


def table(header: Sequence[Any], rows: Iterable[Sequence[Any]]) -> str:
    """Return a header and rows as CSV."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def labelled_matrix(corner: str, names: Sequence[str], matrix: Sequence[Sequence[Any]]) -> str:
    """Return a matrix with names in its first row and column as CSV."""
    return table([corner, *names], ([name, *row] for name, row in zip(names, matrix, strict=True)))
