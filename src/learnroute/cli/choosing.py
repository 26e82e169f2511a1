"""tradeoff, robustness, learners, journey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from learnroute.cli.common import (
    METHOD_HELP,
    METHOD_LIST,
    REPORTS,
    Name,
    Source,
    check_outputs,
    command,
    json_option,
    one_model_options,
    output_option,
    output_result,
    plot_option,
    print_json,
    problem_file_of,
    problem_options,
    report_files,
    seed_option,
    show_progress,
    suffixes,
    time_left,
    time_option,
)
from learnroute.cli.paths import INPUT, OUTPUT, PROBLEM
from learnroute.cli.tables import print_sheet
from learnroute.comparison.of_learners import compare_learners
from learnroute.errors import InputError
from learnroute.formats import PLAN_WRITERS, check_plan_destination, json_files, read_problem, write_plan
from learnroute.formats.files import errors_naming, exists, write_text
from learnroute.journeys import MEASURED, Journey
from learnroute.model.notes import KINDS
from learnroute.model.problem import ESTIMATE, UPPER
from learnroute.model.validation import as_members
from learnroute.planner import evaluate
from learnroute.robust import robustness
from learnroute.solvers.methods import METHODS
from learnroute.tradeoffs import tradeoff

ROUTES = tuple(suffix for suffix in PLAN_WRITERS if suffix not in REPORTS)  # formats that hold one route, not a curve
NEW_REGION = (
    "region", "travel", "travel_back", "coordinates", "dissimilarity", "vector", "initial", "samples",
    "importance",
)  # fmt: skip  # members of a region added to a journey


@command(
    "tradeoff",
    epilog="\b\nExample:\n  learnroute tradeoff examples/north-sea.json --plot curve.png\n"
    "  learnroute tradeoff examples/north-sea.json --budget 40",
)
@problem_options
@click.option(
    "--points",
    type=int,
    default=20,
    show_default=True,
    help="Number of plans to make beyond 14 regions (8 with a regularised learner).",
)
@click.option("--budget", type=float, metavar="TRAVEL", help="Pick the route with the least error within this travel.")
@click.option("--ceiling", type=float, metavar="ERROR", help="Pick the route with the least travel within this error.")
@seed_option
@time_option
@json_option
@output_option(
    f"Write the curve ({suffixes(REPORTS)}), or the route picked by --budget or --ceiling ({suffixes(ROUTES)})."
)
@plot_option
def tradeoff_command(
    source: Source, points: int, budget: float | None, ceiling: float | None, seed: int, time_limit: float | None,
    as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Show the trade-off curve between travel and expected error.

    Up to 14 regions (8 with a regularised learner), these are all Pareto-optimal routes for the problem in FILE; beyond
    that, the best ones found. The route with the least loss at the problem's travel rate is marked; --budget or
    --ceiling picks another one.
    """
    if budget is not None and ceiling is not None:
        raise InputError("each picks a route; give only one of them", field="--budget", found="and --ceiling")
    check_outputs(outputs, (*REPORTS, *ROUTES), pictures)
    routes = [path for path in outputs if path.suffix.lower() in ROUTES]
    if routes and budget is None and ceiling is None:
        raise InputError("holds one route; pick it with --budget or --ceiling", where=routes[0])
    problem = source.read()
    for path in routes:
        check_plan_destination(path, problem)
    with show_progress() as progress:
        found = tradeoff(problem, points, seed, time_left(time_limit), progress)
    problem = found.problem or problem  # with the chosen regularisation
    picked = None
    if budget is not None:
        picked = found.within(budget)
    elif ceiling is not None:
        picked = found.below(ceiling)
    route = evaluate(problem, picked.order) if routes and picked is not None else None

    report = {**found.to_dict(), "picked": picked.to_dict() if picked else None}
    for path in (*outputs, *pictures):
        if route is not None and path in routes:
            write_plan(route, path, problem)
        elif path in pictures:
            from learnroute.plots.pictures import save_figure
            from learnroute.plots.tradeoffs import draw_tradeoff

            save_figure(draw_tradeoff(found, problem, picked), path)
        elif path.suffix.lower() == ".json":
            write_text(path, json_files.dumps(report))
        else:
            write_text(path, found.table(picked, found.marks).to_csv())
        report_files(path)
    if as_json:
        print_json(report)
    else:
        print_sheet(found.sheet(picked), problem)


