"""Replanning during a journey: after each visit, measurements are added and the rest of the route is replanned."""

from learnroute.journeys.journey import Journey
from learnroute.journeys.observation import MEASURED

__all__ = ["MEASURED", "Journey"]
