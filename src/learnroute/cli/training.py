"""transfer, follow, calibrate."""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from learnroute.cli.common import (
    REPORTS,
    Name,
    check_outputs,
    command,
    json_option,
    output_option,
    output_result,
    problem_file_of,
    report_files,
    route_stops,
    say,
    seed_option,
    show_progress,
    suffixes,
    time_option,
)
from learnroute.cli.paths import INPUT, OUTPUT, PROBLEM, SAMPLES
from learnroute.cli.user_code import user_code
from learnroute.errors import InputError, list_names, printable
from learnroute.formats import WRITERS, plan_from, read_plan, read_problem, write_problem
from learnroute.formats.csv_files import read_matrix
from learnroute.formats.files import errors_naming, is_folder
from learnroute.formats.samples import RegionTable, causes, read_samples
from learnroute.model.learners import LeastSquares, Proximal
from learnroute.planner import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable

    from learnroute.learning.data import RegionData
    from learnroute.learning.planned_training import PlannedTraining
    from learnroute.model.features_scaling import FeaturesScaling

F = TypeVar("F", bound="Callable[..., Any]")
MEASURES = ("squared", "zero-one", "cross-entropy")
LEAST_SQUARES, PROXIMAL = LEARNERS = LeastSquares.rule, Proximal.rule


def data_options(*own: Any) -> Callable[[F], F]:
    """Return a decorator that adds the training data and the learner, then a command's `own` options."""
    options: tuple[Any, ...] = (
        click.argument("data", type=SAMPLES),
        click.option("--target", required=True, metavar="COLUMN", help="Column to predict."),
        click.option("--region", metavar="COLUMN", help="Column with the region names, if DATA is one table."),
        click.option("--skip", multiple=True, metavar="COLUMN",
                     help="Column that is neither target nor feature. May be repeated."),
        click.option("--test", type=float, default=0.25, show_default=True,
                     help="Share of each region's samples for testing, if DATA has no folders train and test."),
        click.option("--learner", metavar="NAME",
                     help="least-squares, proximal, or MODULE:FUNCTION, a function of your own that returns a learner. "
                     "Default: from the plan, otherwise least-squares."),
        *own,
    )  # fmt: skip

    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


training_options = data_options(
    click.option("--regularization", type=float, metavar="λ",
                 help="Regularisation strength λ of the proximal learner. Default: from the plan, otherwise 1."),
    click.option("--problem", "problem_file", type=PROBLEM, metavar="FILE",
                 help="Planning problem with features_scaling, which is applied to the features. `follow --route` also "
                 "uses its learner, and compares predicted and measured errors."),
    click.option("--error", type=Name(MEASURES),
                 help="Error measure of a model in a region. Default: zero-one for classifiers, otherwise squared."),
)  # fmt: skip


@command(
    "transfer",
    epilog="\b\nExample:\n  learnroute transfer examples/buoys/samples --target height --learner proximal "
    "-o transfer.json",
)
@training_options
@click.option("--repeats", type=int, default=1, show_default=True, help="Number of trainings per region.")
@click.option(
    "--workers", type=int, default=1, show_default=True, help="Number of parallel trainings; more than 1 needs joblib."
)
@click.option("--rows", type=OUTPUT, metavar="FILE",
              help="Store finished trainings in this file (.json), and continue from it when run again.")  # fmt: skip
