"""Problems as folders of CSV tables, and plans as CSV tables.

A problem folder contains `travel.csv` and `dissimilarity.csv` or `transfer.csv` (matrices with region names in the
first row and column) or `vectors.csv` (one row per region, its name first). Optional tables are `regions.csv` (columns
`region`, and any of `initial`, `samples`, `importance`, `x`, `y`, or `lon`, `lat`), `learner.csv` (columns `features`,
`samples`, `noise`, and those of the learning rule), `options.csv` (columns `title`, `start`, `end`, `return`,
`travel_rate`, `depot`, and `initial_model`, its entries separated by spaces) and `features_scaling.csv` (one row per
raw feature: `column`, `mean` and `z1`, `z2`, …, its row of the matrix; the last column is `intercept`, true or false).
Without `travel.csv`, travel is the distance between the places in `regions.csv`. A depot named in `options.csv` appears
in `travel.csv` and `regions.csv` like a region, with its other cells blank, and in no other table.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import math
import re
from pathlib import Path
from typing import Any

from learnroute.errors import InputError, did_you_mean, list_names
from learnroute.formats import json_files
from learnroute.formats.files import errors_naming, exists, read_text, write_text
from learnroute.model.constraints import MEMBERS
from learnroute.model.features_scaling import FeaturesScaling
from learnroute.model.learners import TRAINING
from learnroute.model.problem import Problem
from learnroute.model.result import Plan

Table = tuple[list[str], list[list[str]], list[int]]  # header, rows, line numbers
PLACES = (("lon", "lat"), ("x", "y"))
DEGREES = {"lon": 360.0, "lat": 90.0}  # largest absolute values
NUMBERS = ("initial", "samples", "initial_estimate", "importance")
COLUMNS = (*NUMBERS, *PLACES[0], *PLACES[1])
MATRICES = ("dissimilarity", "dissimilarity_low", "dissimilarity_estimate", "transfer")
OPTIONS = ("title", *MEMBERS, "travel_rate", "depot", "visits", "fleet", "initial_model")
SCALING = "features_scaling.csv"
DECIMAL_COMMA = re.compile(r"^([+-]?\d*),(\d+(?:[eE][+-]?\d+)?)$")


def read(path: Path) -> dict[str, Any]:
    """Read the folder around a `travel.csv` (or a folder itself) into the members of a problem."""
    folder, travel_file = (path, path / "travel.csv") if path.is_dir() else (path.parent, path)
    table = folder / "regions.csv"
    data: dict[str, Any] = {}
    if travel_file.exists() or not table.exists():
        names, data["travel"] = read_matrix(travel_file)
    else:
        names = [row[0] for row in read_table(table)[1]]
    settings = read_settings(folder)
    depot = settings.pop("depot", None)
    names = _split_off_depot(depot, names, folder / "options.csv", data)
    data["regions"] = names
    for field in MATRICES:
        if (folder / f"{field}.csv").exists():
            data[field] = reorder(*read_matrix(folder / f"{field}.csv"), names, folder / f"{field}.csv")
    if (folder / "vectors.csv").exists():
        data["vectors"] = _vectors(folder / "vectors.csv", names)
    if not {"dissimilarity", "vectors", "transfer"} & set(data):
        raise InputError(
            f"no such file; put dissimilarity.csv, vectors.csv or transfer.csv beside {travel_file.name}",
            where=folder / "dissimilarity.csv",
        )
    if table.exists():
        data |= members_with_depot(table, read_table(table), names, COLUMNS, depot, data)[1]
    if "travel" not in data and "coordinates" not in data:
        raise InputError(
            "no such file; add it, or add columns lon and lat, or x and y, to regions.csv", where=travel_file
        )
    if (folder / SCALING).exists():
        data["features_scaling"] = _scaling(folder / SCALING)
    return data | move_return_to_depot(data, settings)


def _scaling(path: Path) -> dict[str, Any]:
    """Read the scaling of raw features."""
    header, rows, lines = read_table(path)
    width = len(header) - 3
    if width < 0 or header[1:] != ["mean", *(f"z{k + 1}" for k in range(width)), "intercept"]:
        raise InputError("expected columns column, mean, z1, z2, … and intercept, in this order", where=path)
    flags = {row[-1].lower() for row in rows}
    if len(flags) > 1 or not flags <= {"true", "false"}:
        raise InputError("expected true in all rows, or false in all rows", field="column 'intercept'", where=path)
    numbers = [
        [_number(path, line, name, cell) for name, cell in zip(header[1:-1], row[1:-1], strict=True)]
        for row, line in zip(rows, lines, strict=True)
    ]
    named = any(row[0] for row in rows)
    return {
        "means": [row[0] for row in numbers],
        "matrix": [row[1:] for row in numbers],
        "intercept": flags == {"true"},
        **({"columns": [row[0] for row in rows]} if named else {}),
    }


def _scaling_table(scaling: FeaturesScaling) -> list[list[Any]]:
    names = scaling.columns or [""] * len(scaling.means)
    header = ["column", "mean", *(f"z{k + 1}" for k in range(scaling.matrix.shape[1])), "intercept"]
    flag = str(scaling.intercept).lower()
    return [header, *([name, mean, *row, flag] for name, mean, row in zip(
        names, scaling.means.tolist(), scaling.matrix.tolist(), strict=True))]  # fmt: skip


def move_return_to_depot(data: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Return settings in which `return` belongs to the depot, if there is one."""
    wanted = settings.get("constraints", {})
    if "depot" in data and "return" in wanted:
        data["depot"]["return"] = wanted["return"]
        return settings | {"constraints": {field: value for field, value in wanted.items() if field != "return"}}
    return settings


