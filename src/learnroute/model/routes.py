"""The routes of a fleet: what is searched for, proved, priced, written and checked. One route is a fleet of one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Self

import numpy as np

from learnroute.model.validation import IntArray

UNTRAINED = -1  # stands for the initial model, which no visit trains, in place of a model's number


class Routes(NamedTuple):
    """The visits of each vehicle in order, by region, and the model that each visit trains."""

    vehicles: tuple[tuple[int, ...], ...]
    models: tuple[tuple[int, ...], ...]

    @classmethod
    def of_vehicles(cls, routes: Sequence[Sequence[int] | IntArray]) -> Self:
        """Return the routes of several vehicles, each with its own model."""
        kept = tuple(tuple(map(int, route)) for route in routes)
        return cls(kept, tuple((vehicle,) * len(route) for vehicle, route in enumerate(kept)))

    @classmethod
    def of_models(cls, route: Sequence[int] | IntArray, models: Sequence[int] | IntArray) -> Self:
        """Return the route of one vehicle, with the model that each visit trains."""
        return cls((tuple(map(int, route)),), (tuple(map(int, models)),))

    @classmethod
    def of_order(cls, order: Sequence[int] | IntArray) -> Self:
        """Return the route of one vehicle with one model."""
        return cls.of_vehicles([order])

    def visits(self) -> Iterator[tuple[int, int, int]]:
        """Yield vehicle, region and model of each visit, one vehicle after another."""
        for vehicle, (route, models) in enumerate(zip(*self, strict=True)):
            for region, model in zip(route, models, strict=True):
                yield vehicle, region, model

    def trainings(self, models: int) -> list[list[int]]:
        """Return, for each model, the regions in which it is trained, in order."""
        if models == 1:
            return [self.regions]
        found: list[list[int]] = [[] for _ in range(models)]
        for _, region, model in self.visits():
            found[model].append(region)
        return found

    def resize(self, vehicles: int) -> Self:
        """Return the same routes for another number of vehicles, which must suffice; unused ones come last."""
        if len(self.vehicles) == vehicles == 1:
            return self
        used = [route for route in self.vehicles if route]
        return self.of_vehicles([*used, *[()] * (vehicles - len(used))])

    def without(self, vehicle: int, place: int) -> Self:
        """Return the routes without one visit."""
        routes, models = ([list(row) for row in rows] for rows in self)
        del routes[vehicle][place], models[vehicle][place]
        return type(self)(tuple(map(tuple, routes)), tuple(map(tuple, models)))

    @property
    def regions(self) -> list[int]:
        """The regions of all visits, one vehicle after another."""
        return [region for route in self.vehicles for region in route]

    @property
    def order(self) -> IntArray:
        """The same as an array."""
        return np.array(self.regions, dtype=np.int64)
