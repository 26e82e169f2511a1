"""Conversion of input to validated, read-only arrays; every error names field, value and remedy."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from learnroute.errors import InputError, did_you_mean, list_names

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

LARGEST_VALUE = 1e100  # squares and sums of these stay far from overflow
SMALLEST_VALUE = 1e-100  # of numbers other than 0: their squares, and products of three, stay normal float64 numbers
LARGEST_COUNT = 10**15  # counts stay exact in float64
MOST_MATRIX_REGIONS = 20_000  # a T x T float64 matrix of 3.2 GB


def as_number(
    field: str, value: Any, *, least: float = -math.inf, meaning: str = "numbers", derived: bool = False
) -> float:
    """Return a finite float no smaller than `least`, or raise InputError, calling the quantity `meaning`.

    Numbers must be in the range of magnitudes, unless they are `derived`: results of a computation.
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputError(f"{meaning} must be numeric", field=field, value=value)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        remedy = "; fill in the missing value" if math.isnan(number) else ""
        raise InputError(f"{meaning} must be finite{remedy}", field=field, value=value)
    if number < least:
        raise InputError(f"{meaning} must be >= {least:g}", field=field, value=number)
    if derived:
        return number
    if abs(number) > LARGEST_VALUE:
        limit = f"<= {LARGEST_VALUE:g}" if number > 0 else f">= {-LARGEST_VALUE:g}"
        raise InputError(f"{meaning} must be {limit}; use a larger unit", field=field, value=number)
    if 0 < abs(number) < SMALLEST_VALUE:
        reason = f"{meaning} must be 0 or have a magnitude >= {SMALLEST_VALUE:g}; use 0, or a smaller unit"
        raise InputError(reason, field=field, value=number)
    return number


def check_level(level: Any) -> None:
    """Reject a confidence level that is not above 0 and below 1."""
    if not 0 < as_number("level", level, meaning="the confidence level") < 1:
        raise InputError("expected a confidence level above 0 and below 1, such as 0.95", field="level", value=level)


