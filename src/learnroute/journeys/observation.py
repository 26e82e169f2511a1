"""Measurements made at a visit of a journey."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from learnroute.errors import InputError
from learnroute.model.labelled_tables import Labelled, row_labels
from learnroute.model.problem import Problem
from learnroute.model.validation import as_numbers_by_region, as_vector

MEASURED = ("errors", "dissimilarity", "vector")


@dataclass(frozen=True)
class Observation:
    """A visited region and the measurements made there.

    `errors` are the errors of the model in some regions, right after training here. `dissimilarity` contains the
    dissimilarities of other regions to this one. `vector` is this region's vector, if the problem has vectors.
    """

    region: str
    errors: Mapping[str, float] = field(default_factory=dict)
    dissimilarity: Mapping[str, float] = field(default_factory=dict)
    vector: tuple[float, ...] | None = None

    @classmethod
    def of(cls, problem: Problem, region: str, measured: Mapping[str, Any]) -> Observation:
        """Return the measurements made in a region; reject those that do not fit the problem."""
        errors, apart = (_by_region(problem, name, measured.get(name)) for name in ("errors", "dissimilarity"))
        vector = measured.get("vector")
        if vector is not None:
            if problem.vectors is None:
                raise InputError(
                    "the problem has dissimilarities, not vectors; give dissimilarity instead", field="vector"
                )
            if apart:
                raise InputError("both given; the vector is enough", field="dissimilarity", found="and vector")
            width = problem.vectors.shape[1]
            vector = tuple(as_vector("vector", vector, width, meaning="vector entries").tolist())
        if apart:
            problem.check_symmetric("a visit may correct")
        if apart and problem.vectors is not None:
            raise InputError("the problem has vectors; give the vector of this region instead", field="dissimilarity")
        if apart.get(region, 0.0) != 0:
            raise InputError(
                "the dissimilarity of a region to itself is 0; remove it",
                field=f"dissimilarity.{region}",
                found=f"= {apart[region]:g}",
            )
        return cls(region, errors, apart, vector)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values of the quantities that were measured."""
        data: dict[str, Any] = {"region": self.region}
        if self.errors:
            data["errors"] = dict(self.errors)
        if self.dissimilarity:
            data["dissimilarity"] = dict(self.dissimilarity)
        if self.vector is not None:
            data["vector"] = list(self.vector)
        return data

    def without(self, region: str) -> Observation:
        """Return the visit without the measurements about a region."""
        errors = {name: value for name, value in self.errors.items() if name != region}
        apart = {name: value for name, value in self.dissimilarity.items() if name != region}
        return replace(self, errors=errors, dissimilarity=apart)


def _by_region(problem: Problem, field_name: str, values: Any) -> dict[str, float]:
    if values is None:
        return {}
    names = row_labels({field_name: values})
    if names is not None:
        values = dict(zip(names, Labelled.of(values).values.tolist(), strict=True))
    meaning = "errors" if field_name == "errors" else "dissimilarities"
    return as_numbers_by_region(field_name, values, problem.regions, meaning)