def _split_off_depot(depot: str | None, names: list[str], path: Path, data: dict[str, Any]) -> list[str]:
    """Return the regions without the depot, and remove the depot from the travel costs."""
    if depot is None:
        return names
    if depot not in names:
        hint = did_you_mean(depot, names, "regions are")
        raise InputError(f"there is no such region; {hint}", field="depot", value=depot, where=path)
    here = names.index(depot)
    if "travel" in data:
        rows = data["travel"]
        back = [row[here] for k, row in enumerate(rows) if k != here]
        data["depot"] = {"name": depot, "travel": [*rows[here][:here], *rows[here][here + 1 :]], "travel_back": back}
        data["travel"] = [[*row[:here], *row[here + 1 :]] for k, row in enumerate(rows) if k != here]
    else:
        data["depot"] = {"name": depot}
    return [*names[:here], *names[here + 1 :]]


def members_with_depot(
    path: Path, table: Table, names: list[str] | None, known: tuple[str, ...], depot: str | None, data: dict[str, Any],
    *, vectors: bool = False,
) -> tuple[list[str], dict[str, Any], dict[str, list[float]]]:  # fmt: skip
    """Read columns of regions, and only the coordinates of the depot's row; return names, members and columns."""
    header, rows, lines = table
    own = [k for k, row in enumerate(rows) if row[0] == depot]
    for k in own[:1]:
        cells = dict(zip(header, rows[k], strict=True))
        for a, b in PLACES:
            if a in cells and b in cells:
                place = [_number(path, lines[k], field, cells[field]) for field in (a, b)]
                data.setdefault("depot", {"name": depot})["coordinates"] = place
        rows, lines = [*rows[:k], *rows[k + 1 :]], [*lines[:k], *lines[k + 1 :]]
    found, columns = _columns_of(path, (header, rows, lines), known, names, vectors)
    return found, members_of(path, columns), columns


TABLES = {
    "travel.csv", "vectors.csv", "options.csv", "regions.csv", "learner.csv", SCALING,
    *(f"{field}.csv" for field in MATRICES),
}  # fmt: skip


