"""Types of file parameters: no output of a command may overwrite one of its inputs."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Any

import click

from learnroute.errors import InputError
from learnroute.formats import files_of_problem, files_of_samples, files_to_write

STANDARD_INPUT = Path("-")


def _alone(path: Path) -> Iterable[Path]:
    return (path,)


class FilePath(click.Path):
    """The type of a parameter that names a file or a folder.

    Parameters
    ----------
    files
        Returns the files that are read or written for a path: the path itself, files beside it, or files in a folder.
    written
        Whether they are written. State that a command reads and then replaces, such as a journey, is written, too.
    """

    def __init__(self, files: Callable[[Path], Iterable[Path]] = _alone, written: bool = False) -> None:
        super().__init__(path_type=Path)
        self.files, self.written = files, written


INPUT, PROBLEM, SAMPLES = FilePath(), FilePath(files_of_problem), FilePath(files_of_samples)
OUTPUT = FilePath(files_to_write, written=True)


def check_paths(params: Iterable[click.Parameter], values: dict[str, Any]) -> None:
    """Reject an output that is also an input, or another output, however their paths are spelled."""
    inputs: dict[Hashable, Path] = {}
    outputs: list[tuple[FilePath, Path]] = []
    for param in params:
        value = values.get(param.name or "")
        if isinstance(param.type, FilePath) and value is not None:
            for path in value if isinstance(value, tuple) else (value,):
                if param.type.written:
                    outputs.append((param.type, path))
                else:
                    inputs |= {_identity(file): file for file in param.type.files(path)}
    written: set[Hashable] = set()
    for kind, path in outputs:
        clash = next((inputs[same] for file in kind.files(path) if (same := _identity(file)) in inputs), None)
        if clash is not None:
            raise InputError(f"would overwrite the input {clash}; give another path", where=path)
        if _identity(path) in written:
            raise InputError("is to be written 2 times; give each file once", where=path)
        written.add(_identity(path))


def _identity(path: Path) -> Hashable:
    """Return what all links to a file, and all other spellings of its path, have in common."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        about = os.fstat(sys.stdin.fileno()) if path == STANDARD_INPUT else path.stat()
        return about.st_dev, about.st_ino
    return os.path.realpath(path)
