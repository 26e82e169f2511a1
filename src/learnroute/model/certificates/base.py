"""The base class of certificates: a bound, and members that are stored as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from learnroute.errors import InputError
from learnroute.model.validation import FloatArray, as_vector

NUMBERS: dict[str, Any] = {"type": "array", "items": {"type": "number"}}
INDICES: dict[str, Any] = {"type": "array", "items": {"type": "integer", "minimum": 0}}
LISTS_OF_INDICES: dict[str, Any] = {"type": "array", "items": INDICES}


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """A lower bound on the value of every order, in the units of the objective, with the data that prove it.

    Attributes
    ----------
    kind
        The name of the kind in JSON.
    members
        The members of its JSON object besides `kind` and `bound`, each with its schema.
    optional
        The members that may be omitted.
    bound
        The lower bound: no order has a smaller value.
    """

    kind: ClassVar[str]
    members: ClassVar[Mapping[str, Any]] = {}
    optional: ClassVar[tuple[str, ...]] = ()

    bound: float

    def __repr__(self) -> str:
        parts = [f"{len(getattr(self, one.name)):,} {one.name}" for one in fields(self) if one.name != "bound"]
        return f"<{self.kind} certificate: {', '.join([f'bound {self.bound:.6g}', *parts])}>"

    def _members(self) -> dict[str, Any]:
        """Return the members besides `kind` and `bound` as plain JSON values."""
        return {}

    @classmethod
    def read(cls, bound: float, data: Mapping[str, Any], size: int) -> Self:
        """Read the members of a certificate for T regions, or reject them."""
        return cls(bound)

    def to_dict(self, size: int) -> dict[str, Any]:
        """Return the certificate in its JSON format, with the bound per region."""
        return {"kind": self.kind, "bound": self.bound / size, **self._members()}

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """Return the JSON schema of this kind."""
        bound = {"type": "number", "description": "Lower bound on the total loss per region"}
        return {
            "type": "object",
            "description": (cls.__doc__ or "").partition("\n")[0],
            "properties": {"kind": {"const": cls.kind}, "bound": bound, **cls.members},
            "required": ["kind", "bound", *(member for member in cls.members if member not in cls.optional)],
            "additionalProperties": False,
        }


def as_multipliers(field: str, value: Any, length: int) -> FloatArray:
    """Return validated Lagrangian multipliers, one per vertex."""
    return as_vector(field, value, length, meaning="multipliers", derived=True)


def as_index_lists(field: str, rows: Any, size: int) -> tuple[tuple[int, ...], ...]:
    """Return validated lists of 0-based indices below `size`."""
    if not isinstance(rows, list):
        raise InputError("expected a list of lists", field=field, value=rows)
    for v, row in enumerate(rows):
        if not isinstance(row, list) or not all(type(u) is int and 0 <= u < size for u in row):
            raise InputError(f"expected a list of 0-based indices below {size}", field=f"{field}[{v}]", value=row)
    return tuple(tuple(row) for row in rows)


def plain(array: FloatArray) -> list[float]:
    """Return numbers as a plain list for JSON."""
    return [float(x) for x in np.asarray(array)]
