"""sweep, rows, plot."""

from __future__ import annotations

import contextlib
import importlib
import logging
from itertools import chain
from pathlib import Path
from typing import Any

import click

from learnroute.cli.common import (
    Name,
    check_outputs,
    command,
    json_option,
    output_option,
    output_result,
    report_files,
    say,
    show_progress,
    suffixes,
)
from learnroute.cli.paths import INPUT, OUTPUT, PROBLEM
from learnroute.errors import InputError, printable
from learnroute.formats import PICTURES
from learnroute.formats.files import is_folder
from learnroute.study.experiment import Experiment, is_experiment, read_experiment
from learnroute.study.given_problems import GivenProblems, read_problems
from learnroute.study.rows import WRITERS, read_rows, write_rows
from learnroute.study.store import Store
from learnroute.study.summary import NUMERIC, condition
from learnroute.study.sweeps import sweep


@command(
    "sweep",
    epilog="\b\nExample:\n  learnroute sweep examples/ratios.toml -o ratios\n"
    "  learnroute sweep examples/ratios.toml -o ratios --resume\n"
    "  learnroute sweep examples/*.json -o own --methods exact,algorithm1",
)
@click.argument("files", nargs=-1, required=True, type=PROBLEM, metavar="FILE...")
@click.option("-o", "--output", type=OUTPUT, metavar="FOLDER", required=True,
              help="Folder of the sweep: new or empty, or an existing sweep with --resume.")  # fmt: skip
@click.option("--resume", is_flag=True, help="Continue the sweep in the folder; solved problems are not solved again.")
@click.option("--methods", metavar="A,B", help="Methods, for problem files.  [default: algorithm1,baseline,exact]")
@click.option("--workers", type=int, metavar="K", help="Number of processes.  [default: one per core]")
@click.option("--dask", metavar="ADDRESS", help="Dask scheduler to run on: tcp://HOST:PORT, or local.")
@json_option
def sweep_command(
    files: tuple[Path, ...], output: Path, resume: bool, methods: str | None, workers: int | None, dask: str | None,
    as_json: bool,
) -> None:  # fmt: skip
    """Solve many problems and write one row per problem and method.

    FILE is an experiment (.toml or .json); or give several problem files, in any format that `plan` reads.

    Writes rows.csv to the folder, and rows.parquet if pyarrow is installed. Solved problems survive an interruption.
    """
    experiment = _experiment(files, methods)
    if dask is not None:
        _silence_dask()
    try:
        with show_progress() as progress:
            done = sweep(experiment, output, resume, workers, dask, progress)
    except KeyboardInterrupt:
        solved = Store(output).done if (output / "experiment.json").exists() else 0
        say(f"{solved} of {experiment.size} problems are stored; --resume continues with the rest")
        raise
    for name in _row_files():
        write_rows(Store(output).rows(), output / name)
        report_files(output / name)
    output_result(done, (), as_json)


@command(
    "rows",
    epilog="\b\nExample:\n  learnroute sweep examples/ratios.toml -o ratios\n  learnroute rows ratios -o rows.parquet",
)
@click.argument("folder", type=INPUT)
@output_option(f"Write the rows ({suffixes(WRITERS)}).")
def rows_command(folder: Path, outputs: tuple[Path, ...]) -> None:
    """Export the rows of a sweep, finished or not.

    FOLDER is the folder of the sweep; rows come in the order of its experiment.
    """
    if not outputs:
        raise InputError(f"missing; give a file for the rows ({suffixes(WRITERS)})", field="-o")
    check_outputs(outputs, WRITERS)
    if not is_folder(folder):
        raise InputError("no such folder; give the folder of a sweep", where=folder)
    for path in outputs:
        count = write_rows(read_rows(folder), path)
        say(f"wrote {printable(str(path))}: {count} rows")


@command(
    "plot",
    epilog="\b\nExample:\n  learnroute sweep examples/ratios.toml -o ratios\n"
    "  learnroute plot ratios --x regions -o ratios.png",
)
@click.argument("sources", nargs=-1, required=True, type=INPUT, metavar="ROWS...")
@output_option(f"Picture file ({suffixes(PICTURES)}).", required=True)
@click.option(
    "--x", "axis", type=Name(NUMERIC), help="Quantity on the horizontal axis.  [default: the one that varies most]"
)
@click.option(
    "--where", "conditions", multiple=True, metavar="NAME=VALUE", help="Use only rows with this value. May be repeated."
)
@click.option("--band", type=Name(["interval", "spread"]), default="interval", show_default=True,
              help="Band: the 95 % confidence interval of the mean, or the range of 90 % of the problems.")  # fmt: skip
def plot_command(
    sources: tuple[Path, ...], outputs: tuple[Path, ...], axis: str | None, conditions: tuple[str, ...], band: str
) -> None:
    """Plot each method's ratio to the optimum, from a sweep.

    ROWS are .csv or .parquet files, or folders of sweeps. Where the optimum is unknown, its best lower bound is used.
    """
    from learnroute.plots.pictures import save_figure
    from learnroute.plots.ratios import draw_ratios

    check_outputs((), (), outputs)
    where = dict(condition(text) for text in conditions)
    figure = draw_ratios(chain.from_iterable(map(read_rows, sources)), axis, where, band)
    for path in outputs:
        save_figure(figure, path)
        report_files(path)


def _experiment(files: tuple[Path, ...], methods: str | None) -> Experiment:
    """Return the experiment of a file, or one on problem files."""
    if len(files) == 1 and is_experiment(files[0]):
        if methods is not None:
            raise InputError("the experiment has its own methods; omit --methods", field="--methods", value=methods)
        return read_experiment(files[0])
    for file in files:
        if is_experiment(file):
            raise InputError("is an experiment; give it alone, or give only problem files", where=file)
    chosen: dict[str, Any] = {} if methods is None else {"methods": [name.strip() for name in methods.split(",")]}
    return GivenProblems(read_problems([str(file) for file in files]), **chosen)


COMMANDS = (sweep_command, rows_command, plot_command)


def _silence_dask() -> None:
    """Keep Dask from logging at length what the command reports in one line."""
    families = ("distributed", "tornado", "asyncio")
    with contextlib.suppress(ImportError):
        importlib.import_module("distributed")
    for name in [*families, *logging.root.manager.loggerDict]:
        if name.partition(".")[0] in families:
            logging.getLogger(name).setLevel(logging.CRITICAL)


def _row_files() -> list[str]:
    try:
        import pyarrow  # noqa: F401
    except ImportError:
        return ["rows.csv"]
    return ["rows.csv", "rows.parquet"]