def write(problem: Problem, folder: Path) -> tuple[Path, ...]:
    """Write a problem as a folder of CSV tables, and return their paths."""
    if exists(folder) and not folder.is_dir():
        raise InputError("is a file; give a folder, or a name that ends in .json", where=folder)
    if problem.truth is not None:
        raise InputError("CSV tables cannot hold it; write the problem as .json", field="truth", where=folder)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be created ({error.strerror})", where=folder) from None
    names = problem.regions
    tables: dict[str, list[list[Any]]] = {"learner.csv": learner_table(problem)}
    if problem.given_travel is not None:
        tables["travel.csv"] = _add_labels(problem.stops, problem.ways.matrix.tolist())
    for field in MATRICES:
        matrix = getattr(problem, field)
        if matrix is not None:
            tables[f"{field}.csv"] = _add_labels(names, matrix.tolist())
    if problem.vectors is not None:
        header = ["region", *(f"v{k + 1}" for k in range(problem.vectors.shape[1]))]
        tables["vectors.csv"] = [
            header,
            *([n, *row] for n, row in zip(names, problem.vectors.tolist(), strict=True)),
        ]
    columns = columns_of(problem)
    tables["regions.csv"] = [
        list(columns),
        *map(list, zip(*columns.values(), strict=True)),
        *depot_row(problem, columns),
    ]
    options = options_table(problem)
    if options:
        tables["options.csv"] = options
    if problem.features_scaling is not None:
        tables[SCALING] = _scaling_table(problem.features_scaling)
    present = {name for name in TABLES if (folder / name).exists()}
    if present and not {"regions.csv", "learner.csv"} <= present:  # not a folder of this kind
        raise InputError("belongs to another problem; write to another folder", where=folder / min(present))
    for other in present - set(tables):
        (folder / other).unlink()  # a table of the replaced problem would contradict this one
    for name, table in tables.items():
        write_text(folder / name, table_text(table))
    return tuple(folder / name for name in tables)


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write a route, one row per stop; if the problem is given, also travel, score, weight and coordinates."""
    write_text(path, plan.table(problem).to_csv())


def _add_labels(names: tuple[str, ...], matrix: list[list[float]]) -> list[list[Any]]:
    return [["", *names], *([name, *row] for name, row in zip(names, matrix, strict=True))]


def table_text(table: list[list[Any]]) -> str:
    """Return rows as CSV text that can be read back exactly."""
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(table)
    return buffer.getvalue()


def read_table(path: Path) -> Table:
    """Read a table with a header and rows of the same length; blank lines are ignored."""
    text = read_text(path)
    delimiter = _delimiter(text)
    reader = csv.reader(io.StringIO(text), strict=True, delimiter=delimiter)
    rows, lines = [], []
    try:
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells):
                numbers = [DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells[1:]] if delimiter != "," else cells[1:]
                rows.append([cells[0], *numbers])
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"not CSV ({error})", where=path, line=reader.line_num) from None
    if not rows:
        raise InputError("is empty; expected a header and one row per region", where=path)
    for row, line in zip(rows, lines, strict=True):
        if len(row) != len(rows[0]):
            raise InputError(f"{len(row)} cells, but the header has {len(rows[0])}", where=path, line=line)
    return rows[0], rows[1:], lines[1:]


def _delimiter(text: str) -> str:
    """Return the delimiter: semicolon or tab if the first line contains it and no commas; else comma.

    Spreadsheets use semicolons in locales with decimal commas; all cells but the first of a row are then read so.
    """
    first = next((line for line in text.splitlines() if line.strip()), "")
    with contextlib.suppress(csv.Error):  # reported when the table is read
        cells = {mark: len(next(csv.reader([first], delimiter=mark), [])) for mark in (",", ";", "\t")}
        return "," if cells[","] > 1 else max(cells, key=lambda mark: cells[mark])
    return ","


def _number(path: Path, line: int, field: str, cell: str, most: float | None = None) -> float:
    """Return a number with an absolute value of at most `most`; reject others."""
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError("expected a finite number", field=field, value=cell, where=path, line=line)
    if most is not None and abs(number) > most:
        reason = f"expected degrees from -{most:g} to {most:g}"
        raise InputError(reason, field=field, value=cell, where=path, line=line)
    return number


def read_matrix(path: Path) -> tuple[list[str], list[list[float]]]:
    """Read a square matrix with region names in the first row and the first column."""
    header, rows, lines = read_table(path)
    names = header[1:]
    if not any(row[0] in names for row in rows):
        raise InputError(_matrix_error(path, header, rows), where=path)
    if len(rows) != len(names):
        reason = f"{len(rows)} rows and {len(names)} columns; expected one row and one column per region"
        raise InputError(reason, where=path)
    matrix = []
    for row, line, name in zip(rows, lines, names, strict=True):
        if row[0] != name:
            reason = f"row of {row[0]!r}, expected {name!r}: rows and columns need the same order of regions"
            raise InputError(reason, where=path, line=line)
        matrix.append([_number(path, line, f"{name} to {to}", cell) for to, cell in zip(names, row[1:], strict=True)])
    return names, matrix


def _matrix_error(path: Path, header: list[str], rows: list[list[str]]) -> str:
    """Say what kind of table is expected, if the first column has none of the names in the header."""
    said = "expected a matrix, with the same region names in the first row and the first column"
    if path.name.lower() not in TABLES:
        said += "; or a table of places, with columns name, and lat and lon or x and y"
    if rows and all(_is_number(row[0]) for row in rows):
        said += "; samples are read by `learnroute estimate`"
    return f"columns are {list_names([name for name in header if name])}: {said}"


def _is_number(cell: str) -> bool:
    with contextlib.suppress(ValueError):
        return math.isfinite(float(cell))
    return False


def reorder(found: list[str], matrix: list[list[float]], names: list[str], path: Path) -> list[list[float]]:
    """Reorder a matrix to match the regions of travel.csv."""
    if found == names:
        return matrix
    _same_regions(path, found, names)
    place = [found.index(name) for name in names]
    return [[matrix[i][j] for j in place] for i in place]


def _same_regions(path: Path, found: list[str], names: list[str]) -> None:
    for name in names:
        if found.count(name) != 1:
            wrong = "missing" if name not in found else "given twice"
            raise InputError(f"region {name!r} is {wrong}; list each region of travel.csv once", where=path)
    for name in found:
        if name not in names:
            raise InputError(f"region {name!r} is not in travel.csv; list the same regions in both", where=path)


def _by_region(path: Path, table: Table, names: list[str]) -> Table:
    """Return a table with one row per region, its name first, in the order of travel.csv."""
    header, rows, lines = table
    found = [row[0] for row in rows]
    _same_regions(path, found, names)
    place = [found.index(name) for name in names]
    return header, [rows[k] for k in place], [lines[k] for k in place]


def _vectors(path: Path, names: list[str]) -> list[list[float]]:
    header, rows, lines = _by_region(path, read_table(path), names)
    return [
        [_number(path, line, field, cell) for field, cell in zip(header[1:], row[1:], strict=True)]
        for row, line in zip(rows, lines, strict=True)
    ]


def header_of(path: Path) -> list[str]:
    """Return the cells of the first non-blank line of a table."""
    try:
        text = read_text(path)
        rows = csv.reader(io.StringIO(text), delimiter=_delimiter(text))
        return next(([cell.strip() for cell in row] for row in rows if any(cell.strip() for cell in row)), [])
    except csv.Error as error:
        raise InputError(f"not CSV ({error})", where=path) from None


def _columns_of(
    path: Path, table: Table, known: tuple[str, ...], names: list[str] | None, vectors: bool
) -> tuple[list[str], dict[str, list[float]]]:
    """Return a table with one row per region, its name first, as names and columns of numbers.

    Columns `v1`, `v2`, … are read as `vectors` only.
    """
    header, rows, lines = table if names is None else _by_region(path, table, names)
    found = [row[0] for row in rows]
    if names is None:
        first: dict[str, int] = {}
        for name, line in zip(found, lines, strict=True):
            if first.setdefault(name, line) != line:
                reason = f"also in line {first[name]}; names must be unique"
                raise InputError(reason, field=header[0], value=name, where=path, line=line)
    entries = [field for field in header[1:] if vectors and field[:1] == "v" and field[1:].isdigit()]
    for field in header[1:]:
        if (field not in known and field not in entries) or header.count(field) > 1:
            if header.count(field) > 1:
                raise InputError("given twice; remove one of them", field=f"column {field!r}", where=path)
            hint = did_you_mean(field, (*known, "v1, v2, …") if vectors else known)
            raise InputError(f"unknown; {hint}", field=f"column {field!r}", where=path)
    for k in range(len(entries)):
        if f"v{k + 1}" not in entries:
            raise InputError(
                f"missing; number the columns of the vector v1 … v{len(entries)}",
                field=f"column 'v{k + 1}'",
                where=path,
            )
    columns = {
        field: [_number(path, line, field, row[k], DEGREES.get(field)) for row, line in zip(rows, lines, strict=True)]
        for k, field in enumerate(header)
        if k
    }
    return found, columns


def members_of(path: Path, columns: dict[str, list[float]]) -> dict[str, Any]:
    """Return the members of a problem contained in columns of regions."""
    data: dict[str, Any] = {field: columns[field] for field in NUMBERS if field in columns}
    for a, b in PLACES:
        if (a in columns) != (b in columns):
            raise InputError("one of them is missing; give both or neither", field=f"columns {a} and {b}", where=path)
        if a in columns:
            if "coordinates" in data:
                raise InputError("give either lon and lat, or x and y", field="columns lon, lat, x and y", where=path)
            data["coordinates"] = [list(pair) for pair in zip(columns[a], columns[b], strict=True)]
            if a == "lon":
                data["geographic"] = True
    return data


def columns_of(problem: Problem) -> dict[str, list[Any]]:
    """Return a problem's columns of regions."""
    columns: dict[str, list[Any]] = {"region": list(problem.regions)}
    if problem.coordinates is not None:
        a, b = PLACES[0] if problem.geographic else PLACES[1]
        columns[a], columns[b] = problem.coordinates.T.tolist()
    for field in NUMBERS:
        values = getattr(problem, field)
        if values is not None and (field != "initial" or values.any() or problem.visits or problem.fleet):
            columns[field] = values.tolist()
    return columns


