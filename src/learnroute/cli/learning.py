"""simulate, estimate."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    output_option,
    output_result,
    plot_option,
    print_json,
    problem_options,
    report_files,
    route_stops,
    say,
    seed_option,
    show_progress,
    suffixes,
    time_option,
)
from learnroute.cli.paths import INPUT, OUTPUT, SAMPLES
from learnroute.cli.tables import print_sheet
from learnroute.errors import InputError, printable, show
from learnroute.formats import WRITERS, places, write_problem
from learnroute.formats.csv_files import read_matrix, training_member
from learnroute.formats.files import LONGEST_NAME, check_destination, exists, write_text
from learnroute.formats.json_files import dumps
from learnroute.formats.samples import causes, read_samples, write_samples
from learnroute.planner import evaluate, plan
from learnroute.solvers.methods import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from learnroute.learning.estimation import Estimate
    from learnroute.learning.preparation import Scaling
    from learnroute.learning.simulation import Simulation
    from learnroute.model.problem import Problem
    from learnroute.model.result import Plan

SAMPLERS = ("low-dimensional", "direct")  # listed here so that other commands need not import the simulation
SCALINGS = ("none", "standardise", "whiten")


@command(
    "simulate",
    epilog=METHOD_LIST + "\b\nExample:\n  learnroute simulate examples/warehouse-robot.json --runs 2000 --method auto "
    "--method random --plot simulated.png",
)
@problem_options
@click.option("--method", "methods", type=Name(list(METHODS)), multiple=True,
              help=f"Method whose route is simulated, auto if there is no --route. {METHOD_HELP} May be "
              "repeated.")  # fmt: skip
@click.option("--route", "routes", multiple=True, metavar="A,B,C",
              help="Route to simulate: names or 0-based indices; may be repeated. With several vehicles, give one "
              "--route per vehicle.")  # fmt: skip
@click.option("--runs", type=int, default=10_000, show_default=True, help="Number of trainings along each route.")
@click.option("--sampler", type=Name(SAMPLERS), default="low-dimensional", show_default=True,
              help="direct: draw all features and labels; low-dimensional: a fast sampler with the same "
              "distribution.")  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals.")
@seed_option
@time_option
@json_option
@output_option(f"Write the results ({suffixes(REPORTS)}).")
@plot_option
def simulate_command(
    source: Source, methods: tuple[str, ...],
    routes: tuple[str, ...], runs: int, sampler: str, level: float, seed: int, time_limit: float | None,
    as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...],
) -> None:  # fmt: skip
    """Simulate training along a route; compare with the closed form.

    The learner is trained many times along a route through the regions of FILE. True models come from the file (truth,
    initial_model), or are drawn to match its dissimilarities. --time-limit applies to each route.
    """
    from learnroute.learning.simulation import simulate, simulations_sheet, simulations_table

    check_outputs(outputs, REPORTS, pictures)
    problem = source.read()
    found: list[tuple[str, Simulation]] = []
    with show_progress() as progress:
        given = _plans_of_routes(problem, [route_stops(route, problem) for route in routes])
        wanted = methods or (() if routes else ("auto",))
        given += [plan(problem, name, seed, time_limit, progress) for name in wanted]
        for chosen in given:
            trained = problem if chosen.learner is None else problem.replace(learner=chosen.learner)
            result = simulate(trained, chosen, runs, seed, sampler, level, time_limit, progress)
            found.append((chosen.requested, result))
    report = _simulations_dict(found)
    for path in outputs:
        write_text(path, dumps(report) if path.suffix.lower() == ".json" else simulations_table(found).to_csv())
        report_files(path)
    if pictures:
        from learnroute.plots.pictures import save_figure
        from learnroute.plots.simulations import draw_simulations

        for path in pictures:
            save_figure(draw_simulations(found, problem), path)
            report_files(path)
    if as_json:
        print_json(report)
    else:
        print_sheet(simulations_sheet(found), problem)


@command(
    "estimate",
    epilog="\b\nExample:\n  learnroute estimate examples/buoys/samples --target height --scaling whiten --intercept "
    "\\\n    --travel examples/buoys/travel.csv --problem buoys.json --rest held-out\n"
    "  learnroute plan buoys.json",
)
@click.argument("data", type=SAMPLES)
@click.option("--target", required=True, metavar="COLUMN", help="Column to predict; all other columns are features.")
@click.option("--region", metavar="COLUMN", help="Column with the region names, if DATA is one table.")
@click.option("--skip", multiple=True, metavar="COLUMN",
              help="Column that is neither target nor feature, such as a time. May be repeated.")  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the upper bounds.")
@click.option("--share", type=float, default=0.5, show_default=True,
              help="Share of each region's samples to estimate from; the others are kept for training and "
              "testing.")  # fmt: skip
@click.option("--no-split", is_flag=True, help="Estimate from all samples; keep none for training.")
@click.option("--scaling", type=Name(SCALINGS), default="none", show_default=True,
              help="standardise: scale features to mean 0 and variance 1; whiten: also make them "
              "uncorrelated.")  # fmt: skip
@click.option("--intercept", is_flag=True, help="Add a constant feature.")
@click.option("--drop-missing", is_flag=True, help="Drop samples with missing values instead of rejecting the region.")
@click.option(
    "--pilot",
    type=int,
    metavar="P",
    help="Compare the models only along the first P principal components of the features.",
)
@click.option(
    "--initial-model",
    metavar="A,B,…",
    help="Model that the learner starts from, one number per feature. Default: zeros.",
)
@click.option("--travel", type=INPUT, metavar="FILE",
              help="Travel costs (.csv) for --problem: a matrix with names, or places (columns name and x, y or lat, "
              "lon), whose distances are the costs. Default: no travel costs.")  # fmt: skip
@click.option("--samples", type=int, metavar="n",
              help="Training samples per region, for --problem. Default: each region's number of samples kept for "
              "training.")  # fmt: skip
@click.option("--regularization", metavar="λ",
              help="Regularisation strength λ of a proximal learner, for --problem: a number, a comma-separated list "
              "(one per position), auto or schedule. Default: a least-squares learner.")  # fmt: skip
@click.option(
    "--problem",
    "problem_file",
    type=OUTPUT,
    metavar="FILE",
    help=f"Write the planning problem ({suffixes(WRITERS)}).",
)
@click.option("--planning", type=OUTPUT, metavar="FOLDER",
              help="Write the samples used for the estimates, split into train and test, for rehearse.")  # fmt: skip
@click.option("--rest", type=OUTPUT, metavar="FOLDER",
              help="Write the unused samples to FOLDER/train and FOLDER/test.")  # fmt: skip
@seed_option
@json_option
@output_option("Write the report (.json), or the bounds as a matrix (.csv).")
def estimate_command(
    data: Path, target: str, region: str | None, skip: tuple[str, ...],
    level: float, share: float, no_split: bool, scaling: Scaling,
    intercept: bool, drop_missing: bool, pilot: int | None, initial_model: str | None, travel: Path | None,
    samples: int | None, regularization: str | None, problem_file: Path | None, planning: Path | None,
    rest: Path | None, seed: int,
    as_json: bool, outputs: tuple[Path, ...],
) -> None:  # fmt: skip
    """Estimate dissimilarities from samples, with confidence bounds.

    DATA is a folder with one CSV file per region, or one CSV table with a region column. Regions that cannot be
    estimated are listed with the reason and skipped.
    """
    from learnroute.learning.estimation import estimate

    check_outputs(outputs, REPORTS)
    if problem_file:
        check_destination(problem_file, WRITERS)
        if exists(problem_file):
            reason = "exists; --problem is the file of the new problem, so give a new name, or remove the file"
            raise InputError(reason, where=problem_file)
    between = travel_fields(travel) if travel else {}
    tables = read_samples(data, target, region, skip)
    with show_progress() as progress:
        found = estimate(
            tables, level, 1.0 if no_split else share, seed=seed, initial_model=_numbers(initial_model),
            scaling=scaling, intercept=intercept, missing="drop" if drop_missing else "refuse", pilot=pilot,
            progress=progress,
        )  # fmt: skip
    for line in causes(found.failures):
        say(printable(f"learnroute: region {' '.join(line.split())}"))
    strength = None if regularization is None else training_member(regularization.replace(",", " "))
    try:
        found = found.compare_predictors(strength)
    except (InputError, ImportError) as error:  # too few held-out samples, or no scikit-learn
        caveat = f"law and rehearsal were not compared: {error}"
        found = replace(found, regularization=strength, caveats=(*found.caveats, caveat))
    if planning:
        _write_parts(found, target, planning, "--planning", found.planning_rows)
        report_files(planning)
    if rest:
        _write_parts(found, target, rest, "--rest", lambda name: (found.rows[name].train, found.rows[name].test))
        report_files(rest)
    if problem_file:
        problem = found.to_problem(samples=samples, regularization=strength, **between)
        report_files(*write_problem(problem, problem_file))
    output_result(found, outputs, as_json)


def travel_fields(path: Path) -> dict[str, Any]:
    """Return the travel of a table as arguments of `Estimate.to_problem`: costs or places."""
    if not places.is_places(path):
        names, costs = read_matrix(path)
        return {"travel": costs, "regions": names}
    members = places.read_places(path)
    return {"regions": members["regions"], "coordinates": members["coordinates"],
            "geographic": members.get("geographic", False)}  # fmt: skip


COMMANDS = (simulate_command, estimate_command)


def _plans_of_routes(problem: Problem, stops: list[Any]) -> list[Plan]:
    """Return the plans for the routes of the command line: one per route, or one for all vehicles."""
    rules = problem.fleet_rules
    if rules.vehicles > 1 and stops:
        return [evaluate(problem, stops)]
    if not rules.single and stops:
        reason = "does not say which model each visit trains; omit it to simulate a planned route"
        raise InputError(reason, field="--route")
    return [evaluate(problem, one) for one in stops]


def _simulations_dict(found: list[tuple[str, Simulation]]) -> dict[str, Any]:
    """Return the result of the first route, which contains those of the others."""
    first, *others = [{**result.to_dict(), "method": method} for method, result in found]
    return {**first, "others": others}


def _write_parts(
    found: Estimate, target: str, folder: Path, option: str, rows_of: Callable[[str], tuple[Any, Any]]
) -> None:
    """Write part of each region's samples to the folders train and test, in raw features."""
    for name in found.regions:
        too_long = len(os.fsencode(f"{name}.csv")) > LONGEST_NAME
        if Path(name).name != name or name in (".", "..") or "\0" in name or too_long:
            reason = f"is not a valid file name; rename the region, or omit {option}"
            raise InputError(reason, field=f"region {show(name)}")
    for place, part in enumerate(("train", "test")):
        try:
            (folder / part).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot be created ({error.strerror})", where=folder / part) from None
        for name in found.regions:
            rows = rows_of(name)[place]
            features, targets = found.samples[name]
            write_samples(folder / part / f"{name}.csv", found.columns, target, features[rows], targets[rows])


def _numbers(text: str | None) -> list[float] | None:
    if text is None:
        return None
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise InputError(
            "expected a comma-separated list of numbers", field="--initial-model", found=f"{text!r}"
        ) from None
