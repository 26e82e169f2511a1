"""generate, check, convert."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from learnroute.cli.common import (
    Name,
    Source,
    check_outputs,
    command,
    json_option,
    list_choices,
    output_option,
    print_json,
    problem_options,
    report_files,
    seed_option,
    suffixes,
)
from learnroute.cli.paths import INPUT, OUTPUT, PROBLEM
from learnroute.cli.tables import print_table
from learnroute.errors import InputError, percent
from learnroute.formats import (
    PLAN_WRITERS,
    WRITERS,
    check_plan_destination,
    plan_from,
    problem_from,
    read_plan,
    write_plan,
    write_problem,
)
from learnroute.formats.companion import companion_path, write_companion
from learnroute.formats.files import errors_naming
from learnroute.formats.json_files import problem_to_dict
from learnroute.formats.parts import TRAVEL, read_dissimilarities, read_travel, size_of
from learnroute.guarantees import guarantee_of_algorithm1
from learnroute.model.learners import Learner, LeastSquares
from learnroute.model.metric import MetricReport, check_metric, metric_closure
from learnroute.model.notes import describe_importance, describe_learner, initial_model_note
from learnroute.model.problem import Problem
from learnroute.model.rounding import PRINTED
from learnroute.model.subsets import with_costs
from learnroute.model.table import Table
from learnroute.study.families import FAMILIES, random_models, random_problem

BESIDE = (".tsp", ".atsp")  # formats that store other members in a second file
FAMILY_LIST = list_choices("Families", ((name, text) for name, (_, text) in FAMILIES.items()))


@command(
    "generate",
    epilog=FAMILY_LIST
    + "\b\nExample:\n  learnroute generate --family euclidean --regions 12 --seed 7 -o problem.json\n"
    "  learnroute generate --travel examples/burma14/burma14.tsp --family vectors -o burma.json",
)
@click.option(
    "--family",
    type=Name(list(FAMILIES)),
    default="uniform",
    show_default=True,
    help="Family of random problems; see the families below.",
)
@click.option("--regions", type=int, metavar="T", help="Number of regions.  [default: 10]")
@click.option("--travel", type=INPUT, metavar="FILE",
              help=f"Take travel costs, places and names from this file ({suffixes(TRAVEL)}) and draw only "
              "dissimilarities.")  # fmt: skip
@click.option("--measured", type=INPUT, metavar="FILE",
              help="With --travel: take dissimilarities from this file instead of drawing them: a matrix with names "
              "(.csv, as written by `estimate`), or a problem (.json).")  # fmt: skip
@click.option("--features", type=int, default=80, show_default=True, metavar="m", help="Number of features.")
@click.option("--samples", type=int, default=100, show_default=True, metavar="n", help="Training samples per region.")
@click.option(
    "--noise", type=float, default=0.1, show_default=True, metavar="σ", help="Standard deviation of the label noise."
)
@seed_option
@output_option(
    f"Write the problem ({suffixes(WRITERS)}); with --travel NAME.tsp, -o NAME.regions.json writes everything but the "
    "travel costs. Default: print JSON."
)
def generate_command(
    family: str, regions: int | None, travel: Path | None, measured: Path | None, features: int, samples: int,
    noise: float, seed: int, outputs: tuple[Path, ...],
) -> None:  # fmt: skip
    """Generate a random problem, or add dissimilarities to a map.

    With --travel, travel costs come from a file, and dissimilarities are random or taken from --measured.
    """
    check_outputs(outputs, WRITERS)
    learner = Learner(features, samples, noise)
    if travel is None:
        if measured is not None:
            raise InputError("needs --travel, the file with the travel costs", field="--measured")
        problem = random_problem(family, 10 if regions is None else regions, learner, seed)
    elif regions is not None:
        raise InputError(
            "the file of --travel has its own number of regions; omit --regions", field="--regions", value=regions
        )
    else:
        problem = _with_models(travel, measured, family, learner, seed)
    for path in outputs:
        if travel is not None and path == companion_path(travel) and travel.suffix.lower() in BESIDE:
            write_companion(problem, travel, ("travel", "coordinates", "geographic"))
            report_files(path)
        else:
            report_files(*write_problem(problem, path))
    if not outputs:
        print_json(problem_to_dict(problem))


def _with_models(travel: Path, measured: Path | None, family: str, learner: Learner, seed: int) -> Problem:
    """Return the problem of a file with travel only, with random or measured dissimilarities."""
    data = read_travel(travel)
    models = (
        random_models(family, size_of(data), seed) if measured is None else read_dissimilarities(measured, data)
    )  # fmt: skip
    with errors_naming(travel):
        return problem_from({**data, **models, "learner": data.get("learner") or learner.to_dict()})


@command(
    "check",
    epilog="\b\nExample:\n  learnroute check problem.json\n  learnroute check problem.json --repair -o metric.json",
)
@problem_options
@click.option("--repair", is_flag=True, help="Replace travel costs by their metric closure; requires -o.")
@json_option
@output_option(f"Write the repaired problem ({suffixes(WRITERS)}).")
def check_command(
    source: Source, repair: bool, as_json: bool,
    outputs: tuple[Path, ...],
) -> None:  # fmt: skip
    """Validate a problem; test travel for the triangle inequality.

    The guarantee of Algorithm 1 needs the triangle inequality. With --repair, each travel cost is replaced by the
    cheapest way through other regions, and the number of changed entries is printed.
    """
    if repair != bool(outputs):
        raise InputError(
            "give both or neither; -o is the file of the repaired problem", field="--repair", found="and -o"
        )
    check_outputs(outputs, WRITERS)
    problem = source.read()
    report = check_metric(problem.ways.matrix)
    changed = None
    if outputs:
        travel, entries = metric_closure(problem.ways.matrix)
        changed = len(entries)
        for path in outputs:
            report_files(*write_problem(with_costs(problem, travel), path))
    facts = _facts(problem, report, changed)
    if as_json:
        print_json(facts)
    else:
        _print_facts(facts, problem)


@command(
    "convert",
    epilog="\b\nExample:\n  learnroute convert examples/lakes.geojson lakes.json\n"
    "  learnroute convert lakes.json lakes.csv\n  learnroute plan lakes.json -o plan.json\n"
    "  learnroute convert plan.json route.gpx --problem lakes.json",
)
@problem_options
@click.argument("new", type=OUTPUT)
@click.option("--problem", "problem_file", type=PROBLEM, metavar="PROBLEM",
              help=f"FILE is a plan (.json) for this problem, and so is NEW ({suffixes(PLAN_WRITERS)}).")  # fmt: skip
def convert_command(source: Source, new: Path, problem_file: Path | None) -> None:
    """Convert a problem or a plan to another file format.

    The format of NEW follows from its name: .json, .csv, … With --problem, FILE is a plan. If the new format cannot
    hold a part of the problem, the command fails and names the part.
    """
    if problem_file is None:
        if new.suffix.lower() in set(PLAN_WRITERS) - set(WRITERS):
            raise InputError(
                f"{new.suffix} files hold plans; to convert a plan, give its problem with --problem", where=new
            )
        check_outputs([new], WRITERS)
        report_files(*write_problem(source.read(), new))
        return
    check_outputs([new], PLAN_WRITERS)
    problem = replace(source, file=problem_file).read()
    check_plan_destination(new, problem)
    members = read_plan(source.file)
    with errors_naming(source.file):
        found = plan_from(members, problem)
    report_files(*write_plan(found, new, problem))


COMMANDS = (generate_command, check_command, convert_command)


def _facts(problem: Problem, report: MetricReport, changed: int | None) -> dict[str, Any]:
    learner = problem.learner
    return {
        "valid": True,
        "regions": problem.size,
        "regime": problem.regime,
        "retention": learner.retention if problem.samples is None and isinstance(learner, LeastSquares) else None,
        "symmetric": report.symmetric,
        "metric": report.metric,
        "violations": report.violations,
        "triples": report.triples,
        "worst": _worst(problem, report),
        "repaired_entries": changed,
        "last_region": problem.regions[_evaluable_problem(problem).instance.orders.typical.best_last],
        "guarantee": guarantee_of_algorithm1(problem, report).value,
        "truth_beyond_bounds": _count_beyond_bounds(problem),
        "dissimilarities": problem.dissimilarity_kind,
        "notes": list(initial_model_note(problem)),
    }


def _evaluable_problem(problem: Problem) -> Problem:
    """Return a problem whose orders can be priced: with some λ if it is to be chosen, and one visit per region."""
    problem = problem.replace(visits=None, fleet=None) if problem.visits or problem.fleet else problem
    return problem.with_regularization(1.0) if problem.learner.undecided else problem


def _worst(problem: Problem, report: MetricReport) -> dict[str, Any] | None:
    if report.worst is None:
        return None
    i, via, j = report.worst
    return {
        "from": problem.stops[i],
        "via": problem.stops[via],
        "to": problem.stops[j],
        "direct": float(problem.ways.matrix[i, j]),
        "detour": float(problem.ways.matrix[i, via] + problem.ways.matrix[via, j]),
        "excess": report.excess,
    }


def _count_beyond_bounds(problem: Problem) -> int | None:
    """Return the number of pairs whose true models differ by more than their bound; None if they are unknown."""
    if problem.truth is None or problem.transfer is not None or problem.size > 2000:
        return None
    true = _squared_distances(problem.truth)
    bound: Any = problem.dissimilarity if problem.vectors is None else _squared_distances(problem.vectors)
    return int(np.sum(np.triu(true > bound * (1 + PRINTED), 1)))


def _squared_distances(vectors: Any) -> Any:
    return np.array([((vectors - vector) ** 2).sum(axis=1) for vector in vectors])


def _print_facts(facts: dict[str, Any], problem: Problem) -> None:
    rows = [("problem", f"valid, {facts['regions']} regions")]
    rows.append(("learner", f"{problem.regime} regime ({describe_learner(problem)})"))
    rows.append(("best last region", f"{facts['last_region']} (least score)"))
    rows.append(("travel", "same in both directions" if facts["symmetric"] else "differs by direction"))
    rows.append(("triangle inequality", _triangle_text(facts)))
    if facts["repaired_entries"] is not None:
        entries = len(problem.stops) * (len(problem.stops) - 1)
        rows.append(
            ("repair", f"{facts['repaired_entries']} of {entries} entries changed; the triangle inequality holds now")
        )
    if facts["truth_beyond_bounds"]:
        rows.append(
            ("truth", f"{facts['truth_beyond_bounds']} pairs of true models differ by more than their dissimilarity")
        )
    repaired = facts["repaired_entries"] is not None and facts["symmetric"]
    holds = "applies" if facts["guarantee"] else "applies to the repaired problem" if repaired else "does not apply"
    rows.append(("guarantee", f"the guarantee of Algorithm 1 {holds}"))
    if problem.has_estimates:
        rows.append(("dissimilarities", "upper bounds and unbiased estimates; plans use the estimates"))
    if problem.importance is not None:
        rows.append(("importance", describe_importance(problem)))
    rows += [("note", note) for note in facts["notes"]]
    print_table(Table.of_texts(("check", "result"), rows, left=2))


def _triangle_text(facts: dict[str, Any]) -> str:
    worst = facts["worst"]
    if worst is None:
        return "holds"
    return (
        f"violated by {facts['violations']} of {facts['triples']} triples "
        f"({percent(facts['violations'] / facts['triples'], 1)}); worst: {worst['from']} to {worst['to']} costs "
        f"{worst['direct']:.6g}, but {worst['detour']:.6g} via {worst['via']}"
    )
