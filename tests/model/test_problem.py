from __future__ import annotations

import dataclasses
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oracle
from learnroute import Fleet, InputError, Learner, Problem, Visits, plan, read_problem, write_problem
from learnroute.model.dissimilarities import distance_sums
from samples import OVER, UNDER, small

SQUARE = [[0, 1], [1, 0]]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"travel": [[0, 1], [1, 0], [1, 1]]}, "travel[0] has 2 entries: expected 3"),
        ({"travel": [[0, 1, 2, 3]] * 3 + [[0, 1]]}, "travel[3] has 2 entries: expected 4"),
        ({"travel": [[0]]}, "travel has 1 row: a problem needs at least 2 regions"),
        ({"travel": []}, "travel has 0 rows: a problem needs at least 2 regions"),
        ({"travel": np.zeros((0, 3))}, "travel has 0 rows: a problem needs at least 2 regions"),
        ({"travel": np.zeros((0, 10**15))}, "travel has 0 rows: a problem needs at least 2 regions"),
        ({"travel": np.zeros((4, 0))}, "travel[0] has 0 entries: expected 4"),
        ({"dissimilarity": np.zeros((0, 4))}, "dissimilarity has 0 rows: there are 4 regions"),
        ({"travel": 3}, "travel = 3: expected a list of rows"),
        ({"travel": "abc"}, "travel = 'abc': expected a list of rows"),
        ({"travel": [[0, math.nan, 1, 1], *[[1, 0, 1, 1]] * 3]}, "travel[0, 1] = nan: travel costs must be finite"),
        ({"travel": [[0, math.inf, 1, 1], *[[1, 0, 1, 1]] * 3]}, "travel[0, 1] = inf: travel costs must be finite"),
        ({"travel": [[0, 1, -2, 1], *[[1, 0, 1, 1]] * 3]}, "travel[0, 2] = -2.0: travel costs must be >= 0"),
        (
            {"travel": [[0, 1, "x", 1], *[[1, 0, 1, 1]] * 3]},
            "travel[0, 2] = 'x': travel costs must be numeric",
        ),
        ({"travel": [[0, 1, True, 1], *[[1, 0, 1, 1]] * 3]}, "travel[0, 2] = True: travel costs must be numeric"),
        ({"travel": [[0, 1, None, 1], *[[1, 0, 1, 1]] * 3]}, "travel[0, 2] = None: travel costs must be numeric"),
        ({"travel": [[0, 1, 10**400, 1], *[[1, 0, 1, 1]] * 3]}, "travel costs must be finite"),
        ({"travel": [[0, 1, 1e200, 1], *[[1, 0, 1, 1]] * 3]}, "travel[0, 2] = 1e+200: travel costs must be <= 1e+100"),
        (
            {"travel": [[0, 1, 1, 1], [1, 5, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]},
            "travel[1, 1] = 5: the diagonal must be 0",
        ),
        ({"dissimilarity": SQUARE}, "dissimilarity has 2 rows: there are 4 regions"),
        ({"dissimilarity": [[0, 1, 1, 1], [2, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]}, "dissimilarity[0, 1] = 1 but"),
        (
            {"dissimilarity": [[1, 1, 1, 1], [1, 0, 1, 1], [1, 1, 0, 1], [1, 1, 1, 0]]},
            "dissimilarity[0, 0] = 1: the diag",
        ),
        ({"dissimilarity": None}, "dissimilarity and vectors: neither given"),
        ({"vectors": [[1], [2], [3], [4]]}, "dissimilarity and vectors: both given"),
        ({"dissimilarity": None, "vectors": [[1], [2], [3]]}, "vectors has 3 rows: expected 4"),
        ({"dissimilarity": None, "vectors": [[], [], [], []]}, "vectors[0] has 0 entries: expected at least 1"),
        ({"dissimilarity": None, "vectors": [[1, 2], [2], [3], [4]]}, "vectors[1] has 1 entries: expected 2"),
        ({"initial": [1, 2, 3]}, "initial has 3 entries: expected 4"),
        ({"initial": [1, 2, 3, -1]}, "initial[3] = -1.0: initial dissimilarities must be >= 0"),
        ({"regions": ["A", "B", "C", "A"]}, "regions[3] = 'A': also the name of region 0"),
        ({"regions": ["A", "B", "C", " "]}, "regions[3] = ' ': names must not be empty"),
        ({"regions": ["A", "B", "C", "D\n"]}, "regions[3] = 'D\\n': names must be printable"),
        ({"regions": ["A", "B", "C", 4]}, "regions[3] = 4: names must be text"),
        ({"regions": ["A", "B"]}, "regions has 2 names: expected 4"),
        ({"regions": []}, "regions has 0 names: expected 4"),
        ({"travel": np.zeros((4, 4, 4))}, "travel[0, 0] = array"),
        ({"travel": np.zeros((4, 4), dtype=bool)}, "is an array of bool"),
        ({"travel": np.float64(3)}, "travel = 3.0: expected a list of rows"),
        ({"coordinates": [[0, 0, 0]] * 4}, "coordinates[0] has 3 entries: expected 2"),
        ({"coordinates": [[0, 0], [1, 1]]}, "coordinates has 2 rows: expected 4"),
        ({"initial_model": [1.0]}, "initial_model: given without truth and vectors"),
        (
            {"initial_model": [1.0], "vectors": [[1.0, 2.0]] * 4, "dissimilarity": None, "initial": None},
            "initial_model has 1 entries: expected 2",
        ),
        (
            {"initial_model": [1.0], "vectors": [[1.0]] * 4, "dissimilarity": None, "initial": [1.0] * 4},
            "initial_model: given with initial",
        ),
        ({"truth": [[1.0] * 81] * 4}, "truth[0] has 81 entries"),
        ({"truth": [[1.0, 2.0]] * 4, "initial_model": [0]}, "initial_model has 1 entries: expected 2"),
        ({"title": "two\nlines"}, "title = 'two\\nlines': expected one line"),
    ],
)
def test_wrong_problems_are_rejected_by_field_value_and_remedy(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        small(**changes)
    assert message in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((99, 100), "does not exist for m in {n-1, n, n+1}"),
        ((100, 100), "does not exist for m in {n-1, n, n+1}"),
        ((101, 100), "use features <= 98 or >= 102"),
        ((1, 2), "use features >= 4"),
        ((0, 100), "learner.features = 0"),
        ((80, 0), "learner.samples = 0: the number of samples n must be >= 1"),
        ((80, 100, -0.1), "learner.noise = -0.1: the noise σ must be >= 0"),
        ((80, 100, math.nan), "learner.noise = nan"),
        ((80.5, 100), "learner.features = 80.5"),
        (("80", 100), "learner.features = '80'"),
        ((True, 100), "learner.features = True"),
        ((10**30, 100), "learner.features = 1000000000000000000000000000000"),
        ((math.inf, 100), "learner.features = inf"),
    ],
)
def test_wrong_learners_are_rejected(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        Learner(*arguments)
    assert message in str(refusal.value)


COLLINEAR = {"dissimilarity": None, "vectors": [[0.0], [1.0], [2.0], [3.0]]}
PLACES = {"travel": None, "coordinates": [[0.0, 0], [1, 0], [2, 0], [3, 0]]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"initial": [0, 1, 2, 1e-101]}, "initial[3] = 1e-101: initial dissimilarities must be 0 or have a magnitude"),
        ({"travel": [[0, 5e-324, 1, 1], *[[1, 0, 1, 1]] * 3]}, "travel[0, 1] = 5e-324: travel costs must be 0 or"),
        ({"dissimilarity": 9e-101 * (1 - np.eye(4))}, "dissimilarity[0, 1] = 9e-101: dissimilarities must be 0 or"),
        ({"dissimilarity": None, "transfer": np.full((4, 4), 1e-120)}, "transfer[0, 0] = 1e-120: errors must be 0 or"),
        ({"travel_rate": 1e-101}, "travel_rate = 1e-101: the travel rate must be 0 or"),
        ({"importance": [1, 1, 1, 1e-101]}, "importance[3] = 1e-101: importances must be 0 or"),
        ({**COLLINEAR, "vectors": [[-1e-101], [1], [2], [3]]}, "vectors[0, 0] = -1e-101: vector entries must be 0 or"),
        ({**COLLINEAR, "vectors": [[0], [1e-51], [2], [3]]}, "vectors of 'A' and 'B' have the squared distance 1e-102"),
        (
            {**COLLINEAR, "vectors": [[0, 1], [3, 0], [2, 1e-60], [3, 1e-60]]},
            "vectors of 'B' and 'D' have the squared distance 1e-120",
        ),
        ({**COLLINEAR, "vectors": [[1e51], [1], [2], [3]]}, "vectors have squared distances of up to 1e+102"),
        (
            {**COLLINEAR, "vectors": [[0] * 4, [6e49] * 4, [2] * 4, [3] * 4]},
            "vectors have squared distances of up to 1.44e+100",
        ),
        (
            {"travel_rate": 1e-100, "travel": 0.5 * (1 - np.eye(4))},
            "travel_rate = 1e-100 times the travel cost 0.5 is 5e-101",
        ),
        ({"travel_rate": 1e60, "travel": 1e50 * (1 - np.eye(4))}, "travel_rate = 1e+60 times the travel cost 1e+50"),
        (
            {**PLACES, "travel_rate": 1e-99, "coordinates": [[0, 0], [1, 0], [1.001, 0], [3, 0]]},
            "travel_rate = 1e-99 leads to the distance 1e-102 between 'B' and 'C'",
        ),
        ({**PLACES, "travel_rate": 1e100}, "travel_rate = 1e+100 leads to distances of up to 3e+100"),
        (
            {**PLACES, "coordinates": [[0, 0], [1e100, 1e100], [2, 0], [3, 0]]},
            "coordinates have distances of up to 1.4",
        ),
        (
            {**PLACES, "coordinates": [[0, 0], [1e-90, 0], [1.000000000001e-90, 0], [3, 0]]},
            "coordinates have the distance 1e-102 between 'B' and 'C'",
        ),
        (
            {**PLACES, "geographic": True, "travel_rate": 1e-86, "coordinates": [[0, 90], [1, 90], [2, 0], [3, 0]]},
            "travel_rate = 1e-86 leads to the distance 6.8",
        ),
        ({"visits": {"budget": 1e-101}}, "visits.budget = 1e-101: the travel budget must"),
        ({"fleet": {"vehicles": 2, "limit": 1e-101}}, "fleet.limit = 1e-101: the travel of one vehicle must be 0 or"),
        ({"learner": {"features": 80, "samples": 100, "noise": 1e-101}}, "learner.noise = 1e-101: the noise σ must"),
        (
            {"learner": {"features": 80, "samples": 100, "rule": "proximal", "regularization": 1e-101}},
            "learner.regularization = 1e-101: the regularisation λ must be 0 or",
        ),
        ({"learner": {"rule": "calibrated", "retention": 0.5, "coupling": 1e-101}}, "learner.coupling = 1e-101"),
    ],
)
def test_numbers_outside_the_range_are_rejected(changes: dict[str, Any], message: str) -> None:
    """So are travel, travel times its rate, and dissimilarities compiled from vectors; a remedy is given."""
    parts = {"visits": Visits, "fleet": Fleet, "learner": Learner}
    with pytest.raises(InputError) as refusal:
        small(**{name: parts[name](**value) if name in parts else value for name, value in changes.items()})
    assert message in str(refusal.value)
    assert "another unit" in str(refusal.value) or "a smaller unit" in str(refusal.value)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    "changes",
    [
        {"initial": [0.0, -0.0, 1e-100, 1e100], "importance": [1e-100, 1e100, 0, 1]},
        {"travel": [[0, 1e-100, 1e100, 0], [1, 0, 0, 0], [1e100, 0, 0, 1], [0, 1e-100, 0, 0]]},
        {**COLLINEAR, "vectors": [[0, 1e-100], [1e-50, 1e-100], [2e-50, 0], [9e49, 0]]},
        {**COLLINEAR, "vectors": [[1.0, 2e-60], [1.0, 2e-60], [2.0, 2e-60], [3.0, 1e-60]]},
        {"travel_rate": 1e-100, "travel": 1 - np.eye(4)},
        {"travel_rate": 0.0, "travel": 1e-100 * (1 - np.eye(4))},
        {**PLACES, "travel_rate": 1e-100},
        {**PLACES, "coordinates": [[0, 0], [1e-100, 0], [0, 0], [9e99, 0]]},
        {**PLACES, "geographic": True, "travel_rate": 1e-80},
    ],
)
def test_numbers_at_the_ends_of_the_range_are_accepted(changes: dict[str, Any]) -> None:
    small(**changes)


