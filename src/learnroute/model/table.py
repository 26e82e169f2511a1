"""Tables and sheets of results, in one form for terminals, notebooks, Markdown, CSV files and data frames."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from learnroute.errors import InputError
from learnroute.model.validation import FloatArray

if TYPE_CHECKING:
    from pandas import DataFrame

MOST_NAMES = 6  # regions up to which a route is written in full
LONGEST_NAME = 24  # characters
FORMULAS = ("=", "+", "-", "@")  # first characters that a spreadsheet treats as a formula


class Column(NamedTuple):
    """A column of a table.

    Attributes
    ----------
    name
        The name of the column in CSV files and data frames; None if it is only printed.
    head
        The printed heading; None if the column is not printed.
    style
        How a value is printed: a format specification, or a function.
    left
        Whether the column contains text, aligned left; numbers are aligned right.
    missing
        The text printed for a missing value (None or NaN).
    """

    name: str | None
    head: str | None = None
    style: str | Callable[[Any], str] = ""
    left: bool = False
    missing: str = ""

    def text(self, value: Any) -> str:
        """Return a value as it is printed."""
        if _is_missing(value):
            return self.missing
        return format(value, self.style) if isinstance(self.style, str) else self.style(value)


@dataclass(frozen=True)
class Table:
    """Columns and rows of values.

    `read_back` tables (matrices) are written to CSV unchanged. All other tables may be opened in a spreadsheet, so text
    that begins with a formula character, or with apostrophes and such a character, is prefixed by an apostrophe.
    """

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Any]]
    read_back: bool = False

    @classmethod
    def of_texts(cls, heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> Table:
        """Return a table that is only printed; the first `left` columns contain text, the others numbers."""
        return cls(tuple(Column(None, head, left=k < left) for k, head in enumerate(heads)), list(rows))

    @classmethod
    def of_matrix(
        cls, corner: str, names: Sequence[str], matrix: FloatArray, along: Sequence[str] | None = None
    ) -> Table:
        """Return a matrix, which is not printed, with names of columns and of rows (the same if omitted)."""
        rows = [(name, *row) for name, row in zip(along or names, matrix.tolist(), strict=True)]
        return cls(tuple(map(Column, (corner, *names))), rows, read_back=True)

    @property
    def printed(self) -> tuple[Column, ...]:
        """The columns that are printed."""
        return tuple(column for column in self.columns if column.head is not None)

    def texts(self, most: int | None = None) -> list[tuple[str, ...]]:
        """Return the cells of the printed columns; if there are more than `most` rows, only the first and last ones."""
        rows, half = self.rows, len(self.rows) if most is None else most // 2
        left_out = len(rows) - 2 * half if most is not None and len(rows) > most else 0
        kept = [*rows[:half], *rows[len(rows) - half :]] if left_out else rows
        places = [k for k, column in enumerate(self.columns) if column.head is not None]
        found = [tuple(self.columns[k].text(row[k]) for k in places) for row in kept]
        if left_out:
            gap = [""] * len(places)
            gap[max(0, sum(column.left for column in self.printed[:2]) - 1)] = f"… {left_out:,} more …"
            found.insert(half, tuple(gap))
        return found

    def to_csv(self) -> str:
        """Return the named columns as CSV text."""
        buffer = io.StringIO()
        writer = csv.writer(buffer, lineterminator="\n")
        names, rows = self._named_columns()
        writer.writerows([row if self.read_back else [_csv_cell(cell) for cell in row] for row in (names, *rows)])
        return buffer.getvalue()

    def to_frame(self) -> DataFrame:
        """Return the named columns as a pandas data frame; integers stay integers even if some are missing."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise InputError("tables need pandas: pip install pandas") from None
        names, rows = self._named_columns()
        frame = DataFrame(rows, columns=names)
        for k, name in enumerate(names):
            values = {type(row[k]) for row in rows}
            if values == {int, type(None)}:
                frame[name] = frame[name].astype("Int64")
        return frame

    def to_markdown(self) -> list[str]:
        """Return the printed columns as lines of Markdown, with `|` in names escaped."""
        heads = [column.head or "" for column in self.printed]
        rows = [heads, ["---"] * len(heads), *self.texts()]
        return [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]

    def _named_columns(self) -> tuple[list[str], list[list[Any]]]:
        names = [column.name for column in self.columns if column.name is not None]
        places = [k for k, column in enumerate(self.columns) if column.name is not None]
        return names, [[row[k] for k in places] for row in self.rows]


class Sheet(NamedTuple):
    """The readable form of a result: a headline, tables, and labelled lines below them."""

    headline: str
    tables: tuple[Table, ...]
    lines: tuple[tuple[str, str], ...] = ()

    def to_markdown(self) -> str:
        """Return the sheet as Markdown."""
        tables = [line for table in self.tables for line in ("", *table.to_markdown())]
        lines = [self.headline, *tables, "", *(f"- {label}: {text}" for label, text in self.lines)]
        return "\n".join(" ".join(line.splitlines()) for line in lines).rstrip() + "\n"


def clip(name: str, most: int = LONGEST_NAME) -> str:
    """Return a name, cut to a readable length."""
    return name if len(name) <= most else name[: most - 1] + "…"


def route_text(route: Sequence[str], closed: bool = False, depot: str | None = None) -> str:
    """Return a route as short text: `A → B → C`, `Depot → A → B → C → … 54 more … → Y → Z → back`."""
    stops = [clip(name) for name in ((*route[:3], *route[-2:]) if len(route) > MOST_NAMES else route)]
    if len(route) > MOST_NAMES:
        stops.insert(3, f"… {len(route) - 5:,} more …")
    stops = stops if depot is None else [clip(depot), *stops]
    return " → ".join([*stops, "back"] if closed else stops)


def route_difference(route: Sequence[str], other: Sequence[str]) -> str:
    """Return where a route differs from another one as short text: `visits 2–4: B → A → C`, `without A`."""
    fewest = min(len(route), len(other))
    first = next((k for k in range(fewest) if route[k] != other[k]), fewest)
    alike = next((k for k in range(fewest - first) if route[-k - 1] != other[-k - 1]), fewest - first)
    own, replaced = route[first : len(route) - alike], other[first : len(other) - alike]
    if not own:
        return f"without {route_text(replaced)}" if replaced else ""
    return f"visit{f's {first + 1}–{first + len(own)}' if len(own) > 1 else f' {first + 1}'}: {route_text(own)}"


def _is_missing(value: Any) -> bool:
    return value is None or value != value  # NaN


def _csv_cell(value: Any) -> Any:
    text = " > ".join(value) if isinstance(value, tuple) else value
    if isinstance(text, str):
        return f"'{text}" if text.lstrip("'").startswith(FORMULAS) else text
    return "" if _is_missing(text) else text
