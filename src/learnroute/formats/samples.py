"""Samples of regions from CSV: a folder with one file per region, or one table with a region column.

Errors in one region are recorded with that region, so that the others can still be used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from learnroute.errors import InputError, did_you_mean, list_names
from learnroute.formats.csv_files import header_of, read_table, table_text
from learnroute.formats.files import exists, is_folder, write_text
from learnroute.model.validation import FloatArray, freeze

PLACE = re.compile(r"^.*?\.csv(?:, line \d+)?[:,] ")  # position of an error in a file
VALUE = re.compile(r" = '[^']*'")
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none"})


@dataclass(frozen=True, eq=False)
class RegionTable:
    """One region's samples; missing cells are NaN. If there are no samples, `problem` says why."""

    columns: tuple[str, ...]
    features: FloatArray
    targets: FloatArray
    problem: str | None = None


def read_samples(
    path: str | Path, target: str, region: str | None = None, skip: Sequence[str] = ()
) -> dict[str, RegionTable]:
    """Read all regions' samples.

    Parameters
    ----------
    path
        A folder of CSV files, each named after its region, or one CSV table.
    target
        The column to predict; all others are features.
    region
        The column with the region's name; required for a table, absent in a folder.
    skip
        Columns that are neither target nor features, such as times and notes.
    """
    path = Path(path)
    if is_folder(path):
        if region is not None:
            raise InputError("is a folder with one file per region; omit --region", where=path)
        return _folder(path, target, skip)
    if not exists(path):
        raise InputError("no such file or folder", where=path)
    if path.suffix.lower() == ".json":
        raise InputError("samples are read from a CSV table, or from a folder of CSV tables", where=path)
    if region is None:
        columns = list_names(header_of(path))
        reason = f"--region is missing; give the column with the region names ({columns}), or a folder with one file "
        raise InputError(f"{reason}per region", where=path)
    return _group_rows(path, target, region, skip)


def write_samples(path: Path, columns: Sequence[str], target: str, features: FloatArray, targets: FloatArray) -> None:
    """Write one region's samples, with the target as last column."""
    rows = [[*row, y] for row, y in zip(features.tolist(), targets.tolist(), strict=True)]
    write_text(path, table_text([[*columns, target], *rows]))


def causes(failures: Mapping[str, str]) -> list[str]:
    """Return why regions failed, one line per cause; a cause common to many files is listed once."""
    groups: dict[str, list[str]] = {}
    for name, reason in failures.items():
        groups.setdefault(VALUE.sub("", PLACE.sub("", reason)), []).append(name)
    found = []
    for names in groups.values():
        reason = failures[names[0]]
        if len(names) == 1:
            found.append(f"{names[0]}: {reason}")
        else:
            more = "1 more region" if len(names) == 2 else f"{len(names) - 1} more regions"
            found.append(f"{names[0]} and {more}: {PLACE.sub('', reason)}")
    return found


def _folder(folder: Path, target: str, skip: Sequence[str]) -> dict[str, RegionTable]:
    files = sorted(folder.glob("*.csv"))
    if not files:
        raise InputError("no .csv files; expected one file per region", where=folder)
    found = {}
    for file in files:
        try:
            header, rows, lines = read_table(file)
            found[file.stem] = _region(file, header, rows, lines, target, skip)
        except InputError as error:
            found[file.stem] = _unusable(str(error))
    return found


def _group_rows(path: Path, target: str, region: str, skip: Sequence[str]) -> dict[str, RegionTable]:
    header, rows, lines = read_table(path)
    for name in (target, *skip):
        _place(path, header, name)  # a wrong name concerns all regions
    where = _place(path, header, region)
    if region == target:
        raise InputError(f"column {region!r} cannot be both the region and the target", where=path)
    groups: dict[str, list[int]] = {}
    for k, row in enumerate(rows):
        if not row[where]:
            raise InputError(f"column {region!r} is empty; each sample needs a region", where=path, line=lines[k])
        groups.setdefault(row[where], []).append(k)
    others = [name for k, name in enumerate(header) if k != where]
    found = {}
    for name in sorted(groups):
        members = groups[name]
        own = [[cell for k, cell in enumerate(rows[i]) if k != where] for i in members]
        try:
            found[name] = _region(path, others, own, [lines[i] for i in members], target, skip)
        except InputError as error:
            found[name] = _unusable(str(error))
    return found


def _region(
    path: Path, header: list[str], rows: list[list[str]], lines: list[int], target: str, skip: Sequence[str]
) -> RegionTable:
    _place(path, header, target)
    if target in skip:
        raise InputError(f"column {target!r} cannot be both the target and skipped", where=path)
    out = {_place(path, header, name) for name in skip}
    header, rows = (
        [name for k, name in enumerate(header) if k not in out],
        [[cell for k, cell in enumerate(row) if k not in out] for row in rows],
    )
    where = header.index(target)
    table = np.empty((len(rows), len(header)))
    for i, row in enumerate(rows):
        for k, cell in enumerate(row):
            try:
                table[i, k] = float(cell)
            except ValueError:
                if cell.lower() not in MISSING:
                    raise InputError(
                        "expected a number; turn categories into numbers, or skip the column (--skip)",
                        field=header[k],
                        value=cell,
                        where=path,
                        line=lines[i],
                    ) from None
                table[i, k] = np.nan
    columns = tuple(name for k, name in enumerate(header) if k != where)
    if not columns:
        raise InputError(f"no column besides {target!r}; add at least one feature", where=path)
    return RegionTable(columns, freeze(np.delete(table, where, axis=1)), freeze(table[:, where]))


def _place(path: Path, header: list[str], name: str) -> int:
    if header.count(name) != 1:
        wrong = "given twice" if name in header else f"missing; {did_you_mean(name, header, 'columns are')}"
        raise InputError(f"column {name!r} is {wrong}", where=path)
    return header.index(name)


def _unusable(problem: str) -> RegionTable:
    return RegionTable((), freeze(np.empty((0, 0))), freeze(np.empty(0)), problem)
