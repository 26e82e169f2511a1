"""plan, evaluate, verify."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from learnroute.cli.common import (
    INTERRUPTED,
    METHOD_HELP,
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
    route_stops,
    say,
    seed_option,
    suffixes,
    time_left,
    time_option,
)
from learnroute.cli.tables import Table, show
from learnroute.errors import InputError
from learnroute.formats import PLAN_WRITERS, check_plan_destination, read_plan, write_plan
from learnroute.interrupts import stop_on_interrupt
from learnroute.model.itinerary import itinerary
from learnroute.model.losses import model_shares
from learnroute.model.problem import ESTIMATE, Problem
from learnroute.model.result import Plan
from learnroute.planner import evaluate, plan
from learnroute.solvers.params import DEFAULTS
from learnroute.solvers.registry import METHODS

PARTS = {
    "travel": "travel",
    "dissimilarity": "error from dissimilar regions",
    "initial": "error from the first model",
    "noise": "error from noise",
}
PAIRS = {"pairs": "gained from dissimilar pairs"}  # by regularised learners
WHAT = {"estimate": "estimate", "upper": "bound", "measured": "expected"}  # what the losses of a plan are
MOST_STOPS = 60  # regions up to which the whole route is printed


@command("plan", epilog="\b\nExample:\n  learnroute plan examples/city-survey.json --plot route.png -o plan.json")
@problem_options
@click.option("--method", type=Name(list(METHODS)), default="auto", show_default=True, help=METHOD_HELP)
@seed_option
@time_option
@click.option(
    "--initial",
    metavar="PLAN",
    type=click.Path(path_type=Path),
    help="Start from the route of an older plan (.json); regions that it lacks are put in.",
)
@click.option(
    "--threads",
    type=int,
    metavar="K",
    help="Search in K threads. The usual number is that of all cores; without a time limit, only where the same seed "
    "gives the same route whatever their number is, else 1.",
)
@json_option
@output_option(f"Write the plan ({suffixes(PLAN_WRITERS)}).")
@plot_option
def plan_command(
    source: Source, method: str, seed: int,
    time_limit: float | None, initial: Path | None, threads: int | None, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Choose the route with the least expected loss for the problem in FILE."""
    check_outputs(outputs, PLAN_WRITERS, pictures)
    problem = source.read()
    for path in outputs:
        check_plan_destination(path, problem)
    route = None if initial is None else _route_in(initial)
    params = DEFAULTS
    if threads is None:
        cores = os.cpu_count() or 1
        threads = 1 if time_limit is None else cores
        if time_limit is None:  # all cores where the route does not depend on how many there are
            params = params._replace(search=params.search._replace(threads=cores))
    with progress_shown() as progress, stop_on_interrupt() as stop:
        found = plan(problem, method, seed, time_left(time_limit), progress, params, route, threads, stop)
    _deliver(found, problem, as_json, outputs, pictures)
    if stop.is_set():
        say("interrupted: this is the best route found until then")
        raise click.exceptions.Exit(INTERRUPTED)


def _route_in(file: Path) -> list[str]:
    """Return the route of a plan file."""
    members = read_plan(file)
    route = members.get("route") if isinstance(members, dict) else None
    if not isinstance(route, list):
        raise InputError("no route in it; name a plan that was written as .json", where=file)
    return route


