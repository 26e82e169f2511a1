"""generate, check, convert."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import numpy as np

from learnroute.cli.common import (
    Source,
    check_outputs,
    json_option,
    output_option,
    print_json,
    problem_options,
    say_written,
    seed_option,
    shape,
    suffixes,
    table,
    terminal,
)
from learnroute.errors import InputError
from learnroute.formats import WRITERS, write_problem
from learnroute.formats.json_files import problem_to_dict
from learnroute.guarantees import guarantee_of_algorithm1
from learnroute.model.learner import Learner
from learnroute.model.losses import objective_of
from learnroute.model.metric import MetricReport, check_metric, metric_closure
from learnroute.model.problem import Problem
from learnroute.model.rounding import PRINTED
from learnroute.study.families import FAMILIES, random_problem

FAMILY_HELP = "What to draw. " + "; ".join(f"{name}: {text}" for name, (_, text) in FAMILIES.items()) + "."


@click.command(
    "generate", epilog="\b\nExample:\n  learnroute generate --family euclidean --regions 12 --seed 7 -o problem.json"
)
@click.option("--family", type=click.Choice(list(FAMILIES)), default="uniform", show_default=True, help=FAMILY_HELP)
@click.option("--regions", type=int, default=10, show_default=True, metavar="T", help="Number of regions.")
@click.option("--features", type=int, default=80, show_default=True, metavar="m", help="Features of the learner.")
@click.option("--samples", type=int, default=100, show_default=True, metavar="n", help="Samples a region.")
@click.option("--noise", type=float, default=0.1, show_default=True, metavar="σ", help="Noise level.")
@seed_option
@output_option(f"Write the problem ({suffixes(WRITERS)}); printed as JSON otherwise.")
def generate_command(
    family: str, regions: int, features: int, samples: int, noise: float, seed: int, output: Path | None
) -> None:
    """Draw a random problem of a named family."""
    check_outputs(output, WRITERS)
    problem = random_problem(family, regions, Learner(features, samples, noise), seed)
    if output:
        write_problem(problem, output)
        say_written(output)
    else:
        print_json(problem_to_dict(problem))


@click.command(
    "check",
    epilog="\b\nExample:\n  learnroute check problem.json\n  learnroute check problem.json --repair -o metric.json",
)
@problem_options
@click.option("--repair", is_flag=True, help="Replace travel costs by their metric closure; needs -o.")
@json_option
@output_option(f"Where to write the repaired problem ({suffixes(WRITERS)}).")
def check_command(
    source: Source, repair: bool, as_json: bool,
    output: Path | None,
) -> None:  # fmt: skip
    """Validate the problem in FILE and say whether its travel costs are a metric.

    Algorithm 1's guarantee needs a metric. With --repair, each cost is replaced by the cheapest way through
    other regions, and the number of entries that changed is reported.
    """
    if repair != bool(output):
        raise InputError("say where to write the repaired problem", field="--repair", found="and -o belong together")
    check_outputs(output, WRITERS)
    problem = source.read()
    report = check_metric(problem.travel)
    changed = None
    if output:
        travel, entries = metric_closure(problem.travel)
        changed = len(entries)
        write_problem(problem.changed(travel=travel), output)
        say_written(output)
    facts = _facts(problem, report, changed)
    if as_json:
        print_json(facts)
    else:
        _print_facts(facts, problem)


@click.command(
    "convert",
    epilog="\b\nExample:\n  learnroute convert examples/lakes.geojson lakes.json\n"
    "  learnroute convert lakes.json lakes.csv",
)
@problem_options
@click.argument("new", type=click.Path(path_type=Path))
def convert_command(source: Source, new: Path) -> None:
    """Write the problem in FILE as NEW, in the format that its name ends in.

    A format that cannot hold something of the problem refuses it and says what.
    """
    check_outputs(new, WRITERS)
    write_problem(source.read(), new)
    say_written(new)


COMMANDS = (generate_command, check_command, convert_command)


def _facts(problem: Problem, report: MetricReport, changed: int | None) -> dict[str, Any]:
    learner = problem.learner
    return {
        "valid": True,
        "regions": problem.size,
        "regime": problem.regime,
        "retention": learner.retention if problem.samples is None else None,
        "symmetric": report.symmetric,
        "metric": report.metric,
        "violations": report.violations,
        "triples": report.triples,
        "worst": _worst(problem, report),
        "repaired_entries": changed,
        "last_region": problem.regions[objective_of(problem).best_last],
        "guarantee": guarantee_of_algorithm1(problem, report).value,
        "truth_beyond_bounds": _beyond_bounds(problem),
    }


def _worst(problem: Problem, report: MetricReport) -> dict[str, Any] | None:
    if report.worst is None:
        return None
    i, via, j = report.worst
    return {
        "from": problem.regions[i],
        "via": problem.regions[via],
        "to": problem.regions[j],
        "direct": float(problem.travel[i, j]),
        "detour": float(problem.travel[i, via] + problem.travel[via, j]),
        "excess": report.excess,
    }


def _beyond_bounds(problem: Problem) -> int | None:
    """Count pairs of regions whose true models differ by more than the bound given for them; None without truth."""
    if problem.truth is None or problem.size > 2000:
        return None
    true = _squared_distances(problem.truth)
    bound: Any = problem.dissimilarity if problem.vectors is None else _squared_distances(problem.vectors)
    return int(np.sum(np.triu(true > bound * (1 + PRINTED), 1)))


def _squared_distances(vectors: Any) -> Any:
    return np.array([((vectors - vector) ** 2).sum(axis=1) for vector in vectors])


def _print_facts(facts: dict[str, Any], problem: Problem) -> None:
    shown = table("check", "result", left=2)
    shown.add_row("problem", f"valid: {facts['regions']} regions")
    shown.add_row("learner", f"{problem.regime} regime ({shape(problem)})")
    shown.add_row("least score", facts["last_region"].replace("[", "\\["))
    shown.add_row("travel", "same in both directions" if facts["symmetric"] else "differs by direction")
    shown.add_row("triangle inequality", _triangle(facts).replace("[", "\\["))
    if facts["repaired_entries"] is not None:
        entries = problem.size * (problem.size - 1)
        shown.add_row("repair", f"{facts['repaired_entries']} of {entries} entries changed; the inequality holds now")
    if facts["truth_beyond_bounds"]:
        shown.add_row("truth", f"{facts['truth_beyond_bounds']} pairs differ by more than the dissimilarity given")
    repaired = facts["repaired_entries"] is not None and facts["symmetric"]
    holds = "applies" if facts["guarantee"] else "applies to the repaired problem" if repaired else "does not apply"
    shown.add_row("guarantee", f"that of Algorithm 1 {holds}")
    terminal().print(shown)


def _triangle(facts: dict[str, Any]) -> str:
    worst = facts["worst"]
    if worst is None:
        return "holds"
    return (
        f"violated by {facts['violations']} of {facts['triples']} triples "
        f"({facts['violations'] / facts['triples']:.1%}); worst: {worst['from']} to {worst['to']} costs "
        f"{worst['direct']:.6g}, by way of {worst['via']} {worst['detour']:.6g}"
    )
