"""Shared parts of commands: options, terminal output, progress."""

from __future__ import annotations

import contextlib
import csv
import functools
import inspect
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from textwrap import wrap
from threading import Event
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from learnroute.cli.paths import OUTPUT, PROBLEM, STANDARD_INPUT, check_paths
from learnroute.cli.tables import print_sheet
from learnroute.errors import InputError, did_you_mean, percent, printable
from learnroute.formats import PICTURES, READERS, json_files, main_file, problem_from, read_problem
from learnroute.formats.csv_files import training_member
from learnroute.formats.files import check_destination, errors_naming, text_of
from learnroute.formats.json_files import dumps
from learnroute.model.fleet import LONGEST, MERGED, MOST, OWN, Fleet
from learnroute.model.learners import RULES, Gradient, Proximal
from learnroute.model.problem import ESTIMATE, UPPER, Problem
from learnroute.model.result_mixin import TableMixin
from learnroute.model.subsets import with_depot
from learnroute.model.visits import Visits
from learnroute.solvers.contract import Progress
from learnroute.solvers.methods import METHODS

if TYPE_CHECKING:
    Choice = click.Choice[str]
else:
    Choice = click.Choice  # not generic in older releases

F = TypeVar("F", bound=Callable[..., Any])
INTERRUPTED = 130  # the exit code after Ctrl-C
REPORTS = (".json", ".csv")  # formats of result tables
METHOD_HELP = "How to choose the route; see the methods below."
PATIENCE = 0.5  # seconds before progress is shown
PRINTING = 0.1  # seconds reserved from a plan's time limit for printing and writing it
SELDOM = 10.0  # seconds between progress lines that do not go to a terminal


@dataclass(frozen=True)
class Source:
    """The source of a command's problem: a file, and the options that replace some of its fields."""

    file: Path
    learner: dict[str, Any]
    constraints: dict[str, Any]
    travel_rate: float | None
    title: str | None = None
    depot: str | None = None
    dissimilarities: str | None = None
    visits: dict[str, Any] = field(default_factory=dict)
    fleet: dict[str, Any] = field(default_factory=dict)

    def read(self) -> Problem:
        """Read the problem; for a folder, report which of its files is read."""
        problem = self._read()
        if self.depot is not None:
            problem = with_depot(problem, depot_place(self.depot, problem), self.constraints.get("return", True))
        if self.dissimilarities is not None:
            problem = problem.with_dissimilarities(self.dissimilarities)
        if self.visits:
            known = Visits() if problem.visits is None else problem.visits
            problem = problem.replace(visits=replace(known, **self.visits))
        if self.fleet:
            problem = problem.replace(fleet=make_fleet(self.fleet, problem.fleet))
        title = self.title or problem.title or ("" if self.file == STANDARD_INPUT else self.file.stem)
        return problem if title == problem.title else problem.replace(title=title)

    def _read(self) -> Problem:
        if self.file != STANDARD_INPUT:
            return read_problem(problem_file_of(self.file), self.learner, self.constraints, self.travel_rate)
        if sys.stdin is None:
            raise InputError("is closed; give it a problem as JSON, or name a file", where="standard input")
        with errors_naming("standard input"):
            data = json_files.parse(text_of(sys.stdin.buffer, "standard input"))
            return problem_from(data, self.learner, self.constraints, self.travel_rate)


PARTS = ("learner", "constraints", "visits", "fleet")  # parts of a problem whose members options replace
REPLACED = ("learner", "constraints", "travel_rate")  # replaced while a file is read; all others afterwards
OPTION_NAMES: dict[str, tuple[str, ...]] = {  # by field, if they differ
    "constraints.return": ("return_",),
    "visits.required": ("require",),
    "visits.forbidden": ("forbid",),
    "depot.coordinates": ("depot",),
    "region": ("visited", "drop"),
    "where": ("conditions",),
}