@click.option(
    "--resample", is_flag=True, help="Split each region's samples into training and test again for each training."
)
@seed_option
@time_option
@json_option
@output_option(f"Write the matrix ({suffixes(REPORTS)}).")
def transfer_command(
    data: Path, target: str, region: str | None, skip: tuple[str, ...],
    test: float, learner: str | None, regularization: float | None, problem_file: Path | None, error: str | None,
    repeats: int, workers: int, rows: Path | None, resample: bool, seed: int, time_limit: float | None, as_json: bool,
    outputs: tuple[Path, ...],
) -> None:  # fmt: skip
    """Measure the transfer matrix: train in one region, test in all.

    DATA is a folder with one CSV file per region, one CSV table with a region column, or a folder with subfolders train
    and test.
    """
    from learnroute.learning.planned_training import needs_intercept
    from learnroute.learning.transfers import transfer

    check_outputs(outputs, REPORTS)
    scaling, features = None, None
    if problem_file is not None:
        problem = read_problem(problem_file_of(problem_file))
        scaling, features = problem.features_scaling, problem.learner.features
        if scaling is None:
            say(f"learnroute: {printable(str(problem_file))} has no features_scaling; features are not scaled")
    regions = read_regions(data, target, region, skip, test, seed, scaling)
    with show_progress() as progress:
        made = learner_by_name(
            learner, regularization, needs_intercept(samples_width(regions, scaling), features, scaling)
        )
        with user_code(learner):
            found = transfer(
                regions, made, repeats, error, seed, workers, time_limit, progress, rows, resample, scaling
            )  # fmt: skip
    output_result(found, outputs, as_json)


@command(
    "follow",
    epilog="\b\nExample:\n  learnroute estimate examples/buoys/samples --target height --scaling whiten --intercept "
    "\\\n    --travel examples/buoys/travel.csv --problem buoys.json --rest held-out\n"
    "  learnroute plan buoys.json -o plan.json\n"
    "  learnroute follow held-out --target height --plan plan.json --repeats 10",
)
@training_options
@click.option("--plan", "plan_file", type=INPUT, metavar="FILE", help="Plan to follow (.json).")
@click.option("--route", metavar="A,B,C", help="Route to follow instead of a plan: region names in order.")
@click.option("--repeats", type=int, default=1, show_default=True, metavar="N",
              help="Follow the route N times, with new random splits into training and test samples.")  # fmt: skip
@seed_option
@json_option
@output_option(f"Write the errors ({suffixes(REPORTS)}).")
def follow_command(
    data: Path, target: str, region: str | None, skip: tuple[str, ...],
    test: float, learner: str | None, regularization: float | None, problem_file: Path | None, error: str | None,
    plan_file: Path | None, route: str | None, repeats: int, seed: int, as_json: bool, outputs: tuple[Path, ...],
) -> None:  # fmt: skip
    """Train a learner along a plan, and test it in all regions.

    The learner is tested after each stop. DATA is a folder with one CSV file per region, one CSV table with a region
    column, or a folder with subfolders train and test, as written by `learnroute estimate --rest`. The plan sets the
    scaling of features, the learner and the expected errors, which are printed beside the measured ones. With several
    vehicles or models, each model is trained along its own visits; the final errors are those of the average, or of
    the model that serves each region.
    """
    from learnroute.learning.following import follow, reseed

    check_outputs(outputs, REPORTS)
    if (plan_file is None) == (route is None):
        raise InputError("give exactly one of the two", field="--plan", found="and --route")
    planned = _planned_training(plan_file, route, problem_file)
    scaling = None if planned is None else planned.scaling
    regions = read_regions(data, target, region, skip, test, seed, scaling)
    made = _planned_learner(learner, regularization, planned, samples_width(regions, scaling))
    stops = planned or [stop.strip() for stop in (route or "").split(",")]
    with show_progress() as progress, user_code(learner), route_errors_in(plan_file):
        made = None if made is None else reseed(made, seed)
        found = follow(stops, regions, made, error, progress=progress, repeats=repeats, seed=seed)
    for note in found.notes if as_json else ():
        say(f"learnroute: {printable(note)}")
    output_result(found, outputs, as_json)


@command(
    "calibrate",
    epilog="\b\nExample:\n"
    "  learnroute transfer examples/buoys/samples --target height --learner proximal -o transfer.json\n"
    "  learnroute follow examples/buoys/samples --target height --learner proximal \\\n"
    '    --route "Dunes,Harbour Bar,Cape Grey,Anse Noire,Ferry Point,Eastern Shoal" -o one.json\n'
    "  learnroute follow examples/buoys/samples --target height --learner proximal \\\n"
    '    --route "Ferry Point,Anse Noire,Eastern Shoal,Dunes,Cape Grey,Harbour Bar" -o two.json\n'
    "  learnroute calibrate one.json two.json --transfer transfer.json --travel examples/buoys/travel.csv \\\n"
    "    -o calibrated.json\n  learnroute plan calibrated.json",
)
@click.argument("followed", type=INPUT, nargs=-1, required=True)
@click.option("--transfer", "transfer_file", type=INPUT, required=True, metavar="FILE",
              help="Transfer matrix (.json), as written by `learnroute transfer`.")  # fmt: skip