def test_a_range_refusal_looks_at_close_points_only() -> None:
    """The time limit of the test suite would be missed by comparing all pairs of 200,000 places, at any travel rate."""
    rng = np.random.default_rng(0)
    places = rng.random((200_000, 2))
    Problem(None, UNDER, vectors=1e-34 * rng.random((200_000, 2)), coordinates=places, travel_rate=1e-88)


def test_whole_floats_count_as_whole_numbers() -> None:
    assert Learner(80.0, 100.0) == Learner(80, 100)


def test_more_regions_than_a_matrix_should_have_are_rejected() -> None:
    with pytest.raises(InputError, match="limited to 20,000 regions"):
        Problem(np.broadcast_to(np.zeros(1), (20_001, 20_001)), UNDER, np.zeros((1, 1)))


def test_a_problem_is_immutable_and_shares_nothing_with_its_origin() -> None:
    travel = np.array([[0.0, 1.0], [1.0, 0.0]])
    problem = Problem(travel, UNDER, SQUARE)
    travel[0, 1] = 7
    assert problem.travel[0, 1] == 1
    with pytest.raises(ValueError, match="read-only"):
        problem.travel[0, 1] = 2
    with pytest.raises(dataclasses.FrozenInstanceError):
        problem.title = "x"  # type: ignore[misc]