class OnceCommand(click.Command):
    """A command that rejects repeated options, the second of which would silently replace the first."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Check for repeated options, then parse as usual."""
        _, _, given = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(given).items():
            if times > 1 and isinstance(option, click.Option) and not option.multiple and not option.is_flag:
                raise click.UsageError(f"{option.opts[-1]} is given {times} times; give it once", ctx)
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; errors in a value given by an option name the option."""
        check_paths(self.params, ctx.params)
        try:
            return super().invoke(ctx)
        except InputError as error:
            option = self._option_of(ctx, error)
            if option is None:
                raise
            given = {"value": ctx.params["time_limit"]} if option == "--time-limit" else {}  # not the rest of it
            raise error.renamed(option, **given) from None

    def _option_of(self, ctx: click.Context, error: InputError) -> str | None:
        """Return the option that gave the field of an error; None if the field comes from a file."""
        field = error.field or ""
        part, _, member = field.rpartition(".")
        if error.where is not None and part not in REPLACED and field not in REPLACED:
            return None
        names = OPTION_NAMES.get(field, (member,) if part in PARTS else (field, f"{field}s"))
        for param in self.params:
            of_part = getattr(param, "section", None) == LEARNER  # --samples is learner.samples, not samples
            given = ctx.get_parameter_source(param.name or "") == ParameterSource.COMMANDLINE
            given = given or (field == param.name and error.says_missing)
            if given and param.name in names and (part in PARTS or not of_part):
                return max(param.opts, key=len)
        return None

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the command's own options, then the common options in sections."""
        rows: dict[str, list[tuple[str, str]]] = {section: [] for section in ("Options", *SECTIONS)}
        for option in self.get_params(ctx):
            record = option.get_help_record(ctx)
            if record is not None and isinstance(option, click.Option):
                usual = RUN if "--help" in option.opts else "Options"
                rows[getattr(option, "section", usual)].append(record)
        for section, records in rows.items():
            if records:
                with formatter.section(section):
                    formatter.write_dl(records)


command = functools.partial(click.command, cls=OnceCommand)


def list_choices(head: str, choices: Iterable[tuple[str, str]]) -> str:
    """Return a paragraph for the end of a help: a heading, and one choice with its explanation per line."""
    rows, width = list(choices), 2
    width += max(len(name) for name, _ in rows)
    lines = [wrap(f"  {name:<{width}}{text}", 80, subsequent_indent=" " * (width + 2)) for name, text in rows]
    return "\n".join(["\b", f"{head}:", *(line for part in lines for line in part), "", ""])


METHOD_LIST = list_choices("Methods", ((method.name, method.summary) for method in METHODS.values()))


class Name(Choice):
    """A choice of names that suggests the most similar one for an unknown name."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the name; for an unknown one, fail with a suggestion."""
        if value not in self.choices:
            self.fail(f"{value!r} is unknown; {did_you_mean(value, self.choices)}", param, ctx)
        return super().convert(value, param, ctx)


LEARNER, ROUTE, VISITS, FLEET, RUN = SECTIONS = tuple(
    f"Common options ({about})" for about in ("learner", "route", "visits", "vehicles and models", "run and output")
)  # sections of a command's help, after its own options