def depot_row(problem: Problem, columns: dict[str, list[Any]]) -> list[list[Any]]:
    """Return the row of the depot, with its name and coordinates, for a table of regions; empty without a depot."""
    size, places = problem.size, problem.stop_coordinates
    rows = [
        [name, *([] if places is None else places[i].tolist())] for i, name in enumerate(problem.stops[size:], size)
    ]
    return [[*row, *[""] * (len(columns) - len(row))] for row in rows]


def learner_table(problem: Problem) -> list[list[Any]]:
    """Return the learner as a table."""
    members = problem.learner.to_dict()
    if isinstance(members.get("regularization"), list):
        members["regularization"] = " ".join(map(repr, members["regularization"]))
    return [list(members), list(members.values())]


def options_table(problem: Problem) -> list[list[Any]]:
    """Return title, constraints, travel rate, visits and fleet as a table; empty if all have their defaults."""
    options = {"title": problem.title, **problem.constraints.to_dict(), "travel_rate": problem.travel_rate}
    if problem.depot is not None:
        options |= {"depot": problem.depot.name} | ({} if problem.depot.returns else {"return": False})
    if problem.visits is not None:
        options["visits"] = json.dumps(problem.visits.to_dict(), ensure_ascii=False)
    if problem.fleet is not None:
        options["fleet"] = json.dumps(problem.fleet.to_dict())
    return [] if options == {"title": "", "travel_rate": 1.0} else [list(options), list(options.values())]


