"""Any problem, written in any format, is read back to the last bit or rejected by name."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from learnroute import Constraints, FeaturesScaling, InputError, Learner, Problem, Visits, read_problem, write_problem
from learnroute.formats import WRITERS
from learnroute.formats.json_files import problem_to_dict

WORDS = st.text(min_size=1, max_size=12).filter(lambda text: text.isprintable() and text == text.strip())
SIZES = st.just(0.0) | st.floats(1e-99, 1e99)
ANY = st.just(0.0) | st.builds(lambda size, sign: sign * size, st.floats(1e-30, 1e49), st.sampled_from([-1.0, 1.0]))


def degrees(most: int) -> st.SearchStrategy[float]:
    return st.floats(-most, most).map(lambda angle: 0.0 if abs(angle) < 1e-60 else angle)


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    size = draw(st.integers(2, 4))
    names = draw(st.lists(WORDS, min_size=size, max_size=size, unique=True))

    def square(symmetric: bool) -> np.ndarray:
        matrix = np.array(draw(st.lists(SIZES, min_size=size**2, max_size=size**2))).reshape(size, size)
        np.fill_diagonal(matrix, 0)
        return np.maximum(matrix, matrix.T) if symmetric else matrix

    def rows(entries: st.SearchStrategy[float], width: int) -> np.ndarray:
        return np.array(draw(st.lists(entries, min_size=size * width, max_size=size * width))).reshape(size, width)

    geographic = draw(st.booleans())
    places = np.column_stack([rows(degrees(180), 1), rows(degrees(90), 1)]) if geographic else rows(ANY, 2)
    start = draw(st.none() | st.sampled_from(names))
    wanted = Constraints(start, draw(st.sampled_from([None, *[n for n in names if n != start]])), draw(st.booleans()))
    vectors = draw(st.booleans())
    columns = draw(st.none() | st.lists(WORDS, min_size=size, max_size=size, unique=True).map(tuple))
    scaled = draw(st.booleans())
    scaling = FeaturesScaling(rows(ANY, 1)[:, 0], rows(ANY, 2), draw(st.booleans()), columns) if scaled else None
    fixed = {wanted.start, wanted.end}
    forbidden = [name for name in names[1:] if name not in fixed and draw(st.booleans())]
    required = draw(st.sampled_from([[], [name for name in names if name not in forbidden][:1]]))
    limits: dict[str, Any] = {"repeat": draw(st.integers(1, 3)), "budget": draw(st.none() | SIZES)}
    visits = draw(st.sampled_from([None, Visits(), Visits("all", **limits), Visits(required, forbidden, **limits)]))
    return Problem(
        travel=draw(st.sampled_from([None, square(True), square(False)])),
        learner=Learner(80, 100, draw(SIZES)),
        dissimilarity=None if vectors else square(True),
        vectors=rows(ANY, draw(st.integers(1, 3))) if vectors else None,
        initial=draw(st.sampled_from([None, rows(SIZES, 1)[:, 0]])),
        regions=names,
        coordinates=places,
        geographic=geographic,
        title=draw(WORDS),
        constraints=wanted,
        travel_rate=draw(st.just(0.0) | st.floats(0.1, 10)),
        samples=draw(st.sampled_from([None, [90 + 20 * i for i in range(size)]])),
        features_scaling=scaling,
        visits=visits,
        importance=draw(st.none() | st.lists(SIZES, min_size=size, max_size=size).filter(any)),
    )


@pytest.mark.parametrize("suffix", WRITERS, ids=lambda suffix: suffix or "folder")
@settings(max_examples=60, deadline=None)
@given(problem=problems())
@pytest.mark.slow
def test_written_files_are_read_back(suffix: str, problem: Problem) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"p{suffix}"
        try:
            write_problem(problem, path)
        except InputError as refusal:
            why = str(refusal)
            lacking = {
                ".geojson": not problem.geographic and "geographic: true" in why,
                ".csv": (problem.given_travel is not None and "travel: " in why)
                or "dissimilarity: " in why
                or (problem.features_scaling is not None and "features_scaling: " in why),
                ".tsp": not np.array_equal(problem.travel, problem.travel.T) and "end the name in .atsp" in why,
            }
            assert lacking.get(suffix), why
            return
        again = read_problem(path)
        if suffix in (".tsp", ".atsp"):  # distances are written as a matrix
            problem = problem.replace(travel=problem.travel)
        assert problem_to_dict(again) == problem_to_dict(problem)