@command(
    "robustness",
    epilog="\b\nExample:\n  learnroute robustness examples/warehouse-robot.json --within 0.3",
)
@one_model_options
@click.option(
    "--within", type=float, metavar="SHARE", help="Dissimilarities may be smaller by up to this share, such as 0.2."
)
@click.option("--draws", type=int, default=200, show_default=True, help="Number of random sets of dissimilarities.")
@seed_option
@time_option
@json_option
@output_option("Write the report (.json).")
@plot_option
def robustness_command(
    source: Source, within: float | None, draws: int, seed: int, time_limit: float | None, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Test how sensitive the plan for FILE is to its dissimilarities.

    The plan is made for the upper bounds on the dissimilarities. Then dissimilarities are drawn between their lower and
    upper bounds, and the best routes for them are compared with the plan. Lower bounds come from FILE
    (dissimilarity_low) or from --within.
    """
    check_outputs(outputs, (".json",), pictures)
    if source.dissimilarities == ESTIMATE:
        raise InputError("robustness uses the upper bounds; omit this option", field="--dissimilarities",
                         value=ESTIMATE)  # fmt: skip
    given = source.read()
    about = [f"uses {KINDS[UPPER]}, not the unbiased estimates"] if given.has_estimates else []
    with show_progress() as progress:
        found = robustness(given, within, draws, seed, time_left(time_limit), progress)
    output_result(found, (*outputs, *pictures), as_json, *about)


@command(
    "learners",
    epilog="\b\nExample:\n  learnroute learners examples/warehouse-robot.json --plot learners.png",
)
@one_model_options
@seed_option
@time_option
@json_option
@output_option("Write the table (.json, .csv or .md).")
@plot_option
def learners_command(
    source: Source, seed: int, time_limit: float | None, as_json: bool, outputs: tuple[Path, ...],
    pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Compare learners: error, travel and total loss.

    Compares least squares (the paper's learner) on the shortest route and on its best route, proximal learners with the
    best λ for these routes, with λ and route chosen together and with one λ per visit, the running mean, recursive
    least squares, and the error of the mean model, which is a lower bound for all of them.
    """
    check_outputs(outputs, (*REPORTS, ".md"), pictures)
    problem = source.read()
    with show_progress() as progress:
        found = compare_learners(problem, seed, time_left(time_limit), progress)
    output_result(found, (*outputs, *pictures), as_json)


@command(
    "journey",
    epilog=METHOD_LIST + "\b\nExample:\n  learnroute journey trip.json --begin examples/warehouse-robot.json\n"
    '  learnroute journey trip.json --visited "Hazmat cage"',
)
@click.argument("state", metavar="JOURNEY", type=OUTPUT)
@click.option(
    "--begin",
    type=PROBLEM,
    metavar="FILE",
    help="Start a new journey through the regions of this problem.",
)
@click.option("--visited", metavar="NAME", help="Record a visit to this region.")
@click.option(
    "--measured", type=INPUT, metavar="FILE",
    help="Measurements of that visit: a JSON object with errors, dissimilarity (one number per region each) or vector.",
)  # fmt: skip
@click.option("--drop", metavar="NAME", help="Remove this region from the journey; its error no longer counts.")
@click.option(
    "--add", "added", type=INPUT, metavar="FILE",
    help="Add a region: a JSON object with region (its name) and the same members as the other regions: travel (and "
    "travel_back) or coordinates, dissimilarity or vector, initial, samples, importance.",
)  # fmt: skip
@click.option("--method", type=Name(list(METHODS)), help=f"With --begin. {METHOD_HELP} Default: auto.")
@click.option("--seed", type=int, help="With --begin: random seed. Default: 0.")
@click.option(
    "--dissimilarities", type=Name([ESTIMATE, UPPER]),
    help="With --begin: plan with the unbiased estimates of FILE (default if it has them), or with its upper bounds.",
)  # fmt: skip
@time_option
@json_option
def journey_command(
    state: Path, begin: Path | None, visited: str | None, measured: Path | None, method: str | None, seed: int | None,
    dissimilarities: str | None, drop: str | None, added: Path | None, time_limit: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Replan after each visit, with what was measured on the way.

    JOURNEY is a file (.json) with the visits made and the rest of the route. Start it with --begin, then record each
    visit with --visited; the next region is printed. The file is saved after every step. Without options, the journey
    is printed.
    """
    if measured and not visited:
        raise InputError("name the region that was measured with --visited", field="--measured")
    steps = [name for name, given in (("--visited", visited), ("--drop", drop), ("--add", added)) if given]
    if begin and steps:
        raise InputError(f"start the journey first, then use {steps[0]}", field="--begin", found=f"and {steps[0]}")
    if len(steps) > 1:
        raise InputError("only one change per call; give one of them", field=steps[0], found=f"and {steps[1]}")
    if not begin and (method is not None or seed is not None):
        raise InputError(
            "are fixed when the journey starts; give them with --begin", field="--method", found="and --seed"
        )
    if not begin and dissimilarities is not None:
        raise InputError("is fixed when the journey starts; give it with --begin", field="--dissimilarities",
                         value=dissimilarities)  # fmt: skip
    with show_progress() as progress:
        if begin:
            problem = read_problem(problem_file_of(begin))
            problem = problem if dissimilarities is None else problem.with_dissimilarities(dissimilarities)
            trip = Journey(problem, method or "auto", seed or 0, state, progress, time_left(time_limit))
        else:
            if not exists(state):
                raise InputError("no such journey; start one with --begin", where=state)
            trip = Journey.resume(state)
        if visited:
            trip.visit(visited, **_measurements(measured), progress=progress, time_limit=time_left(time_limit))
        elif drop:
            trip.drop(drop, progress, time_left(time_limit))
        elif added:
            with errors_naming(added):
                trip.add(**_region_in(added), progress=progress, time_limit=time_left(time_limit))
    if as_json:
        print_json({
            "next": trip.next, "visited": [visit.region for visit in trip.visits], "rest": list(trip.rest),
            "expected_error": trip.expected_error, "expected_loss": trip.expected_loss, "travel_cost": trip.travel_cost,
            "dissimilarities": trip.dissimilarities,
            "notes": list(trip.notes), "errors": dict(zip(trip.problem.regions, trip.errors.tolist(), strict=True)),
        })  # fmt: skip
    else:
        print_sheet(trip.sheet(), trip.problem)


COMMANDS = (tradeoff_command, robustness_command, learners_command, journey_command)


def _measurements(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    with errors_naming(path):
        found = json_files.read(path)
        return as_members("", found, MEASURED)


def _region_in(path: Path) -> dict[str, Any]:
    """Return the members of a region to add."""
    found = json_files.read(path)
    if not isinstance(found, dict):
        raise InputError(
            "expected a JSON object with region (its name) and the members that other regions have", value=found
        )
    return as_members("", found, NEW_REGION, ("region",))
