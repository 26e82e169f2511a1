"""Plans that were made with options: what a problem without them lacks, and that verdicts follow from the problem."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from calls import call
from learnroute import Fleet, InputError, Problem, Visits, plan, read_problem, verify
from learnroute.formats import plan_from

ROOT = Path(__file__).parents[1]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
NORTH_SEA = str(ROOT / "examples" / "north-sea.json")
Capture = pytest.CaptureFixture[str]
OPTIONS = {  # the options of a plan, and what is said about them; the remedy is to give them
    "--vehicles 2": "this plan has 2 vehicles",
    "--vehicles 2 --serve own": "this plan has 2 vehicles, own models",
    "--vehicles 2 --longest --limit 9.5": "2 vehicles, the longest route as its travel, a travel limit of 9.5 per",
    "--models 2": "this plan has 2 models",
    "--models 2 --serve merged": "this plan has 2 models, merged models",
    "--serve own": "this plan has own models",
    "--limit 20": "this plan has a travel limit of 20 per vehicle",
    "--budget 7.25": "this plan has a travel budget of 7.25",
    "--at-most 3": "this plan has at most 3 visits",
    "--optional": "this plan has optional visits",
    "--require 'Hazmat cage' --require Packing": "this plan has required regions (Hazmat cage, Packing)",
    "--forbid Returns --repeat 2": "this plan has forbidden regions (Returns), up to 2 visits per region",
    "--depot 'Hazmat cage'": "this plan has the depot Hazmat cage",
    "--start 'Hazmat cage' --end Packing": "this plan has the start Hazmat cage, the end Packing",
    "--return": "this plan has the return trip",
    "--travel-rate 0.3": "this plan has a travel rate of 0.3",
    "--regularization 2": "this plan has λ = 2",
    "--regularization auto": "this plan has λ = auto",
    "--vehicles 3 --depot Returns --budget 30": "this plan has 3 vehicles, a travel budget of 30, the depot Returns",
}


@pytest.mark.parametrize("options", OPTIONS)
def test_a_plan_says_which_options_its_problem_lacks(options: str, tmp_path: Path, capsys: Capture) -> None:
    saved, table = str(tmp_path / "plan.json"), str(tmp_path / "route.csv")
    assert call(capsys, "plan", WAREHOUSE, *shlex.split(options), "-o", saved)[0] == 0
    code, out, err = call(capsys, "convert", saved, table, "--problem", WAREHOUSE)
    assert (code, out, err.count("\n")) == (2, "", 1)
    said, _, remedy = err.strip().partition("; add ")
    assert OPTIONS[options] in said
    assert sorted(shlex.split(remedy)) == sorted(shlex.split(options))
    code, out, err = call(capsys, "verify", saved, WAREHOUSE)
    assert code in (1, 2)
    assert f"add {remedy}" in " ".join((out + err).split())
    assert call(capsys, "convert", saved, table, "--problem", WAREHOUSE, *shlex.split(remedy))[0] == 0
    code, out, err = call(capsys, "verify", saved, WAREHOUSE, *shlex.split(remedy))
    assert code in (0, 3), out + err
    assert "this plan" not in out


@pytest.mark.parametrize(("options", "said"), [
    ("--budget 7", "was made without a travel budget of 7; omit --budget 7"),
    ("--vehicles 2", "has 1 vehicle; add --vehicles 1"),
    ("--depot Returns", "was made without the depot Returns; omit --depot Returns"),
    ("--forbid Returns", "was made without forbidden regions (Returns); omit --forbid Returns"),
    ("--travel-rate 3", "has a travel rate of 1; add --travel-rate 1"),
    ("--return", "has no return trip; add --no-return"),
])  # fmt: skip
def test_a_plan_without_options_says_which_ones_are_too_many(
    options: str, said: str, tmp_path: Path, capsys: Capture
) -> None:
    saved = str(tmp_path / "plan.json")
    assert call(capsys, "plan", WAREHOUSE, "-o", saved)[0] == 0
    new = ["convert", saved, str(tmp_path / "new.csv"), "--problem", WAREHOUSE, *shlex.split(options)]
    code, _, err = call(capsys, *new)
    assert (code, err.count("\n")) == (2, 1)
    assert f"this plan {said}" in err


def test_a_depot_of_its_own_is_given_by_coordinates(tmp_path: Path, capsys: Capture) -> None:
    lakes, saved = str(ROOT / "examples" / "lakes.geojson"), str(tmp_path / "plan.json")
    assert call(capsys, "plan", lakes, "--depot", "8.5,47.3", "-o", saved)[0] == 0
    code, _, err = call(capsys, "convert", saved, str(tmp_path / "new.csv"), "--problem", lakes)
    assert code == 2
    assert "this plan has the depot X,Y; add --depot X,Y" in err


def without_rules(found: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if name != "rules"}


@pytest.mark.parametrize("rules", [{}, {"visits": {"budget": 1e6}}, {"fleet": {"vehicles": 2}}])
def test_verdicts_follow_from_the_problem_and_not_from_the_rules_of_a_plan(rules: dict[str, Any]) -> None:
    asked = read_problem(WAREHOUSE).replace(visits=Visits(budget=7.0))
    for problem, made in ((asked, plan(asked)), (asked, plan(asked.replace(visits=Visits())))):
        data = json.loads(json.dumps(made.to_dict()))
        honest, forged = verify(problem, without_rules(data)), verify(problem, {**data, "rules": rules})
        assert forged.checks == honest.checks
        assert forged.verdict == ("confirmed" if made.travel_cost <= 7.0 else "refuted")
        assert forged.differences
        assert forged.to_dict()["differences"] == forged.differences


def test_rules_that_mean_the_same_do_not_differ() -> None:
    problem = read_problem(NORTH_SEA)
    first, second, *_ = problem.regions
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"visits": Visits("all"), "fleet": Fleet()}),
        ({"visits": Visits([first, second])}, {"visits": Visits([second, first])}),
        ({"fleet": Fleet(models=2)}, {"fleet": Fleet(models=2, serve="own")}),
    ]
    for one, other in (*pairs, *(pair[::-1] for pair in pairs)):
        assert verify(problem.replace(**one), plan(problem.replace(**other))).differences == ""


@pytest.mark.parametrize("made", [{"vehicles": 2}, {"models": 2}])
def test_a_plan_without_rules_shows_its_vehicles_or_models(made: dict[str, Any]) -> None:
    problem = read_problem(WAREHOUSE)
    data = without_rules(plan(problem.replace(fleet=Fleet(**made))).to_dict())
    ((name, count),) = made.items()
    with pytest.raises(InputError, match=f"this plan has {count} {name}; add --{name} {count}"):
        plan_from(data, problem)


def test_plans_of_other_regions_are_not_compared() -> None:
    data = plan(read_problem(NORTH_SEA).replace(fleet=Fleet(vehicles=2))).to_dict()
    with pytest.raises(InputError, match="order: missing"):
        plan_from(data, read_problem(WAREHOUSE))


@pytest.mark.parametrize("rules", [1, [], {"visits": 1}, {"visits": {"budget": "x"}}, {"fleet": {"boats": 2}}])
def test_rules_that_are_none_are_rejected_in_one_line(rules: Any) -> None:
    problem: Problem = read_problem(WAREHOUSE)
    with pytest.raises(InputError) as caught:
        verify(problem, {**plan(problem).to_dict(), "rules": rules})
    assert "\n" not in str(caught.value)