def test_tables_of_other_libraries_are_taken_as_arrays() -> None:
    class Table:
        def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
            return np.array(SQUARE, dtype=dtype)

    assert Problem(Table(), UNDER, Table()).size == 2


def test_names_default_and_rounding_asymmetry_is_evened_out() -> None:
    problem = Problem(SQUARE, UNDER, [[0.0, 1.0], [1 + 1e-12, 0.0]])
    assert problem.regions == ("R1", "R2")
    assert problem.dissimilarity is not None
    assert problem.dissimilarity[0, 1] == problem.dissimilarity[1, 0]


@given(hnp.arrays(float, st.tuples(st.integers(2, 6), st.integers(1, 4)), elements=st.floats(-1e3, 1e3)))
def test_scores_from_vectors_equal_those_from_their_matrix(vectors: Any) -> None:
    expected = [math.fsum(row) for row in oracle.squared_distances(vectors)]
    assert distance_sums(vectors, np.ones(len(vectors))) == pytest.approx(expected, rel=1e-9, abs=1e-6)


def test_scores_from_vectors_do_not_cancel_far_from_the_origin() -> None:
    near = np.array([[0.0, 1.0], [2.0, 0.0], [1.0, 1.0]])
    weights = np.ones(len(near))
    assert distance_sums(near + 1e6, weights) == pytest.approx(distance_sums(near, weights), rel=1e-9)