@click.option("--travel", type=INPUT, metavar="FILE",
              help="Travel costs (.csv), a matrix with names. Default: no travel costs.")  # fmt: skip
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of the intervals.")
@json_option
@output_option(f"Write the planning problem ({suffixes(WRITERS)}).")
def calibrate_command(
    followed: tuple[Path, ...], transfer_file: Path, travel: Path | None, level: float, as_json: bool,
    outputs: tuple[Path, ...],
) -> None:  # fmt: skip
    """Fit the error law of a learner to errors measured along routes.

    Fits retention, coupling and noise, and tells whether the law is good enough to plan with. FOLLOWED are files
    (.json) written by `learnroute follow -o` or `Following.save`.
    """
    from learnroute.learning.calibration import calibrate, read_following
    from learnroute.learning.transfers import Transfer

    check_outputs(outputs, WRITERS)
    known = Transfer.read(transfer_file)
    found = calibrate(known, [read_following(path) for path in followed], level)
    fields: dict[str, Any] = {}
    if travel is not None:
        names, costs = read_matrix(travel)
        if sorted(names) != sorted(known.regions):
            raise InputError("its regions are not those of the transfer matrix", where=travel)
        place = [names.index(name) for name in known.regions]
        fields["travel"] = [[costs[i][j] for j in place] for i in place]
    for path in outputs:
        report_files(*write_problem(found.to_problem(**fields), path))
    output_result(found, (), as_json)


COMMANDS = (transfer_command, follow_command, calibrate_command)


def _planned_learner(
    name: str | None, regularization: float | None, planned: PlannedTraining | None, width: int
) -> Any:
    """Return the learner given on the command line; None if the plan's own is used."""
    if planned is None:
        return learner_by_name(name, regularization, True)
    rule = planned.learner.rule
    if name in (None, rule):
        if regularization is None:
            return None
        if rule != PROXIMAL:
            reason = f"the plan is for the learner {rule}, which has no λ; add --learner proximal"
            raise InputError(reason, field="--regularization", found=f"= {regularization:g}")
    return learner_by_name(name or rule, regularization, planned.fits_intercept(width))


@contextlib.contextmanager
def route_errors_in(file: Path | None) -> Iterator[None]:
    """Prefix errors about the route, or about regions without samples, with the file that has the route."""
    try:
        yield
    except InputError as error:
        raise error if file is None or error.field != "route" else error.within(file) from None


def learner_by_name(name: str | None, regularization: float | None, fit_intercept: bool) -> Any:
    """Return a learner by name, or the result of a user-defined function."""
    if regularization is not None and not 0 < regularization < math.inf:
        reason = "λ must be > 0; for λ = 0, use --learner least-squares"
        raise InputError(reason, field="--regularization", found=f"= {regularization:g}")
    if name == PROXIMAL:
        from learnroute.learning import ProximalRegressor

        return ProximalRegressor(1.0 if regularization is None else regularization, fit_intercept=fit_intercept)
    if regularization is not None:
        reason = f"the learner {name or LEAST_SQUARES} has no λ; add --learner proximal"
        raise InputError(reason, field="--regularization", found=f"= {regularization:g}")
    if name in (None, LEAST_SQUARES):
        from learnroute.learning import RouteRegressor

        return RouteRegressor(fit_intercept=fit_intercept)
    module, _, function = name.partition(":")
    if not module or not function:
        reason = f"unknown; known are {', '.join(LEARNERS)}, or MODULE:FUNCTION"
        raise InputError(reason, field="--learner", found=repr(name))
    if os.getcwd() not in sys.path:  # as with python -m
        sys.path.insert(0, os.getcwd())
    with user_code(name):
        try:
            made = importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise InputError(f"there is no module {module}", field="--learner", found=repr(name)) from None
        if not hasattr(made, function):
            raise InputError(f"module {module} has no function {function}", field="--learner", found=repr(name))
        learner = getattr(made, function)()
    if learner is None:
        raise InputError(f"{function}() returned nothing; return a learner", field="--learner", found=repr(name))
    return learner


