"""Problems as a folder of CSV tables, and plans as one.

A problem folder holds `travel.csv` and `dissimilarity.csv` (matrices with region names in the first row
and column) or `vectors.csv` (one row a region, its name first), and optionally `regions.csv` (columns `region`,
and any of `initial`, `x`, `y`) and `learner.csv` (columns `features`, `samples`, `noise`).
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from typing import Any

from learnroute.errors import InputError
from learnroute.formats.files import read_text, write_text
from learnroute.model.problem import Problem
from learnroute.model.result import Plan

Table = tuple[list[str], list[list[str]], list[int]]  # header, rows, line numbers


def read(path: Path) -> dict[str, Any]:
    """Read the folder around a `travel.csv` (or a folder itself) into the members of a problem."""
    folder, travel_file = (path, path / "travel.csv") if path.is_dir() else (path.parent, path)
    names, travel = _matrix(travel_file)
    data: dict[str, Any] = {"regions": names, "travel": travel}
    if (folder / "dissimilarity.csv").exists():
        data["dissimilarity"] = _reordered(*_matrix(folder / "dissimilarity.csv"), names, folder / "dissimilarity.csv")
    if (folder / "vectors.csv").exists():
        data["vectors"] = _vectors(folder / "vectors.csv", names)
    if "dissimilarity" not in data and "vectors" not in data:
        raise InputError(
            f"{folder / 'dissimilarity.csv'}: no such file; put it, or vectors.csv, beside {travel_file.name}"
        )
    if (folder / "regions.csv").exists():
        data |= _regions(folder / "regions.csv", names)
    if (folder / "learner.csv").exists():
        data["learner"] = _learner(folder / "learner.csv")
    return data


def write(problem: Problem, folder: Path) -> None:
    """Write a problem as a folder of CSV tables."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; give a folder name, or a name that ends in .json")
    if problem.truth is not None:
        raise InputError("truth: CSV tables have no place for it; write the problem as .json")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from None
    names = problem.regions
    tables: dict[str, list[list[Any]]] = {
        "travel.csv": _labelled(names, problem.travel.tolist()),
        "learner.csv": [
            ["features", "samples", "noise"],
            [problem.learner.features, problem.learner.samples, problem.learner.noise],
        ],
    }
    if problem.dissimilarity is not None:
        tables["dissimilarity.csv"] = _labelled(names, problem.dissimilarity.tolist())
    if problem.vectors is not None:
        header = ["region", *(f"v{k + 1}" for k in range(problem.vectors.shape[1]))]
        tables["vectors.csv"] = [
            header,
            *([n, *row] for n, row in zip(names, problem.vectors.tolist(), strict=True)),
        ]
    columns: dict[str, list[Any]] = {"region": list(names), "initial": problem.initial.tolist()}
    if problem.coordinates is not None:
        columns["x"], columns["y"] = problem.coordinates.T.tolist()
    tables["regions.csv"] = [list(columns), *map(list, zip(*columns.values(), strict=True))]
    for other in {"dissimilarity.csv", "vectors.csv"} - set(tables):
        (folder / other).unlink(missing_ok=True)  # left by another problem, it would contradict this one
    for name, table in tables.items():
        write_text(folder / name, table_text(table))


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write a route, one row a visit; with the problem at hand, also travel, score and coordinates."""
    header = ["position", "region", "index"]
    rows: list[list[Any]] = [[p + 1, name, i] for p, (name, i) in enumerate(zip(plan.route, plan.order, strict=True))]
    if problem is not None:
        header += ["travel_from_previous", "travel_so_far", "score"]
        so_far = 0.0
        for p, row in enumerate(rows):
            leg = float(problem.travel[plan.order[p - 1], plan.order[p]]) if p else 0.0
            so_far += leg
            row += [leg, so_far, float(problem.scores[plan.order[p]])]
        if problem.coordinates is not None:
            header += ["x", "y"]
            for row, i in zip(rows, plan.order, strict=True):
                row += problem.coordinates[i].tolist()
    write_text(path, table_text([header, *rows]))


def _labelled(names: tuple[str, ...], matrix: list[list[float]]) -> list[list[Any]]:
    return [["", *names], *([name, *row] for name, row in zip(names, matrix, strict=True))]


def table_text(table: list[list[Any]]) -> str:
    """Return rows as CSV text."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(table)
    return buffer.getvalue()


