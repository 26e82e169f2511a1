"""Labelled tables are aligned by name, for any order of rows and columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from learnroute import InputError, Journey, Problem, check_metric, metric_closure, plan
from learnroute.learning import RouteRegressor, estimate, follow, metrics_of
from samples import UNDER, small

NAMES = ["A", "B", "C", "D"]
MIXED = ["C", "A", "D", "B"]
PLACES = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]


class Array:
    """A stand-in for xarray.DataArray."""

    def __init__(self, values: Any, **coords: Any) -> None:
        self.values, self.dims, self.coords = np.asarray(values), tuple(coords), coords

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.values


def frame(values: Any, columns: list[str] | None = None) -> pd.DataFrame:
    """A frame by region, its rows (and columns) in another order than the regions."""
    table = pd.DataFrame(np.array(values), index=NAMES, columns=columns or NAMES)
    return table.loc[MIXED] if columns else table.loc[MIXED, MIXED[::-1]]


def data_array(values: Any) -> Array:
    place = [NAMES.index(name) for name in MIXED]
    return Array(np.array(values)[np.ix_(place, place)], here=np.array(MIXED), there=np.array(MIXED))


def polars_frame(values: Any) -> pl.DataFrame:
    place = [NAMES.index(name) for name in MIXED]
    rows = np.array(values, dtype=float)[np.ix_(place, place)]
    return pl.DataFrame({"region": MIXED, **dict(zip(MIXED, rows.T.tolist(), strict=True))})


def square_fields() -> dict[str, Any]:
    problem = small()
    return {"travel": problem.travel, "dissimilarity": problem.dissimilarity}


@pytest.mark.parametrize("labelled", [frame, data_array, polars_frame])
@pytest.mark.parametrize("field", ["travel", "dissimilarity", "dissimilarity_low"])
def test_matrices_are_aligned(labelled: Any, field: str) -> None:
    travel = np.array([[0, 2, 3, 4], [5, 0, 6, 7], [8, 9, 0, 1], [2, 3, 4, 0]])
    values = travel if field == "travel" else np.array(small().dissimilarity)
    changes: dict[str, Any] = {field: values}
    problem = small(**{field: labelled(values)})
    assert np.array_equal(getattr(problem, field), values)
    assert plan(problem).route == plan(small(**changes)).route


@pytest.mark.parametrize(
    ("field", "values", "table"),
    [
        ("initial", [1.0, 2.0, 3.0, 4.0], lambda v: pd.Series(v, index=NAMES).loc[MIXED]),
        ("initial", [1.0, 2.0, 3.0, 4.0], lambda v: Array(v[::-1], region=NAMES[::-1])),
        ("samples", [100, 110, 120, 130], lambda v: pd.Series(v, index=NAMES).loc[MIXED]),
        ("importance", [1.0, 0.0, 3.0, 4.0], lambda v: pd.Series(v, index=NAMES).loc[MIXED]),
        ("coordinates", PLACES, lambda v: frame(v, ["x", "y"])),
        ("coordinates", PLACES, lambda v: frame(v, ["lon", "lat"])[["lat", "lon"]]),
        ("coordinates", PLACES, lambda v: pl.DataFrame(v, schema=["x", "y"], orient="row").select("y", "x")),
        ("vectors", PLACES, lambda v: frame(v, ["a", "b"])),
        ("vectors", PLACES, lambda v: pd.DataFrame(v, index=NAMES, columns=[5, 7]).loc[MIXED]),
        ("vectors", PLACES, lambda v: pl.DataFrame({"name": NAMES[::-1], "a": [6.0, 4, 2, 0], "b": [7.0, 5, 3, 1]})),
        ("truth", PLACES, lambda v: frame(v, ["a", "b"])),
    ],
)
def test_rows_are_aligned(field: str, values: Any, table: Any) -> None:
    changes: dict[str, Any] = {"dissimilarity": None} if field == "vectors" else {}
    assert np.array_equal(getattr(small(**changes, **{field: table(values)}), field), values)


def test_names_come_from_the_first_table_that_has_some() -> None:
    bare = square_fields()
    problem = Problem(learner=UNDER, travel=frame(bare["travel"]), dissimilarity=frame(bare["dissimilarity"]))
    assert problem.regions == tuple(MIXED)
    assert np.array_equal(problem.travel, frame(bare["travel"]).loc[MIXED, MIXED])
    other = Problem(learner=UNDER, travel=bare["travel"], dissimilarity=pd.DataFrame(bare["dissimilarity"], NAMES))
    assert other.regions == tuple(NAMES)  # one axis alone has labels
    assert other.scores.tolist() == bare["dissimilarity"].sum(axis=1).tolist()
    for library in (pd, pl):  # default labels are none
        tables: dict[str, Any] = {field: library.DataFrame(values) for field, values in bare.items()}
        assert Problem(learner=UNDER, **tables).regions == ("R1", "R2", "R3", "R4")
    assert small(regions=pd.Index(NAMES)).regions == small(regions=np.array(NAMES)).regions == tuple(NAMES)


def test_initial_models_follow_the_true_ones() -> None:
    truth = frame(PLACES, ["slope", "height"])
    problem = small(truth=truth, initial_model=pd.Series({"height": 9.0, "slope": 8.0}))
    assert problem.initial_model is not None
    assert problem.initial_model.tolist() == [8.0, 9.0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"travel": frame(np.zeros((4, 4))).rename({"A": "Z"})}, "travel: no row 'A'; rows are C, Z, D, B"),
        ({"travel": frame(np.zeros((4, 4))).rename(columns={"A": "Z"})}, "travel: no column 'A'"),
        ({"initial": pd.Series([1, 2, 3, 4], index=[*"ABC", "C"])}, "initial: row 'C' is given twice"),
        ({"initial": pd.Series([1, 2, 3, 4, 5], index=[*"ABCDE"])}, "initial: row 'E' is unknown; known are A"),
        ({"initial": pd.Series([1, 2, 3, 4], index=[3, 1, 2, 0])}, "initial: row label 3 is not a name; label with"),
        ({"vectors": pd.DataFrame(PLACES, index=[1, 2, 3, 4]), "dissimilarity": None}, "vectors: row label 1 is no"),
        (
            {"regions": ["Harbour", *"BCD"], "initial": pd.Series([1, 2, 3, 4], index=["Harbor", *"BCD"])},
            "initial: no row 'Harbour'; did you mean Harbor?",
        ),
    ],
)
def test_other_labels_are_rejected(changes: Any, message: str) -> None:
    with pytest.raises(InputError) as refusal:
        small(**changes)
    assert message in str(refusal.value)


def test_changes_are_aligned() -> None:
    problem = small()
    assert np.array_equal(problem.replace(travel=frame(problem.travel)).travel, problem.travel)


def test_other_functions_that_take_matrices_align_them() -> None:
    travel = np.array([[0, 2, 9, 4], [2, 0, 2, 3], [9, 2, 0, 2], [4, 3, 2, 0]])
    mixed = frame(travel)  # its columns are in another order than its rows
    place = [NAMES.index(name) for name in MIXED]
    assert check_metric(mixed).violations == check_metric(travel).violations
    assert np.array_equal(metric_closure(mixed)[0], metric_closure(travel)[0][np.ix_(place, place)])
    errors = pd.DataFrame([[1.0, 2.0], [3.0, 4.0]], index=["A", "B"], columns=["A", "B"])
    assert metrics_of(errors[["B", "A"]]) == metrics_of(errors)


def test_journeys_take_series() -> None:
    one, other = Journey(small()), Journey(small())
    one.visit("A", errors=pd.Series({"D": 1.0, "B": 2.0}))
    other.visit("A", errors={"D": 1.0, "B": 2.0})
    assert one.errors.tolist() == other.errors.tolist()


def tables(rng: np.random.Generator) -> dict[str, tuple[pd.DataFrame, pd.Series]]:
    found = {}
    for name in "ABC":
        x = pd.DataFrame(rng.standard_normal((40, 3)), columns=["p", "q", "r"])
        found[name] = (x, pd.Series(x.to_numpy() @ rng.standard_normal(3) + 0.1 * rng.standard_normal(40)))
    return found


def test_estimates_go_to_problems_by_name() -> None:
    data = tables(np.random.default_rng(1))
    found = estimate(data, draws=100)
    assert found.columns == ("p", "q", "r")
    names = ["C", "X", "A", "B"]
    travel = pd.DataFrame([[0, 1, 2, 3], [1, 0, 4, 5], [2, 4, 0, 6], [3, 5, 6, 0]], index=names, columns=names)
    places = pd.DataFrame({"y": [1, 2, 3, 4], "x": [5, 6, 7, 8]}, index=["B", "A", "X", "C"])
    problem = found.to_problem(travel, coordinates=places)
    assert problem.regions == ("A", "B", "C")
    assert problem.travel.tolist() == [[0, 6, 2], [6, 0, 3], [2, 3, 0]]
    assert problem.coordinates is not None
    assert problem.coordinates.tolist() == [[6, 2], [5, 1], [8, 4]]
    assert np.array_equal(found.to_problem(travel.iloc[::-1], regions=names).travel, problem.travel)
    with pytest.raises(InputError, match="travel: region 'A' is missing"):
        found.to_problem(travel.rename({"A": "Z"}, axis=0).rename({"A": "Z"}, axis=1))


def test_columns_of_samples_are_brought_into_one_order() -> None:
    data = tables(np.random.default_rng(2))
    mixed = {**data, "B": (data["B"][0][["r", "p", "q"]], data["B"][1])}
    start = pd.Series({"r": 3.0, "q": 2.0, "p": 1.0})
    found, wanted = (
        estimate(samples, draws=100, initial_model=model) for samples, model in ((mixed, start), (data, [1, 2, 3]))
    )
    assert np.array_equal(found.upper, wanted.upper)
    assert np.array_equal(found.initial_upper, wanted.initial_upper)
    halves = {name: (x[:20], y[:20], x[20:], y[20:]) for name, (x, y) in data.items()}
    other = {**halves, "B": (halves["B"][0][["q", "r", "p"]], *halves["B"][1:])}
    route = ["A", "B", "C"]
    one, two = (follow(route, samples, RouteRegressor()).errors for samples in (halves, other))
    assert np.array_equal(one, two)


def test_features_and_targets_of_different_samples_are_rejected() -> None:
    data = tables(np.random.default_rng(3))
    x, y = data["A"]
    shuffled = estimate({**data, "A": (x[::-1], y[::-1])}, draws=100)
    assert not shuffled.failures
    index = [f"s{k}" for k in range(40)]
    x, y = x.set_axis(index), y.set_axis(index[::-1])
    assert "different sample labels" in estimate({**data, "A": (x, y)}, draws=100).failures["A"]


def test_text_columns_are_rejected_as_features() -> None:
    data: dict[str, Any] = tables(np.random.default_rng(4))
    x, y = data["A"]
    data["A"] = (pd.DataFrame({"kind": ["a"] * 40, "q": x["q"], "r": x["r"]}), y)
    assert "must be tables of numbers" in estimate(data, draws=100).failures["A"]
