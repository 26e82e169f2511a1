"""A route as it is travelled: from the depot, where there is one, through the regions, and back where that counts."""

from __future__ import annotations

from typing import NamedTuple

from numpy.typing import ArrayLike

from learnroute.model.losses import as_order, legs_of
from learnroute.model.problem import Problem


class Stop(NamedTuple):
    """One stop of a route.

    Attributes
    ----------
    position
        The number of the visit, from 1; 0 for the depot, and one more than the last visit for the way back.
    name, place
        What it is called, and its index among the stops of the problem.
    travel
        What the way from the stop before costs; 0 at the start.
    visit
        Whether the learner trains here: not in the depot, and not when it comes back.
    region
        Whether it is a region, and not the depot.
    """

    position: int
    name: str
    place: int
    travel: float
    visit: bool
    region: bool


def itinerary(problem: Problem, order: ArrayLike) -> list[Stop]:
    """Return all stops of a route, from where it starts to where it ends."""
    visits = as_order(problem, order).tolist()
    ahead = [] if problem.depot is None else [problem.size]
    indices = [*ahead, *visits]
    indices += indices[:1] if problem.closed else []
    travel = [0.0, *legs_of(problem, order).tolist()]
    first = 1 - len(ahead)
    return [
        Stop(position, problem.stops[i], i, way, 1 <= position <= len(visits), i < problem.size)
        for position, (i, way) in enumerate(zip(indices, travel, strict=True), first)
    ]
