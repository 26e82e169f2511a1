"""The optimum by dynamic programming over sets (Held and Karp 1962, Bellman 1962)."""

from __future__ import annotations

from typing import ClassVar

from learnroute.model.certificates.base import Certificate


class HeldKarp(Certificate):
    """The optimum over all sets of regions; verification enumerates them again."""

    kind: ClassVar[str] = "held-karp"
