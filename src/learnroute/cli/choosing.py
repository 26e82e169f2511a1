"""tradeoff, robustness, learners, journey."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from learnroute.cli.common import (
    METHOD_HELP,
    REPORTS,
    Name,
    Source,
    check_outputs,
    command,
    deliver,
    json_option,
    output_option,
    plot_option,
    print_heading,
    print_json,
    problem_options,
    progress_shown,
    seed_option,
    suffixes,
    time_option,
    told,
)
from learnroute.cli.tables import Table, show
from learnroute.errors import InputError, did_you_mean
from learnroute.formats import PLAN_WRITERS, check_plan_destination, json_files, read_problem, write_plan
from learnroute.formats.csv_files import report_text
from learnroute.formats.files import errors_naming, write_text
from learnroute.journeys import MEASURED, Journey
from learnroute.model.problem import ESTIMATE, UPPER, Problem
from learnroute.model.showing import KINDS
from learnroute.planner import evaluate
from learnroute.robust import Robustness, robustness
from learnroute.solvers.registry import METHODS
from learnroute.tradeoffs import Choice, Tradeoff, tradeoff
from learnroute.worth import COLUMNS, LearnerTable, compare_learners

ROUTES = tuple(suffix for suffix in PLAN_WRITERS if suffix not in REPORTS)  # what holds one route, and no curve
NEW_REGION = (
    "region", "travel", "travel_back", "coordinates", "dissimilarity", "vector", "initial", "samples",
)  # fmt: skip  # what a region that is added to a journey may have
MOST_ENDS = 12  # last regions that are listed
MOST_ROWS = 60  # points up to which the whole curve is printed


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
    help="Plans to make beyond 14 regions (8 with a regularised learner).",
)
@click.option("--budget", type=float, metavar="TRAVEL", help="Pick the route of least error that travels no more.")
@click.option("--ceiling", type=float, metavar="ERROR", help="Pick the route of least travel with no more error.")
@seed_option
@time_option
@json_option
@output_option(
    f"Write the curve ({suffixes(REPORTS)}), or with --budget or --ceiling the route picked ({suffixes(ROUTES)})."
)
@plot_option
def tradeoff_command(
    source: Source, points: int, budget: float | None, ceiling: float | None, seed: int, time_limit: float | None,
    as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Show the routes between least travel and least expected error for the problem in FILE.

    All routes that no other one beats in both, up to 14 regions (8 with a regularised learner); beyond, the best found.
    The route with the least loss at the problem's travel rate is marked; --budget or --ceiling picks another.
    """
    if budget is not None and ceiling is not None:
        raise InputError("each picks a route; give one of them", field="--budget", found="and --ceiling")
    check_outputs(outputs, (*REPORTS, *ROUTES), pictures)
    routes = [path for path in outputs if path.suffix.lower() in ROUTES]
    if routes and budget is None and ceiling is None:
        raise InputError("which route? Pick one with --budget or --ceiling", where=routes[0])
    problem = source.read()
    for path in routes:
        check_plan_destination(path, problem)
    with progress_shown() as progress:
        found = tradeoff(problem, points, seed, time_limit, progress)
    problem = found.problem or problem  # with the regularisation that was chosen
    picked = None
    if budget is not None:
        picked = found.within(budget)
    elif ceiling is not None:
        picked = found.below(ceiling)
    route = evaluate(problem, picked.order) if routes and picked is not None else None

    def write(path: Path) -> None:
        if route is not None and path in routes:
            write_plan(route, path, problem)
        else:
            _write(found, path, picked)

    deliver(
        outputs,
        write,
        pictures,
        lambda plots, path: plots.save_tradeoff(found, problem, path, picked),
        _report(found, picked) if as_json else None,
        lambda: _print(found, problem, picked),
    )