def as_count(field: str, value: Any, *, least: int = 1, meaning: str) -> int:
    """Return an integer no smaller than `least`, or raise InputError."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise InputError(f"{meaning} must be a whole number", field=field, value=value)
    if not isinstance(value, Integral):
        if not float(value).is_integer():
            raise InputError(f"{meaning} must be a whole number", field=field, value=value)
        value = int(float(value))
    count = int(value)
    if count < least:
        raise InputError(f"{meaning} must be >= {least}", field=field, value=count)
    if count > LARGEST_COUNT:
        raise InputError(f"{meaning} must be <= {LARGEST_COUNT:,}", field=field, value=count)
    return count


def as_vector(
    field: str, value: Any, length: int | None, *, least: float = -math.inf, meaning: str, row: int | None = None,
    derived: bool = False,
) -> FloatArray:  # fmt: skip
    """Return a read-only float64 vector (a given row of a matrix), or reject its first invalid entry."""
    entries = _entries(field if row is None else f"{field}[{row}]", value, length)

    def check(i: int) -> float:
        place = f"{field}[{i}]" if row is None else f"{field}[{row}, {i}]"
        return as_number(place, entries[i], least=least, meaning=meaning, derived=derived)

    if _all_plain_numbers(entries):
        try:
            vector = np.array(entries, dtype=np.float64)
        except OverflowError:  # an integer that is too large for a float
            vector = np.array([check(i) for i in range(len(entries))])
    else:
        vector = np.array([check(i) for i in range(len(entries))], dtype=np.float64)
    for i in np.flatnonzero(~_in_range(vector, least, derived)):
        check(int(i))
    return freeze(vector)


def as_matrix(
    field: str, value: Any, rows: int | None, columns: int | None, *, least: float = -math.inf, meaning: str
) -> FloatArray:
    """Return a read-only float64 matrix, or reject its first invalid row or entry."""
    _refuse_masked(field, value)
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.dtype.kind in "iuf":
        whole = np.asarray(value, dtype=np.float64)
        right = rows in (None, len(whole)) and columns in (None, whole.shape[1])
        if right and bool(_in_range(whole, least).all()):
            return freeze(whole)
    lines = _entries(field, value, rows, what="rows")
    width = columns
    checked = []
    for i, line in enumerate(lines):
        row = as_vector(field, line, width, least=least, meaning=meaning, row=i)
        width = len(row)
        checked.append(row)
    return freeze(np.array(checked, dtype=np.float64).reshape(len(checked), width or 0))


def as_square(field: str, value: Any, size: int | None, *, meaning: str, zero_diagonal: bool = True) -> FloatArray:
    """Return a read-only T x T matrix of non-negative entries (with a zero diagonal, if required), or reject it."""
    lines = _entries(field, value, None, what="rows")
    if len(lines) > MOST_MATRIX_REGIONS:
        raise InputError(
            f"matrices are limited to {MOST_MATRIX_REGIONS:,} regions", field=field, found=f"has {len(lines):,} rows"
        )
    if size is not None and len(lines) != size:
        raise InputError(
            f"there are {size} regions; give one row and one column each", field=field, found=f"has {len(lines)} rows"
        )
    matrix = as_matrix(field, lines, len(lines), len(lines), least=0.0, meaning=meaning)
    wrong = np.flatnonzero(np.diagonal(matrix)) if zero_diagonal else np.empty(0)
    if wrong.size:
        i = int(wrong[0])
        raise InputError(
            "the diagonal must be 0 (from a region to itself)", field=f"{field}[{i}, {i}]", found=f"= {matrix[i, i]:g}"
        )
    return matrix


def as_names(field: str, value: Any, length: int | None) -> tuple[str, ...]:
    """Return one distinct, non-empty, printable name per region, or raise InputError."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "U":
        value = value.tolist()
    entries = _entries(field, value, length, what="names")
    first: dict[str, int] = {}
    for i, name in enumerate(entries):
        if not isinstance(name, str):
            raise InputError("names must be text, in quotes", field=f"{field}[{i}]", value=name)
        if not name.strip():
            raise InputError("names must not be empty", field=f"{field}[{i}]", value=name)
        if name != name.strip() or not name.isprintable():
            raise InputError("names must be printable, without spaces at their ends", field=f"{field}[{i}]", value=name)
        if name in first:
            raise InputError(
                f"also the name of region {first[name]}; names must be unique", field=f"{field}[{i}]", value=name
            )
        first[name] = i
    return tuple(first)


def as_flag(field: str, value: Any) -> bool:
    """Return a boolean, or raise InputError."""
    if not isinstance(value, bool):
        raise InputError("expected true or false", field=field, value=value)
    return value


def as_choice(field: str, value: Any, known: Collection[str]) -> str:
    """Return one of the known names, or raise InputError."""
    if not isinstance(value, str) or value not in known:
        raise InputError(f"unknown; {did_you_mean(value, known)}", field=field, value=value)
    return value


def as_region(field: str, value: Any, regions: Sequence[str]) -> int:
    """Return the index of a region by its name, or raise InputError."""
    if value not in regions:
        hint = did_you_mean(value, regions, "regions are")
        raise InputError(f"there is no such region; {hint}", field=field, value=value)
    return regions.index(value)


def as_members(prefix: str, data: Any, known: Sequence[str], needed: Sequence[str] = ()) -> dict[str, Any]:
    """Return the members of a JSON object; reject unknown and missing members by name."""
    if not isinstance(data, dict):
        raise InputError(
            f"expected an object with {list_names(known)}", field=prefix.rstrip(".") or "problem", value=data
        )
    for key in data:
        if key not in known:
            raise InputError(f"unknown field; {did_you_mean(key, known)}", field=f"{prefix}{key}")
    for key in needed:
        if key not in data:
            raise InputError(f"missing; required are {', '.join(needed)}", field=f"{prefix}{key}")
    return {key: value for key, value in data.items() if value is not None or key in needed}


