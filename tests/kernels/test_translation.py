"""Compiled kernels beside the same functions interpreted: what Python computes, bit for bit."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learnroute.kernels import Kernel, kernel
from learnroute.kernels.value_types import NotInSubsetError

FIVE, LARGE = 5, np.int64(2**62)
TALLY = np.dtype([("count", np.int64), ("total", np.float64)])


class Pair(NamedTuple):
    numbers: Any
    factor: float


@kernel
def _divide(a: int, b: int) -> tuple[int, int, float, int, int]:
    return a // b, a % b, a / b, a >> 3, -a


@given(st.integers(-(2**40), 2**40), st.integers(-(2**40), 2**40).filter(bool))
def test_whole_numbers_divide_as_in_python(a: int, b: int) -> None:
    assert _divide(a, b) == _divide.interpreted(a, b)


@kernel
def _compare(a: float, b: float, k: int) -> tuple[bool, bool, bool, bool, bool, float, float, bool]:
    between = a < k <= b
    either = a < b or k > 3
    neither = not (a == b or a != a)
    mixed = (a < b) == (k > 0)
    return between, either, neither, mixed, a != b, min(a, b, 0.5), max(a, b), (a if k > 0 else k) > 1


@given(st.floats(), st.floats(), st.integers(-10, 10))
def test_conditions_decide_as_in_python(a: float, b: float, k: int) -> None:
    compiled, interpreted = _compare(a, b, k), _compare.interpreted(a, b, k)
    np.testing.assert_array_equal(compiled, interpreted)


@kernel
def _loops(n: int, limit: int) -> tuple[int, int, int]:
    total, steps, i = 0, 0, -1
    for i in range(n):
        if i == limit:
            break
        if i % 3 == 1:
            continue
        for j in range(i, -1, -2):
            total += j
            if j < 2:
                break
            j = 0  # the next round has its own
    for factor in (2, FIVE):
        total *= factor
    while True:
        steps += 1
        if steps * steps >= n:
            break
    return total, steps, i


@given(st.integers(0, 40), st.integers(0, 40))
def test_loops_run_as_in_python(n: int, limit: int) -> None:
    assert _loops(n, limit) == _loops.interpreted(n, limit)


@kernel
def _arrays(matrix: Any, whole: Any, flags: Any) -> tuple[Any, Any, Any, float]:
    rows, columns = matrix.shape
    copy = matrix.copy()
    copy[-1] = matrix[0]
    copy[0, 1:] = 7.5
    for i in range(rows):
        for j in range(columns):
            whole[i] += matrix[i, j] > 0.5
        flags[i] = not flags[i]
    found = np.full((rows, 2), -1)
    found[1:] = 3
    found[0, 0], found[0, 1] = found[1, 1], found[0, 0]
    numbers = np.arange(rows)
    marks = np.zeros(rows, dtype=np.bool_)
    marks[whole[0] % rows] = True
    total = 0.0
    for i in range(rows):
        total += numbers[i] * np.ones(rows)[i] + marks[i]
    return copy, found, marks[: rows - 1], total


def test_arrays_are_read_written_made_and_returned() -> None:
    matrix = np.random.default_rng(0).random((4, 3))
    results = []
    for function in (_arrays, _arrays.interpreted):
        whole, flags = np.arange(4), np.array([True, False, True, True])
        results.append((*function(matrix, whole, flags), whole, flags))
    for compiled, interpreted in zip(*results, strict=True):
        np.testing.assert_array_equal(compiled, interpreted)
        assert np.asarray(compiled).dtype == np.asarray(interpreted).dtype


@kernel
def _masks(masks: Any, shift: int) -> Any:
    one = np.uint64(1)
    for i in range(len(masks)):
        masks[i] = (masks[i] ^ (one << np.uint64(shift))) * np.uint64(0x9E3779B97F4A7C15)
        masks[i] = (masks[i] >> np.uint64(29)) | ~masks[i]
    return masks.copy()


def test_masks_are_unsigned() -> None:
    with np.errstate(over="ignore"):
        interpreted = _masks.interpreted(np.arange(5, dtype=np.uint64), 63)
    np.testing.assert_array_equal(_masks(np.arange(5, dtype=np.uint64), 63), interpreted)


@kernel
def _scaled(pair: Pair, i: int) -> float:
    return math.sqrt(pair.numbers[i]) * pair.factor + math.exp(-pair.factor) - math.log(pair.factor) + math.asin(0.25)


@kernel
def _named(pair: Pair) -> Pair:
    twice = Pair(pair.numbers, 2 * pair.factor)
    found = np.empty(len(pair.numbers))
    for i in range(len(found)):
        found[i] = _scaled(twice, i)
    return Pair(found, abs(-twice.factor))


def test_kernels_call_each_other_and_take_and_return_named_tuples() -> None:
    pair = Pair(np.array([1.0, 4.0, 9.0]), 0.7)
    found = _named(pair)
    assert isinstance(found, Pair)
    assert found.factor == 1.4
    expected = [math.sqrt(x) * 1.4 + math.exp(-1.4) - math.log(1.4) + math.asin(0.25) for x in pair.numbers]
    np.testing.assert_allclose(found.numbers, expected, rtol=1e-15)


@kernel
def _count(tallies: Any, values: Any) -> Any:
    tally = tallies[1]
    for i in range(len(values)):
        tally.count += 1
        tallies[1].total += values[i]
    return tally.count


def test_records_are_references() -> None:
    tallies = np.zeros(3, TALLY)
    assert _count(tallies, np.array([1.5, 2.0])) == 2
    assert tallies[1]["total"] == 3.5
    assert tallies[1]["count"] == 2
    assert tallies[0]["count"] == 0


@kernel
def _widened(n: Any) -> Any:
    total = 0
    for i in range(n):
        total = total + 0.5 * i  # type: ignore[assignment]
    return total


def test_a_name_has_the_widest_of_its_types() -> None:
    assert _widened(5) == 5.0
    assert isinstance(_widened(0), float)


@kernel
def _chosen(t: int, values: Any) -> int:
    first, behind = (0, 1) if t == 0 else (values[t - 1], values[t])
    return first * 10 + behind


def test_tuples_are_chosen_between() -> None:
    values = np.array([4, 6])
    assert [_chosen(t, values) for t in (0, 1)] == [1, 46]


def test_one_kernel_serves_several_types() -> None:
    @kernel
    def total(values: Any) -> Any:
        found = values[0] * 0
        for i in range(len(values)):
            found += values[i]
        return found

    assert total(np.array([1, 2])) == 3
    assert isinstance(total(np.array([1, 2])), int)
    assert total(np.array([0.5, 2])) == 2.5
    assert total(np.array([True, True])) == 2
    assert total(np.array([-1, -2], dtype=np.int8)) == -3
    assert total(np.array([255, 1], dtype=np.uint8)) == 256


@kernel
def _inner(n: int) -> Any:
    return np.zeros(n)


@kernel
def _outer(n: int, times: int) -> float:
    total = 0.0
    for _ in range(times):
        total += _inner(n)[n - 1]
    return total


def test_what_a_call_allocates_is_freed() -> None:
    resource = pytest.importorskip("resource")
    _outer(10, 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(400):
        _outer(100_000, 2)
        _inner(100_000)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB; 940 MB were allocated


@kernel
def _added(a: Any) -> Any:
    return a + a


@kernel
def _sliced(a: Any) -> Any:
    return a[::2]


@kernel
def _listed(n: int) -> Any:
    return [n]


@kernel
def _fraction_stored(a: Any) -> None:
    a[0] = 0.5


@kernel
def _printed(n: int) -> None:
    print(n)


@kernel
def _two_types(a: Any, n: int) -> Any:
    a = n
    return a + 1


@kernel
def _left(n: int) -> int:
    for k in (1, 2):
        if k == n:
            break
    return k


@pytest.mark.parametrize(
    ("function", "args", "why"),
    [
        (_added, (np.zeros(3),), "only numbers are computed with"),
        (_sliced, (np.zeros(3),), "without a step"),
        (_listed, (3,), "no such expression"),
        (_fraction_stored, (np.zeros(3, dtype=np.int64),), "a fraction is stored as a whole number"),
        (_printed, (3,), "do not know this function"),
        (_two_types, (np.zeros(3), 1), "values of two types"),
        (_left, (3,), "runs to its end"),
        (_arrays, (np.zeros((3, 3)).T, np.zeros(3), np.zeros(3)), "C-contiguous"),
        (_widened, ("3",), "no str"),
        (_widened, (np.zeros(3, dtype=np.float32),), "float32"),
        (_widened, (1, 2), "takes 1 arguments, not 2"),
    ],
)
def test_what_is_not_in_the_subset_is_refused(function: Kernel[Any, Any], args: tuple[Any, ...], why: str) -> None:
    with pytest.raises(NotInSubsetError, match=why):
        function(*args)
