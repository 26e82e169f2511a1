"""compare."""

from __future__ import annotations

from pathlib import Path

import click

from learnroute.cli.common import (
    REPORTS,
    Source,
    check_outputs,
    command,
    deliver,
    json_option,
    output_option,
    plot_option,
    print_heading,
    problem_options,
    progress_shown,
    seed_option,
    suffixes,
    time_option,
)
from learnroute.cli.planning import PAIRS, PARTS
from learnroute.cli.tables import Table, show
from learnroute.comparison import Comparison, compare
from learnroute.formats.csv_files import report_text
from learnroute.formats.files import write_text
from learnroute.formats.json_files import dumps
from learnroute.model.problem import Problem
from learnroute.solvers.registry import METHODS


@command("compare", epilog="\b\nExample:\n  learnroute compare examples/warehouse-robot.json --plot methods.png")
@problem_options
@click.option("--methods", metavar="A,B", help=f"Only these (of {', '.join(METHODS)}).")
@seed_option
@time_option
@click.option("--draws", type=int, default=100, show_default=True, help="Routes to average random methods over.")
@json_option
@output_option(f"Write the table ({suffixes(REPORTS)}).")
@plot_option
def compare_command(
    source: Source, methods: str | None, seed: int,
    time_limit: float | None, draws: int, as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Run all methods on the problem in FILE and show their losses side by side."""
    check_outputs(outputs, REPORTS, pictures)
    problem = source.read()
    names = [name.strip() for name in methods.split(",")] if methods is not None else None
    with progress_shown() as progress:
        found = compare(problem, names, seed, time_limit, draws, progress)
    problem = found.problem or problem
    deliver(
        outputs,
        lambda path: _write_comparison(found, path),
        pictures,
        lambda plots, path: plots.save_comparison(found, problem, path),
        found.to_dict() if as_json else None,
        lambda: _print_comparison(found, problem),
    )


COMMANDS = (compare_command,)


def _print_comparison(found: Comparison, problem: Problem) -> None:
    print_heading(problem)
    kind = "optimum" if found.optimal else "bound"
    paired = any(row.loss is not None and row.loss.pairs for row in found.rows)
    named = ["travel", "dissimilar", "first model", "noise", *(["pairs"] if paired else [])]
    shown = Table("method", "total", *named, f"× {kind}", "seconds")
    for row in found.rows:
        name = f"{row.method} (mean of {row.draws})" if row.draws > 1 else row.method
        if row.loss is None:
            shown.add_row(name, "refused")
            continue
        parts = [f"{getattr(row.loss, part):.5g}" for part in ("total", *PARTS, *(PAIRS if paired else ()))]
        ratio = found.ratio(row)
        shown.add_row(name, *parts, "" if ratio is None else f"{ratio:.4f}", f"{row.seconds:.3f}")
    show(shown)
    show(f"{kind}  {found.lower_bound:.6g} per region")
    for row in found.rows:
        if row.refused:
            show(row.refused)


def _write_comparison(found: Comparison, path: Path) -> None:
    if path.suffix.lower() == ".json":
        return write_text(path, dumps(found.to_dict()))
    parts = ("total", *PARTS, *PAIRS)
    rows = [
        [row.method, row.draws, *(getattr(row.loss, p) if row.loss else "" for p in parts), found.ratio(row),
         found.lower_bound, row.seconds, row.refused]
        for row in found.rows
    ]  # fmt: skip
    header = ["method", "draws", *parts, "ratio", "lower_bound", "seconds", "refused"]
    return write_text(path, report_text([header, *rows]))
