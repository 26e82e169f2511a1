"""The command line as a user sees it: in separate processes where that matters, otherwise in this one."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

import oracle
from calls import call, call_json
from learnroute import METHODS, read_problem, write_problem
from learnroute.cli import GROUPS, MODULES, commands
from learnroute.formats import READERS
from learnroute.study.families import FAMILIES, random_problem
from samples import METRIC_FAMILIES, OVER, UNDER
from waiting import GUARD

ROOT = Path(__file__).parents[2]
CITY = str(ROOT / "examples" / "city-survey.json")
RATIOS = str(ROOT / "examples" / "ratios.toml")
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")


@pytest.mark.parametrize("method", METHODS)
def test_plan_prints_exactly_one_object_with_the_right_numbers(capsys: pytest.CaptureFixture[str], method: str) -> None:
    data = call_json(capsys, "plan", WAREHOUSE, "--method", method, "--seed", "3")
    problem = read_problem(WAREHOUSE)
    assert sorted(data["order"]) == list(range(8))
    assert data["route"] == [problem.regions[i] for i in data["order"]]
    assert data["loss"] == pytest.approx(oracle.loss_of(problem, data["order"]), rel=1e-12)
    assert data["seed"] == 3
    assert data["regime"] == "over"
    if method in ("auto", "exact"):
        assert data["optimal"] is True
        assert data["loss"]["total"] == pytest.approx(oracle.least_loss(problem), rel=1e-12)


def test_plan_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = call(capsys, "plan", CITY)
    assert code == 0
    assert err == ""
    assert "City survey vehicle: 12 regions, under regime (m = 60, n = 200, σ = 0.5)" in out
    assert "guarantee  optimal (proved)\n" in out
    assert "weight" not in out
    _, out, _ = call(capsys, "plan", CITY, "--method", "algorithm1")
    assert "% above the optimum (lower bound " in out
    assert "at most 1.5 times the optimum (Proposition 3: " in out


def test_evaluate_takes_names_with_spaces_and_commas(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    best = call_json(capsys, "plan", WAREHOUSE)
    given = call_json(capsys, "evaluate", WAREHOUSE, "--route", ", ".join(best["route"]))
    assert given["loss"] == best["loss"]
    by_index = call_json(capsys, "evaluate", WAREHOUSE, "--route", ",".join(map(str, best["order"])))
    assert by_index["loss"] == best["loss"]
    problem = random_problem("uniform", 3, OVER, 1)
    data = {"regions": ["a, b", "1", "0"], "travel": problem.travel.tolist()}
    data |= {"dissimilarity": problem.dissimilarity.tolist(), "learner": {"features": 120, "samples": 100}}  # type: ignore[union-attr]
    path = tmp_path / "names.json"
    path.write_text(json.dumps(data))
    assert call_json(capsys, "evaluate", str(path), "--route", '0,"a, b",1')["order"] == [2, 0, 1]


def test_compare_lists_all_methods(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = call_json(capsys, "compare", WAREHOUSE)
    assert [row["method"] for row in data["rows"]] == [name for name in METHODS if name != "auto"]
    code, out, _ = call(capsys, "compare", WAREHOUSE, "--methods", "exact,nearest", "-o", str(tmp_path / "rows.csv"))
    assert code == 0
    assert "× optimum" in out
    assert "baseline" not in out
    assert (tmp_path / "rows.csv").read_text().splitlines()[0].startswith("method,draws,total,travel")


@pytest.mark.parametrize("family", FAMILIES)
def test_generate_check_and_plan_each_family(capsys: pytest.CaptureFixture[str], tmp_path: Path, family: str) -> None:
    path = str(tmp_path / "problem.json")
    arguments = ("generate", "--family", family, "--regions", "9", "--seed", "5", "--features", "120")
    assert call(capsys, *arguments, "-o", path)[0] == 0
    _, printed, _ = call(capsys, *arguments)
    assert printed == Path(path).read_text()
    facts = call_json(capsys, "check", path)
    assert facts["metric"] == (family in METRIC_FAMILIES)
    assert call_json(capsys, "plan", path)["optimal"]


def test_check_names_the_worst_triple_and_repairs_on_request_only(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    problem = random_problem("uniform", 8, OVER, 2)
    path, repaired = tmp_path / "raw.json", tmp_path / "metric.json"
    write_problem(problem, path)
    facts = call_json(capsys, "check", str(path))
    worst = facts["worst"]
    i, via, j = (problem.regions.index(worst[key]) for key in ("from", "via", "to"))
    assert problem.travel[i, j] - problem.travel[i, via] - problem.travel[via, j] == pytest.approx(worst["excess"])
    before = path.read_text()
    code, out, _ = call(capsys, "check", str(path), "--repair", "-o", str(repaired))
    assert code == 0
    changed = int((read_problem(repaired).travel != problem.travel).sum())
    assert f"{changed} of 56 entries changed" in out
    assert path.read_text() == before
    assert call_json(capsys, "check", str(repaired))["metric"]
    assert call(capsys, "check", str(path), "--repair")[0] == 2


def test_learner_options_replace_the_files(capsys: pytest.CaptureFixture[str]) -> None:
    assert call_json(capsys, "plan", CITY)["regime"] == "under"
    assert call_json(capsys, "plan", CITY, "--features", "300", "--samples", "200")["regime"] == "over"
    quiet = call_json(capsys, "plan", CITY, "--noise", "0")
    assert quiet["loss"]["noise"] == 0


def test_pictures_and_plans_are_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    outputs = ("-o", str(tmp_path / "plan.csv"), "--plot", str(tmp_path / "route.png"))
    code, out, err = call(capsys, "plan", CITY, "--json", *outputs)
    assert code == 0
    assert json.loads(out)["optimal"]
    assert err.splitlines() == [f"wrote {tmp_path / 'plan.csv'}", f"wrote {tmp_path / 'route.png'}"]
    assert (tmp_path / "route.png").read_bytes().startswith(b"\x89PNG")
    for name in ("methods.svg", "methods.pdf"):
        assert call(capsys, "compare", CITY, "--plot", str(tmp_path / name))[0] == 0
    assert sorted(os.listdir(tmp_path)) == ["methods.pdf", "methods.svg", "plan.csv", "route.png"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["plan"],
        ["plan", "missing.json"],
        ["plan", "."],
        ["plan", "/dev/null"],
        ["plan", CITY, "--method", "magic"],
        ["plan", CITY, "--seed", "-1"],
        ["plan", CITY, "--seed", "x"],
        ["plan", CITY, "--time-limit", "0"],
        ["plan", CITY, "--time-limit", "nan"],
        ["plan", CITY, "--features", "200"],
        ["plan", CITY, "--noise", "inf"],
        ["plan", CITY, "-o", "plan.xml"],
        ["plan", CITY, "-o", "/nowhere/plan.json"],
        ["plan", CITY, "--plot", "route.txt"],
        ["plan", CITY, "extra"],
        ["evaluate", CITY],
        ["evaluate", CITY, "--route", ""],
        ["evaluate", CITY, "--route", "Harbour"],
        ["evaluate", CITY, "--route", "0,1,2"],
        ["evaluate", CITY, "--route", '"'],
        ["evaluate", CITY, "--route", "Atlantis,Harbour"],
        ["compare", CITY, "--methods", "magic"],
        ["compare", CITY, "--draws", "0"],
        ["generate", "--regions", "1"],
        ["generate", "--regions", "1000000000"],
        ["generate", "--features", "100"],
        ["generate", "--family", "none"],
        ["generate", "-o", "problem.txt"],
        ["convert", CITY],
        ["convert", CITY, "city.gpx"],
        ["convert", CITY, "city.geojson"],
        ["convert", CITY, "city.csv"],
        ["convert", "missing.tsp", "city.json"],
        ["plan", CITY, "-o", "route.gpx"],
        ["check", CITY, "--repair"],
        ["check", CITY, "-o", "x.json"],
        ["sweep"],
        ["sweep", "missing.toml", "-o", "x"],
        ["sweep", CITY, CITY, "-o", "x"],
        ["sweep", RATIOS],
        ["sweep", RATIOS, "-o", CITY],
        ["sweep", RATIOS, "-o", "x", "--workers", "many"],
        ["rows", "missing", "-o", "rows.csv"],
        ["rows", "."],
        ["rows", ".", "-o", "rows.csv"],
        ["rows", ".", "-o", "rows.xlsx"],
        ["plot"],
        ["plot", "missing.csv", "-o", "a.png"],
        ["plot", CITY, "-o", "a.png"],
        ["plot", ".", "-o", "a.png"],
        ["plot", "missing.csv", "-o", "a.txt"],
        ["plot", "missing.csv", "-o", "a.png", "--where", "shape=round"],
        ["plot", "missing.csv", "-o", "a.png", "--where", "regions=few"],
        ["reproduce"],
        ["reproduce", "--quick", "-o", CITY],
        ["reproduce", "--quick", "-o", "x", "--report", "report.pdf"],
        ["fly"],
        ["--wings"],
    ],
    ids=lambda arguments: " ".join(arguments).replace(CITY, "FILE").replace(RATIOS, "EXPERIMENT"),
)
def test_errors_are_one_line_with_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("learnroute: ")
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("command", sorted(commands.load()))
def test_every_command_has_help_with_an_example_that_works(
    capsys: pytest.CaptureFixture[str], command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, _ = call(capsys, command, "--help")
    assert code == 0
    assert f"learnroute {command}" in out.split("Example:")[1]
    assert command in (ROOT / "docs" / "commands.md").read_text()
    if command == "reproduce":
        return  # takes half a minute: tests/reproduction runs it
    # run it, on a folder that looks like the repository
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    write_problem(random_problem("uniform", 5, OVER, 1), tmp_path / "problem.json")
    for line in out.split("Example:")[1].replace("\\\n", " ").strip().splitlines():
        assert call(capsys, *shlex.split(line)[1:])[0] == 0


def test_commands_are_listed_under_the_modules_that_have_them() -> None:
    for module in set(MODULES.values()):
        names = {command.name for command in import_module(f"learnroute.cli.{module}").COMMANDS}
        assert names == {name for name, place in MODULES.items() if place == module}


def test_commands_that_take_a_problem_list_its_formats(capsys: pytest.CaptureFixture[str]) -> None:
    taking = [name for name, command in commands.load().items() if "travel_rate" in [p.name for p in command.params]]
    assert {"plan", "compare", "tradeoff", "simulate", "convert"} <= set(taking)
    for name in taking:
        text = " ".join(call(capsys, name, "--help")[1].split())
        begin, end = ("Planning problem (", ")") if name == "rehearse" else ("FILE is a problem: ", ". ")
        words = set(text.split(begin)[1].split(end)[0].split())
        assert {word.strip(",") for word in words} >= set(READERS) - {""}


def test_the_help_lists_all_commands_in_groups_one_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    lines = call(capsys, "--help")[1].splitlines()
    for title, names in GROUPS.items():
        here = lines.index(f"{title}:")
        listed = lines[here + 1 : here + 1 + len(names)]
        assert [line.split()[0] for line in listed] == list(names)  # so none is wrapped
        assert all(line.endswith(".") and "..." not in line and len(line) <= 80 for line in listed)


@pytest.mark.parametrize("name", sorted(commands.load()))
def test_common_options_come_last_in_sections_of_their_own(capsys: pytest.CaptureFixture[str], name: str) -> None:
    out = call(capsys, name, "--help")[1]
    own, *common = out.partition("Example:")[0].split("Common options (")
    assert common
    assert "--help" in common[-1]
    assert "--json" not in own
    for option in ("--features", "--start", "--optional", "--vehicles", "--seed", "--plot"):
        own_one = name in ("generate", "estimate", "fleet", "journey")  # with options of their own of these names
        assert own_one or f"  {option} " not in own


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["plann", CITY], "unknown command 'plann'; did you mean plan?"),
        (["fly"], "unknown command 'fly'; known are plan, evaluate, "),
        (["plan", CITY, "--metod", "exact"], "--method"),
        (["plan", CITY, "--start", "Harbor"], "--start = 'Harbor': there is no such region; did you mean Harbour?"),
        (["plan", CITY, "--features", "200"], "--features = 200 with learner.samples = 200: "),
        (["plan", CITY, "--forbid", "Nowhere"], "--forbid = 'Nowhere': there is no such region; "),
        (["plan", CITY, "--vehicles", "0"], "--vehicles = 0: "),
        (["plan", CITY, "--time-limit", "0"], "--time-limit = 0.0: "),
        (["plan", CITY, "--rule", "proximal"], "--regularization auto"),
        (["compare", CITY, "--methods", "magic"], "--methods = 'magic': unknown; "),
        (["plan", CITY.replace("city-survey", "city-surwey")], "no such file; did you mean city-survey.json?"),
    ],
)
def test_errors_are_those_of_the_command_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], said: str
) -> None:
    code, _, err = call(capsys, *arguments)
    assert code == 2
    assert said in err
    assert f"{CITY}: " not in err or "--rule" in arguments  # what an option says is not blamed on the file


def test_fields_of_the_file_are_not_reported_as_options(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    data = json.loads(Path(CITY).read_text())
    path = tmp_path / "p.json"
    for member, option in (({"title": 5}, ("--title", "A")), ({"visits": {"budget": -1}}, ("--budget", "9"))):
        path.write_text(json.dumps({**data, **member}))
        err = call(capsys, "plan", str(path), *option)[2]
        assert err.startswith(f"learnroute: {path}: {'title = 5' if 'title' in member else 'visits.budget = -1'}")


def test_without_arguments_the_help_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = call(capsys)
    assert code == 0
    assert "Plan where a moving learner goes to learn" in out
    assert call(capsys, "--version")[1].startswith("learnroute, version 0.")


def run_process(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "learnroute", *arguments], capture_output=True, text=True, timeout=GUARD, **options
    )


def test_runs_as_a_separate_process() -> None:
    done = run_process("plan", WAREHOUSE, "--json")
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["method"] == "exact"
    wrong = run_process("plan", "missing.json")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert wrong.stderr == "learnroute: missing.json: no such file\n"


@pytest.mark.parametrize("buffered", [True, False])
def test_closed_pipe_is_not_an_error(buffered: bool) -> None:
    command = [sys.executable, "-m", "learnroute", "generate", "--regions", "300"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "" if buffered else "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as writer:
        assert writer.stdout is not None
        assert writer.stderr is not None
        writer.stdout.read(10)
        writer.stdout.close()
        assert writer.stderr.read() == b""
    assert writer.returncode == 0


def test_a_plan_imports_no_more_than_it_needs(tmp_path: Path) -> None:
    """Imports take most of the time of a small plan, so these modules must not be imported."""
    heavy = {
        "matplotlib", "scipy", "networkx", "highspy", "rich", "numpy.ma", "numpy.testing", "concurrent.futures",
        "logging", "asyncio", "tempfile", "shutil", "zipfile", "html", "xml", "email", "http", "importlib.metadata",
        "learnroute.verification", "learnroute.learning", "learnroute.plots", "learnroute.study",
        "learnroute.comparison", "learnroute.formats.geojson", "learnroute.formats.tsplib",
        "learnroute.formats.npz_files",
    }  # fmt: skip
    write_problem(random_problem("euclidean", 25, UNDER, 0), tmp_path / "p.json")
    code = (
        "import sys, numpy; known = set(sys.modules); from learnroute.cli import run; run(['plan', sys.argv[1]])\n"
        f"loaded = {heavy} & (set(sys.modules) - known); assert not loaded, loaded"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "p.json")], capture_output=True, text=True,
                          timeout=GUARD)  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "optimal (proved)" in done.stdout
