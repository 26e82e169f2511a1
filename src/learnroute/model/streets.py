"""The ways along which travel was measured, where they are known."""

from __future__ import annotations

from abc import ABC, abstractmethod

from learnroute.model.validation import FloatArray


class Streets(ABC):
    """Where a cheapest way between two regions leads. Immutable."""

    @abstractmethod
    def path(self, origin: int, goal: int) -> FloatArray:
        """Return the places on the way from one region to another, both ends included, as rows of two coordinates."""
