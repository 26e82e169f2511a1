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


def test_by_a_problem_and_with_lambda_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--regularization", "schedule"], "--regularization = schedule: expected a number or auto"),
        (["--learner", "least-squares", "--regularization", "0.5"], "add --learner proximal"),
        (["--travel", "other.csv"], "region 'Anse Noire' is missing"),
        (["--problem", "none.json"], "none.json: no such file"),
        (["--learner", "nothing"], "--learner 'nothing'"),
    ],
)
def test_refusals(
    more: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.csv").write_text("name,x,y\nA,0,0\nB,1,1\n")
    assert run([*GIVEN, *more]) == 2
    assert message in capsys.readouterr().err