def exact_sums(vectors: Any, weights: Any) -> list[Fraction]:
    rows, counts = [[Fraction(x) for x in row] for row in vectors.tolist()], [Fraction(x) for x in weights.tolist()]
    return [
        sum((count * (a - b) ** 2 for w, count in zip(rows, counts, strict=True) for a, b in zip(v, w, strict=True)),
            Fraction())
        for v in rows
    ]  # fmt: skip


@given(
    hnp.arrays(float, st.tuples(st.integers(2, 9), st.integers(1, 4)), elements=st.just(0.0) | st.floats(1e-30, 1e3)),
    st.lists(st.sampled_from([0.0, 1.0, 1e6, -1e12, 1e15, 1e17, 1e60, 1e-30]), min_size=4, max_size=4),
    st.none() | st.lists(st.sampled_from([0.0, 1e-9, 0.3, 1.0, 7.0]), min_size=9, max_size=9),
)
def test_a_common_offset_costs_no_digits(vectors: Any, offset: list[float], importance: list[float] | None) -> None:
    """Compared with exact fractions of the float64 vectors, for any common offset."""
    moved = vectors + np.array(offset[: vectors.shape[1]])
    given = None if importance is None or not any(importance[: len(moved)]) else importance[: len(moved)]
    problem = Problem(np.zeros((len(moved), len(moved))), UNDER, vectors=moved, importance=given)
    for found, exact in zip(problem.scores.tolist(), exact_sums(moved, problem.region_weights), strict=True):
        assert abs(Fraction(found) - exact) <= exact * Fraction((moved.shape[1] + 8 * 3) * 2.0**-52) + Fraction(1e-300)
    rows = [[Fraction(x) for x in row] for row in moved.tolist()]
    for i in range(len(moved)):
        for found, row in zip(problem.dissimilarities_to(i).tolist(), rows, strict=True):
            apart = sum(((a - b) ** 2 for a, b in zip(rows[i], row, strict=True)), Fraction())
            assert abs(Fraction(found) - apart) <= apart * Fraction(1e-14) + Fraction(1e-300)


def test_many_vectors_far_from_the_origin_keep_their_scores() -> None:
    rng = np.random.default_rng(0)
    whole = rng.integers(-40, 40, (500, 3)).astype(float)
    weights = np.ones(500)
    assert distance_sums(whole + 1e15, weights) == pytest.approx(distance_sums(whole, weights), rel=1e-13)


