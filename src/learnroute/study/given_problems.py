"""An experiment on given problems: files instead of random families, each solved by all methods."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from learnroute.errors import InputError, did_you_mean
from learnroute.formats import read_problem
from learnroute.formats.json_files import problem_to_dict
from learnroute.model.problem import Problem
from learnroute.study.experiment import Cell, Experiment

FIELDS = ("problems", "features", "samples", "noise", "methods", "replicates", "draws", "seed", "name")
LEARNER = ("features", "samples", "noise")  # values that may replace those of the files


class GivenProblems(Experiment):
    """Problems x features x samples x noise levels x replicates; omitted values are taken from the problems.

    Parameters
    ----------
    problems
        The problems by name; the names appear in the column `family` of the rows.
    features, samples, noise
        One value or a list of distinct values, instead of those of the problems.
    methods, draws, seed, name
        As in `Experiment`.
    replicates
        How often each problem is solved, with different seeds for random methods.
    """

    problems: dict[str, Problem]
    own: dict[str, tuple[Any, ...]]

    def __init__(self, problems: Mapping[str, Problem], replicates: int = 1, **others: Any) -> None:
        if not problems:
            raise InputError("expected at least one file", field="problems", value=list(problems))
        given = {field: others.pop(field) for field in LEARNER if others.get(field) is not None}
        # families and regions are placeholders for the problems; 1 means that the problems' own numbers are used
        stand_in = {"features": 1, "samples": 1, "noise": 0.0}
        super().__init__(("uniform",), (2,), **{**stand_in, **given}, replicates=replicates, **others)
        object.__setattr__(self, "problems", dict(problems))
        object.__setattr__(self, "own", {f: getattr(self, f) if f in given else (None,) for f in LEARNER})
        object.__setattr__(self, "families", tuple(problems))

    def cell(self, number: int) -> Cell:
        """Return the cell of problem `number`; replicates vary fastest."""
        name, features, samples, noise, replicate = self._places(number)
        learner = self.problems[name].learner
        return Cell(
            name, self.problems[name].size, features or learner.features, samples or learner.samples,
            learner.noise if noise is None else noise, replicate,
        )  # fmt: skip

    def problem(self, number: int) -> Problem:
        """Return problem `number`."""
        name, features, samples, noise, _ = self._places(number)
        found = self.problems[name]
        changes: dict[str, Any] = {
            f: v for f, v in zip(LEARNER, (features, samples, noise), strict=True) if v is not None
        }
        if not changes:
            return found
        counts = None if "samples" in changes else found.samples
        return found.replace(learner=replace(found.learner, **changes), samples=counts)

    def _places(self, number: int) -> tuple[str, int | None, int | None, float | None, int]:
        name, _, features, samples, noise, replicate = self.places(number)
        own = self.own
        return (
            self.families[name], own["features"][features], own["samples"][samples], own["noise"][noise], replicate,
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Return the experiment as plain JSON values, including the problems, so that rows need no other file."""
        whole = super().to_dict()
        given = {field: list(values) for field, values in self.own.items() if values != (None,)}
        kept = {field: whole[field] for field in FIELDS if field in whole and field not in LEARNER}
        return {**kept, **given, "problems": {name: problem_to_dict(one) for name, one in self.problems.items()}}


def experiment_on_problems(data: dict[str, Any], folder: Path) -> GivenProblems:
    """Build an experiment from the content of a file whose `problems` are names of files in `folder`, or problems."""
    for key in data:
        if key not in FIELDS:
            if key in ("families", "regions"):
                raise InputError("is set by the problems; remove it, or remove problems", field=key)
            raise InputError(f"unknown field; {did_you_mean(key, FIELDS)}", field=key)
    given = data["problems"]
    if isinstance(given, dict):
        problems = {str(name): Problem.from_dict(one) for name, one in given.items()}
    else:
        problems = read_problems([given] if isinstance(given, str) else given, folder)
    return GivenProblems(**{**data, "problems": problems})


def read_problems(files: Any, folder: Path = Path()) -> dict[str, Problem]:
    """Read problems by the names of their files; `*` matches any characters, and `**` any folders.

    The problems are named after their files, without folders if the names are then still unique.
    """
    if not isinstance(files, Iterable) or not all(isinstance(file, str) for file in files):
        raise InputError("expected a list of file names", field="problems", value=files)
    found: dict[str, Problem] = {}
    for k, file in enumerate(files):
        pattern = str(folder / file)
        paths = sorted(glob.glob(pattern, recursive=True)) if glob.has_magic(file) else [pattern]
        paths = [path for path in paths if not path.endswith(".regions.json")]
        if not paths:
            raise InputError("no such file", field=f"problems[{k}]", value=file)
        for path in paths:
            name = path if folder == Path() else str(Path(path).relative_to(folder) if glob.has_magic(file) else file)
            if name in found:
                raise InputError("given twice; give each file once", field=f"problems[{k}]", value=name)
            found[name] = read_problem(path)
    short = [Path(name).name for name in found]
    if len(set(short)) < len(short):
        return found
    return dict(zip(short, found.values(), strict=True))
