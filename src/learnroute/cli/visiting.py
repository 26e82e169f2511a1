"""visits, fleet."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from learnroute.cli.common import (
    OPTIONS,
    REPORTS,
    Name,
    Source,
    check_outputs,
    command,
    json_option,
    output_option,
    output_result,
    parse_numbers,
    plot_option,
    problem_options,
    seed_option,
    show_progress,
    time_left,
    time_option,
)
from learnroute.fleet_tables import ROUNDS, compare_fleets
from learnroute.model.fleet import LONGEST, MERGED, OWN, Fleet
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
    """Find how many visits pay off: the best route for each number.

    Regions are optional unless FILE or --require asks for them. The error counts in all regions, visited or not.
    """
    check_outputs(outputs, (*REPORTS, ".md"), pictures)
    with show_progress() as progress:
        found = visit_curve(source.read(), seed, time_left(time_limit), progress)
    output_result(found, (*outputs, *pictures), as_json)


@command(
    "fleet",
    epilog="\b\nExample:\n  learnroute fleet examples/city-survey.json --vehicles 1-3 --models 1-3 --plot fleet.png",
)
@problem_options
@click.option(
    "--vehicles",
    default="1-4",
    show_default=True,
    metavar="K",
    help="Numbers of vehicles to compare, such as 1-4 or 1,2,8.",
)
@click.option(
    "--models", default="1-4", show_default=True, metavar="K", help="Numbers of models on one vehicle to compare."
)
@click.option("--serve", type=Name([MERGED, OWN]), help="Compare only merged or only own models. Default: both.")
@OPTIONS["longest"]
@click.option(
    "--rounds",
    type=int,
    default=ROUNDS,
    show_default=True,
    metavar="R",
    help="Rounds of federated averaging on fresh samples.",
)
@seed_option
@time_option
@json_option
@output_option("Write the table (.json, .csv or .md).")
@plot_option
def fleet_command(
    source: Source, vehicles: str, models: str, serve: str | None, longest: bool, rounds: int, seed: int,
    time_limit: float | None, as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Compare numbers of vehicles and models: error, travel, loss.

    Each vehicle trains its own model, or one vehicle carries several models and each visit trains one of them. At the
    end, the models are averaged (merged), or each region uses the model that is best there (own). The last rows are
    federated averaging with one client per region, for comparison; each round takes
    fresh samples, and the column samples counts those of all trainings.
    """
    check_outputs(outputs, (*REPORTS, ".md"), pictures)
    sizes = parse_numbers("--vehicles", vehicles), parse_numbers("--models", models)
    problem = source.read()
    if longest:
        problem = problem.replace(fleet=replace(problem.fleet or Fleet(), travel=LONGEST))
    with show_progress() as progress:
        found = compare_fleets(problem, *sizes, serve, rounds, seed, time_left(time_limit), progress)
    output_result(found, (*outputs, *pictures), as_json)


COMMANDS = (visits_command, fleet_command)
