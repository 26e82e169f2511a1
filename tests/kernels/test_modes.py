from __future__ import annotations

from learnroute.kernels import always_compiled, kernel


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
