"""Convert a caller's samples to regions that can be fitted, with a reason for each region that cannot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from learnroute.errors import InputError
from learnroute.formats.samples import RegionTable
from learnroute.learning.data import Batch, FeatureMap, Rows, as_batch, as_pair, columns_of, fitted_map, split_rows
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.validation import FloatArray, IntArray, as_names, freeze

Missing = Literal["refuse", "drop"]
Scaling = Literal["none", "standardise", "whiten"]
FLAT = 1e-10  # of the largest variance; directions with less variance are dropped
MOST_NAMED = 4  # columns named in one message


@dataclass(frozen=True, eq=False)
class PreparedRegions:
    """Usable regions with the split of their rows, and the reasons why other regions failed.

    `mapped` applies the feature map. `transform` also applies `scaling`, if features are scaled or get a constant,
    and returns the learner's features.
    """

    samples: dict[str, Batch]
    rows: dict[str, Rows]
    dropped: dict[str, int]
    failures: dict[str, str]
    columns: tuple[str, ...]
    mapped: Callable[[FloatArray], FloatArray]
    transform: Callable[[FloatArray], FloatArray]
    scaling: FeaturesScaling | None


def prepare_regions(
    samples: Mapping[str, Any],
    columns: Sequence[str] | None,
    features: FeatureMap | None,
    scaling: Scaling,
    intercept: bool,
    missing: Missing,
    shares: tuple[float, float],
    seeds: Sequence[np.random.SeedSequence],
) -> PreparedRegions:
    """Check every region separately, split its rows, and fit the feature transformation on the rows for estimation."""
    failures: dict[str, str] = {}
    kept: dict[str, Batch] = {}
    rows: dict[str, Rows] = {}
    dropped: dict[str, int] = {}
    called = None if columns is None else as_names("columns", columns, None)
    tables = {name: _table(name, given, called, failures) for name, given in samples.items()}
    usable = {name: table for name, table in tables.items() if table is not None}
    shape = Counter(table.columns for table in usable.values()).most_common(1)
    common = shape[0][0] if shape else ()
    for (name, given), seed in zip(tables.items(), seeds, strict=True):
        if given is None:
            continue
        table = _in_order(given, common)
        try:
            whole = _complete(table, common, missing)
            dealt = split_rows(len(whole), *shares, np.random.default_rng(seed))
        except InputError as error:
            failures[name] = str(error)
            continue
        kept[name] = (table.features, table.targets)
        dropped[name] = len(table.targets) - len(whole)
        rows[name] = Rows(*(freeze(whole[part]) for part in (dealt.estimate, dealt.train, dealt.test)))
    names = common if features is None else ()
    parts = [kept[name][0][rows[name].estimate] for name in kept]
    pooled = np.concatenate(parts) if parts else np.empty((0, 0))
    mapped = fitted_map(features, pooled) or (lambda inputs: inputs)
    made = learn_scaling(mapped(pooled), scaling, intercept, names) if len(pooled) else None

    def transform(inputs: FloatArray) -> FloatArray:
        return freeze(mapped(inputs)) if made is None else made.apply(mapped(inputs))

    return PreparedRegions(kept, rows, dropped, failures, names, mapped, transform, made)


def constant_columns(features: FloatArray, columns: Sequence[str]) -> str | None:
    """Return a message that names the constant columns; None if there are none."""
    still = np.flatnonzero(np.ptp(features, axis=0) == 0)
    if not still.size:
        return None
    what = _list_columns(still, columns)
    return f"{what} is constant in this region; drop it, or ask for an intercept instead"


def _table(name: str, given: Any, columns: tuple[str, ...] | None, failures: dict[str, str]) -> RegionTable | None:
    """Convert a region, given as (features, targets) or as read from a file, to a table."""
    try:
        if isinstance(given, RegionTable):
            if given.problem is not None:
                raise InputError(given.problem)
            table = given
        else:
            inputs, outputs = as_pair(given)
            own = columns_of(inputs)
            inputs, outputs = as_batch(name, inputs, outputs, columns)
            width = inputs.shape[1]
            called = columns or own or tuple(f"x{k + 1}" for k in range(width))
            if len(called) != width:
                raise InputError(f"{width} features, but {len(called)} column names")
            table = RegionTable(called, inputs, outputs)
    except InputError as error:
        failures[name] = str(error).removeprefix(f"region {name!r}: ")
        return None
    return table


def _in_order(table: RegionTable, columns: tuple[str, ...]) -> RegionTable:
    """Reorder columns into the common order."""
    if table.columns == columns or sorted(table.columns) != sorted(columns) or len(set(columns)) < len(columns):
        return table
    place = [table.columns.index(name) for name in columns]
    return RegionTable(columns, freeze(table.features[:, place]), table.targets, table.problem)


def _complete(table: RegionTable, common: tuple[str, ...], missing: Missing) -> IntArray:
    """Return the rows without gaps; reject missing or infinite values, listed by column."""
    if table.columns != common:
        raise InputError(_other_columns(table.columns, common))
    everything = np.column_stack([table.features, table.targets])
    names = (*table.columns, "the target")
    gaps, infinite = np.isnan(everything), np.isinf(everything)
    if infinite.any():
        k = int(np.argmax(infinite.any(axis=0)))
        row = int(np.argmax(infinite[:, k]))
        raise InputError(f"column {names[k]!r} is infinite in sample {row + 1}; correct or drop it")
    if gaps.any() and missing == "refuse":
        counts = gaps.sum(axis=0)
        what = ", ".join(f"{counts[k]} in {names[k]!r}" for k in np.flatnonzero(counts)[:MOST_NAMED])
        first = int(np.argmax(gaps.any(axis=1)))
        raise InputError(f"missing values ({what}; first in sample {first + 1}); fill them in, or drop those samples")
    return freeze(np.flatnonzero(~gaps.any(axis=1)))


def _other_columns(found: tuple[str, ...], common: tuple[str, ...]) -> str:
    lacking = [name for name in common if name not in found]
    extra = [name for name in found if name not in common]
    if not lacking and not extra:
        return "two columns have the same name; names must differ"
    parts = [f"lacks {', '.join(map(repr, lacking[:MOST_NAMED]))}"] if lacking else []
    parts += [f"has {', '.join(map(repr, extra[:MOST_NAMED]))}"] if extra else []
    return f"it {' and '.join(parts)} unlike most regions; all regions need the same columns"


def learn_scaling(
    pooled: FloatArray, scaling: Scaling, intercept: bool, columns: Sequence[str]
) -> FeaturesScaling | None:
    """Fit the scaling of features on the rows for estimation; None if features stay unchanged."""
    size = pooled.shape[1]
    means, matrix = np.zeros(size), np.eye(size)
    if scaling == "standardise":
        means, spread = pooled.mean(axis=0), pooled.std(axis=0)
        matrix = np.diag(1 / np.where(spread > 0, spread, 1.0))
    elif scaling == "whiten":
        means = pooled.mean(axis=0)
        _, singular, directions = np.linalg.svd(pooled - means, full_matrices=False)
        kept = singular**2 > FLAT * float(singular[0]) ** 2
        if kept.any():  # otherwise nothing varies, which is reported for each region
            matrix = directions[kept].T * (len(pooled) ** 0.5 / singular[kept])
    elif not intercept:
        return None
    named = tuple(columns) if len(set(columns)) == size else None
    return FeaturesScaling(means, matrix, intercept, named)


def _list_columns(places: Any, columns: Sequence[str]) -> str:
    names = [repr(columns[k]) if k < len(columns) else f"{k + 1}" for k in places[:MOST_NAMED]]
    more = ", …" if len(places) > MOST_NAMED else ""
    return f"column {names[0]}" if len(places) == 1 else f"each of the columns {', '.join(names)}{more}"
