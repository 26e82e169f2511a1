from __future__ import annotations

import threading
from pathlib import Path

import pytest

from learnroute.kernels import always_compiled, compiled_in_haste, hurry, in_a_hurry, kernel, machine_code
from learnroute.solvers.contract import Budget
from learnroute.solvers.local_search.side_by_side import Threads


def test_small_work_is_interpreted_unless_many_problems_are_solved() -> None:
    @kernel
    def double(x: float) -> float:
        return 2 * x

    assert double.on_size(3, 12) is double.interpreted
    with always_compiled():
        assert double.on_size(3, 12) is not double.interpreted
        with always_compiled(False):
            pass
    assert double.on_size(3, 12)(4.0) == 8.0
    assert double.on_size(3, 12) is double.compiled  # at hand now


def test_what_is_compiled_in_a_hurry_gives_the_same_bits_and_is_used_by_hurries_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made: list[bool] = []
    compiling = machine_code._machine_code

    def noted(text: str, quickly: bool = False) -> bytes:
        made.append(quickly)
        return compiling(text, quickly)

    @kernel
    def steps(x: float, n: int) -> float:
        for k in range(n):
            x = x * 1.1 - 0.3 / (k + 1)
        return x

    monkeypatch.setattr(machine_code, "_machine_code", noted)
    with in_a_hurry():
        found = [steps(0.7, 50)]
        with in_a_hurry():  # the same one
            found.append(steps(0.7, 50))
    assert made == [True]
    assert "steps" in compiled_in_haste
    with in_a_hurry():  # another one
        found.append(steps(0.7, 50))
    assert made == [True]
    with in_a_hurry(False):
        found.append(steps(0.7, 50))
    assert made == [True, False]
    with in_a_hurry():  # what is at hand is used
        found.append(steps(0.7, 50))
    assert made == [True, False]
    assert found == [steps.interpreted(0.7, 50)] * 5


def test_a_hurry_takes_what_another_process_has_kept_meanwhile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    @kernel
    def halves(x: float, n: int) -> float:
        for _ in range(n):
            x = 0.5 * x + 0.1
        return x

    monkeypatch.setattr(machine_code, "_cache_file", lambda function, kinds: tmp_path / function.__name__)
    with in_a_hurry():
        found = [halves(0.7, 50)]
    machine_code.compiled(halves.interpreted)(0.7, 50)  # as another process would: it is kept
    monkeypatch.setattr(machine_code, "_machine_code", lambda text, quickly=False: pytest.fail("compiled again"))
    with in_a_hurry():
        found.append(halves(0.7, 50))
    found.append(halves(0.7, 50))
    assert found == [halves.interpreted(0.7, 50)] * 3


def test_a_hurry_is_that_of_its_own_thread_and_of_those_that_it_starts() -> None:
    entered, left = threading.Event(), threading.Event()
    seen: list[int] = []

    def other() -> None:
        with in_a_hurry(False):
            seen.append(hurry())
            entered.set()
            left.wait(10)
        seen.append(hurry())

    with in_a_hurry():
        thread = threading.Thread(target=other)
        thread.start()
        entered.wait(10)
        mine = hurry()
        with Threads(2) as threads:
            assert threads.run(lambda k, budget: hurry(), Budget()) == [mine, mine]
    left.set()
    thread.join()
    assert mine > 0
    assert seen == [0, 0]
    assert hurry() == 0
