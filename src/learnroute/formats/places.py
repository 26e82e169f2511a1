"""Problems as one CSV table of places, with the learner in a file next to it.

Columns are `name`, `lat` and `lon` (or `x` and `y`), and a vector in `v1`, `v2`, …. Optional columns are `initial`,
`samples`, `importance` and `depot`, with a `yes` in the row of the depot, of which only name and place are read. `id`,
`latitude` and `longitude` are accepted too. Columns may be in any order, and their names in upper or lower case. Travel
is the distance between places. `learner.csv` and `options.csv` next to the table have the same form as in a folder of
tables. Without vectors, dissimilarities are read from `dissimilarity.csv` in the same folder.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from learnroute.errors import InputError, did_you_mean
from learnroute.formats import csv_files
from learnroute.formats.files import read_text, write_text
from learnroute.model.problem import Problem

NAMES = ("name", "region", "id")  # if a table has several of these, the first is the name and the others are ignored
YES, NO = ("yes", "true", "1", "x"), ("", "no", "false", "0")
OTHER_WORDS = {"latitude": "lat", "longitude": "lon", "lng": "lon", "long": "lon"}


def is_places(path: Path) -> bool:
    """Return whether a table contains places, not travel costs, by its header, unless it is called travel.csv."""
    if path.name.lower() == "travel.csv":
        return False
    header = {_word(field) for field in csv_files.header_of(path)}
    return bool(header & set(NAMES)) and any(set(pair) <= header for pair in csv_files.PLACES)


def _word(field: str) -> str:
    """Return the canonical name of a column."""
    word = field.lower()
    known = (*NAMES, *csv_files.COLUMNS, "depot")
    return OTHER_WORDS.get(word, word if word in known or (word[:1] == "v" and word[1:].isdigit()) else field)


def _names_first(path: Path, table: csv_files.Table) -> csv_files.Table:
    """Return a table with its column of names first, without other columns of names."""
    header, rows, lines = table
    words = [_word(field) for field in header]
    for word in dict.fromkeys(words):
        twins = [repr(field) for field, other in zip(header, words, strict=True) if other == word]
        if word not in NAMES and len(set(twins)) > 1:
            reason = f"both are read as {word}; remove one of them"
            raise InputError(reason, field=f"columns {' and '.join(twins[:2])}", where=path)
    named = min((NAMES.index(word), k) for k, word in enumerate(words) if word in NAMES)[1]
    kept = [named, *(k for k, word in enumerate(words) if word not in NAMES)]
    return [words[k] for k in kept], [[row[k] for k in kept] for row in rows], lines


def read_places(path: Path) -> dict[str, Any]:
    """Read only the names and coordinates of a table of places; a depot is ignored."""
    table, depot = _extract_depot(path, _names_first(path, csv_files.read_table(path)))
    known = (*NAMES, *csv_files.COLUMNS)
    names, members, _ = csv_files.members_with_depot(path, table, None, known, depot, {}, vectors=True)
    return {"regions": names, **members}


def read(path: Path) -> dict[str, Any]:
    """Read a table of places or of travel costs, and the tables next to it, into the members of a problem."""
    if not is_places(path):
        return csv_files.read(path)
    table, depot = _extract_depot(path, _names_first(path, csv_files.read_table(path)))
    settings = csv_files.read_settings(path.parent)
    named = settings.pop("depot", None)
    data: dict[str, Any] = {}
    known = (*NAMES, *csv_files.COLUMNS)
    names, members, columns = csv_files.members_with_depot(path, table, None, known, depot or named, data, vectors=True)
    if named is not None and "depot" not in data:
        hint = did_you_mean(named, names, "regions are")
        where = path.parent / "options.csv"
        raise InputError(f"there is no such region; {hint}", field="depot", value=named, where=where)
    data |= {"regions": names, **members}
    vectors = [columns[f"v{k + 1}"] for k in range(sum(field.startswith("v") for field in columns))]
    other = path.parent / "dissimilarity.csv"
    if vectors:
        data["vectors"] = [list(row) for row in zip(*vectors, strict=True)]
    elif other.exists():
        data["dissimilarity"] = csv_files.reorder(*csv_files.read_matrix(other), names, other)
    else:
        raise InputError(
            f"missing; add a vector for each place, or put {other.name} beside the table",
            field="columns v1, v2, …",
            where=path,
        )
    return data | csv_files.move_return_to_depot(data, settings)


def _extract_depot(path: Path, table: csv_files.Table) -> tuple[csv_files.Table, str | None]:
    """Return a table without its column `depot`, and the name of the place marked in it."""
    header, rows, lines = table
    if "depot" not in header:
        return table, None
    here = header.index("depot")
    marked = []
    for row, line in zip(rows, lines, strict=True):
        word = row[here].lower()
        if word not in YES and word not in NO:
            reason = f"expected {', '.join(YES)}, or nothing"
            raise InputError(reason, field="depot", value=row[here], where=path, line=line)
        if word in YES:
            marked.append((row[0], line))
    if len(marked) > 1:
        raise InputError("second depot; only one is allowed", field="depot", where=path, line=marked[1][1])
    kept = [k for k in range(len(header)) if k != here]
    return (
        ([header[k] for k in kept], [[row[k] for k in kept] for row in rows], lines),
        marked[0][0] if marked else None,
    )


def write(problem: Problem, path: Path) -> tuple[Path, ...]:
    """Write a table of places and the learner's file next to it; return all files."""
    if path.name.lower() in csv_files.TABLES:
        raise InputError("this name is reserved for another table of a problem; give another name", where=path)
    for lost, field, instead in (
        (problem.given_travel is not None, "travel", "between places it is their distance"),
        (problem.vectors is None, "dissimilarity", "places have vectors"),
        (problem.truth is not None, "truth", "there is no column for it"),
        (problem.features_scaling is not None, "features_scaling", "there is no column for it"),
    ):
        if lost:
            raise InputError(
                f"a table of places cannot hold it ({instead}); write the problem as .json", field=field, where=path
            )
    assert problem.vectors is not None
    columns = csv_files.columns_of(problem)
    columns = {"name": columns.pop("region"), **columns}
    columns |= {f"v{k + 1}": column for k, column in enumerate(problem.vectors.T.tolist())}
    beside = {"learner.csv": csv_files.learner_table(problem), "options.csv": csv_files.options_table(problem)}
    texts = {path.parent / name: csv_files.table_text(table) if table else "" for name, table in beside.items()}
    for other, text in texts.items():
        if other.exists() and read_text(other) != text:
            raise InputError("exists and belongs to another problem; write to another folder", where=other)
    for other, text in texts.items():
        if text:
            write_text(other, text)
    rows = [*map(list, zip(*columns.values(), strict=True)), *csv_files.depot_row(problem, columns)]
    write_text(path, csv_files.table_text([list(columns), *rows]))
    return path, *(other for other, text in texts.items() if text)
