from __future__ import annotations

import pytest

from learnroute.kernels import always_compiled, compiled_in_haste, in_a_hurry, kernel, machine_code


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


def test_what_is_compiled_in_a_hurry_gives_the_same_bits_and_lasts_as_long_as_that(
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
    with in_a_hurry(False):
        found.append(steps(0.7, 50))
    assert made == [True, False]
    with in_a_hurry():  # what is at hand is used
        found.append(steps(0.7, 50))
    assert made == [True, False]
    assert found == [steps.interpreted(0.7, 50)] * 4