class SectionOption(click.Option):
    """A common option, listed in a separate section of the help."""

    def __init__(self, *args: Any, section: str = RUN, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section


def common_option(*names: str, section: str = RUN, **settings: Any) -> Callable[[F], F]:
    """Return a decorator that adds a common option."""
    return click.option(*names, cls=SectionOption, section=section, **settings)


_learner, _route, _visits, _fleet = (functools.partial(common_option, section=name) for name in SECTIONS[:-1])
OPTIONS = {
    "features": _learner("--features", type=int, metavar="m", help="Number of features; default: from FILE."),
    "samples": _learner("--samples", type=int, metavar="n", help="Training samples per region; default: from FILE."),
    "noise": _learner(
        "--noise", type=float, metavar="σ", help="Standard deviation of the label noise; default: from FILE."
    ),
    "rule": _learner(
        "--rule", type=Name([rule.rule for rule in RULES]), help="Training rule of the learner; default: from FILE."
    ),
    "regularization": _learner(
        "--regularization",
        metavar="λ",
        help="Regularisation strength λ for --rule proximal (which it implies): a number, a comma-separated list (one "
        "per position), auto (one λ, chosen with the route) or schedule (one λ per position, chosen with the route).",
    ),
    "steps": _learner("--steps", type=int, metavar="k", help="Gradient steps per visit, for --rule gradient."),
    "rate": _learner("--rate", type=float, metavar="η", help="Step size, for --rule gradient."),
    "start": _route("--start", metavar="NAME", help="First region of the route."),
    "end": _route("--end", metavar="NAME", help="Last region of the route."),
    "return": _route(
        "--return/--no-return",
        "return_",
        default=None,
        help="Count the return trip to the first region, or to the depot. Default: only with a depot.",
    ),
    "depot": _route(
        "--depot",
        metavar="NAME|X,Y",
        help="Start and end at a place without training: a region of FILE (then no longer a learning region), or "
        "coordinates.",
    ),
    "travel_rate": _route(
        "--travel-rate", type=float, metavar="X", help="Loss per unit of travel; default: from FILE."
    ),
    "dissimilarities": _route(
        "--dissimilarities",
        type=Name([ESTIMATE, UPPER]),
        help="Plan with the unbiased estimates of FILE (default if it has them), or with its upper bounds (the paper's "
        "Assumption 1).",
    ),
    "title": _route("--title", metavar="TEXT", help="Title for pictures and printed results; default: from FILE."),
    "optional": _visits("--optional", is_flag=True, help="Visit only regions that reduce the total loss."),
    "require": _visits(
        "--require", multiple=True, metavar="NAME",
        help="Visit this region in any case; the others become optional. May be repeated.",
    ),
    "forbid": _visits(
        "--forbid", multiple=True, metavar="NAME",
        help="Never visit this region; its error still counts. The others become optional. May be repeated.",
    ),
    "repeat": _visits(
        "--repeat", type=int, metavar="N", help="Visit a region up to N times if that reduces the total loss."
    ),
    "at_most": _visits("--at-most", type=int, metavar="N", help="Maximum number of visits; regions become optional."),
    "budget": _visits(
        "--budget", type=float, metavar="X", help="Maximum travel, including the return trip; regions become optional."
    ),
    "vehicles": _fleet("--vehicles", type=int, metavar="K", help="Number of vehicles; each trains its own model."),
    "models": _fleet(
        "--models", type=int, metavar="K", help="Number of models on one vehicle; each visit trains one of them."
    ),
    "serve": _fleet(
        "--serve",
        type=Name([MERGED, OWN]),
        help="merged: the average of all models serves all regions (default for vehicles). own: each region is served "
        "by the model with the least expected error there (default for models).",
    ),
    "longest": _fleet(
        "--longest", is_flag=True, help="Count the travel of the longest route instead of the sum over all vehicles."
    ),
    "limit": _fleet("--limit", type=float, metavar="X", help="Maximum travel per vehicle."),
}  # fmt: skip


def problem_options(function: F, without: Collection[str] = ()) -> F:
    """Add FILE and the options that replace parts of it; the command gets all of them as its first argument, a Source.

    Options that the command defines itself, and those in `without`, are not added. Its help ends with the formats of
    FILE.
    """
    own = inspect.signature(function).parameters

    @functools.wraps(function)
    def command(
        *args: Any, file: Path, features: int | None, samples: int | None, noise: float | None, rule: str | None,
        regularization: str | None, steps: int | None, rate: float | None, start: str | None,
        end: str | None, return_: bool | None, depot: str | None, travel_rate: float | None,
        dissimilarities: str | None, title: str | None, **others: Any,
    ) -> Any:  # fmt: skip
        learner = {"features": features, "samples": samples, "noise": noise, "rule": rule, "steps": steps, "rate": rate}
        learner["regularization"] = (
            None if regularization is None else training_member(regularization.replace(",", " "))
        )
        if rule is None and regularization is not None:
            learner["rule"] = Proximal.rule
        elif rule is None and steps is not None and rate is not None:
            learner["rule"] = Gradient.rule
        constraints = {"start": start, "end": end, "return": return_}
        about = {name: others.pop(name) for name in ROUTE_OPTIONS if name in others and name not in own}
        source = Source(
            file, given_options(learner), given_options(constraints), travel_rate, title, depot, dissimilarities,
            visits_from_options(about), fleet_from_options(about),
        )  # fmt: skip
        return function(*args, source, **others)

    command.__doc__ = (
        f"{inspect.getdoc(function)}\n\nFILE is a problem: {suffixes(READERS)}; or - for JSON on standard input."
    )
    for name, option in reversed(OPTIONS.items()):
        command = command if name in own or name in without else option(command)
    return cast("F", click.argument("file", type=PROBLEM)(command))


FLEET_OPTIONS = ("vehicles", "models", "serve", "longest", "limit")
ROUTE_OPTIONS = ("optional", "require", "forbid", "repeat", "at_most", "budget", *FLEET_OPTIONS)
one_model_options = functools.partial(problem_options, without=FLEET_OPTIONS)  # of commands that reject fleets


def route_options(function: F) -> F:
    """Add the options for visits, vehicles and models, and for the ends of routes."""
    for name in reversed(("start", "end", "return", "depot", *ROUTE_OPTIONS)):
        function = OPTIONS[name](function)
    return function


def visits_from_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the members of `visits` that options give."""
    found = {"forbidden": options["forbid"] or None, "repeat": options["repeat"], "at_most": options["at_most"]}
    found |= {"budget": options.get("budget")}
    if options["optional"] or options["require"]:
        found["required"] = options["require"]
    return given_options(found)


def fleet_from_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the members of `fleet` that options give."""
    found = {name: options.get(name) for name in ("vehicles", "models", "serve", "limit")}
    return given_options({**found, "travel": LONGEST if options.get("longest") else None})


def make_fleet(options: dict[str, Any], known: Fleet | None = None) -> Fleet:
    """Return the fleet given by options; their numbers of vehicles or models replace those of a known one."""
    kept = {} if known is None else known.to_dict()
    if {"vehicles", "models"} & set(options):
        kept = {name: value for name, value in kept.items() if name in ("travel", "limit")}
    found = Fleet(**{**kept, **options})
    if "travel" in options and found.vehicles == 1:
        raise InputError("needs several vehicles; add --vehicles", field="--longest")
    return found


def depot_place(text: str, problem: Problem) -> str | list[float]:
    """Return the value of --depot: the name of a region, or coordinates."""
    if text in problem.regions:
        return text
    try:
        place = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    if len(place) != 2:
        raise InputError("expected the name of a region, or two coordinates X,Y", field="depot", value=text)
    return place


def given_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were given."""
    return {name: value for name, value in options.items() if value is not None}


def suffixes(known: Iterable[str]) -> str:
    """Return the list of known suffixes as text."""
    named = [suffix or "a folder of CSV tables" for suffix in known]
    return ", ".join(named[:-1]) + f" or {named[-1]}"


seed_option = common_option(
    "--seed", type=int, default=0, show_default=True, help="Random seed; the same seed gives the same result."
)
time_option = common_option(
    "--time-limit", type=float, metavar="SECONDS", help="Stop after this time with the best result found."
)
json_option = common_option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
plot_option = common_option(
    "--plot", "pictures", type=OUTPUT, metavar="FILE", multiple=True,
    help=f"Draw a picture ({suffixes(PICTURES)}). May be repeated.",
)  # fmt: skip


def time_left(time_limit: float | None) -> float | None:
    """Return the rest of a time limit that counts from the program's start; a moment if it has passed."""
    began: float | None = click.get_current_context().find_root().obj
    if time_limit is None or began is None or not time_limit > 0:  # invalid limits are rejected where they are used
        return time_limit
    return max(time_limit - PRINTING - (time.monotonic() - began), 1e-3)


def output_option(help_text: str, required: bool = False) -> Callable[[F], F]:
    """Return a decorator that adds -o, which may be repeated."""
    return common_option(
        "-o", "--output", "outputs", type=OUTPUT, metavar="FILE", multiple=True, required=required,
        help=f"{help_text} May be repeated.",
    )  # fmt: skip


def parse_numbers(field: str, text: str) -> list[int]:
    """Return the numbers of a comma-separated list, which may contain ranges such as 1-4."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        try:
            numbers = range(int(first), int(last or first) + 1)
        except ValueError:
            numbers = range(0)
        if not numbers or numbers[0] < 1 or numbers[-1] > MOST:
            raise InputError(f"expected numbers from 1 to {MOST}, such as 1-4 or 1,2,8", field=field, value=text)
        found.extend(numbers)
    return found


def route_stops(route: str, problem: Problem) -> list[str] | list[int]:
    """Split a route at commas (quotes protect commas in names); integers that are not names of regions are indices."""
    try:
        stops = [stop.strip() for stop in next(csv.reader([route], skipinitialspace=True, strict=True), [])]
    except csv.Error as error:
        raise InputError(f"cannot be split at commas ({error})", field="--route", found=f"{route!r}") from None
    if len(stops) == 1 and ";" in route and stops[0] not in problem.regions:
        raise InputError("commas are needed between regions, not semicolons", field="--route", found=f"{route!r}")
    numbers = all(stop.isascii() and stop.isdigit() and len(stop) < 9 for stop in stops)
    if numbers and not set(stops) & set(problem.regions):
        return [int(stop) for stop in stops]
    return stops


def check_outputs(outputs: Sequence[Path], known: Collection[str], pictures: Sequence[Path] = ()) -> None:
    """Check that all outputs can be written, before the work begins."""
    for path in outputs:
        check_destination(path, known)
    if pictures:
        import logging

        from learnroute.plots import check_picture

        logging.getLogger("matplotlib").setLevel(logging.ERROR)  # matplotlib would warn about a read-only home
        for path in pictures:
            check_picture(path)


def print_json(data: dict[str, Any]) -> None:
    """Print one JSON object."""
    click.echo(dumps(data), nl=False)


def output_result(found: TableMixin, paths: Sequence[Path], as_json: bool, *about: str) -> None:
    """Write a result to files and pictures, then print it as JSON, or as text: the kind of problem, and tables."""
    for path in paths:
        report_files(*found.save(path))
    if as_json:
        print_json(found.to_dict())
    else:
        print_sheet(found.sheet(), found.problem, *about)


def report_files(*paths: Path) -> None:
    """Report the written files on standard error."""
    for path in paths:
        say(f"wrote {printable(str(path))}")


def problem_file_of(path: Path) -> Path:
    """Return the file of a problem; if it is the only one in a folder, report its name on standard error."""
    found = main_file(path)
    if found != path:
        say(f"reading {printable(str(found))}")
    return found


def exit_if_interrupted(stop: Event) -> None:
    """Say that a result is not final and end with its exit code, if the user interrupted the work."""
    if stop.is_set():
        say("interrupted: this is the best route found so far")
        raise click.exceptions.Exit(INTERRUPTED)


def say(text: str) -> None:
    """Print a line on standard error, ignoring errors of the stream."""
    with contextlib.suppress(OSError):
        click.echo(text, err=True)


@contextlib.contextmanager
def show_progress() -> Iterator[Progress]:
    """Show the progress of a long job on standard error: a bar in a terminal, otherwise occasional lines."""
    started = time.monotonic()
    if not sys.stderr.isatty():
        printed = started
        begun: dict[str, tuple[float, float]] = {}  # time and progress at the first report of each stage

        def print_progress(stage: str, share: float) -> None:
            nonlocal printed
            now = time.monotonic()
            since, before = begun.setdefault(stage, (now, share))
            if now - printed >= SELDOM:
                printed = now
                pace = (share - before) / (now - since) if now > since else 0.0
                left = f", about {(1 - share) / pace:.0f} s left" if pace > 0 else ""
                say(f"{stage}: {percent(share)} after {now - started:.0f} s{left}")

        yield print_progress
        return

    from rich.console import Console
    from rich.progress import Progress as Bars

    with contextlib.ExitStack() as stack:
        bars: Bars | None = None
        rows: dict[str, Any] = {}

        def draw(stage: str, share: float) -> None:
            nonlocal bars
            if bars is None:
                if time.monotonic() - started < PATIENCE:
                    return
                bars = stack.enter_context(Bars(console=Console(stderr=True), transient=True))
            if stage not in rows:
                rows[stage] = bars.add_task(stage, total=1.0)
            bars.update(rows[stage], completed=share)

        yield draw
