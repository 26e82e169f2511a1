"""Verdicts on the claims of a plan: confirmed, refuted, or not checked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any, Literal

from learnroute.model.result_mixin import TableMixin
from learnroute.model.table import Column, Sheet, Table

Verdict = Literal["confirmed", "refuted", "not checked"]

CONFIRMED: Verdict = "confirmed"
REFUTED: Verdict = "refuted"
NOT_CHECKED: Verdict = "not checked"


@dataclass(frozen=True)
class Check:
    """A claim of a plan, and the verdict on it.

    *confirmed*: the claim is true for the numbers of the problem. *refuted*: it is false, or it does not follow from
    the certificate given for it. *not checked*: neither was shown.
    """

    what: str
    verdict: Verdict
    detail: str

    @property
    def holds(self) -> bool | None:
        """True or False; None if the claim was not checked."""
        return {CONFIRMED: True, REFUTED: False, NOT_CHECKED: None}[self.verdict]


@dataclass(frozen=True)
class Verification(TableMixin):
    """The verdicts on all claims of a plan.

    Attributes
    ----------
    checks
        One check per claim.
    remarks
        The members of the plan that are not claims about its route, but describe how it was found.
    differences
        How the rules that the plan was made under differ from those of the problem; empty if they agree. All verdicts
        are about the rules of the problem.
    """

    checks: tuple[Check, ...]
    remarks: tuple[str, ...] = ()
    differences: str = ""

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    @property
    def verdict(self) -> Verdict:
        """Refuted if any claim is refuted, else not checked if any claim is not, else confirmed."""
        found = {check.verdict for check in self.checks}
        return REFUTED if REFUTED in found else NOT_CHECKED if NOT_CHECKED in found else CONFIRMED

    @property
    def holds(self) -> bool:
        """Whether every claim is confirmed."""
        return self.verdict == CONFIRMED

    def table(self) -> Table:
        """Return one row per claim."""
        columns = (
            Column("claim", "claim", left=True),
            Column("verdict", "verdict", lambda verdict: "REFUTED" if verdict == REFUTED else verdict, left=True),
            Column("detail", "detail", left=True),
        )
        return Table(columns, [(check.what, check.verdict, check.detail) for check in self.checks])

    def sheet(self) -> Sheet:
        """Return the claims, and the members that were not judged."""
        lines = [("not judged", f"{', '.join(self.remarks)} (how the route was found)")] if self.remarks else []
        lines += [("other rules", self.differences)] if self.differences else []
        headline = f"{len(self.checks)} claim{'s' * (len(self.checks) != 1)}: {self.verdict}"
        return Sheet(headline, (self.table(),), tuple(lines))

    def to_dict(self) -> dict[str, Any]:
        """Return the verdicts as plain JSON values."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "checks": [asdict(check) for check in self.checks],
            "not_judged": list(self.remarks),
            "differences": self.differences,
        }


class EffortExceededError(Exception):
    """The checker's effort limit was reached; this is not an error of the plan."""


class Effort:
    """Remaining work before a check ends with *not checked*, in operations, not in seconds."""

    def __init__(self, most: int) -> None:
        self.left = most

    def spend(self, amount: int) -> None:
        """Subtract work about to be done; raise EffortExceededError if it exceeds the remaining work."""
        self.left -= amount
        if self.left < 0:
            raise EffortExceededError
