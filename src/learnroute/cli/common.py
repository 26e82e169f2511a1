"""What commands share: options, the terminal, progress."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import click
from rich import box
from rich.console import Console
from rich.table import Table

from learnroute.formats import read_problem
from learnroute.formats.files import check_destination
from learnroute.formats.json_files import dumps
from learnroute.model.problem import Problem
from learnroute.solvers.contract import Progress

F = TypeVar("F", bound=Callable[..., Any])
WIDTH = 120  # of tables that do not go to a terminal
PATIENCE = 0.5  # seconds before progress is shown
SELDOM = 10.0  # seconds between progress lines that do not go to a terminal


def problem_options(function: F) -> F:
    """Add FILE and the options that replace parts of its learner; the command gets a `problem`."""
    function = click.option("--noise", type=float, metavar="σ", help="Noise level, instead of the file's.")(function)
    function = click.option("--samples", type=int, metavar="n", help="Samples a region, instead of the file's.")(
        function
    )
    function = click.option("--features", type=int, metavar="m", help="Features, instead of the file's.")(function)
    return click.argument("file", type=click.Path(path_type=Path))(function)


def seed_option(function: F) -> F:
    """Add --seed."""
    return click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same answer.")(function)


def time_option(function: F) -> F:
    """Add --time-limit."""
    return click.option("--time-limit", type=float, metavar="SECONDS", help="Stop with the best found by then.")(
        function
    )


def json_option(function: F) -> F:
    """Add --json."""
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON object and nothing else.")(function)


def output_option(help_text: str) -> Callable[[F], F]:
    """Add -o."""
    return click.option("-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help=help_text)


def plot_option(function: F) -> F:
    """Add --plot."""
    return click.option(
        "--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw a picture (.png, .svg or .pdf)."
    )(function)


def load(file: Path, features: int | None, samples: int | None, noise: float | None) -> Problem:
    """Read the problem that the options of `problem_options` describe."""
    given = {"features": features, "samples": samples, "noise": noise}
    return read_problem(file, {key: value for key, value in given.items() if value is not None})


def check_outputs(output: Path | None, known: Iterable[str], plot: Path | None = None) -> None:
    """Refuse what could not be written, before the work begins."""
    if output:
        check_destination(output, known)
    if plot:
        from learnroute.plots import check_picture

        check_picture(plot)


def print_json(data: dict[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(dumps(data), nl=False)


def terminal() -> Console:
    """Return where tables go."""
    return Console(width=None if sys.stdout.isatty() else WIDTH, highlight=False, soft_wrap=False)


def table(*columns: str, left: int = 1) -> Table:
    """Return a table with headed columns, the first `left` of them text and the others numbers."""
    made = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for k, name in enumerate(columns):
        made.add_column(name, justify="left" if k < left else "right", overflow="fold", no_wrap=k >= left)
    return made


def say_written(path: Path) -> None:
    """Say on standard error that a file was written."""
    click.echo(f"wrote {path}", err=True)


@contextlib.contextmanager
def progress_shown() -> Iterator[Progress]:
    """Show how far a long job is, on standard error: a bar in a terminal, else a line now and then."""
    started = time.monotonic()
    if not sys.stderr.isatty():
        spoken = started

        def speak(stage: str, share: float) -> None:
            nonlocal spoken
            if time.monotonic() - spoken >= SELDOM:
                spoken = time.monotonic()
                click.echo(f"{stage}: {share:.0%} after {spoken - started:.0f} s", err=True)

        yield speak
        return

    from rich.progress import Progress as Bars

    with contextlib.ExitStack() as stack:
        bars: Bars | None = None
        rows: dict[str, Any] = {}

        def draw(stage: str, share: float) -> None:
            nonlocal bars
            if bars is None:
                if time.monotonic() - started < PATIENCE:
                    return
                bars = stack.enter_context(Bars(console=Console(stderr=True), transient=True))
            if stage not in rows:
                rows[stage] = bars.add_task(stage, total=1.0)
            bars.update(rows[stage], completed=share)

        yield draw