def test_scores_from_vectors_are_the_same_bits_however_regions_are_numbered() -> None:
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(50, 3)) + 1e15
    turn = rng.permutation(50)
    for weights in (np.ones(50), rng.random(50)):
        assert np.array_equal(distance_sums(vectors[turn], weights[turn]), distance_sums(vectors, weights)[turn])


@pytest.mark.parametrize("field", ["travel", "dissimilarity", "vectors", "initial", "coordinates", "samples"])
def test_masked_entries_are_rejected(field: str) -> None:
    """Values below a mask have no meaning."""
    flat = field in ("initial", "samples")
    entries: Any = np.array([50.0, 60.0]) if flat else np.array(SQUARE, dtype=float)
    fields: dict[str, Any] = {"travel": SQUARE, "learner": UNDER, "dissimilarity": SQUARE}
    if field == "vectors":
        del fields["dissimilarity"]
    hidden = np.ma.masked_array(entries, entries == entries.ravel()[1])
    with pytest.raises(InputError, match=rf"{field}\[{'1' if flat else '0, 1'}\] is masked: fill in the missing value"):
        Problem(**{**fields, field: hidden})
    with pytest.raises(InputError, match=rf"{field}\[.*\] is masked"):
        Problem(**{**fields, field: list(hidden) if not flat else hidden})
    assert Problem(**{**fields, field: np.ma.masked_array(entries)}).size == 2


def test_vectors_need_no_matrix() -> None:
    size = 2000
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(size, 3))
    problem = Problem(np.zeros((size, size)), UNDER, vectors=vectors)
    assert problem.dissimilarity is None
    assert int(np.argmin(problem.scores)) == int(np.argmin(((vectors - vectors.mean(axis=0)) ** 2).sum(axis=1)))


# The initial model

MODELS = np.array([[0.0, 1.0], [1.0, 1.0], [3.0, -1.0], [2.0, 2.0]])
FIRST = [4.0, -2.0]
SQUARES = ((MODELS - FIRST) ** 2).sum(axis=1).tolist()


@pytest.mark.parametrize("known", [("vectors", "truth"), ("vectors",), ("truth",)])
def test_initial_errors_are_those_of_the_initial_model(known: tuple[str, ...]) -> None:
    given: dict[str, Any] = {**dict.fromkeys(known, MODELS), "initial_model": FIRST, "initial": None}
    if "vectors" in known:
        given["dissimilarity"] = None
    problem = small(OVER, **given)
    assert problem.initial.tolist() == SQUARES
    data = {"travel": problem.travel.tolist(), "learner": OVER.to_dict()}
    data |= {name: MODELS.tolist() for name in known} | {"initial_model": FIRST}
    if "vectors" not in known:
        data["dissimilarity"] = problem.dissimilarity.tolist()  # type: ignore[union-attr]
    assert Problem.from_dict(data).initial.tolist() == SQUARES
    tables: dict[str, Any] = {name: pd.DataFrame(MODELS, list("ABCD"), ["slope", "height"]) for name in known}
    labelled = small(OVER, **{**given, **tables, "initial_model": pd.Series({"height": -2.0, "slope": 4.0})})
    assert labelled.initial.tolist() == SQUARES
    found = plan(problem)
    if known == ("vectors", "truth"):
        assert found.true_loss is not None
        assert found.loss.total == pytest.approx(found.true_loss.total)
    assert not any("initial model is assumed" in note for note in found.notes)
    assert problem.replace(title="renamed").initial.tolist() == SQUARES


def test_given_initial_errors_stay_beside_true_models(tmp_path: Path) -> None:
    """They are upper bounds, and 0 is one of the values that they can have."""
    for initial in ([9.0] * 4, [0.0] * 4):
        problem = small(OVER, truth=MODELS, initial_model=FIRST, initial=initial)
        assert problem.initial.tolist() == initial
        for name in ("one.json", "two.npz"):
            write_problem(problem, tmp_path / name)
            assert read_problem(tmp_path / name).initial.tolist() == initial


def test_an_initial_model_of_vectors_is_optional_visits_start(tmp_path: Path) -> None:
    given: dict[str, Any] = {"vectors": MODELS, "dissimilarity": None, "initial": None, "visits": Visits()}
    with pytest.raises(InputError, match="initial: missing; optional visits need"):
        small(OVER, **given)
    problem = small(OVER, **given, initial_model=FIRST)
    assert problem.initial.tolist() == SQUARES
    write_problem(problem, tmp_path / "one.npz")
    assert read_problem(tmp_path / "one.npz").initial.tolist() == SQUARES
