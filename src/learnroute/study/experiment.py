"""A declarative experiment: the Cartesian product of its lists, one cell per combination."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from learnroute.errors import InputError, did_you_mean
from learnroute.formats.files import errors_naming, read_text
from learnroute.formats.json_files import parse
from learnroute.model.learners import Learner
from learnroute.model.problem import Problem
from learnroute.model.validation import as_choice, as_count, as_number
from learnroute.solvers.methods import method_by_name
from learnroute.study.families import FAMILIES, random_problem

MOST_CELLS = 10**8
MOST_DRAWS = 10**6
AXES = ("families", "regions", "features", "samples", "noise", "replicates")


@dataclass(frozen=True)
class Cell:
    """One random problem: a family, a size, a learner, and the number of the replicate."""

    family: str
    regions: int
    features: int
    samples: int
    noise: float
    replicate: int


@dataclass(frozen=True)
class Experiment:
    """Families x regions x features x samples x noise levels x replicates, each solved by all methods.

    Parameters
    ----------
    families, regions, features, samples, noise, methods
        One value or a list of distinct values: names of families, T, m, n, σ, names of methods.
    replicates
        Number of problems drawn per combination. Replicate k has the same regions for all learners.
    draws
        Number of routes over which random methods are averaged.
    seed
        Seed of the experiment. The same experiment gives the same rows.
    name
        Title of the experiment in printed results.
    """

    families: tuple[str, ...]
    regions: tuple[int, ...]
    features: tuple[int, ...]
    samples: tuple[int, ...] = (100,)
    noise: tuple[float, ...] = (0.1,)
    methods: tuple[str, ...] = ("algorithm1", "baseline", "exact")
    replicates: int = 100
    draws: int = 10
    seed: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        checks: dict[str, Callable[[str, Any], Any]] = {
            "families": lambda field, value: as_choice(field, value, FAMILIES),
            "regions": lambda field, value: as_count(field, value, least=2, meaning="the number of regions"),
            "features": lambda field, value: as_count(field, value, meaning="the number of features m"),
            "samples": lambda field, value: as_count(field, value, meaning="the number of samples n"),
            "noise": lambda field, value: as_number(field, value, least=0.0, meaning="the noise σ"),
            "methods": _method,
        }
        for field, check in checks.items():
            object.__setattr__(self, field, _values(field, getattr(self, field), check))
        for field, least in (("replicates", 1), ("draws", 1), ("seed", 0)):
            object.__setattr__(self, field, as_count(field, getattr(self, field), least=least, meaning=f"{field}"))
        if self.draws > MOST_DRAWS:
            raise InputError(f"at most {MOST_DRAWS:,}", field="draws", value=self.draws)
        if not isinstance(self.name, str) or not self.name.isprintable():
            raise InputError("expected one line of printable text", field="name", value=self.name)
        if self.size > MOST_CELLS:
            raise InputError(f"the experiment has {self.size:,} problems: at most {MOST_CELLS:,}; shorten its lists")

    @property
    def lengths(self) -> tuple[int, ...]:
        """Number of values of each axis, outermost first."""
        return (*(len(getattr(self, axis)) for axis in AXES[:-1]), self.replicates)

    @property
    def size(self) -> int:
        """Number of problems."""
        return math.prod(self.lengths)

    def places(self, number: int) -> list[int]:
        """Return the place of problem `number` on each axis; replicates vary fastest."""
        return [int(place) for place in np.unravel_index(number, self.lengths)]

    def cell(self, number: int) -> Cell:
        """Return the cell of problem `number`, 0 … size-1; replicates vary fastest."""
        family, regions, features, samples, noise, replicate = self.places(number)
        return Cell(
            self.families[family], self.regions[regions], self.features[features], self.samples[samples],
            self.noise[noise], replicate,
        )  # fmt: skip

    def problem(self, number: int) -> Problem:
        """Return problem `number`, drawn from the random stream of its replicate."""
        cell = self.cell(number)
        learner = Learner(cell.features, cell.samples, cell.noise)
        return random_problem(cell.family, cell.regions, learner, streams(self.seed, cell.replicate)[0])

    def to_dict(self) -> dict[str, Any]:
        """Return the experiment as plain JSON values."""
        return {key: list(value) if isinstance(value, tuple) else value for key, value in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Any, folder: Path = Path()) -> Experiment:
        """Build an experiment from the content of a file; reject unknown and missing fields by name.

        With `problems`, the experiment is on files (relative names refer to `folder`), see `GivenProblems`.
        """
        if isinstance(data, dict) and "problems" in data:
            from learnroute.study.given_problems import experiment_on_problems

            return experiment_on_problems(data, folder)
        known = [field.name for field in fields(cls)]
        if not isinstance(data, dict):
            raise InputError(f"expected a table with {', '.join(known)}", field="experiment", value=data)
        for key in data:
            if key not in known:
                raise InputError(f"unknown field; {did_you_mean(key, known)}", field=key)
        for key in ("families", "regions", "features"):
            if key not in data:
                reason = "missing; an experiment needs families, regions and features, or problems (a list of files)"
                raise InputError(reason, field=key)
        return cls(**data)


def is_experiment(path: Path) -> bool:
    """Return whether a file is an experiment, not a problem: .toml, or JSON without travel and coordinates."""
    if path.suffix.lower() != ".json":
        return path.suffix.lower() == ".toml"
    try:
        data = parse(read_text(path))
    except InputError:
        return False  # errors are reported when the file is read
    return isinstance(data, dict) and not data.keys() & {"travel", "coordinates", "learner", "route"}


def read_experiment(path: str | Path) -> Experiment:
    """Read an experiment from a TOML or JSON file."""
    path = Path(path)
    readers: dict[str, Callable[[str], Any]] = {".toml": _parse_toml, ".json": parse}
    if path.suffix.lower() not in readers:
        raise InputError(f"unknown format {path.suffix!r}; experiments are .toml or .json", where=path)
    text = read_text(path)
    with errors_naming(path):
        return Experiment.from_dict(readers[path.suffix.lower()](text), path.parent)


def streams(seed: int, replicate: int) -> tuple[np.random.SeedSequence, int]:
    """Return the random streams of a replicate: for drawing its problem, and (as a seed) for random methods.

    Equivalent to `SeedSequence(seed).spawn(…)[replicate].spawn(2)`, without creating the preceding streams.
    """
    problem, routes = np.random.SeedSequence(seed, spawn_key=(replicate,)).spawn(2)
    return problem, int(routes.generate_state(1, np.uint32)[0])


def _parse_toml(text: str) -> Any:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML ({error})") from None


def _values(field: str, given: Any, check: Callable[[str, Any], Any]) -> tuple[Any, ...]:
    """Check one value or a list of values without duplicates."""
    if isinstance(given, dict):
        raise InputError("expected a value or a list of values", field=field, value=given)
    entries = list(given) if isinstance(given, list | tuple) else [given]
    if not entries:
        raise InputError("expected at least one value", field=field, value=[])
    checked = tuple(check(f"{field}[{k}]" if len(entries) > 1 else field, entry) for k, entry in enumerate(entries))
    for k, value in enumerate(checked):
        if value in checked[:k]:
            raise InputError("given twice; give each value once", field=f"{field}[{k}]", value=value)
    return checked


def _method(field: str, value: Any) -> str:
    try:
        return method_by_name(value).name
    except InputError as error:
        raise error.renamed(field) from None
