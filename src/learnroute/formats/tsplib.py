"""Travel as a TSPLIB instance (.tsp, .atsp), and plans as TSPLIB tours.

All other members of a problem are in `NAME.regions.json` next to `NAME.tsp`. Distances follow TSPLIB's rules, including
rounding, so that tours have the lengths known from the literature.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError, show
from learnroute.formats.companion import companion_path, missing_models_error, read_companion, write_companion
from learnroute.formats.files import read_text, write_text
from learnroute.model.problem import Problem
from learnroute.model.result import Plan
from learnroute.model.validation import LARGEST_VALUE, MOST_MATRIX_REGIONS, FloatArray

Lines = list[tuple[int, list[str]]]  # line number and words
KEYWORD = re.compile(r"([A-Z][A-Z0-9_]*)\s*:?\s*(.*)")
KNOWN = (
    "NAME", "TYPE", "COMMENT", "DIMENSION", "EDGE_WEIGHT_TYPE", "EDGE_WEIGHT_FORMAT", "NODE_COORD_TYPE",
    "DISPLAY_DATA_TYPE", "EDGE_DATA_FORMAT",
)  # fmt: skip
SECTIONS = ("NODE_COORD_SECTION", "EDGE_WEIGHT_SECTION", "DISPLAY_DATA_SECTION")
# a triangle by columns is the other triangle by rows: (triangle, first diagonal)
TRIANGLES = {
    "UPPER_ROW": (np.triu_indices, 1), "LOWER_COL": (np.triu_indices, 1),
    "LOWER_ROW": (np.tril_indices, -1), "UPPER_COL": (np.tril_indices, -1),
    "UPPER_DIAG_ROW": (np.triu_indices, 0), "LOWER_DIAG_COL": (np.triu_indices, 0),
    "LOWER_DIAG_ROW": (np.tril_indices, 0), "UPPER_DIAG_COL": (np.tril_indices, 0),
}  # fmt: skip
PI, RADIUS = 3.141592, 6378.388  # TSPLIB's values


def read(path: Path, *, models: bool = True) -> dict[str, Any]:
    """Read an instance and its companion file into the members of a problem; with `models`, they are required."""
    facts, sections = _parts(path)
    kind = facts.get("TYPE", "TSP").split()[:1] or ["TSP"]
    if kind[0] not in ("TSP", "ATSP"):
        raise InputError("expected TSP or ATSP", field="TYPE", value=facts["TYPE"], where=path)
    size = _dimension(path, facts)
    weights = facts.get("EDGE_WEIGHT_TYPE", "")
    data: dict[str, Any] = {"title": facts.get("NAME", "")}
    shown_at = next((s for s in ("NODE_COORD_SECTION", "DISPLAY_DATA_SECTION") if s in sections), None)
    if shown_at is not None:
        labels, places = _coordinates(path, shown_at, sections[shown_at], size)
        if labels != [str(i + 1) for i in range(size)]:
            data["regions"] = labels
        data["coordinates"] = places
    if weights == "EXPLICIT":
        data["travel"] = _matrix(path, facts.get("EDGE_WEIGHT_FORMAT", ""), sections.get("EDGE_WEIGHT_SECTION"), size)
    elif weights in RULES:
        if shown_at != "NODE_COORD_SECTION":
            raise InputError(f"missing; {weights} needs coordinates", field="NODE_COORD_SECTION", where=path)
        data["travel"] = _distances(data["coordinates"], RULES[weights])
        if weights == "GEO":
            data["coordinates"] = _degrees(data["coordinates"])[:, ::-1]
            data["geographic"] = True
    else:
        raise InputError(f"known are EXPLICIT, {', '.join(RULES)}", field="EDGE_WEIGHT_TYPE", value=weights, where=path)
    taken = tuple(key for key in ("travel", "coordinates", "geographic") if key in data)
    data |= read_companion(path, taken)
    if models and not {"dissimilarity", "vectors", "transfer"} & set(data):
        raise missing_models_error(path)
    return data


def write(problem: Problem, path: Path) -> tuple[Path, ...]:
    """Write the travel costs as an explicit matrix, and everything else to a companion file; return both files."""
    travel = problem.ways.matrix  # a depot is the last node
    symmetric = bool(np.array_equal(travel, travel.T))
    if not symmetric and path.suffix.lower() != ".atsp":
        raise InputError("travel differs by direction; end the name in .atsp", where=path)
    lines = [
        f"NAME: {problem.title or path.stem}",
        f"TYPE: {'TSP' if path.suffix.lower() == '.tsp' else 'ATSP'}",
        f"DIMENSION: {len(travel)}",
        "EDGE_WEIGHT_TYPE: EXPLICIT",
        "EDGE_WEIGHT_FORMAT: FULL_MATRIX",
        "EDGE_WEIGHT_SECTION",
        *(" ".join(map(_text, row)) for row in travel.tolist()),
        "EOF",
    ]
    write_companion(problem.replace(title=problem.title or path.stem), path, ("travel",))
    write_text(path, "\n".join(lines) + "\n")
    return path, companion_path(path)


def write_plan(plan: Plan, path: Path, problem: Problem | None = None) -> None:
    """Write the order of visits as a tour, with regions counted from 1; a depot is the node after the last region."""
    check_tour(plan.skipped or len(plan.order) > plan.size or plan.several, path)
    stops = [str(i + 1) for i in ([plan.size] if plan.depot is not None else [])]
    stops += [str(i + 1) for i in plan.order]
    head = [f"NAME: {path.stem}", "TYPE: TOUR", f"DIMENSION: {len(stops)}", "TOUR_SECTION"]
    write_text(path, "\n".join([*head, *stops, "-1", "EOF"]) + "\n")


def check_tour(optional: object, path: Path) -> None:
    """Reject routes with optional or repeated visits, and several routes."""
    if optional:
        reason = "TSPLIB tours visit each node once; write other plans as .json, .csv or .txt"
        raise InputError(reason, where=path)


def _parts(path: Path) -> tuple[dict[str, str], dict[str, Lines]]:
    """Split a file into its keywords and the words of its sections."""
    facts: dict[str, str] = {}
    sections: dict[str, Lines] = {}
    section: Lines | None = None
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line.strip()
        if text == "EOF":
            break
        found = KEYWORD.fullmatch(text)
        if found is None:
            if text and section is None:
                raise InputError(f"{show(text)}: expected a keyword such as DIMENSION:", where=path, line=number)
            if text and section is not None:
                section.append((number, text.split()))
            continue
        key, value = found.groups()
        if key in facts or key in sections:
            raise InputError("given twice", field=key, where=path, line=number)
        if key in SECTIONS:
            section = sections[key] = []
        elif key in KNOWN:
            section, facts[key] = None, value.strip()
        else:
            known = ", ".join((*KNOWN, *SECTIONS))
            raise InputError(f"unknown; known are {known}", field=key, where=path, line=number)
    return facts, sections


def _dimension(path: Path, facts: dict[str, str]) -> int:
    text = facts.get("DIMENSION", "")
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise InputError("expected the number of regions", field="DIMENSION", value=text, where=path)
    if int(text) > MOST_MATRIX_REGIONS:
        raise InputError(
            f"matrices are limited to {MOST_MATRIX_REGIONS:,} regions; the distances between places in a .csv "
            "table need no matrix",
            field="DIMENSION",
            value=text,
            where=path,
        )
    return int(text)


def _numbers(path: Path, section: str, lines: Lines) -> FloatArray:
    """Return all words of some lines as numbers; report the first that is not a number."""
    words = [word for _, line in lines for word in line]
    try:
        numbers = np.array(words, dtype=np.float64)
    except ValueError:
        numbers = np.array([np.nan])
    if bool((np.abs(numbers) <= LARGEST_VALUE).all()):
        return numbers
    for number, line in lines:
        for word in line:
            try:
                fine = abs(float(word)) <= LARGEST_VALUE
            except ValueError:
                fine = False
            if not fine:
                raise InputError(f"{show(word)}: expected a finite number", field=section, where=path, line=number)
    raise InputError("expected numbers", field=section, where=path)


def _coordinates(path: Path, section: str, lines: Lines, size: int) -> tuple[list[str], FloatArray]:
    for number, words in lines:
        if len(words) != 3:
            raise InputError(
                f"{len(words)} entries; expected a node with its x and y", field=section, where=path, line=number
            )
    if len(lines) != size:
        raise InputError(f"{len(lines)} nodes, but DIMENSION is {size}", field=section, where=path)
    places = _numbers(path, section, [(number, words[1:]) for number, words in lines])
    return [words[0] for _, words in lines], places.reshape(size, 2)


def _matrix(path: Path, form: str, lines: Lines | None, size: int) -> FloatArray:
    """Return an explicit matrix; its diagonal has no meaning in TSPLIB."""
    if lines is None:
        raise InputError("missing; EXPLICIT needs the costs", field="EDGE_WEIGHT_SECTION", where=path)
    if form != "FULL_MATRIX" and form not in TRIANGLES:
        raise InputError(
            f"known are FULL_MATRIX, {', '.join(TRIANGLES)}", field="EDGE_WEIGHT_FORMAT", value=form, where=path
        )
    triangle, offset = TRIANGLES.get(form, (None, 0))
    needed = size * size if triangle is None else size * (size + (1 if offset == 0 else -1)) // 2
    given = sum(len(words) for _, words in lines)
    if given != needed:
        raise InputError(
            f"{given} numbers; {form} of DIMENSION {size} has {needed}", field="EDGE_WEIGHT_SECTION", where=path
        )
    numbers = _numbers(path, "EDGE_WEIGHT_SECTION", lines)
    if triangle is None:
        matrix = numbers.reshape(size, size)
    else:
        matrix = np.zeros((size, size))
        matrix[triangle(size, offset)] = numbers
        matrix = np.maximum(matrix, matrix.T) if numbers.min(initial=0) >= 0 else matrix + matrix.T
    np.fill_diagonal(matrix, 0)
    return matrix


def _distances(places: FloatArray, rule: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    distances = np.array([rule(place, places) for place in places])
    np.fill_diagonal(distances, 0)
    return distances


def _plane_distances(a: FloatArray, b: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt(((a - b) ** 2).sum(axis=1)))


def _nearest_integer(values: FloatArray) -> FloatArray:
    return np.asarray(np.floor(values + 0.5))


def _pseudo_euclidean(a: FloatArray, b: FloatArray) -> FloatArray:
    exact = np.sqrt(((a - b) ** 2).sum(axis=1) / 10)
    rounded = _nearest_integer(exact)
    return np.asarray(np.where(rounded < exact, rounded + 1, rounded))


def _degrees(places: FloatArray) -> FloatArray:
    """Convert TSPLIB's DDD.MM (degrees and minutes) to decimal degrees."""
    whole = np.trunc(places)
    return np.asarray(whole + 5 * (places - whole) / 3)


def _great_circle(a: FloatArray, b: FloatArray) -> FloatArray:
    here, there = PI * _degrees(a) / 180, PI * _degrees(b) / 180
    along, rise, sum_ = np.cos(here[1] - there[:, 1]), np.cos(here[0] - there[:, 0]), np.cos(here[0] + there[:, 0])
    cosine = np.clip(0.5 * ((1 + along) * rise - (1 - along) * sum_), -1, 1)
    return np.asarray(np.trunc(RADIUS * np.arccos(cosine) + 1))


RULES: dict[str, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "EUC_2D": lambda a, b: _nearest_integer(_plane_distances(a, b)),
    "CEIL_2D": lambda a, b: np.ceil(_plane_distances(a, b)),
    "MAN_2D": lambda a, b: _nearest_integer(np.abs(a - b).sum(axis=1)),
    "MAX_2D": lambda a, b: _nearest_integer(np.abs(a - b)).max(axis=1),
    "GEO": _great_circle,
    "ATT": _pseudo_euclidean,
}


def _text(cost: float) -> str:
    return str(int(cost)) if cost.is_integer() and cost < 1e15 else repr(cost)
