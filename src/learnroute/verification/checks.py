"""What a checker says about one claim of a plan."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One thing that a plan claims. `holds` is None where it could be neither confirmed nor refuted."""

    what: str
    holds: bool | None
    detail: str


class TooManyLabelsError(Exception):
    """The checker's own limit, not an error of the plan."""


def no_better(how: str) -> Check:
    """Say that an optimum is confirmed."""
    return Check("optimum", True, f"no route is better, {how}")


def refuted_by(difference: float) -> Check:
    """Say that an optimum is refuted: by how much another route is better."""
    return Check("optimum", False, f"a route that is better by {difference:.3g} exists")


def not_repeated(why: str) -> Check:
    """Say that an optimum was neither confirmed nor refuted."""
    return Check("optimum", None, why)
