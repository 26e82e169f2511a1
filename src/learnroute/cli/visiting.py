"""visits."""

from __future__ import annotations

from pathlib import Path

from learnroute.cli.common import (
    REPORTS,
    Source,
    check_outputs,
    command,
    deliver,
    json_option,
    output_option,
    plot_option,
    problem_options,
    progress_shown,
    seed_option,
    time_left,
    time_option,
)
from learnroute.visit_curves import visit_curve


@command(
    "visits",
    epilog="\b\nExample:\n  learnroute visits examples/city-survey.json --regularization auto --plot visits.png",
)
@problem_options
@seed_option
@time_option
@json_option
@output_option("Write the table (.json, .csv or .md).")
@plot_option
def visits_command(
    source: Source, seed: int, time_limit: float | None, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Show how many visits pay for the problem in FILE: the best route for each number of visits, from none on.

    Regions are optional unless FILE or --require asks for them. Error counts in all regions, visited or not.
    """
    check_outputs(outputs, (*REPORTS, ".md"), pictures)
    with progress_shown() as progress:
        found = visit_curve(source.read(), seed, time_left(time_limit), progress)
    deliver(found, (*outputs, *pictures), as_json)


COMMANDS = (visits_command,)
