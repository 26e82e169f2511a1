"""rehearse."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from learnroute.cli.common import (
    Name,
    Source,
    check_outputs,
    command,
    exit_if_interrupted,
    fleet_from_options,
    json_option,
    make_fleet,
    output_option,
    output_result,
    plot_option,
    report_files,
    route_options,
    seed_option,
    show_progress,
    suffixes,
    time_left,
    time_option,
    visits_from_options,
)
from learnroute.cli.learning import SCALINGS, travel_fields
from learnroute.cli.paths import INPUT, PROBLEM
from learnroute.cli.training import (
    MEASURES,
    data_options,
    learner_by_name,
    read_regions,
    route_errors_in,
    samples_width,
)
from learnroute.cli.user_code import user_code
from learnroute.errors import InputError
from learnroute.formats import PLAN_WRITERS, READERS, check_plan_destination
from learnroute.formats.csv_files import training_member
from learnroute.interrupts import stop_on_interrupt
from learnroute.model.constraints import Constraints
from learnroute.model.depot import Depot
from learnroute.model.learners import Proximal
from learnroute.model.visits import Visits

if TYPE_CHECKING:
    from learnroute.learning.preparation import Scaling

AUTO = "auto"


@command(
    "rehearse",
    epilog="\b\nExample:\n  learnroute rehearse examples/buoys/samples --target height --learner proximal \\\n"
    "    --regularization 0.5 --scaling whiten --travel examples/buoys/travel.csv -o plan.json\n"
    "  learnroute follow examples/buoys/samples --target height --plan plan.json",
)
@data_options(
    click.option("--regularization", metavar="λ",
                 help="Regularisation strength λ of the proximal learner: a number, or auto (chosen with the route). "
                 "Default: from the problem, otherwise 1."),
    click.option("--problem", "problem_file", type=PROBLEM, metavar="FILE",
                 help=f"Planning problem ({suffixes(READERS)}) with travel, constraints, visits, fleet, "
                 "features_scaling and learner. Options about routes replace its own."),
    click.option("--error", type=Name(MEASURES),
                 help="Error measure of a model in a region. Default: zero-one for classifiers, otherwise squared."),
)  # fmt: skip
@click.option("--travel", type=INPUT, metavar="FILE",
              help="Travel costs (.csv), instead of --problem: a matrix with names, or places (columns name and x, y "
              "or lat, lon). Default: no travel costs.")  # fmt: skip
@click.option(
    "--travel-rate", type=float, metavar="X", help="Loss per unit of travel. Default: that of the problem, else 1."
)
@route_options
@click.option("--scaling", type=Name(SCALINGS), default="none", show_default=True,
              help="standardise: scale features to mean 0 and variance 1; whiten: also make them uncorrelated. Not "
              "with --problem.")  # fmt: skip
@click.option("--draws", type=int, default=32, show_default=True,
              help="Random splits of the samples to search with; as many others evaluate the route.")  # fmt: skip
@click.option("--trainings", type=int, metavar="N",
              help="Maximum number of trainings, if the learner is not linear. Default: for 25 routes.")  # fmt: skip
@seed_option
@time_option
@json_option
@output_option(f"Write the plan ({suffixes(PLAN_WRITERS)}).")
@plot_option
def rehearse_command(
    data: Path, target: str, region: str | None, skip: tuple[str, ...], test: float, learner: str | None,
    regularization: str | None, problem_file: Path | None, error: str | None, travel: Path | None,
    travel_rate: float | None, scaling: Scaling, draws: int, trainings: int | None, seed: int,
    time_limit: float | None, as_json: bool, outputs: tuple[Path, ...], pictures: tuple[Path, ...], **about: Any,
) -> None:  # fmt: skip
    """Find a route by training along many routes on resampled data.

    DATA is a folder with one CSV file per region, one CSV table with a region column, or a folder with subfolders train
    and test. Prints the error of the route with its standard error, the errors of random orders, and the routes that
    are statistically tied with it. With --repeat N, each visit to a region trains on 1/N of its samples.
    """
    from learnroute.learning.following import reseed
    from learnroute.learning.planned_training import needs_intercept
    from learnroute.learning.rehearsal import rehearse

    check_outputs(outputs, PLAN_WRITERS, pictures)
    ends = {"start": about["start"], "end": about["end"], "return": about["return_"]}
    ends = {name: value for name, value in ends.items() if value is not None}
    visits, fleet, depot = visits_from_options(about), fleet_from_options(about), about["depot"]
    problem = None
    if problem_file is not None:
        source = Source(problem_file, {}, ends, travel_rate, depot=depot, visits=visits, fleet=fleet)
        problem = source.read()
        if travel is not None:
            raise InputError("the problem has travel costs already; omit --problem or --travel", field="--travel")
    fields = {} if travel is None else travel_fields(travel)
    if problem is None:
        rules = {"visits": visits and Visits(**visits), "fleet": fleet and make_fleet(fleet)}
        given = {"travel_rate": travel_rate, **rules}
        fields |= {name: value for name, value in given.items() if value not in (None, {})}
    own = None if problem is None else problem.features_scaling
    regions = read_regions(data, target, region, skip, test, seed, own)
    if problem is None and depot is not None:
        fields["depot"] = _depot_of(depot, travel, fields, regions, ends.pop("return", True))
    if problem is None and ends:
        fields["constraints"] = Constraints.from_dict(ends)
    if problem is None and fields.get("regions"):
        fields, regions = _in_order(travel, fields, regions)
    strength = None if regularization in (None, AUTO) else training_member(str(regularization))
    if isinstance(strength, str | list):
        raise InputError("expected a number or auto", field="--regularization", found=f"= {regularization}")
    made = None
    if problem is None or learner is not None or strength is not None:
        features = None if problem is None else problem.learner.features
        intercept = needs_intercept(samples_width(regions, own), features, own)
        name = Proximal.rule if regularization is not None and learner is None else learner
        made = reseed(learner_by_name(name, strength, intercept), seed)
    for path in outputs:
        if problem is not None:
            check_plan_destination(path, problem)
    chosen = AUTO if regularization == AUTO else None
    with show_progress() as progress, stop_on_interrupt() as stop, user_code(learner), route_errors_in(problem_file):
        found = rehearse(
            regions, made, problem, chosen, error, scaling=scaling, draws=draws, trainings=trainings, seed=seed,
            time_limit=time_left(time_limit), progress=progress, stop=stop, **fields,
        )  # fmt: skip
    for path in outputs:
        found.plan.save(path)
        report_files(path)
    output_result(found, pictures, as_json)
    exit_if_interrupted(stop)


def _depot_of(text: str, travel: Any, fields: dict[str, Any], regions: dict[str, Any], returns: bool) -> Depot:
    """Return the depot: coordinates, or a place of the travel table without samples."""
    names = list(fields.get("regions", ()))
    if text not in names:
        try:
            x, y = map(float, text.split(","))
        except ValueError:
            reason = "a place in the table of --travel, or coordinates X,Y, are needed"
            raise InputError(reason, field="--depot", value=text) from None
        return Depot(coordinates=[x, y], returns=returns)
    if text in regions:
        raise InputError("has samples, so it is a region; give --start", field="--depot", value=text)
    here, kept = names.index(text), [k for k, name in enumerate(names) if name in regions]
    if "travel" not in fields:
        return Depot(text, fields["coordinates"][here], returns=returns)
    costs = fields["travel"]
    return Depot(text, None, [costs[here][k] for k in kept], [costs[k][here] for k in kept], returns)


def _in_order(travel: Any, fields: dict[str, Any], regions: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return travel without names, and the samples in the order of the names; each region with samples needs travel."""
    names = list(fields.pop("regions"))
    missing = next((name for name in regions if name not in names), None)
    if missing is not None:
        raise InputError(f"region {missing!r} is missing; add all regions that have samples", where=travel)
    kept = [k for k, name in enumerate(names) if name in regions]
    if "travel" in fields:
        fields["travel"] = [[fields["travel"][i][j] for j in kept] for i in kept]
    else:
        fields["coordinates"] = [fields["coordinates"][i] for i in kept]
    return fields, {names[k]: regions[names[k]] for k in kept}


COMMANDS = (rehearse_command,)
