"""What a checker says about a plan, claim by claim: confirmed, refuted, or not checked."""

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
    """One thing that a plan claims, and the verdict on it.

    *confirmed*: it is true for the numbers of the problem. *refuted*: it is not, or it does not follow from the
    certificate that is given for it. *not checked*: neither was shown.
    """

    what: str
    verdict: Verdict
    detail: str

    @property
    def holds(self) -> bool | None:
        """True, False, or None where the claim was not checked."""
        return {CONFIRMED: True, REFUTED: False, NOT_CHECKED: None}[self.verdict]


@dataclass(frozen=True)
class Verification(TableMixin):
    """The verdicts on all claims of a plan.

    Attributes
    ----------
    checks
        One a claim.
    remarks
        The members of the plan that are no claims about its route: how it was found, and in which words.
    """

    checks: tuple[Check, ...]
    remarks: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Check]:
        return iter(self.checks)

    def __len__(self) -> int:
        return len(self.checks)

    @property
    def verdict(self) -> Verdict:
        """Refuted if any claim is; else not checked if any claim is; confirmed if all are."""
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
        """Return the claims, and what was not judged."""
        lines = (("not judged", f"{', '.join(self.remarks)} (how the route was found)"),) if self.remarks else ()
        return Sheet(f"{len(self.checks)} claims: {self.verdict}", (self.table(),), lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the verdicts as plain JSON values."""
        return {
            "holds": self.holds,
            "verdict": self.verdict,
            "checks": [asdict(check) for check in self.checks],
            "not_judged": list(self.remarks),
        }


class EffortExceededError(Exception):
    """The checker's own limit, not an error of the plan."""


class Effort:
    """Work that is left before a check ends with *not checked*, counted in operations, not in seconds."""

    def __init__(self, most: int) -> None:
        self.left = most

    def spend(self, amount: int) -> None:
        """Count work about to be done; stop where it is more than what is left."""
        self.left -= amount
        if self.left < 0:
            raise EffortExceededError
