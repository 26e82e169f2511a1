"""Errors in a user-defined learner, reported with the traceback of the user's code only."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path

import click

from learnroute.errors import InputError

FRAME = re.compile(r'^ *File "([^"]+)", line \d+.*\n(?: {4}.*\n)*', re.MULTILINE)
INSTALLED = tuple(str(Path(place).resolve()) for place in (
    Path(__file__).parents[1], sys.prefix, sys.base_prefix, Path(os.__file__).parent,
))  # fmt: skip  # folders of learnroute, of packages and of Python


class UserCodeError(click.ClickException):
    """An error in the user's code; the message contains the user's part of the traceback."""


@contextlib.contextmanager
def user_code(learner: str | None) -> Iterator[None]:
    """Report exceptions of the learner MODULE:FUNCTION with a traceback of its code, without frames of learnroute."""
    try:
        yield
    except (InputError, click.ClickException, MemoryError):
        raise
    except Exception as error:
        if learner is None or ":" not in learner:
            raise
        cause = "".join(traceback.format_exception_only(error)).rstrip()
        raise UserCodeError("\n".join([f"--learner {learner!r} failed:", *_user_frames(error), cause])) from None


def _user_frames(error: BaseException) -> list[str]:
    """Return the frames of a traceback outside installed packages, also for errors in a worker process."""
    frames = FRAME.finditer("".join(traceback.format_exception(error)))
    own = [frame for frame in frames if not frame[1].startswith("<")]
    return [frame[0].rstrip() for frame in own if not str(Path(frame[1]).resolve()).startswith(INSTALLED)]
