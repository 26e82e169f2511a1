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
    suffixes,
    time_left,
    time_option,
)
from learnroute.cli.tables import print_sheet
from learnroute.formats import json_files
from learnroute.formats.files import write_text
from learnroute.visit_curves import visit_curve


@command(
    "visits",
    epilog="\b\nExample:\n  learnroute visits examples/city-survey.json --regularization auto --plot visits.png",
)
@problem_options
@seed_option
@time_option
@json_option
@output_option(f"Write the table ({suffixes(REPORTS)}).")
@plot_option
def visits_command(
    source: Source, seed: int, time_limit: float | None, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Show how many visits pay for the problem in FILE: the best route for each number of visits, from none on.

    Regions are optional unless FILE or --require asks for them. Error counts in all regions, visited or not.
    """
    check_outputs(outputs, REPORTS, pictures)
    problem = source.read()
    with progress_shown() as progress:
        found = visit_curve(problem, seed, time_left(time_limit), progress)

    def write(path: Path) -> None:
        is_json = path.suffix.lower() == ".json"
        write_text(path, json_files.dumps(found.to_dict()) if is_json else found.table().to_csv())

    deliver(
        outputs,
        write,
        pictures,
        lambda plots, path: plots.save_visit_curve(found, problem, path),
        found.to_dict() if as_json else None,
        lambda: print_sheet(found.sheet(), problem),
    )


COMMANDS = (visits_command,)
