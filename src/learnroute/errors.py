"""What learnroute raises when it cannot do what was asked."""

from __future__ import annotations

LONGEST_SHOWN = 60  # characters of a value in a message

_NOT_GIVEN = object()


class InputError(ValueError):
    """Something the caller gave is wrong; the message is one line: field, what was found there, remedy.

    Parameters
    ----------
    reason
        What would do instead.
    field
        The member at fault, as a caller would write it: `travel[3, 7]`, `constraints.start`.
    value
        What was found there, where it is short enough to be shown: `field = value: reason`.
    found
        What was found there, in words: `field found: reason`, as in `travel has 3 rows: 4 needed`.
    """

    def __init__(self, reason: str, *, field: str | None = None, value: object = _NOT_GIVEN, found: str = "") -> None:
        where = field or ""
        if value is not _NOT_GIVEN:
            where += f" = {shown(value)}"
        if found:
            where += f" {found}"
        super().__init__(f"{where}: {reason}" if where else reason)
        self.field = field


class RefusedError(InputError):
    """A method cannot work on this problem; the message says why and what to use instead."""


def shown(value: object) -> str:
    """Show a value in a message, cut to a readable length."""
    try:
        text = repr(value)
    except ValueError:  # an integer with more digits than Python prints
        text = "a number of thousands of digits"
    return text if len(text) <= LONGEST_SHOWN else text[: LONGEST_SHOWN - 3] + "..."
