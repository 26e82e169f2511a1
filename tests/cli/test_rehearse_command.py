"""rehearse, from sample files to a plan that is followed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from learnroute.cli import run

BUOYS = Path(__file__).parents[2] / "examples" / "buoys"
GIVEN = ["rehearse", str(BUOYS / "samples"), "--target", "height", "--draws", "4"]


def test_from_samples_to_a_plan_that_is_followed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan, travel = tmp_path / "plan.json", str(BUOYS / "travel.csv")
    given = [*GIVEN, "--learner", "proximal", "--regularization", "0.5", "--scaling", "whiten", "--travel", travel]
    assert run([*given, "--json", "-o", str(plan), "--plot", str(tmp_path / "picture.svg")]) == 0
    told = json.loads(capsys.readouterr().out)
    written = json.loads(plan.read_text())
    assert written["route"] == told["route"]
    assert written["method"] == "rehearsal"
    assert written["rehearsal"]["error"] == told["error"]
    assert told["random"]["orders"] == 100
    assert run(["follow", str(BUOYS / "samples"), "--target", "height", "--plan", str(plan), "--json"]) == 0
    followed = json.loads(capsys.readouterr().out)
    assert followed["final"]["predicted"] == pytest.approx(told["error"])
    assert run(given) == 0
    assert told["verdict"] in " ".join(capsys.readouterr().out.split())


def test_rehearse_with_a_problem_and_chosen_lambda(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = tmp_path / "buoys.json"
    estimated = ["estimate", str(BUOYS / "samples"), "--target", "height", "--scaling", "whiten", "--intercept",
                 "--travel", str(BUOYS / "travel.csv"), "--problem", str(problem)]  # fmt: skip
    assert run([*estimated, "--regularization", "0.2"]) == 0
    capsys.readouterr()
    assert run([*GIVEN, "--problem", str(problem), "--json"]) == 0
    by_problem = json.loads(capsys.readouterr().out)
    assert by_problem["regularization"] == 0.2
    assert by_problem["travel_cost"] > 0
    assert run([*GIVEN, "--problem", str(problem), "--regularization", "auto", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["chosen"] == "auto"


FRAMED = [*GIVEN, "--learner", "proximal", "--regularization", "0.5", "--travel-rate", "0.001", "--json"]
CLOSE = str(BUOYS / "travel.csv")


@pytest.mark.parametrize(
    ("more", "member", "expected"),
    [
        (["--at-most", "2"], "route", 2),
        (["--repeat", "2", "--require", "Dunes", "--at-most", "3", "--budget", "1.5"], "route", None),
        (["--forbid", "Dunes", "--start", "Cape Grey", "--return"], "route", None),
        (["--vehicles", "2", "--longest"], "weights", 2),
        (["--models", "2", "--optional"], "served_by", 6),
        (["--vehicles", "2", "--serve", "own", "--limit", "1.5", "--optional"], "served_by", 6),
    ],
)
def test_visits_and_fleets(
    more: list[str], member: str, expected: int | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.json"
    assert run([*FRAMED, "--travel", CLOSE, *more, "-o", str(plan)]) == 0
    told = json.loads(capsys.readouterr().out)
    assert expected is None or len(told[member]) == expected
    written = json.loads(plan.read_text())
    assert written["routes"] == told["routes"]
    route = [name for one in told["routes"] for name in one]
    assert "Dunes" in route or "--require" not in more
    assert "Dunes" not in route or "--forbid" not in more
    assert route[0] == "Cape Grey" or "--start" not in more
    if "--budget" in more:
        assert told["travel_cost"] <= 1.5
    assert run(["follow", str(BUOYS / "samples"), "--target", "height", "--plan", str(plan), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["final"]["predicted"] == pytest.approx(told["error"])


def test_a_place_without_samples_is_the_depot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    places = tmp_path / "places.csv"
    names = ["Quay", "Anse Noire", "Cape Grey", "Dunes", "Eastern Shoal", "Ferry Point", "Harbour Bar"]
    places.write_text("name,x,y\n" + "".join(f"{name},{k},{k * k % 5}\n" for k, name in enumerate(names)))
    given = [*FRAMED, "--travel", str(places)]
    assert run([*given, "--depot", "Quay", "--vehicles", "2"]) == 0
    routes = json.loads(capsys.readouterr().out)["routes"]
    assert sorted([*routes[0], *routes[1]]) == sorted(names[1:])
    assert run([*given, "--depot", "Quay", "--no-return", "-o", str(tmp_path / "plan.json")]) == 0
    plan = json.loads((tmp_path / "plan.json").read_text())
    assert (plan["depot"], plan["closed"]) == ("Quay", False)
    capsys.readouterr()
    assert run([*given, "--depot", "0.5,1"]) == 0
    capsys.readouterr()
    assert run([*given, "--depot", "Dunes"]) == 2
    assert "--depot = 'Dunes': has samples, so it is a region; give --start" in capsys.readouterr().err
    assert run([*given, "--depot", "Nowhere"]) == 2
    assert "--depot = 'Nowhere': a place in the table of --travel, or coordinates" in capsys.readouterr().err


def test_options_replace_what_the_problem_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = tmp_path / "buoys.json"
    estimated = ["estimate", str(BUOYS / "samples"), "--target", "height", "--scaling", "whiten", "--intercept",
                 "--travel", CLOSE, "--problem", str(problem), "--regularization", "0.2"]  # fmt: skip
    assert run(estimated) == 0
    capsys.readouterr()
    given = [*GIVEN, "--problem", str(problem), "--json"]
    assert run([*given, "--travel-rate", "0", "--at-most", "3", "--models", "2", "--end", "Dunes"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (len(told["route"]), told["route"][-1], told["total"]) == (3, "Dunes", told["error"])
    assert set(told["models"]) <= {0, 1}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--regularization", "schedule"], "--regularization = schedule: expected a number or auto"),
        (["--learner", "least-squares", "--regularization", "0.5"], "add --learner proximal"),
        (["--travel", "other.csv"], "region 'Anse Noire' is missing"),
        (["--problem", "none.json"], "none.json: no such file"),
        (["--learner", "nothing"], "--learner 'nothing'"),
        (["--learner", "proximal", "--vehicles", "2", "--models", "2"], "each vehicle carries one model"),
        (["--learner", "proximal", "--forbid", "Nowhere"], "--forbid = 'Nowhere': there is no such region"),
        (["--learner", "proximal", "--repeat", "200"], "training samples for 200 visits"),
        (
            ["--learner", "proximal", "--vehicles", "2", "--start", "Dunes"],
            "is one region, but there are several vehicles",
        ),
    ],
)
def test_refusals_name_the_field(
    more: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("name,x,y\nA,0,0\nB,1,1\n")
    assert run([*GIVEN, *more]) == 2
    assert message in capsys.readouterr().err
