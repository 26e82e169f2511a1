"""plan, evaluate, verify."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from learnroute.cli.common import (
    METHOD_HELP,
    METHOD_LIST,
    Name,
    Source,
    check_outputs,
    command,
    exit_if_interrupted,
    json_option,
    output_option,
    output_result,
    parse_numbers,
    plot_option,
    problem_options,
    route_stops,
    seed_option,
    show_progress,
    suffixes,
    time_left,
    time_option,
)
from learnroute.cli.paths import INPUT
from learnroute.errors import InputError
from learnroute.formats import PLAN_WRITERS, check_plan_destination, read_plan
from learnroute.formats.files import errors_naming
from learnroute.interrupts import stop_on_interrupt
from learnroute.model.problem import Problem
from learnroute.planner import evaluate, plan
from learnroute.solvers.methods import METHODS
from learnroute.solvers.params import DEFAULTS


@command(
    "plan",
    epilog=METHOD_LIST + "\b\nExample:\n  learnroute plan examples/city-survey.json --plot route.png -o plan.json",
)
@problem_options
@click.option("--method", type=Name(list(METHODS)), default="auto", show_default=True, help=METHOD_HELP)
@seed_option
@time_option
@click.option(
    "--initial",
    metavar="PLAN",
    type=INPUT,
    help="Start the search from the route of an older plan (.json); missing regions are inserted.",
)
@click.option(
    "--threads",
    type=int,
    metavar="K",
    help="Number of search threads. Default: all cores with a time limit, otherwise 1 (or all cores if the route "
    "does not depend on their number).",
)
@json_option
@output_option(f"Write the plan ({suffixes(PLAN_WRITERS)}).")
@plot_option
def plan_command(
    source: Source, method: str, seed: int,
    time_limit: float | None, initial: Path | None, threads: int | None, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Find the route with the least expected loss."""
    check_outputs(outputs, PLAN_WRITERS, pictures)
    problem = source.read()
    for path in outputs:
        check_plan_destination(path, problem)
    route = None if initial is None else _route_in(initial)
    params = DEFAULTS
    if threads is None:
        cores = os.cpu_count() or 1
        threads = 1 if time_limit is None else cores
        if time_limit is None:  # all cores if the route does not depend on their number
            params = params._replace(search=params.search._replace(threads=cores))
    with show_progress() as progress, stop_on_interrupt() as stop:
        found = plan(problem, method, seed, time_left(time_limit), progress, params, route, threads, stop)
    output_result(found, (*outputs, *pictures), as_json)
    exit_if_interrupted(stop)


def _route_in(file: Path) -> list[Any]:
    """Return the route of a plan file, or the routes of several vehicles."""
    members = read_plan(file)
    route = members.get("route", members.get("routes")) if isinstance(members, dict) else None
    if not isinstance(route, list):
        raise InputError("contains no route; give a plan that was saved as .json", where=file)
    return route


@command(
    "evaluate",
    epilog="\b\nExample:\n  learnroute evaluate examples/warehouse-robot.json \\\n"
    '    --route "Receiving,Bulk racks,Small parts,Cold store,Hazmat cage,Returns,Packing,Dispatch"',
)
@problem_options
@click.option(
    "--route",
    "routes",
    required=True,
    multiple=True,
    metavar="A,B,C",
    help="Regions in order: names or 0-based indices. With several vehicles, give one --route per vehicle.",
)
@click.option(
    "--trained", metavar="1,2,1", help="With --models: the number of the model that each visit trains, from 1."
)
@time_option
@json_option
@output_option(f"Write the plan ({suffixes(PLAN_WRITERS)}).")
@plot_option
def evaluate_command(
    source: Source, routes: tuple[str, ...], trained: str | None, time_limit: float | None, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Evaluate a given route: expected loss and gap to the optimum."""
    check_outputs(outputs, PLAN_WRITERS, pictures)
    problem = source.read()
    for path in outputs:
        check_plan_destination(path, problem)
    several = problem.fleet_rules.vehicles > 1
    if len(routes) > 1 and not several:
        raise InputError("is given several times, but there is one vehicle; add --vehicles", field="--route")
    stops = [route_stops(route, problem) for route in routes]
    models = _trained_models(trained, problem, sum(map(len, stops)))
    with show_progress() as progress:
        found = evaluate(problem, stops if several else stops[0], time_left(time_limit), progress, models)
    output_result(found, (*outputs, *pictures), as_json)


def _trained_models(trained: str | None, problem: Problem, visits: int) -> list[int] | None:
    """Return the model that each visit trains, counted from 0; None with one model per vehicle."""
    count = problem.fleet_rules.models
    if count == 1:
        if trained is not None:
            raise InputError("needs several models; add --models", field="--trained", value=trained)
        return None
    if trained is None:
        raise InputError(f"missing; give the model (1 … {count}) that each visit trains", field="--trained")
    numbers = parse_numbers("--trained", trained)
    if len(numbers) != visits or max(numbers) > count:
        reason = f"expected one model number from 1 to {count} per visit, {visits} in all"
        raise InputError(reason, field="--trained", value=trained)
    return [number - 1 for number in numbers]


VERDICT_CODES = {"confirmed": 0, "refuted": 1, "not checked": 3}


@command(
    "verify",
    epilog="\b\nExample:\n  learnroute plan examples/city-survey.json -o plan.json\n"
    "  learnroute verify plan.json examples/city-survey.json",
)
@click.argument("plan_file", metavar="PLAN", type=INPUT)
@problem_options
@json_option
@click.pass_context
def verify_command(
    context: click.Context, source: Source, plan_file: Path, as_json: bool,
) -> None:  # fmt: skip
    """Verify a plan independently: route, loss, bound, optimality.

    PLAN is a plan saved as .json, for the problem in FILE. The check shares no code with the methods that make plans
    and uses exact arithmetic. Exit code 0: all claims are confirmed; 1: one is refuted; 3: one could not be checked.
    """
    problem = source.read()
    from learnroute.verification import verify

    plan = read_plan(plan_file)
    with errors_naming(plan_file):
        found = verify(problem, plan)
    output_result(found, (), as_json)
    context.exit(VERDICT_CODES[found.verdict])


COMMANDS = (plan_command, evaluate_command, verify_command)
