"""Planning again on the way: after each visit, what was measured goes in and the rest of the route is planned anew."""

from learnroute.journeys.journey import Journey
from learnroute.journeys.observation import MEASURED

__all__ = ["MEASURED", "Journey"]
