"""Following a route: the matrix by hand, the metrics by hand, and the paper's F_T by its closed form."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.preprocessing import PolynomialFeatures

from learnroute import InputError, Learner, Problem, true_loss
from learnroute.learning import (
    HIGHER_IS_BETTER,
    MEANING,
    Metrics,
    ProximalRegressor,
    RegionData,
    RouteRegressor,
    follow,
    metrics_of,
    model_distance,
)
from learnroute.model.validation import FloatArray

NAMES = ["A", "B", "C"]


def regions(samples: int = 20, features: int = 3, noise: float = 0.1, seed: int = 0) -> dict[str, RegionData]:
    rng = np.random.default_rng(seed)
    data = {}
    for name in NAMES:
        truth = rng.standard_normal(features)
        parts = []
        for _ in range(2):
            x = rng.standard_normal((samples, features))
            parts.append((x, x @ truth + noise * rng.standard_normal(samples)))
        data[name] = RegionData(parts[0], parts[1], truth)
    return data


def test_errors_are_those_of_training_by_hand() -> None:
    data = regions()
    route = ["C", "A", "B"]
    found = follow(route, data, RouteRegressor())
    for i, visited in enumerate(route):
        x, y = data[visited].train
        model = np.linalg.lstsq(x, y, rcond=None)[0]
        for j, tested in enumerate(route):
            x, y = data[tested].test
            assert found.errors[i, j] == pytest.approx(np.mean((x @ model - y) ** 2))
    np.testing.assert_allclose(found.model.coef_, np.linalg.lstsq(*data["B"].train, rcond=None)[0])


def test_metrics_by_hand() -> None:
    errors = [[1.0, 9.0, 9.0], [4.0, 2.0, 8.0], [7.0, 5.0, 3.0]]
    found = metrics_of(errors)
    assert found == Metrics(
        average_final_error=5.0,
        learning_error=2.0,
        forgetting=4.5,  # (7 - 1 + 5 - 2) / 2
        forgetting_from_best=4.5,
        backward_transfer=-4.5,
    )
    better_later = metrics_of([[5.0, 9.0, 9.0], [2.0, 6.0, 8.0], [3.0, 4.0, 3.0]])
    assert better_later.forgetting == -2.0  # (3 - 5 + 4 - 6) / 2
    assert better_later.backward_transfer == 2.0
    assert better_later.forgetting_from_best == -0.5  # (3 - 2 + 4 - 6) / 2: the least one before the end


NUMBERS = st.one_of(st.just(0.0), st.floats(1e-100, 100))


@given(arrays(np.float64, st.integers(2, 6).map(lambda size: (size, size)), elements=NUMBERS))
def test_relations_between_metrics(errors: FloatArray) -> None:
    found = metrics_of(errors)
    assert found.backward_transfer == -found.forgetting
    assert found.forgetting_from_best >= found.forgetting - 1e-9  # the least error before the end is no higher
    worse = errors + np.where(np.arange(len(errors))[:, None] == len(errors) - 1, 1.0, 0.0)
    assert metrics_of(worse).average_final_error > found.average_final_error


def test_every_metric_says_which_way_is_better() -> None:
    assert set(MEANING) == set(Metrics.__dataclass_fields__)
    for name, meaning in MEANING.items():
        assert meaning.endswith("higher is better" if name in HIGHER_IS_BETTER else "lower is better")


@pytest.mark.parametrize(("features", "samples"), [(4, 12), (16, 6)])
def test_average_final_error_is_the_papers(features: int, samples: int) -> None:
    """Over many data sets, the mean of F_T along the route is Lemma 1 or Lemma 2, within 4 standard errors."""
    rng = np.random.default_rng(5)
    truth, start, noise = rng.standard_normal((3, features)), rng.standard_normal(features), 0.5
    problem = Problem(
        np.ones((3, 3)) - np.eye(3), Learner(features, samples, noise), vectors=truth, truth=truth, initial_model=start
    )
    finals = []
    for _ in range(400):
        data = {}
        for name, model in zip(NAMES, truth, strict=True):
            x = rng.standard_normal((samples, features))
            batch = (x, x @ model + noise * rng.standard_normal(samples))
            data[name] = RegionData(batch, batch, model)
        found = follow(["B", "C", "A"], data, RouteRegressor(initial_model=start), error=model_distance)
        finals.append(found.metrics.average_final_error)
    error = np.std(finals, ddof=1) / len(finals) ** 0.5
    assert abs(np.mean(finals) - true_loss(problem, [1, 2, 0]).error) < 4 * error


def test_given_learner_is_unchanged_and_training_continues_from_its_model() -> None:
    data = regions(samples=2, features=6)
    learner = ProximalRegressor().fit(*data["A"].train)
    model = learner.coef_.copy()
    found = follow(NAMES, data, learner)
    np.testing.assert_array_equal(learner.coef_, model)
    assert found.before is not None
    assert follow(NAMES, data, ProximalRegressor()).before is None


def test_feature_map_is_applied_before_the_learner() -> None:
    data = regions()
    curved = {
        name: RegionData((r.train[0], r.train[0][:, 0] ** 2), (r.test[0], r.test[0][:, 0] ** 2))
        for name, r in data.items()
    }
    assert follow(NAMES, curved, RouteRegressor()).metrics.average_final_error > 0.1
    for features in (PolynomialFeatures(2), lambda x: np.column_stack([x, x**2])):
        assert follow(NAMES, curved, RouteRegressor(), features=features).metrics.average_final_error < 1e-20


def test_written_matrix_reads_back(tmp_path: Path) -> None:
    found = follow(["C", "A", "B"], regions(), RouteRegressor())
    found.save(tmp_path / "errors.csv")
    lines = [line.split(",") for line in (tmp_path / "errors.csv").read_text().splitlines()]
    assert lines[0] == ["after training on", "C", "A", "B"]
    np.testing.assert_array_equal(np.array([[float(v) for v in line[1:]] for line in lines[1:]]), found.errors)
    found.save(tmp_path / "errors.json")
    data = json.loads((tmp_path / "errors.json").read_text())
    assert data["errors"] == found.errors.tolist()
    assert data["metrics"]["average_final_error"] == found.metrics.average_final_error
    with pytest.raises(InputError, match=r"unknown format '\.txt'; known are"):
        found.save(tmp_path / "errors.txt")


@pytest.mark.parametrize(
    ("route", "message"),
    [
        ("ABC", "a list of region names"),
        ([], "a list of region names"),
        (["A", "X"], "no data for region 'X'"),
    ],
)
def test_bad_routes_are_rejected(route: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        follow(route, regions(), RouteRegressor())


def test_plain_tuples_are_accepted_and_pairs_rejected() -> None:
    data = regions()
    plain = {name: (*region.train, *region.test) for name, region in data.items()}
    np.testing.assert_array_equal(
        follow(NAMES, plain, RouteRegressor()).errors, follow(NAMES, data, RouteRegressor()).errors
    )
    with pytest.raises(InputError, match="region 'A': expected a RegionData, or"):
        follow(NAMES, {name: region.train for name, region in data.items()}, RouteRegressor())


def test_errors_name_the_invalid_region() -> None:
    data = regions()
    x, y = data["B"].train
    broken = x.copy()
    broken[7, 1] = np.nan
    with pytest.raises(InputError, match="region 'B': training sample 7 is not finite"):
        follow(NAMES, {**data, "B": RegionData((broken, y), data["B"].test)}, RouteRegressor())
    with pytest.raises(InputError, match="region 'B': a batch of 4 samples with 3 features"):
        follow(NAMES, {**data, "B": RegionData((x[:4], y[:4]), data["B"].test)}, RouteRegressor())
    with pytest.raises(InputError, match=r"region 'B': features of shape \(20, 3\) and targets of shape \(19,\)"):
        follow(NAMES, {**data, "B": RegionData((x, y[1:]), data["B"].test)}, RouteRegressor())