def read_regions(
    data: Path, target: str, region: str | None, skip: tuple[str, ...], test: float, seed: int,
    scaling: FeaturesScaling | None = None,
) -> dict[str, RegionData]:  # fmt: skip
    """Return each region's raw samples for training and testing, with columns in the order of the scaling."""
    from learnroute.learning.data import RegionData, split

    if is_folder(data) and is_folder(data / "train") and is_folder(data / "test"):
        parts = [_validate(read_samples(data / part, target, region, skip), data / part) for part in ("train", "test")]
        both = [name for name in parts[0] if name in parts[1]]
        pairs = {name: [_pair(name, part[name], scaling) for part in parts] for name in both}
        return {name: RegionData(train, test) for name, (train, test) in pairs.items()}
    tables = _validate(read_samples(data, target, region, skip), data)
    if not 0 < test < 1:
        raise InputError("expected a share between 0 and 1", field="--test", found=f"= {test:g}")
    samples = {name: _pair(name, found, scaling) for name, found in tables.items()}
    found = {}
    for name, rows in split(samples, 1 - test, test, seed).items():
        inputs, outputs = samples[name]
        found[name] = RegionData(
            (inputs[rows.estimate], outputs[rows.estimate]), (inputs[rows.test], outputs[rows.test])
        )
    return found


def _pair(name: str, found: RegionTable, scaling: FeaturesScaling | None) -> tuple[Any, Any]:
    """Return features and targets of a region, with features in the order of the scaling's columns."""
    wanted = None if scaling is None else scaling.columns
    if wanted is None or found.columns == wanted:
        return found.features, found.targets
    if sorted(found.columns) != sorted(wanted):
        extra = [column for column in found.columns if column not in wanted]
        lacking = [column for column in wanted if column not in found.columns]
        parts = [f"lacks {list_names(lacking)}"] if lacking else []
        parts += [f"has {list_names(extra)}, to be omitted with --skip"] if extra else []
        raise InputError(
            f"{' and '.join(parts)}; give the features that features_scaling was made for",
            field=f"region {name!r}",
        )
    return found.features[:, [found.columns.index(column) for column in wanted]], found.targets


def samples_width(regions: dict[str, RegionData], scaling: FeaturesScaling | None) -> int:
    """Return the number of features that a learner gets from raw samples."""
    if scaling is not None:
        return scaling.width
    return next((region.train[0].shape[1] for region in regions.values()), 0)


def _planned_training(plan_file: Path | None, route: str | None, problem_file: Path | None) -> PlannedTraining | None:
    """Return the training of a plan file, or of a route through a problem; None for a route without a problem."""
    from learnroute.learning.planned_training import PlannedTraining

    problem = None if problem_file is None else read_problem(problem_file_of(problem_file))
    if plan_file is None:
        if problem is None:
            return None
        if not problem.fleet_rules.single:
            raise InputError("supports one vehicle with one model; plan for the fleet and give --plan", field="--route")
        return PlannedTraining.of(evaluate(problem, route_stops(route or "", problem)))
    data = read_plan(plan_file)
    with errors_naming(plan_file):
        if not isinstance(data, dict):
            raise InputError("expected a plan with a route")
        return PlannedTraining.of(data if problem is None else plan_from(data, problem))


def _validate(tables: dict[str, RegionTable], where: Path) -> dict[str, RegionTable]:
    failed = {name: found.problem for name, found in tables.items() if found.problem is not None}
    if failed:
        raise InputError("; ".join(causes(failed)), where=where)
    return tables
