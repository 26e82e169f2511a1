"""The 1-tree bound (Held and Karp 1970, 1971)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from learnroute.model.certificates.base import NUMBERS, Certificate, as_multipliers, plain
from learnroute.model.validation import FloatArray


@dataclass(frozen=True, eq=False, repr=False)
class OneTree(Certificate):
    """A minimum 1-tree with Lagrangian multipliers.

    `multipliers` has one entry per region, followed by those of the two added vertices, `home` and `out`.
    """

    kind: ClassVar[str] = "one-tree"
    members: ClassVar[Mapping[str, Any]] = {
        "multipliers": {**NUMBERS, "description": "One per region, then those of the vertices home and out"}
    }

    multipliers: FloatArray

    def _members(self) -> dict[str, Any]:
        return {"multipliers": plain(self.multipliers)}

    @classmethod
    def read(cls, bound: float, data: Mapping[str, Any], size: int) -> Self:
        """Read the multipliers."""
        return cls(bound, as_multipliers("certificate.multipliers", data.get("multipliers"), size + 2))