def _table(path: Path) -> Table:
    """Read a table with a header, all rows as long as it; blank lines do not count."""
    reader = csv.reader(io.StringIO(read_text(path)), strict=True)
    rows, lines = [], []
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                rows.append([cell.strip() for cell in row])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: not CSV ({error})") from None
    if not rows:
        raise InputError(f"{path}: empty; a header and one row a region are needed")
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise InputError(f"{path}, line {line}: {len(row)} cells; the header has {len(rows[0])}")
    return rows[0], rows[1:], lines[1:]


def _number(path: Path, line: int, field: str, cell: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{path}, line {line}, {field} = {cell!r}: a finite number is needed")
    return number


def _matrix(path: Path) -> tuple[list[str], list[list[float]]]:
    """Read a square matrix with region names in the first row and the first column."""
    header, rows, lines = _table(path)
    names = header[1:]
    if len(rows) != len(names):
        raise InputError(f"{path}: {len(rows)} rows below a header of {len(names)} regions; one row a region is needed")
    matrix = []
    for row, line, name in zip(rows, lines, names, strict=True):
        if row[0] != name:
            raise InputError(f"{path}, line {line}: row {row[0]!r} where the header's order has {name!r}")
        matrix.append([_number(path, line, f"{name} to {to}", cell) for to, cell in zip(names, row[1:], strict=True)])
    return names, matrix


def _reordered(found: list[str], matrix: list[list[float]], names: list[str], path: Path) -> list[list[float]]:
    """Put a matrix into the order of the regions of travel.csv."""
    if found == names:
        return matrix
    _same_regions(path, found, names)
    place = [found.index(name) for name in names]
    return [[matrix[i][j] for j in place] for i in place]


def _same_regions(path: Path, found: list[str], names: list[str]) -> None:
    for name in names:
        if found.count(name) != 1:
            wrong = "missing" if name not in found else "there twice"
            raise InputError(f"{path}: region {name!r} is {wrong}; the regions of travel.csv are needed, once each")
    for name in found:
        if name not in names:
            raise InputError(f"{path}: region {name!r} is not in travel.csv; the same regions are needed")


def _by_region(path: Path, names: list[str]) -> tuple[list[str], list[tuple[list[str], int]]]:
    """Read a table with one row a region, its name first, into the order of travel.csv."""
    header, rows, lines = _table(path)
    found = [row[0] for row in rows]
    _same_regions(path, found, names)
    return header[1:], [(rows[k][1:], lines[k]) for k in map(found.index, names)]


def _vectors(path: Path, names: list[str]) -> list[list[float]]:
    header, rows = _by_region(path, names)
    return [[_number(path, line, f, cell) for f, cell in zip(header, row, strict=True)] for row, line in rows]


def _regions(path: Path, names: list[str]) -> dict[str, Any]:
    header, rows = _by_region(path, names)
    known = ("initial", "x", "y")
    for field in header:
        if field not in known or header.count(field) > 1:
            raise InputError(f"{path}: column {field!r}: known are region, {', '.join(known)}, once each")
    if ("x" in header) != ("y" in header):
        raise InputError(f"{path}: columns x and y: one is missing; give both or neither")
    columns = {field: [_number(path, line, field, row[k]) for row, line in rows] for k, field in enumerate(header)}
    data: dict[str, Any] = {"initial": columns["initial"]} if "initial" in columns else {}
    if "x" in columns:
        data["coordinates"] = [list(pair) for pair in zip(columns["x"], columns["y"], strict=True)]
    return data


def _learner(path: Path) -> dict[str, Any]:
    header, rows, lines = _table(path)
    if len(rows) != 1:
        raise InputError(f"{path}: {len(rows)} rows below the header; exactly one is needed")
    return {field: _number(path, lines[0], field, cell) for field, cell in zip(header, rows[0], strict=True)}
