"""Hot loops: plain Python functions that are compiled when, and only when, they are needed."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Generic, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_wanted = [False]  # whether compiled code is wanted for small work too
_hurries = itertools.count(1)
_hurry = ContextVar("hurry", default=0)  # the number of the present one, 0 where there is none; each thread has its own
compiled_in_haste: set[str] = set()  # names of kernels: compiling them anew is worth it


@contextlib.contextmanager
def always_compiled(wanted: bool = True) -> Iterator[None]:
    """In here, run compiled code for small work too: worth it where many problems are solved."""
    before, _wanted[0] = _wanted[0], wanted
    try:
        yield
    finally:
        _wanted[0] = before


def always_compiling() -> bool:
    """Whether compiled code is wanted for small work too."""
    return _wanted[0]


@contextlib.contextmanager
def in_a_hurry(hurried: bool = True) -> Iterator[None]:
    """In here, compile quickly what is not at hand, to slower code that is not kept."""
    token = _hurry.set(_hurry.get() or (next(_hurries) if hurried else 0))
    try:
        yield
    finally:
        _hurry.reset(token)


def hurry() -> int:
    """Return the number of the present hurry; 0 if there is none."""
    return _hurry.get()


def at_hand(*names: str) -> bool:
    """Whether machine code of all these kernels is in memory, or kept from an earlier process."""
    from learnroute.kernels.machine_code import known_kernels

    return known_kernels().issuperset(names)


class Kernel(Generic[P, R]):
    """A numeric function in a small subset of Python (`kernels.translator`), compiled on first use.

    Calling the kernel runs compiled code. `on_size` picks the interpreter for small work, so that a small problem does
    not load a compiler; both give the same bits.
    """

    def __init__(self, function: Callable[P, R]) -> None:
        self.interpreted = function
        self._compiled: Callable[P, R] | None = None
        self.__doc__ = function.__doc__

    @property
    def compiled(self) -> Callable[P, R]:
        """The compiled function; it is compiled when it is called."""
        if self._compiled is None:
            from learnroute.kernels.machine_code import compiled

            self._compiled = compiled(self.interpreted)
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
