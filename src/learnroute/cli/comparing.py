"""compare."""

from __future__ import annotations

from pathlib import Path

import click

from learnroute.cli.common import (
    REPORTS,
    Source,
    check_outputs,
    command,
    json_option,
    one_model_options,
    output_option,
    output_result,
    plot_option,
    seed_option,
    show_progress,
    suffixes,
    time_left,
)
from learnroute.comparison.of_methods import compare
from learnroute.solvers.methods import METHODS


@command("compare", epilog="\b\nExample:\n  learnroute compare examples/warehouse-robot.json --plot methods.png")
@one_model_options
@click.option("--methods", metavar="A,B", help=f"Methods to run, of {', '.join(METHODS)}. Default: all but auto.")
@seed_option
@click.option(
    "--time-limit", type=float, metavar="SECONDS",
    help="Time limit for all methods together; each gets an equal part of the time left. Default: 60 per method.",
)  # fmt: skip
@click.option(
    "--draws", type=int, default=100, show_default=True, help="Number of routes to average over, for random methods."
)
@json_option
@output_option(f"Write the table ({suffixes(REPORTS)}).")
@plot_option
def compare_command(
    source: Source, methods: str | None, seed: int,
    time_limit: float | None, draws: int, as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Compare the routes and losses of all methods."""
    check_outputs(outputs, REPORTS, pictures)
    problem = source.read()
    names = [name.strip() for name in methods.split(",")] if methods is not None else None
    with show_progress() as progress:
        found = compare(problem, names, seed, time_left(time_limit), draws, progress)
    output_result(found, (*outputs, *pictures), as_json)


COMMANDS = (compare_command,)
