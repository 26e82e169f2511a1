"""Where orders begin and end: the constraints of a problem in the form that solvers use."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from learnroute.model.validation import IntArray

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Ends:
    """Constraints on an order: its first region, its last region, and whether the return trip counts.

    Solvers ask this object what is allowed; further constraints belong here.

    Attributes
    ----------
    first, last
        The region with which every order begins or ends; None if it is free.
    closed
        Whether the return trip from the last region to the first counts too.
    """

    first: int | None = None
    last: int | None = None
    closed: bool = False

    @property
    def free(self) -> bool:
        """Whether an order may begin and end anywhere."""
        return self.first is None and self.last is None

    @property
    def cyclic(self) -> bool:
        """Whether orders are cycles: closed, and free to start anywhere."""
        return self.closed and self.free

    @property
    def fixed(self) -> tuple[int, ...]:
        """The regions whose position is fixed."""
        return tuple(end for end in (self.first, self.last) if end is not None)

    def allows(self, order: ArrayLike) -> bool:
        """Return whether an order begins and ends where it must."""
        stops = np.asarray(order)
        return self.first in (None, stops[0]) and self.last in (None, stops[-1])

    def may_begin(self, size: int) -> BoolArray:
        """Return which of T regions an order may begin with."""
        return _allow_only(self.first, self.last, size)

    def may_end(self, size: int) -> BoolArray:
        """Return which of T regions an order may end with."""
        return _allow_only(self.last, self.first, size)

    def positions(self, size: int) -> BoolArray:
        """Return a T x T matrix of the positions (rows) allowed for each region (column)."""
        allowed = np.ones((size, size), dtype=np.bool_)
        allowed[:, list(self.fixed)] = False
        allowed[0], allowed[-1] = self.may_begin(size), self.may_end(size)
        return allowed

    def repair(self, order: IntArray) -> IntArray:
        """Move the fixed regions of an order to where they must be; the others keep their order."""
        if self.allows(order):
            return order
        front = [] if self.first is None else [self.first]
        back = [] if self.last is None else [self.last]
        inner = order[~np.isin(order, self.fixed)]
        return np.concatenate([front, inner, back]).astype(np.int64)

    def ending_at(self, last: int) -> Ends:
        """Return the same constraints with the last region fixed."""
        return replace(self, last=last)

    def renumber(self, number: IntArray) -> Ends:
        """Return the same constraints after renumbering the regions."""
        first, last = (None if end is None else int(number[end]) for end in (self.first, self.last))
        return Ends(first, last, self.closed)


def _allow_only(fixed: int | None, other: int | None, size: int) -> BoolArray:
    """Allow only the fixed region or, if there is none, all but the region fixed at the other end."""
    if fixed is not None:
        return np.equal(np.arange(size), fixed)
    return np.not_equal(np.arange(size), -1 if other is None or size == 1 else other)
