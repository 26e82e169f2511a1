from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import oracle
from learnroute import InputError, Matching, minimum_matching
from learnroute.model.travel import Places
from learnroute.solvers.contract import Budget
from learnroute.solvers.core_travel import place_travel
from learnroute.solvers.matching.perfect_matching import match_by_blossoms
from learnroute.solvers.matching.weights import MatrixWeights, PlaceWeights
from learnroute.solvers.params import MatchingParams


def symmetric(entries: Any) -> Any:
    upper = np.triu(entries, 1)
    return upper + upper.T


def weight_of(pairs: Any, weights: Any) -> float:
    return float(weights[pairs[:, 0], pairs[:, 1]].sum())


def check_proof(matching: Matching, weights: Any) -> None:
    """Check for feasible duals whose sum is the weight of the pairs, which proves it minimal."""
    assert matching.optimal
    assert sorted(matching.pairs.ravel().tolist()) == list(range(len(weights)))
    assert matching.bound is not None
    scale = max(float(np.abs(weights).max()), 1e-300)
    left = weights - matching.duals[:, None] - matching.duals[None, :]
    for members, number in matching.sets:
        assert number >= 0
        assert len(members) % 2 == 1
        inside = np.isin(np.arange(len(weights)), members)
        left = left - number * (inside[:, None] != inside[None, :])
    np.fill_diagonal(left, np.inf)
    assert left.min() >= -1e-12 * scale
    assert weight_of(matching.pairs, weights) == pytest.approx(matching.bound, abs=1e-11 * scale * len(weights))


def families(size: int, rng: np.random.Generator) -> dict[str, Any]:
    points, grid = rng.uniform(0, 1, (size, 2)), rng.integers(0, 4, (size, 2)).astype(float)
    free = symmetric(rng.uniform(1, 10, (size, size)))
    free[-1] = free[:, -1] = 0  # as the extra vertex of Algorithm 1
    return {
        "uniform": symmetric(rng.uniform(1, 10, (size, size))),
        "few values": symmetric(rng.integers(0, 3, (size, size)).astype(float)),
        "points": np.hypot(*(points[:, None] - points[None]).T),
        "grid": np.hypot(*(grid[:, None] - grid[None]).T),
        "negative": symmetric(rng.normal(size=(size, size))),
        "one vertex free": free,
        "huge": symmetric(rng.uniform(1, 10, (size, size))) * 1e99,
        "tiny": symmetric(rng.uniform(1, 10, (size, size))) * 1e-99,
        "zero": np.zeros((size, size)),
    }


@pytest.mark.parametrize("size", [2, 4, 6, 8, 10])
def test_matchings_equal_the_best_of_all(size: int) -> None:
    rng = np.random.default_rng(size)
    for _ in range(8 if size == 10 else 40):
        for name, weights in families(size, rng).items():
            least = oracle.lightest_matching(weights)
            near = 1e-11 * max(float(np.abs(weights).max()), 1e-300)
            matching = match_by_blossoms(MatrixWeights(weights), Budget())
            check_proof(matching, weights)
            assert weight_of(matching.pairs, weights) == pytest.approx(least, abs=near), name


@given(st.integers(1, 9).flatmap(lambda k: hnp.arrays(np.int64, (2 * k, 2 * k), elements=st.integers(0, 6))))
def test_small_whole_weights_with_many_ties_are_proved(entries: Any) -> None:
    weights = symmetric(entries).astype(float)
    check_proof(match_by_blossoms(MatrixWeights(weights), Budget()), weights)


@pytest.mark.parametrize("size", [14, 60, 200])
def test_large_matchings_carry_their_proof(size: int) -> None:
    rng = np.random.default_rng(size)
    for weights in families(size, rng).values():
        check_proof(minimum_matching(weights), weights)


def test_networkx_agrees() -> None:
    import networkx

    rng = np.random.default_rng(7)
    for weights in families(40, rng).values():
        graph = networkx.from_numpy_array(1 - weights / max(np.abs(weights).max(), 1e-300))
        pairs = np.array(list(networkx.max_weight_matching(graph, maxcardinality=True)))
        near = 1e-9 * np.abs(weights).max()
        assert weight_of(minimum_matching(weights).pairs, weights) == pytest.approx(weight_of(pairs, weights), abs=near)


def test_weights_need_not_be_a_metric() -> None:
    """0-1 and 2-3 cost 9 and 1; detours through 2 and 3 are cheap, but a pair pays its own edge."""
    weights = np.array([[0, 9, 1, 5], [9, 0, 5, 5], [1, 5, 0, 1], [5, 5, 1, 0.0]])
    assert minimum_matching(weights).pairs.tolist() == [[0, 2], [1, 3]]


