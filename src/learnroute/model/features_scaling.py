"""Scaling of raw features for the learner: subtract means, multiply by a matrix, append a constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from learnroute.errors import InputError, list_names
from learnroute.model.validation import FloatArray, as_flag, as_matrix, as_members, as_vector, freeze

FIELD = "features_scaling"
MEMBERS: dict[str, Any] = {
    "means": {
        "type": "array",
        "minItems": 1,
        "items": {"type": "number"},
        "description": "Number subtracted from each raw feature",
    },
    "matrix": {
        "type": "array",
        "minItems": 1,
        "items": {"type": "array", "items": {"type": "number"}},
        "description": "Matrix that multiplies the differences: raw features x features of the learner",
    },
    "intercept": {"type": "boolean", "description": "Whether a constant feature is appended; default false"},
    "columns": {
        "type": "array",
        "items": {"type": "string"},
        "uniqueItems": True,
        "description": "Names of the raw features, if known",
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["means", "matrix"],
    "additionalProperties": False,
    "properties": MEMBERS,
    "description": "Scaling of raw features, applied to samples by learnroute follow, rehearse and transfer",
}


@dataclass(frozen=True, eq=False)
class FeaturesScaling:
    """The map from raw features to the learner's: `(raw - means) @ matrix`, optionally followed by a constant 1.

    It is a feature map for `follow(…, features=scaling)` and `transfer(…, features=scaling)`.

    Parameters
    ----------
    means
        The number to subtract from each raw feature.
    matrix
        Raw features x learner's features; diagonal if features are standardised.
    intercept
        Whether a constant feature is appended.
    columns
        Names of the raw features, if they are known; labelled tables are brought into this order.

    Raises
    ------
    InputError
        If a number or a shape is wrong; the message gives the field, the value and a remedy.
    """

    means: FloatArray
    matrix: FloatArray
    intercept: bool = False
    columns: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        means = as_vector(f"{FIELD}.means", self.means, None, meaning="means")
        if not len(means):
            raise InputError("at least 1 raw feature is needed", field=f"{FIELD}.means", found="has 0 entries")
        matrix = as_matrix(f"{FIELD}.matrix", self.matrix, len(means), None, meaning="scaling factors")
        as_flag(f"{FIELD}.intercept", self.intercept)
        columns = None if self.columns is None else _names(self.columns, len(means))
        for name, value in (("means", means), ("matrix", matrix), ("columns", columns)):
            object.__setattr__(self, name, value)
        if not self.width:
            raise InputError("at least 1 learner's feature is needed", field=f"{FIELD}.matrix", found="has 0 columns")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FeaturesScaling) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.means.tobytes(), self.matrix.tobytes(), self.intercept, self.columns))

    def __repr__(self) -> str:
        constant = ", one of them constant" if self.intercept else ""
        return f"<FeaturesScaling of {len(self.means)} raw features to {self.width}{constant}>"

    @property
    def width(self) -> int:
        """The number of the learner's features, including the constant."""
        return int(self.matrix.shape[1]) + self.intercept

    def apply(self, inputs: ArrayLike) -> FloatArray:
        """Return the learner's features for raw features, one row per sample."""
        raw = np.asarray(inputs, dtype=np.float64)
        if raw.ndim != 2 or raw.shape[1] != len(self.means):
            named = "" if self.columns is None else f" ({list_names(self.columns)})"
            raise InputError(
                f"{len(self.means)} raw features are needed{named}; give samples as `estimate` got them, not scaled",
                field=FIELD,
                found=f"meets samples of shape {raw.shape}",
            )
        made = (raw - self.means) @ self.matrix
        return freeze(np.column_stack([made, np.ones(len(made))]) if self.intercept else made)

    __call__ = apply

    def to_dict(self) -> dict[str, Any]:
        """Return the content of the member of a problem or plan file."""
        data = {"means": self.means.tolist(), "matrix": self.matrix.tolist(), "intercept": self.intercept}
        return data if self.columns is None else {**data, "columns": list(self.columns)}

    @classmethod
    def from_dict(cls, data: Any) -> Self:
        """Read the member of a problem or plan file."""
        return cls(**as_members(f"{FIELD}.", data, tuple(MEMBERS), SCHEMA["required"]))


def _names(given: Any, size: int) -> tuple[str, ...]:
    """Return the validated names of the raw features, as chosen by those who collected them."""
    names = tuple(given) if isinstance(given, list | tuple) and all(isinstance(name, str) for name in given) else ()
    if len(names) != size or len(set(names)) < size:
        raise InputError(f"expected {size} different names, one per raw feature", field=f"{FIELD}.columns", value=given)
    return names
