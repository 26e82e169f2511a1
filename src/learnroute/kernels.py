"""Hot loops: plain Python functions that numba compiles when, and only when, they are needed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Generic, ParamSpec, TypeVar, cast

P = ParamSpec("P")
R = TypeVar("R")

_wanted = [False]  # whether compiled code is wanted for small work too


@contextlib.contextmanager
def always_compiled(wanted: bool = True) -> Iterator[None]:
    """In here, run compiled code for small work too: worth it where many problems are solved."""
    before, _wanted[0] = _wanted[0], wanted
    try:
        yield
    finally:
        _wanted[0] = before


def compile_function(function: Callable[P, R]) -> Callable[P, R]:
    """Compile with numba (no fastmath: results equal the interpreted ones), cached on disk if a disk allows it."""
    import numba

    try:
        compiled: Any = numba.njit(cache=True)(function)
    except RuntimeError:  # no writable folder for the cache
        compiled = numba.njit()(function)
    return cast("Callable[P, R]", compiled)


class Kernel(Generic[P, R]):
    """A self-contained numeric function with two modes: interpreted, or compiled on first use.

    Calling the kernel runs compiled code. `on_size` picks the interpreter for small work, so that a
    small problem neither imports numba nor waits for a compiler; both modes give the same bits.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.interpreted = function
        self._compiled: Callable[P, R] | None = None
        self.__doc__ = function.__doc__

    @property
    def compiled(self) -> Callable[P, R]:
        """The compiled function (compiled now if it was not yet)."""
        if self._compiled is None:
            self._compiled = compile_function(self.interpreted)
        return self._compiled

    def on_size(self, size: int, small: int) -> Callable[P, R]:
        """Return the interpreted function up to `small`, unless the compiled one is at hand or wanted always."""
        interpret = size <= small and self._compiled is None and not _wanted[0]
        return self.interpreted if interpret else self.compiled

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the compiled function."""
        return self.compiled(*args, **kwargs)


def kernel(function: Callable[P, R]) -> Kernel[P, R]:
    """Mark a function as a kernel."""
    return Kernel(function)
