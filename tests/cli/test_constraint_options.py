"""--start, --end, --return and --travel-rate, from the command line to the plan."""

from __future__ import annotations

import itertools
import json
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import oracle
from learnroute import METHODS, read_problem
from learnroute.cli import commands, run

CITY = "examples/warehouse-robot.json"
ENDS = {
    "start": (["--start", "Returns"], {"start": "Returns"}),
    "both": (["--start", "Returns", "--end", "Packing"], {"start": "Returns", "end": "Packing"}),
    "tour": (["--start", "Returns", "--return"], {"start": "Returns", "return": True}),
    "loop": (["--return"], {"return": True}),
    "rate": (["--travel-rate", "0.2"], {}),
}


def call(*arguments: str) -> Any:
    done = CliRunner().invoke(commands, [*arguments, "--json"], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


@pytest.mark.parametrize(("options", "constraints"), ENDS.values(), ids=ENDS)
def test_plans_are_best_among_allowed_routes(options: list[str], constraints: dict[str, Any]) -> None:
    problem = read_problem(CITY, constraints=constraints, travel_rate=0.2 if "--travel-rate" in options else None)
    best = min(oracle.journey_loss(problem, order)["total"] for order in oracle.allowed_orders(problem))
    found = call("plan", CITY, *options)
    assert found["loss"]["total"] == pytest.approx(best, rel=1e-12)
    assert found["optimal"]
    assert found["closed"] == constraints.get("return", False)
    assert found["travel_rate"] == problem.travel_rate
    assert found["travel_cost"] == pytest.approx(oracle.journey_loss(problem, found["order"])["travel_cost"], rel=1e-12)


@pytest.mark.parametrize(("options", "constraints"), ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_respects_the_ends(method: str, options: list[str], constraints: dict[str, Any]) -> None:
    found = call("plan", CITY, *options, "--method", method)
    assert constraints.get("start") in (None, found["route"][0])
    assert constraints.get("end") in (None, found["route"][-1])
    assert found["lower_bound"] <= found["loss"]["total"]


@pytest.mark.parametrize("back", [True, False])
@pytest.mark.parametrize("method", METHODS)
def test_every_method_starts_at_the_depot(method: str, back: bool) -> None:
    found = call("plan", CITY, "--depot", "Returns", "--method", method, *([] if back else ["--no-return"]))
    assert (found["depot"], found["closed"]) == ("Returns", back)
    assert "Returns" not in found["route"]
    assert len(found["route"]) == 7
    names = read_problem(CITY).regions
    travel = read_problem(CITY).travel
    stops = [names.index(name) for name in ["Returns", *found["route"], *(["Returns"] if back else [])]]
    way = sum(float(travel[a, b]) for a, b in itertools.pairwise(stops))
    assert found["travel_cost"] == pytest.approx(way, rel=1e-12)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--depot", "Return"], "depot = 'Return': there is no such region; did you mean Returns?"),
        (["--depot", "1,2"], "--depot = [1.0, 2.0]: the problem has travel costs"),
        (["--depot", "Returns", "--start", "Returns"], "--start = 'Returns': the depot is not a learning region"),
        (["--depot", "Returns", "--start", "Packing"], "--start = 'Packing': routes start at the depot"),
        (["--depot", ""], "depot = ''"),
        (["--depot", "8.5"], "--depot = '8.5': expected the name of a region, or two coordinates X,Y"),
    ],
)
def test_invalid_depots(options: list[str], line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", CITY, *options]) == 2
    assert line in capsys.readouterr().err


def test_the_return_trip_to_a_depot_of_the_file_is_an_option(tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    file.write_text(json.dumps({**json.loads(Path(CITY).read_text()), "depot": "Returns"}))
    assert call("plan", str(file))["closed"]
    assert not call("plan", str(file), "--no-return")["closed"]
    data = {**json.loads(Path("examples/lakes.geojson").read_text())}
    lakes = tmp_path / "lakes.geojson"
    data["features"][0]["properties"] |= {"depot": True, "return": False}
    lakes.write_text(json.dumps(data))
    assert not call("plan", str(lakes))["closed"]
    assert call("plan", str(lakes), "--return")["closed"]


def test_options_replace_the_constraints_of_the_file(tmp_path: Any) -> None:
    file = tmp_path / "problem.json"
    data = {**json.loads(Path(CITY).read_text()), "constraints": {"start": "Packing", "return": True}, "travel_rate": 3}
    file.write_text(json.dumps(data))
    assert call("plan", str(file))["route"][0] == "Packing"
    found = call("plan", str(file), "--start", "Dispatch", "--no-return", "--travel-rate", "1")
    assert (found["route"][0], found["closed"], found["travel_rate"]) == ("Dispatch", False, 1)


def test_table_has_ends_and_both_units() -> None:
    text = CliRunner().invoke(commands, ["plan", CITY, "--start", "Returns", "--return", "--travel-rate", "0.5"]).output
    assert "from Returns and back with travel rate 0.5" in text
    assert "back to Returns" in text
    assert "in units of travel" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--start", "Mars"], "--start = 'Mars': there is no such region; regions are"),
        (["--start", "Packing", "--end", "Packing"], "--end = 'Packing': is also the start"),
        (["--travel-rate", "-1"], "--travel-rate = -1.0: the travel rate must be >= 0"),
    ],
)
def test_wrong_ends_are_rejected_in_one_line(
    options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", CITY, *options]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (["plan", "--limit", "1"], "--limit = 1: no route through the required regions found within this travel;"),
        (["plan", "--limit", "1", "--models", "2"], "--limit = 1: no routes through the required regions found within"),
        (["plan", "--budget", "0", "--require", "Packing", "--require", "Returns"], "--budget = 0: no route through"),
        (["plan", "--longest"], "--longest: needs several vehicles; add --vehicles"),
        (["evaluate", "--longest", "--models", "2", "--route", "0"], "--longest: needs several vehicles"),
        (["visits", "--longest"], "--longest: needs several vehicles; add --vehicles"),
    ],
)
def test_limits_that_cannot_be_met_name_their_option(
    command: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([command[0], CITY, *command[1:]]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert line in err


@pytest.mark.parametrize("several", [[], ["--vehicles", "2"], ["--vehicles", "3", "--serve", "own"], ["--models", "2"]])
@pytest.mark.parametrize("file", [CITY, "examples/north-sea.json"])
def test_the_limit_that_an_error_names_is_feasible(
    file: str, several: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["plan", file, *several, "--limit", "1"]) == 2
    least = capsys.readouterr().err.partition("give at least ")[2].split(",")[0].strip()
    found = call("plan", file, *several, "--limit", least)
    assert max(found.get("travels", [found["travel_cost"]])) <= float(least) * (1 + 1e-12)


def test_the_longest_route_is_compared_for_all_numbers_of_vehicles() -> None:
    rows = [call("fleet", CITY, "--vehicles", "1,2", "--models", "1", "--serve", "merged", *longest)["rows"]
            for longest in ([], ["--longest"])]  # fmt: skip
    assert rows[0][0]["longest"] == rows[1][0]["longest"]
    assert rows[0][1]["longest"] > rows[1][1]["longest"]


def test_a_time_limit_is_named_as_it_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    long_ago = time.monotonic() - 100
    assert run(["robustness", CITY, "--within", "0.5", "--time-limit", "7"], long_ago) == 2
    assert "--time-limit = 7.0: too few seconds for a single draw; give more" in capsys.readouterr().err