def as_numbers_by_region(field: str, values: Any, regions: Sequence[str], meaning: str) -> dict[str, float]:
    """Return numbers >= 0 by the names of some regions, or raise InputError."""
    if not isinstance(values, Mapping):
        raise InputError("expected an object with a number for each region", field=field, value=values)
    for name in values:
        if name not in regions:
            hint = did_you_mean(name, regions, "regions are")
            raise InputError(f"there is no such region; {hint}", field=f"{field}.{name}")
    return {name: as_number(f"{field}.{name}", value, least=0.0, meaning=meaning) for name, value in values.items()}


def as_path(field: str, value: Any) -> Path:
    """Return the path of a file or folder, or raise InputError."""
    if not isinstance(value, str | PathLike):
        raise InputError("expected the name of a file", field=field, value=value)
    return Path(value)


def freeze(array: NDArray[Any]) -> NDArray[Any]:
    """Return a C-contiguous read-only array that shares nothing writable with its origin."""
    if array.flags.writeable or not array.flags.c_contiguous:
        array = np.array(array, order="C", copy=True)
        array.flags.writeable = False
    return array


def _entries(field: str, value: Any, length: int | None, what: str = "entries") -> Sequence[Any]:
    """Return the value as a sequence of the right length, or raise InputError."""
    if hasattr(value, "__array__") and not isinstance(value, np.ndarray | np.generic):
        value = np.asarray(value)  # tables of other libraries
    if isinstance(value, np.ndarray):
        _refuse_masked(field, value)
        if value.ndim == 0:
            raise InputError(f"expected a list of {what}", field=field, value=value.item())
        if value.dtype.kind not in "iufO":
            raise InputError(f"is an array of {value.dtype}; expected numbers", field=field)
    elif isinstance(value, str | bytes | dict) or not isinstance(value, Sequence):
        raise InputError(f"expected a list of {what}", field=field, value=value)
    if length is not None and len(value) != length:
        raise InputError(f"expected {length}", field=field, found=f"has {len(value)} {what}")
    return cast("Sequence[Any]", value)


def _refuse_masked(field: str, value: Any) -> None:
    """Reject the first masked entry of a NumPy masked array, because masked values have no meaning."""
    mask = np.atleast_1d(mask_of(value))
    if mask.any():
        first = ", ".join(map(str, np.argwhere(mask)[0].tolist()))
        raise InputError("fill in the missing value", field=f"{field}[{first}]", found="is masked")


def mask_of(value: Any) -> NDArray[np.bool_]:
    """Return which entries of a NumPy masked array are masked; no entries for any other type."""
    # Avoids `numpy.ma`, which is slow to import
    masked = isinstance(value, np.ndarray) and type(value) is not np.ndarray
    return np.asarray(getattr(value, "mask", False) if masked else False, dtype=bool)


def _in_range(numbers: FloatArray, least: float, derived: bool = False) -> NDArray[np.bool_]:
    """Return which numbers are valid; those that are not a number are not."""
    if derived:
        return (numbers >= least) & np.isfinite(numbers)
    valid = (numbers >= max(least, -LARGEST_VALUE)) & (numbers <= LARGEST_VALUE)
    valid &= (numbers >= SMALLEST_VALUE) | (numbers <= -SMALLEST_VALUE) | (numbers == 0)
    return valid


def _all_plain_numbers(entries: Sequence[Any]) -> bool:
    if isinstance(entries, np.ndarray):
        return entries.dtype.kind in "iuf" and entries.ndim == 1
    return set(map(type, entries)) <= {int, float}


def is_symmetric(matrix: FloatArray) -> bool:
    """Return whether a square matrix equals its transpose; in blocks, because reading along columns is slow."""
    size, side = len(matrix), 256
    return all(
        np.array_equal(matrix[i : i + side, j : j + side], matrix[j : j + side, i : i + side].T)
        for i in range(0, size, side)
        for j in range(0, i + 1, side)
    )