@command(
    "robustness",
    epilog="\b\nExample:\n  learnroute robustness examples/warehouse-robot.json --within 0.3",
)
@problem_options
@click.option(
    "--within", type=float, metavar="SHARE", help="Dissimilarities may be smaller by up to this share of them."
)
@click.option("--draws", type=int, default=200, show_default=True, help="Times to draw dissimilarities and plan anew.")
@seed_option
@time_option
@json_option
@output_option("Write the report (.json).")
@plot_option
def robustness_command(
    source: Source, within: float | None, draws: int, seed: int, time_limit: float | None, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Show whether the plan for FILE hangs on single dissimilarities.

    Dissimilarities are upper bounds. Lower bounds come from the file (dissimilarity_low) or from --within. The plan is
    made for the upper ones, not for unbiased estimates; then dissimilarities are drawn between their bounds and the
    route is planned anew.
    """
    check_outputs(outputs, (".json",), pictures)
    if source.dissimilarities == ESTIMATE:
        raise InputError("robustness plans for the upper bounds; leave it out", field="--dissimilarities",
                         value=ESTIMATE)  # fmt: skip
    given = source.read()
    problem = given.with_upper_bounds()
    with progress_shown() as progress:
        found = robustness(given, within, draws, seed, time_limit, progress)
    deliver(
        outputs,
        lambda path: write_text(path, json_files.dumps(found.to_dict())),
        pictures,
        lambda plots, path: plots.save_robustness(found, problem, path),
        found.to_dict() if as_json else None,
        lambda: _print_robustness(found, found.problem or problem, given.has_estimates),
    )


@command(
    "learners",
    epilog="\b\nExample:\n  learnroute learners examples/warehouse-robot.json --plot learners.png",
)
@problem_options
@seed_option
@time_option
@json_option
@output_option("Write the table (.json, .csv or .md).")
@plot_option
def learners_command(
    source: Source, seed: int, time_limit: float | None, as_json: bool, outputs: tuple[Path, ...],
    pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Show which learner is worth it for the problem in FILE.

    The paper's learner on the shortest and on its best route, a proximal one with the best λ on both, λ and route
    chosen together, one λ for each visit, the running mean, recursive least squares, and the error of the mean model,
    below which none comes.
    """
    check_outputs(outputs, (*REPORTS, ".md"), pictures)
    problem = source.read()
    with progress_shown() as progress:
        found = compare_learners(problem, seed, time_limit, progress)
    deliver(
        outputs,
        found.save,
        pictures,
        lambda plots, path: plots.save_learners(found, problem, path),
        found.to_dict() if as_json else None,
        lambda: _print_learners(found, problem),
    )


@command(
    "journey",
    epilog="\b\nExample:\n  learnroute journey trip.json --begin examples/warehouse-robot.json\n"
    '  learnroute journey trip.json --visited "Hazmat cage"',
)
@click.argument("state", metavar="JOURNEY", type=click.Path(path_type=Path))
@click.option("--begin", type=click.Path(path_type=Path), metavar="FILE", help="Begin a journey through this problem.")
@click.option("--visited", metavar="NAME", help="A region that was visited and trained in.")
@click.option(
    "--measured", type=click.Path(path_type=Path), metavar="FILE",
    help="What was measured there: a JSON object with any of errors, dissimilarity (a number a region) and vector.",
)  # fmt: skip
@click.option("--drop", metavar="NAME", help="A region that will not be visited after all; no error is counted there.")
@click.option(
    "--add", "added", type=click.Path(path_type=Path), metavar="FILE",
    help="A region that is to be visited too: a JSON object with region, its name, and what the other regions have: "
    "travel (and travel_back) or coordinates, dissimilarity or vector, initial, samples.",
)  # fmt: skip
@click.option("--method", type=Name(list(METHODS)), help=f"With --begin; auto if left out. {METHOD_HELP}")
@click.option("--seed", type=int, help="With --begin; 0 if left out. Same seed, same answer.")
@click.option(
    "--dissimilarities", type=Name([ESTIMATE, UPPER]),
    help="With --begin: plan by the unbiased estimates of FILE (default where it has some), or by its upper bounds.",
)  # fmt: skip
@time_option
@json_option
def journey_command(
    state: Path, begin: Path | None, visited: str | None, measured: Path | None, method: str | None, seed: int | None,
    dissimilarities: str | None, drop: str | None, added: Path | None, time_limit: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Plan again on the way: JOURNEY is a file that keeps the visits made and the rest of the route.

    Begin it with a problem, tell it each region visited and what was measured there, and it says where to go next. The
    file is written whole after every step, so nothing is lost if the agent stops. Without options, it is shown.
    """
    if measured and not visited:
        raise InputError("where? Name the region with --visited", field="--measured")
    steps = [name for name, given in (("--visited", visited), ("--drop", drop), ("--add", added)) if given]
    if begin and steps:
        raise InputError("begin the journey first, then tell it the visits", field="--begin", found=f"and {steps[0]}")
    if len(steps) > 1:
        raise InputError("one step at a time; give one of them", field=steps[0], found=f"and {steps[1]}")
    if not begin and (method is not None or seed is not None):
        raise InputError(
            "a journey keeps those that it began with; give them with --begin", field="--method", found="and --seed"
        )
    if not begin and dissimilarities is not None:
        raise InputError("a journey keeps those that it began with; give it with --begin", field="--dissimilarities",
                         value=dissimilarities)  # fmt: skip
    with progress_shown() as progress:
        if begin:
            problem = read_problem(told(begin))
            problem = problem if dissimilarities is None else problem.with_dissimilarities(dissimilarities)
            trip = Journey(problem, method or "auto", seed or 0, state, progress, time_limit)
        else:
            trip = Journey.resume(state)
        if visited:
            trip.visit(visited, **_measurements(measured), progress=progress, time_limit=time_limit)
        elif drop:
            trip.drop(drop, progress, time_limit)
        elif added:
            with errors_naming(added):
                trip.add(**_region_in(added), progress=progress, time_limit=time_limit)
    if as_json:
        print_json({
            "next": trip.next, "visited": [visit.region for visit in trip.visits], "rest": list(trip.rest),
            "expected_error": trip.expected_error, "expected_loss": trip.expected_loss, "travel_cost": trip.travel_cost,
            "dissimilarities": trip.dissimilarities,
            "notes": list(trip.notes), "errors": dict(zip(trip.problem.regions, trip.errors.tolist(), strict=True)),
        })  # fmt: skip
    else:
        _print_journey(trip)


COMMANDS = (tradeoff_command, robustness_command, learners_command, journey_command)


def _measurements(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    with errors_naming(path):
        found = json_files.read(path)
    if not isinstance(found, dict) or not set(found) <= set(MEASURED):
        raise InputError(f"an object with any of {', '.join(MEASURED)} is needed", where=path)
    return found


def _region_in(path: Path) -> dict[str, Any]:
    """Return the members of a region that is to be added."""
    found = json_files.read(path)
    if not isinstance(found, dict):
        raise InputError("an object with region, its name, and what the other regions have is needed", value=found)
    for member in found:
        if member not in NEW_REGION:
            raise InputError(f"unknown field; {did_you_mean(member, NEW_REGION)}", field=member)
    if "region" not in found:
        raise InputError("missing; give its name", field="region")
    return {name: value for name, value in found.items() if value is not None}


def _print_journey(trip: Journey) -> None:
    print_heading(trip.problem)
    shown = Table("visit", "region", "error of the model there", left=2)
    place = {name: i for i, name in enumerate(trip.problem.regions)}
    for k, name in enumerate(trip.route):
        made = k < len(trip.visits)
        error = f"{trip.errors[place[name]]:.4g}" if trip.visits else ""
        shown.add_row(str(k + 1) if made else f"({k + 1})", name, error)
    show(shown)
    show(f"next       {trip.next or 'nowhere: all regions are visited'}")
    show(f"expected   error {trip.expected_error:.6g}, loss {trip.expected_loss:.6g} per region")
    unit = trip.problem.travel_unit
    show(f"travel     {trip.travel_cost:.6g}{unit and ' ' + unit} for the whole route")
    for note in trip.notes:
        show(f"note       {note}")


def _print(found: Tradeoff, problem: Problem, picked: Choice | None) -> None:
    print_heading(problem)
    shown = Table("", "travel", "expected error", "best for travel rates", "first", "last", left=1)
    chosen = found.points[found.chosen]
    rows = [(point, "") for point in found.points]
    rows += [(mark, name) for name, mark in found.marks.items()]
    skipped = range(MOST_ROWS // 2, len(found.points) - MOST_ROWS // 2) if len(found.points) > MOST_ROWS else range(0)
    for k, (point, name) in enumerate(rows):
        if k in skipped:
            if k == skipped[0]:
                shown.add_row(f"… {len(skipped)} more …", "", "", "", "", "")
            continue
        label = name or ("picked" if point is picked else "chosen" if point is chosen else "")
        if k == len(found.points):
            shown.add_row()
        shown.add_row(
            label, f"{point.travel_cost:.6g}", f"{point.error:.6g}", _range(point), point.route[0],
            point.route[-1],
        )  # fmt: skip
    show(shown)
    kind = "all routes that no other one beats" if found.complete else "the best routes found; there may be others"
    show(f"curve      {len(found.points)} routes: {kind}")
    show(f"chosen     travel {chosen.travel_cost:.6g}, error {chosen.error:.6g} at travel rate {found.rate:g}")
    if picked:
        home = [] if problem.depot is None else [problem.depot.name]
        back = ["back"] if problem.closed else []
        show(f"picked     {' → '.join([*home, *picked.route, *back])}")


def _range(point: Choice) -> str:
    if point.rates is None:
        return ""
    low, high = point.rates
    return f"above {low:.4g}" if high == float("inf") else f"{low:.4g} … {high:.4g}"


def _report(found: Tradeoff, picked: Choice | None) -> dict[str, Any]:
    return {**found.to_dict(), "picked": picked.to_dict() if picked else None}


def _write(found: Tradeoff, path: Path, picked: Choice | None) -> None:
    if path.suffix.lower() == ".json":
        return write_text(path, json_files.dumps(_report(found, picked)))
    header = ["method", "travel_cost", "error", "least_rate", "largest_rate", "route"]
    rows = [
        [name, point.travel_cost, point.error, *(point.rates or ("", "")), " > ".join(point.route)]
        for name, point in [*(("", point) for point in found.points), *found.marks.items()]
    ]
    return write_text(path, report_text([header, *rows]))


def _print_learners(found: LearnerTable, problem: Problem) -> None:
    print_heading(problem)
    shown = Table(*COLUMNS, left=2)
    for cells in found.cells():
        shown.add_row(*cells)
    show(shown)
    for line in found.lines():
        show(f"note       {line}")


def _print_robustness(found: Robustness, problem: Problem, estimates: bool) -> None:
    print_heading(problem)
    if estimates:
        show(f"by {KINDS[found.dissimilarities]}, not by the unbiased estimates")
    shown = Table("the plan where dissimilarities are between their bounds", "", left=1)
    shown.add_row("its loss at worst, per region", f"{found.worst_case:.6g}")
    shown.add_row("its loss at best", f"{found.best_case:.6g}")
    shown.add_row("draws", f"{found.draws}")
    shown.add_row("no other route is better", f"{found.unchanged:.1%}")
    shown.add_row("more than the best route, on average", f"{found.mean_regret:.4g}")
    shown.add_row("in 95 % of the draws at most", f"{found.late_regret:.4g}")
    shown.add_row("at most", f"{found.worst_regret:.4g}")
    show(shown)
    ends = Table("last region of the best route", "share of draws", left=1)
    for name, share in list(found.last.items())[:MOST_ENDS]:
        ends.add_row(name + (" (planned)" if name == found.plan.route[-1] else ""), f"{share:.1%}")
    show(ends)
    if found.pairs:
        pairs = Table("the plan hangs on", "from", "to", "another route is better below", "by up to", left=1)
        for pair in found.pairs:
            numbers = (pair.low, pair.high, pair.switch, pair.regret)
            pairs.add_row(" – ".join(pair.regions), *(f"{number:.4g}" for number in numbers))
        show(pairs)
    else:
        show("hangs on   no single dissimilarity")
    if not found.complete:
        show("note       some routes were not proved best, or the time limit came: regrets are lower bounds")
