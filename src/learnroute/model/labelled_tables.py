"""Labelled tables: frames, series and arrays of other libraries, recognised by their attributes.

No library is imported. `index` and `columns` belong to pandas, `columns` alone to polars, and `dims` and `coords` to
xarray. Labels are names of regions (or of features); the default labels 0, 1, 2, … do not count as labels.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import InputError, did_you_mean

Names = tuple[str, ...]
AXES = ("row", "column")
SQUARE = (
    "travel",
    "dissimilarity",
    "dissimilarity_low",
    "dissimilarity_estimate",
    "transfer",
)  # fields whose columns are regions, too
PLACES = (("x", "y"), ("lon", "lat"), ("longitude", "latitude"), ("lng", "lat"))  # column names of coordinates


@dataclass(frozen=True, eq=False)
class Labelled:
    """Values with the labels of their rows and columns; None if there are no labels or only default ones."""

    values: Any
    rows: list[Any] | None = None
    columns: list[Any] | None = None

    @classmethod
    def of(cls, value: Any, names_first: bool = True) -> Labelled:
        """Split a table into values and labels; values without labels stay as they are.

        With `names_first`, a frame without row labels may have the names in its first column.
        """
        if isinstance(value, np.ndarray | list | tuple | str | bytes | dict | type) or value is None:
            return cls(value)
        given: list[Any]
        if hasattr(value, "dims") and hasattr(value, "coords"):
            given = [np.asarray(value.coords[dim]).tolist() if dim in value.coords else None for dim in value.dims]
        elif hasattr(value, "columns") and not callable(value.columns):
            given = [getattr(value, "index", None), getattr(value, "column_names", value.columns)]
        elif hasattr(value, "index") and not callable(value.index) and hasattr(value, "__array__"):
            given = [value.index]
        else:
            return cls(value)
        values = np.asarray(value)
        labels = [_labels_of(one) for one in given]
        if values.ndim != len(labels) or values.ndim > len(AXES):
            return cls(values)
        if names_first and values.ndim == 2 and labels[0] is None and _has_names_first(values):
            labels = [_labels_of(values[:, 0]), _labels_of(list(given[1] or ())[1:])]
            values = values[:, 1:]
        return cls(values, *labels)


def align(field: str, value: Any, rows: Sequence[str] | None, columns: Sequence[str] | None = None) -> Any:
    """Return the values of a table with its rows (and columns) in the order of the given names.

    An axis without labels is assumed to be in that order already. Unknown labels are rejected.
    """
    table = Labelled.of(value, names_first=rows is not None)
    values = _reorder(field, table.values, table.rows, rows, 0)
    return _reorder(field, values, table.columns, columns, 1)


def align_square(field: str, value: Any, names: Sequence[str] | None = None) -> Any:
    """Return a matrix between regions with rows and columns in the same order: that of the names, or of its rows.

    If only one axis has labels, the other one is assumed to be in the same order.
    """
    table = Labelled.of(value)
    if not (table.rows or table.columns) or np.ndim(table.values) != 2:
        return table.values
    rows, columns = table.rows or table.columns, table.columns or table.rows
    wanted = names_of(field, rows) if names is None else names
    return _reorder(field, _reorder(field, table.values, rows, wanted, 0), columns, wanted, 1)


def align_places(field: str, value: Any, names: Sequence[str] | None) -> Any:
    """Return coordinates in the order of the names, x before y and longitude before latitude if columns have names."""
    own = Labelled.of(value).columns or []
    called = [str(name).lower() for name in own]
    pair = next((pair for pair in PLACES if sorted(pair) == sorted(called)), None)
    return align(field, value, names, pair and [own[called.index(name)] for name in pair])


def row_labels(tables: Mapping[str, Any]) -> Names | None:
    """Return the row labels of the first labelled table; for a square table, the labels of either axis."""
    for field, value in tables.items():
        table = Labelled.of(value)
        names = names_of(field, table.rows or (table.columns if field in SQUARE else None))
        if names is not None:
            return names
    return None


def names_of(field: str, labels: Sequence[Any] | None, axis: str = AXES[0]) -> Names | None:
    """Return labels as names, rejecting invalid names; None if there are no labels."""
    if not labels:
        return None
    wrong = next((label for label in labels if not isinstance(label, str)), None)
    if wrong is not None:
        raise InputError(
            f"{axis} label {wrong!r} is not a name; label with names of regions, or give an array without labels, in "
            "the order of the regions",
            field=field,
        )
    names = tuple(map(str, labels))
    if len(set(names)) < len(names):
        twice = next(name for k, name in enumerate(names) if name in names[:k])
        raise InputError(f"{axis} {twice!r} is given twice; give each once", field=field)
    return names


def _reorder(field: str, values: Any, labels: Sequence[Any] | None, wanted: Sequence[str] | None, axis: int) -> Any:
    """Bring one axis into the given order, and reject the first name that is missing there."""
    own = None if wanted is None else names_of(field, labels, AXES[axis])
    if own is None or wanted is None or own == tuple(wanted):
        return values
    place = {name: k for k, name in enumerate(own)}
    for name in wanted:
        if name not in place:
            reason = f"no {AXES[axis]} {name!r}; {did_you_mean(name, own, f'{AXES[axis]}s are')}"
            raise InputError(reason, field=field)
    known = set(wanted)
    extra = next((name for name in own if name not in known), None)
    if extra is not None:
        reason = f"{AXES[axis]} {extra!r} is unknown; {did_you_mean(extra, wanted)}"
        raise InputError(reason, field=field)
    return np.take(values, [place[name] for name in wanted], axis)


def _labels_of(labels: Any) -> list[Any] | None:
    """Return the labels of an axis; None if they are the default ones."""
    if labels is None:
        return None
    found = list(labels)
    default = found == list(range(len(found))) or found == [f"column_{k}" for k in range(len(found))]
    return None if default else found


def _has_names_first(values: Any) -> bool:
    return bool(values.dtype == object and values.shape[1] > 1 and all(isinstance(cell, str) for cell in values[:, 0]))
