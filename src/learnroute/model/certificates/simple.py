"""The bound that can be recomputed from the problem alone."""

from __future__ import annotations

from typing import ClassVar

from learnroute.model.certificates.base import Certificate


class Simple(Certificate):
    """A minimum spanning tree, or cheapest arcs, for travel; the rearrangement inequality for scores."""

    kind: ClassVar[str] = "simple"