def training_member(cell: str) -> Any:
    """Return a member of a learning rule: a number, several numbers separated by spaces, or a word."""
    parts = cell.split()
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return cell
    whole = [int(number) if number.is_integer() and "." not in cell else number for number in numbers]
    return whole[0] if len(whole) == 1 else numbers


def read_settings(folder: Path) -> dict[str, Any]:
    """Read the settings that concern all regions: learner.csv and options.csv, if they exist."""
    data: dict[str, Any] = {}
    path = folder / "learner.csv"
    if path.exists():
        line, cells = _only_row(path)
        data["learner"] = {
            field: training_member(cell) if field in TRAINING else _number(path, line, field, cell)
            for field, cell in cells.items()
            if cell or field not in TRAINING
        }
    path = folder / "options.csv"
    if path.exists():
        line, cells = _only_row(path)
        for field in cells:
            if field not in OPTIONS:
                raise InputError(f"unknown; {did_you_mean(field, OPTIONS)}", field=f"column {field!r}", where=path)
        given: dict[str, Any] = {field: cell for field, cell in cells.items() if cell}
        if "travel_rate" in given:
            data["travel_rate"] = _number(path, line, "travel_rate", given["travel_rate"])
        if "initial_model" in given:
            cells = given["initial_model"].split()
            data["initial_model"] = [_number(path, line, "initial_model", cell) for cell in cells]
        if "return" in given:
            if given["return"].lower() not in ("true", "false"):
                raise InputError("expected true or false", field="return", value=given["return"], where=path, line=line)
            given["return"] = given["return"].lower() == "true"
        data |= {"title": given["title"]} if "title" in given else {}
        data["constraints"] = {field: given[field] for field in MEMBERS if field in given}
        data |= {"depot": given["depot"]} if "depot" in given else {}
        with errors_naming(path):
            data |= {name: json_files.parse(given[name]) for name in ("visits", "fleet") if name in given}
    return data


def _only_row(path: Path) -> tuple[int, dict[str, str]]:
    header, rows, lines = read_table(path)
    if len(rows) != 1:
        raise InputError(f"{len(rows)} rows below the header; expected exactly one", where=path)
    return lines[0], dict(zip(header, rows[0], strict=True))
