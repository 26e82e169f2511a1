"""Errors of the routes of a fleet in all draws of a rehearsal, and how its models serve the regions."""

from __future__ import annotations

import numpy as np

from learnroute.learning.affine_maps import LinearTrainings
from learnroute.model.instance import Instance, Service
from learnroute.model.merge_weights import merge_weights
from learnroute.model.routes import UNTRAINED, Routes
from learnroute.model.validation import FloatArray, freeze
from learnroute.solvers.rehearsal import RehearsalModel


class RehearsedRoutes:
    """Evaluation of routes in all draws. With one vehicle and one model, that model serves all regions."""

    def __init__(self, trainings: LinearTrainings, instance: Instance, strength: float | None = None) -> None:
        self.trainings, self.rules = trainings, instance.fleet
        found = trainings.maps(instance.visits.at_most, strength, by_region=not self.rules.merged)
        self._start, self._root, self._aims = found.start, found.root, found.aims
        self.rehearsed = RehearsalModel(
            found.maps, found.constants, found.start, found.root, found.aims, found.rest, trainings.draws.visits
        )

    def _models(self, routes: Routes) -> list[FloatArray]:
        """Return each model after its trainings, one column per draw."""
        return [self.rehearsed.models(batches) for batches in self.rehearsed.batches(routes, self.rules.size)]

    def service(self, routes: Routes) -> Service:
        """Return the weights of the models, or the model of each region, with the lowest error in these draws."""
        if self.rules.single:
            return Service(np.empty(0), weights=np.ones(1))
        models = self._models(routes)
        if not self.rules.merged:
            tested = (self.trainings.errors_by_region(model).mean(axis=0) for model in (self._start, *models))
            return Service(np.empty(0), served_by=freeze(np.argmin(np.array(list(tested)), axis=0) + UNTRAINED))
        trained = np.array([bool(regions) for regions in routes.trainings(self.rules.size)])
        if self.rules.equal:
            return Service(np.empty(0), weights=freeze(trained / trained.sum()))
        some = np.flatnonzero(trained | (np.cumsum(~trained) == 1))  # untrained models are identical, so keep one
        residuals = [np.einsum("ijb,jb->ib", self._root[0], models[k]) - self._aims[0] for k in some]
        apart = [[((one - other) ** 2).sum(axis=0).mean() for other in residuals] for one in residuals]
        weights = np.zeros(self.rules.size)
        weights[some] = merge_weights(np.array([(one**2).sum(axis=0).mean() for one in residuals]), np.array(apart))
        return Service(np.empty(0), weights=freeze(weights))

    def errors_by_region(self, routes: Routes, service: Service) -> FloatArray:
        """Return the error of each draw in each region, as an array of draws x regions."""
        models = self._models(routes)
        if service.weights is not None:
            average = sum(weight * model for weight, model in zip(service.weights.tolist(), models, strict=True))
            return self.trainings.errors_by_region(np.asarray(average))
        assert service.served_by is not None
        tested = np.array([self.trainings.errors_by_region(model) for model in (self._start, *models)])
        return np.asarray(tested[service.served_by - UNTRAINED, :, np.arange(len(service.served_by))].T)

    def errors(self, routes: Routes, service: Service) -> FloatArray:
        """Return the error of each draw over all regions."""
        if self.rules.single:
            return self.rehearsed.errors(self.rehearsed.batches(routes, 1)[0])
        return self.average(self.errors_by_region(routes, service))

    def average(self, errors_by_region: FloatArray) -> FloatArray:
        """Return the error of each draw over all regions, from its errors by region."""
        return np.asarray((self.trainings.weights * errors_by_region).mean(axis=1))
