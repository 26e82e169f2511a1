"""Statistics of rows: the ratio of each method in each group, in one pass."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from learnroute.errors import InputError, did_you_mean
from learnroute.model.validation import FloatArray
from learnroute.study.cells import COLUMNS, Row

DIMENSIONS = ("family", "regions", "features", "samples", "noise")
NUMERIC = DIMENSIONS[1:]
NORMAL_95 = 1.959963984540054  # half-width of a 95 % interval, in standard errors
SPREAD = (0.05, 0.95)  # quantiles

Key = tuple[Any, ...]


@dataclass(frozen=True)
class Statistics:
    """A sample's mean with its 95 % interval, its spread (5 % and 95 % quantiles) and its maximum."""

    count: int
    mean: float
    half_width: float
    low: float
    high: float
    maximum: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Statistics:
        """Summarise a sample of at least one value."""
        sample: FloatArray = np.asarray(values, dtype=np.float64)
        error = float(sample.std(ddof=1)) / math.sqrt(len(sample)) if len(sample) > 1 else 0.0
        low, high = np.quantile(sample, SPREAD)
        mean = math.fsum(values) / len(sample)
        return cls(len(sample), mean, NORMAL_95 * error, float(low), float(high), float(sample.max()))


class RunningStatistics:
    """RunningStatistics count, mean, variance and maximum of values that are not stored (Welford)."""

    def __init__(self) -> None:
        self.count = 0
        self.mean = 0.0
        self.squares = 0.0
        self.maximum = -math.inf

    def add(self, value: float) -> None:
        """Add one value."""
        self.count += 1
        step = value - self.mean
        self.mean += step / self.count
        self.squares += step * (value - self.mean)
        self.maximum = max(self.maximum, value)

    @property
    def half_width(self) -> float:
        """Half-width of the mean's 95 % interval."""
        return NORMAL_95 * math.sqrt(self.squares / (self.count - 1) / self.count) if self.count > 1 else 0.0


def grouped_ratios(rows: Iterable[Row], by: Sequence[str]) -> dict[Key, list[float]]:
    """Group the ratios of rows by some columns, without rows that failed."""
    groups: dict[Key, list[float]] = {}
    for row in rows:
        if row["ratio"] is not None:
            groups.setdefault(tuple(row[name] for name in by), []).append(row["ratio"])
    return groups


def condition(text: str) -> tuple[str, Any]:
    """Parse `column=value`, the form of `--where`."""
    name, sign, value = text.partition("=")
    if not sign:
        raise InputError("expected NAME=VALUE, such as regions=10", field="where", value=text)
    if name not in (*DIMENSIONS, "method", "regime"):
        hint = did_you_mean(name, (*DIMENSIONS, "method", "regime"))
        raise InputError(f"unknown column; {hint}", field="where", value=text)
    try:
        return name, COLUMNS[name](value)
    except ValueError:
        raise InputError(f"{value!r} is not a number", field="where", value=text) from None
