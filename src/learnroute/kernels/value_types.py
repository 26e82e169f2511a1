"""Types of the values that kernels compute with, and how they are laid out in machine code.

A value is a list of *parts* that fit into registers: a number is one part, an array is a pointer and its shape, a tuple
is what its items are, one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np


class NotInSubsetError(TypeError):
    """Code, or an argument, that is not in the subset of Python that kernels are written in."""


@dataclass(frozen=True)
class Scalar:
    """A number."""

    name: str
    llvm: str


INT, FLOAT, BOOL, MASK = Scalar("int", "i64"), Scalar("float", "double"), Scalar("bool", "i1"), Scalar("mask", "i64")


@dataclass(frozen=True)
class Element:
    """A number as it is stored in an array."""

    dtype: str
    llvm: str
    scalar: Scalar
    size: int


ELEMENTS = {
    "float64": Element("float64", "double", FLOAT, 8),
    "int64": Element("int64", "i64", INT, 8),
    "uint64": Element("uint64", "i64", MASK, 8),
    "bool": Element("bool", "i8", BOOL, 1),
    "int8": Element("int8", "i8", INT, 1),
    "uint8": Element("uint8", "i8", INT, 1),
}


@dataclass(frozen=True)
class Layout:
    """A record as it is stored in an array: names, elements and offsets of its fields."""

    fields: tuple[tuple[str, Element, int], ...]
    size: int


@dataclass(frozen=True)
class Array:
    """A C-contiguous array."""

    item: Element | Layout
    axes: int


@dataclass(frozen=True)
class Record:
    """One record of an array: a reference, not a copy."""

    layout: Layout


@dataclass(frozen=True)
class Tuple:
    """Several values; with the names of a NamedTuple, if it is one."""

    items: tuple[Type, ...]
    made_by: Any = None


Type = Scalar | Array | Record | Tuple
NOTHING = Tuple(())


def parts_of(kind: Type) -> list[str]:
    """Return the types of a value's parts in machine code."""
    if isinstance(kind, Scalar):
        return [kind.llvm]
    if isinstance(kind, Array):
        return ["ptr"] + ["i64"] * kind.axes
    if isinstance(kind, Record):
        return ["ptr"]
    return [part for item in kind.items for part in parts_of(item)]


@lru_cache(maxsize=256)
def element_of(dtype: Any) -> Element | Layout:
    """Return how numbers or records of a NumPy type are stored."""
    if dtype.fields is None:
        if dtype.name not in ELEMENTS or not dtype.isnative:
            raise NotInSubsetError(f"kernels take no arrays of {dtype}; they take {', '.join(ELEMENTS)}")
        return ELEMENTS[dtype.name]
    fields = []
    for name in dtype.names:
        field, offset = dtype.fields[name][:2]
        element = element_of(field)
        assert isinstance(element, Element)
        fields.append((name, element, int(offset)))
    return Layout(tuple(fields), int(dtype.itemsize))


@lru_cache(maxsize=256)
def array_type(dtype: Any, axes: int) -> Array:
    """Return the type of a NumPy array."""
    return Array(element_of(dtype), axes)


def type_of(value: Any) -> Type:
    """Return the type of an argument."""
    if isinstance(value, np.ndarray):
        if not value.flags.c_contiguous:
            raise NotInSubsetError("kernels take C-contiguous arrays alone; np.ascontiguousarray makes one")
        return array_type(value.dtype, value.ndim)
    if isinstance(value, (bool, np.bool_)):
        return BOOL
    if isinstance(value, np.uint64):
        return MASK
    if isinstance(value, (int, np.integer)):
        return INT
    if isinstance(value, (float, np.floating)):
        return FLOAT
    if isinstance(value, tuple):
        made_by = type(value) if hasattr(value, "_fields") else None
        return Tuple(tuple(type_of(item) for item in value), made_by)
    raise NotInSubsetError(f"kernels take no {type(value).__name__}")


def unified(one: Type, two: Type) -> Type:
    """Return the type that values of both types can be converted to."""
    if one == two:
        return one
    if isinstance(one, Scalar) and isinstance(two, Scalar):
        for wider in (FLOAT, MASK, INT):
            if wider in (one, two):
                return wider
    if isinstance(one, Tuple) and isinstance(two, Tuple) and len(one.items) == len(two.items):
        items = tuple(unified(a, b) for a, b in zip(one.items, two.items, strict=True))
        return Tuple(items, one.made_by if one.made_by is two.made_by else None)
    raise NotInSubsetError(f"one name for values of two types: {one} and {two}")


def holds_arrays(kind: Type) -> bool:
    """Whether a value points to memory."""
    return "ptr" in parts_of(kind)


def result_type(kind: Type) -> str:
    """Return what a function of machine code returns."""
    parts = parts_of(kind)
    return "{" + ", ".join(parts) + "}" if parts else "void"