@command(
    "evaluate",
    epilog="\b\nExample:\n  learnroute evaluate examples/warehouse-robot.json \\\n"
    '    --route "Receiving,Bulk racks,Small parts,Cold store,Hazmat cage,Returns,Packing,Dispatch"',
)
@problem_options
@click.option("--route", required=True, metavar="A,B,C", help="Regions in order: names, or 0-based indices.")
@json_option
@output_option(f"Write the plan ({suffixes(PLAN_WRITERS)}).")
@plot_option
def evaluate_command(
    source: Source, route: str, as_json: bool,
    outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Say what a given route through the regions of FILE costs, and how far from the best it can be."""
    check_outputs(outputs, PLAN_WRITERS, pictures)
    problem = source.read()
    for path in outputs:
        check_plan_destination(path, problem)
    _deliver(evaluate(problem, route_stops(route, problem)), problem, as_json, outputs, pictures)


VERDICT_CODES = {"confirmed": 0, "refuted": 1, "not checked": 3}


@command(
    "verify",
    epilog="\b\nExample:\n  learnroute plan examples/city-survey.json -o plan.json\n"
    "  learnroute verify plan.json examples/city-survey.json",
)
@click.argument("plan_file", metavar="PLAN", type=click.Path(path_type=Path))
@problem_options
@json_option
@click.pass_context
def verify_command(
    context: click.Context, source: Source, plan_file: Path, as_json: bool,
) -> None:  # fmt: skip
    """Recompute what PLAN (as .json) claims for the problem in FILE: route, loss, bound, optimality.

    The check shares no code with the methods that make plans, and its arithmetic is exact. Exit code 0 if every claim
    is confirmed, 1 if one is refuted, 3 if one could not be checked.
    """
    problem = source.read()
    from learnroute.verification import verify

    found = verify(problem, read_plan(plan_file))
    if as_json:
        print_json(found.to_dict())
    else:
        shown = Table("claim", "verdict", "detail", left=3)
        for check in found:
            shown.add_row(check.what, "REFUTED" if check.holds is False else check.verdict, check.detail)
        show(shown)
        if found.remarks:
            show(f"not judged (how the route was found): {', '.join(found.remarks)}")
    context.exit(VERDICT_CODES[found.verdict])


COMMANDS = (plan_command, evaluate_command, verify_command)


def _deliver(
    found: Plan, problem: Problem, as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...]
) -> None:
    """Write what is to be written, then print the plan."""
    problem = found.problem or problem  # with the regularisation that was chosen
    deliver(
        outputs,
        lambda path: write_plan(found, path, problem),
        pictures,
        lambda plots, path: plots.save_plan(found, problem, path),
        found.to_dict() if as_json else None,
        lambda: _print_plan(found, problem),
    )


def _print_plan(found: Plan, problem: Problem) -> None:
    print_heading(problem)
    show(_route_table(found, problem))
    show(_loss_table(found, problem))
    _print_verdict(found)


def _route_table(found: Plan, problem: Problem) -> Any:
    weights = model_shares(problem, found.order)
    shown = Table("visit", "region", "travel", "score / T", "weight", left=2)
    skipped = range(MOST_STOPS // 2, problem.size - MOST_STOPS // 2) if problem.size > MOST_STOPS else range(0)
    stops = itinerary(problem, found.order)
    for stop in stops:
        k, leg = stop.position - 1, "" if stop is stops[0] else f"{stop.travel:.4g}"
        if not stop.visit:
            shown.add_row("", f"{'from' if stop is stops[0] else 'back to'} {stop.name}", leg, "", "")
        elif k not in skipped:
            score = f"{problem.scores[stop.place] / problem.size:.4g}"
            shown.add_row(str(k + 1), stop.name, leg, score, f"{weights[k]:.3g}")
        elif k == skipped[0]:
            shown.add_row("…", f"… {len(skipped)} more …", "", "", "")
    return shown


def _loss_table(found: Plan, problem: Problem) -> Any:
    loss, true_loss = found.loss, found.true_loss
    other = found.loss_in_travel_units if problem.travel_rate != 1 else None
    more = (["in units of travel, all regions"] if other else []) + (["with true models"] if true_loss else [])
    shown = Table("expected loss per region", WHAT[found.dissimilarities], "share", *more)
    for part, name in {**PARTS, **(PAIRS if loss.pairs else {}), "total": "total"}.items():
        value = getattr(loss, part)
        share = f"{value / loss.total:.1%}" if loss.total > 0 else ""
        others = [f"{getattr(one, part):.6g}" for one in (other, true_loss) if one is not None]
        shown.add_row(name, f"{value:.6g}", share, *others)
    return shown


def _print_verdict(found: Plan) -> None:
    asked = f" (asked for {found.requested})" if found.requested != found.method else ""
    bound = "" if found.lower_bound is None or found.optimal else f" (lower bound {found.lower_bound:.6g})"
    show(f"method     {found.method}{asked}, {found.seconds:.3f} s")
    unit = "" if found.problem is None else found.problem.travel_unit
    show(f"travel     {found.travel_cost:.6g}{unit and ' ' + unit} for the whole route")
    if found.chosen and found.learner is not None and found.regularization_range is not None:
        values, (low, high) = found.learner.fixed_regularization, found.regularization_range
        said = f"λ = {values[0]:.4g}" if len(values) == 1 else f"λ = {' '.join(f'{one:.3g}' for one in values)}"
        what = "" if len(values) == 1 else "times "
        show(f"chosen     {said}; {what}{low:.3g} … {high:.3g} is within 1 % on this route")
    if found.dissimilarities == ESTIMATE and found.loss_at_most is not None:
        show(f"at most    {found.loss_at_most:.6g} by the upper bounds on the dissimilarities")
    show(f"quality    {found.quality}{bound}")
    value = found.guarantee.value
    ahead = "none" if value is None else "the least loss" if value == 1 else f"at most {value:.4g} times the least loss"
    show(f"guarantee  {ahead}: {found.guarantee.reason}")
    for note in found.notes:
        show(f"note       {note}")