def test_when_the_time_is_up_the_rest_is_paired_greedily() -> None:
    weights = symmetric(np.random.default_rng(1).uniform(1, 10, (200, 200)))
    matching = minimum_matching(weights, Budget.of(time_limit=1e-9))
    assert not matching.optimal
    assert matching.bound is None
    assert sorted(matching.pairs.ravel().tolist()) == list(range(200))


def test_odd_numbers_of_vertices_are_rejected() -> None:
    with pytest.raises(InputError, match="weights has 3 rows: an even number"):
        minimum_matching(np.zeros((3, 3)))


def test_no_vertices_make_no_pairs() -> None:
    assert minimum_matching(np.zeros((0, 0))).pairs.shape == (0, 2)


def places(size: int, rng: np.random.Generator) -> dict[str, Any]:
    line = rng.uniform(0, 1, size)
    return {
        "square": rng.uniform(0, 1, (size, 2)),
        "space": rng.normal(size=(size, 3)),
        "clusters": rng.integers(0, 5, (size, 2)) + 1e-3 * rng.normal(size=(size, 2)),
        "many alike": rng.integers(0, 3, (size, 2)).astype(float),
        "all alike": np.full((size, 2), 0.3),
        "on a line": np.column_stack([line, 2 * line]),
        "huge": 1e99 * rng.uniform(-1, 1, (size, 2)),
        "tiny": 1e-95 * rng.uniform(-1, 1, (size, 2)),
    }


def distances(points: Any, extra: bool) -> Any:
    unit = max(float(np.abs(points).max()), 1e-300)
    weights = np.zeros((len(points) + extra, len(points) + extra))
    weights[: len(points), : len(points)] = unit * np.sqrt((((points[:, None] - points[None]) / unit) ** 2).sum(axis=2))
    return weights


@pytest.mark.parametrize("extra", [False, True])
@pytest.mark.parametrize("size", [4, 30, 90, 400])
def test_places_give_the_same_weight_as_their_distances(size: int, extra: bool) -> None:
    """The extra vertex is Algorithm 1's: at distance 0 from all."""
    for name, points in places(size - extra, np.random.default_rng(size)).items():
        weights = distances(points, extra)
        matching = minimum_matching(points=points, extra=extra)
        check_proof(matching, weights)
        least = weight_of(minimum_matching(weights).pairs, weights)
        assert weight_of(matching.pairs, weights) == pytest.approx(least, abs=1e-11 * size * weights.max()), name


@pytest.mark.slow
def test_thousands_of_places_are_proved() -> None:
    points = np.random.default_rng(3).uniform(0, 1, (2000, 2))
    check_proof(minimum_matching(points=points), distances(points, False))


def test_great_circles_are_proved() -> None:
    rng = np.random.default_rng(5)
    points = Places(np.column_stack([rng.uniform(-180, 180, 300), rng.uniform(-90, 90, 300)]), geographic=True)
    check_proof(match_by_blossoms(PlaceWeights(place_travel(points)), Budget()), points.matrix)


@pytest.mark.parametrize("unit", [2.0**-332, 2.0**-200, 1.0, 2.0**329])
@pytest.mark.parametrize("size", [6, 40])
def test_the_smallest_numbers_are_distinguished(unit: float, size: int) -> None:
    steps = symmetric(np.random.default_rng(size).integers(1, 9, (size, size)).astype(np.float64))
    found, wanted = minimum_matching(unit * steps), minimum_matching(steps)
    assert found.optimal
    assert found.pairs.tolist() == wanted.pairs.tolist()
    assert np.allclose(found.duals, unit * wanted.duals, rtol=1e-6, atol=unit)


def test_few_first_edges_are_repaired_by_pricing() -> None:
    """Two distant groups of odd size with candidates within groups only: pricing must find the pair between them."""
    params = MatchingParams(neighbours=2)
    for seed in range(10):
        rng = np.random.default_rng(seed)
        points = rng.permutation(rng.uniform(0, 1, (122, 2)) + np.where(np.arange(122) < 61, 0.0, 9.0)[:, None])
        check_proof(minimum_matching(points=points, params=params), distances(points, False))


def test_matching_input_is_validated() -> None:
    for arguments, message in (
        ({"weights": np.array([[0.0, 1e-300], [1e-300, 0.0]])}, r"weights\[0, 1\] = 1e-300: .* magnitude >= 1e-100"),
        ({}, "neither given"),
        ({"weights": np.zeros((2, 2)), "points": np.zeros((2, 2))}, "both given"),
        ({"points": np.zeros((3, 2))}, "points has 3 rows: an even number"),
        ({"points": np.zeros((2, 4))}, "points has 4 columns"),
        ({"points": np.zeros((0, 10**15))}, "points has 1000000000000000 columns"),
        ({"points": np.array([[0.0, np.nan], [0, 0]])}, r"points\[0, 1\]"),
    ):
        with pytest.raises(InputError, match=message):
            minimum_matching(**arguments)
