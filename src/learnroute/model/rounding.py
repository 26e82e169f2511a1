"""Rounding errors of float64 and tolerances for equality, defined in this one place.

Tolerances are relative to an absolute value, because losses may be negative or zero.

*A margin* is an upper bound on the rounding error of a sum. The relative error of a float64 operation is at most 2⁻⁵³,
so the error of a sum of n terms, in any order, is less than n·2⁻⁵³ times the sum of their absolute values. `margin`
returns four times that, because each term is itself the result of a few operations. The margin is subtracted from every
claimed bound, so rounding counts against the claim and never for it.

A value is *optimal* if no order undercuts it by more than a share `OPTIMALITY` of it. A proof must reach `PROOF`, half
of that, so that the margin of a checker that repeats it fits into the other half.

Two sums of the same terms are *equal* if they differ relatively by less than `SAME`, and two numbers of which one was
rounded (printed, measured, found by another method) are equal if it is less than `PRINTED`.
"""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

from learnroute.model.validation import FloatArray

BoolArray = NDArray[np.bool_]

UNIT = 2.0**-53  # the relative error of one float64 operation
OPTIMALITY = 1e-10  # relative: an order this close to a lower bound is called optimal
PROOF = OPTIMALITY / 2  # relative: a proof shows that no order is better by more than this
SAME = 1e-12  # relative: two sums of the same terms in different orders
PRINTED = 1e-9  # relative: a value that was rounded in between, by printing or by another computation


def margin(terms: int, magnitude: float) -> float:
    """Return a bound on the rounding error of a sum of terms whose absolute values sum to `magnitude`."""
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
    """Return whether a value is less than another one by more than rounding, for values of any sign.

    The tolerance is relative to the absolute value, or to `magnitude` if that is larger, because the error of a sum
    whose terms cancel is relative to the absolute values of its terms, not of itself. `other` may be inf.
    """
    found = value < other - tolerance * np.maximum(np.abs(value), magnitude)
    return found if isinstance(found, np.ndarray) else bool(found)
