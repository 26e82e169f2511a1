"""What float64 may lose, and what is called equal: one decision, here and nowhere else.

Three numbers are enough.

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

UNIT = 2.0**-53  # the relative error of one float64 operation
OPTIMALITY = 1e-10  # relative: an order this near to a lower bound is called optimal
PROOF = OPTIMALITY / 2  # relative: a proof shows that no order is better by more than this
SAME = 1e-12  # relative: two sums of the same terms, added up in different ways
PRINTED = 1e-9  # relative: a value that was rounded in between, by printing it or by another way to compute it


def margin(terms: int, magnitude: float) -> float:
    """Return more than rounding can do to a sum of so many terms, whose sizes add up to `magnitude`."""
    return 4 * UNIT * terms * magnitude
