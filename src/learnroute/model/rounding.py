"""What float64 may lose, and what is called equal: one decision, here and nowhere else.

Three numbers are enough. Relative always means relative to a size: losses may be negative, or zero.

*A margin* is what rounding can do to a sum, at most. A float64 operation is off by at most 2⁻⁵³ of its result, so a sum
of n terms, in any order, is off by less than n·2⁻⁵³ times the sum of their sizes; `margin` returns four times that,
because each term is itself the result of a few operations. Every claimed bound has its margin taken off, so rounding
counts against the claim and never for it.

*An optimum* is a value that no order undercuts by more than `OPTIMALITY` of it. A proof has to reach `PROOF`, half of
that, so that the margin of whoever repeats it fits into the other half.

*Equal* are two sums of the same terms if they differ by less than `SAME` of their size; and two numbers of which one
was rounded in between (printed, measured, found by another method) if they differ by less than `PRINTED`.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from learnroute.model.validation import FloatArray

BoolArray = NDArray[np.bool_]

UNIT = 2.0**-53  # the relative error of one float64 operation
OPTIMALITY = 1e-10  # relative: an order this near to a lower bound is called optimal
PROOF = OPTIMALITY / 2  # relative: a proof shows that no order is better by more than this
SAME = 1e-12  # relative: two sums of the same terms, added up in different ways
PRINTED = 1e-9  # relative: a value that was rounded in between, by printing it or by another way to compute it


def margin(terms: int, magnitude: float) -> float:
    """Return more than rounding can do to a sum of so many terms, whose sizes add up to `magnitude`."""
    return 4 * UNIT * terms * magnitude


@overload
def is_less(value: float, other: float, tolerance: float, magnitude: float = 0.0) -> bool: ...


@overload
def is_less(
    value: FloatArray, other: FloatArray, tolerance: float, magnitude: FloatArray | float = 0.0
) -> BoolArray: ...


def is_less(
    value: FloatArray | float, other: FloatArray | float, tolerance: float, magnitude: FloatArray | float = 0.0
) -> BoolArray | bool:
    """Whether a value is less than another one by more than rounding, for values of any sign.

    The tolerance is relative to the size of the value; or to `magnitude`, where that is larger: a sum whose terms
    cancel is off by a share of the sizes of its terms, not of itself. `other` may be inf.
    """
    found = value < other - tolerance * np.maximum(np.abs(value), magnitude)
    return found if isinstance(found, np.ndarray) else bool(found)
