"""Records of learners for files: class and parameters, and how two learners differ."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import ModuleType
from typing import Any

import numpy as np

from learnroute.errors import InputError

DEEPEST = 8  # maximum depth of recursion into a learner's members
LONGEST = 16  # arrays with up to this many numbers are written out
CHANCE = {"random_state", "seed", "verbose", "n_jobs"}  # parameters that do not distinguish learners
MOST_SHOWN = 3  # differences named in a message


def learner_record(model: Any, depth: int = 0) -> dict[str, Any]:
    """Return the class and the parameters of a learner, without seeds, as plain JSON values.

    Parameters are those of `get_params` or, without it, the public members. Values that JSON cannot represent are
    described by their class and a digest of their contents.
    """
    named = getattr(model, "__dict__", {})
    if hasattr(model, "get_params"):
        with suppress(TypeError):  # raised by some libraries' get_params
            named = model.get_params(deep=False)
    parameters = {
        name: _plain(value, depth + 1)
        for name, value in sorted(named.items())
        if not name.startswith("_") and name not in CHANCE
    }
    return {"class": type(model).__name__, "parameters": parameters}


def as_record(field: str, given: Any) -> dict[str, Any] | None:
    """Validate a learner's record from a file; None for files of earlier versions, which have no record."""
    if given is None:
        return None
    if isinstance(given, dict) and isinstance(given.get("class"), str) and isinstance(given.get("parameters"), dict):
        return given
    raise InputError("expected an object with class and parameters", field=field, value=given)


def distinguishing_names(first: dict[str, Any], second: dict[str, Any]) -> tuple[str, str] | None:
    """Return names that distinguish two learners; None if they are the same."""
    if first == second:
        return None
    if first["class"] != second["class"]:
        return first["class"], second["class"]
    ours, theirs = (dict(_leaves(record["parameters"])) for record in (first, second))
    apart = [name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name)]
    more = f", and {len(apart) - MOST_SHOWN} more" if len(apart) > MOST_SHOWN else ""
    names = []
    for leaves in (ours, theirs):
        shown = ", ".join(f"{name}={leaves.get(name, 'none')}" for name in apart[:MOST_SHOWN])
        names.append(f"{first['class']}({shown}{more})")
    return names[0], names[1]


def contents(value: Any, depth: int = 0) -> Iterator[bytes]:
    """Yield the contents of a value, identical in every process: members by name, arrays and tensors by numbers."""
    yield type(value).__qualname__.encode()
    if depth > DEEPEST or isinstance(value, type | ModuleType):
        yield str(getattr(value, "__name__", "")).encode()
        return
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield repr((value.shape, value.dtype)).encode()
        yield np.ascontiguousarray(value).tobytes()
    elif _is_module(value):
        yield repr(value).encode()
        for name, tensor in value.state_dict().items():
            yield name.encode() + tensor.detach().cpu().numpy().tobytes()
    elif isinstance(value, Mapping):
        for key in sorted(value, key=repr):
            yield repr(key).encode()
            yield from contents(value[key], depth + 1)
    elif isinstance(value, list | tuple | np.ndarray):
        for one in value:
            yield from contents(one, depth + 1)
    elif hasattr(value, "__code__"):
        code = value.__code__
        yield code.co_code + repr((code.co_names, [c for c in code.co_consts if not hasattr(c, "co_code")])).encode()
        for cell in value.__closure__ or ():
            yield from contents(cell.cell_contents, depth + 1)
    elif hasattr(value, "__dict__"):
        yield from contents(vars(value), depth + 1)
    elif " at 0x" not in repr(value):  # addresses differ from process to process
        yield repr(value).encode()


def _plain(value: Any, depth: int) -> Any:
    """Return a parameter as a plain JSON value."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str | float):
        return repr(value) if isinstance(value, float) and not math.isfinite(value) else value
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) <= LONGEST:
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) <= LONGEST and depth < DEEPEST:
        return [_plain(one, depth + 1) for one in value]
    if hasattr(value, "get_params") and not isinstance(value, type) and depth < DEEPEST:
        return learner_record(value, depth)
    found = hashlib.sha256()
    if _is_module(value):  # initial weights are random, like seeds
        found.update(repr(value).encode())
    else:
        for part in contents(value):
            found.update(part)
    return f"{type(value).__name__} {found.hexdigest()[:8]}"


def _is_module(value: Any) -> bool:
    """Return whether a value is a PyTorch module."""
    return hasattr(value, "state_dict") and hasattr(value, "parameters")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the parameters of a record and of nested records, by their dotted names."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, f"{path}.{name}" if path else name)
    elif isinstance(value, list) and any(isinstance(one, dict | list) for one in value):
        for number, one in enumerate(value):
            yield from _leaves(one, f"{path}.{number}" if path else str(number))
    else:
        yield path, value
