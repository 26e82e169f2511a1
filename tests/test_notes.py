"""Notes on defaults that matter: the travel rate, and an initial model without error."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calls import call
from learnroute import Calibrated, Learner, Problem, Proximal, evaluate, expected_loss, plan, write_problem
from samples import small

PROXIMAL = Proximal(60, 100, 0.5, regularization=2.0)
LEARNERS = {"under": Learner(60, 100, 0.5), "over": Learner(300, 100, 0.5), "proximal": PROXIMAL}


def travel_notes(problem: Problem, **options: Any) -> list[str]:
    return [note for note in plan(problem, **options).notes if "travel_rate" in note]


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("rate", np.logspace(-6, 6, 13).tolist())
def test_dominating_travel_rate_is_reported(name: str, rate: float) -> None:
    problem = small(LEARNERS[name], travel_rate=rate)
    found = plan(problem)
    share = found.loss.travel / found.loss.total
    notes = [note for note in found.notes if "travel_rate" in note]
    assert len(notes) == (not 0.01 <= share <= 0.95)
    for note in notes:
        told = re.match(r"travel is ([\d.]+) % of the loss", note)
        assert told is not None
        assert float(told[1]) == pytest.approx(100 * share, rel=0.06)
        assert min(abs(100 - float(told[1])), float(told[1])) > 0
        assert "--travel-rate" in note
        assert "learnroute tradeoff" in note
        assert "\n" not in note
        assert len(note) <= 500
        even = re.search(r"with ([\de.+-]+), travel and the error", note)
        assert even is not None
        suggested = problem.replace(travel_rate=float(even[1]))
        loss = expected_loss(suggested, found.order)
        assert loss.travel == pytest.approx(loss.dissimilarity + loss.pairs, rel=0.06)
        assert 0.01 < loss.travel / loss.total < 0.95
        assert found.to_dict()["notes"] == list(found.notes)


def test_the_unit_of_travel_is_named_and_given_routes_are_judged_too() -> None:
    places = [[8.0, 47.0], [9.0, 47.5], [8.5, 46.0]]
    problem = Problem(None, Learner(60, 100, 0.5), dissimilarity=1 - np.eye(3), coordinates=places, geographic=True)
    assert "is the loss per km, here 1;" in travel_notes(problem)[0]
    assert "is the loss per km" in "".join(evaluate(problem, [0, 1, 2]).notes)
    assert "is the loss per unit of travel" in travel_notes(small(travel_rate=1e6))[0]


def test_no_travel_is_deliberate_and_no_error_leaves_nothing_to_weigh() -> None:
    assert not travel_notes(small(travel_rate=0.0))
    assert not travel_notes(small(travel=np.zeros((4, 4))))
    assert not travel_notes(small(Learner(60, 100, 0.0), dissimilarity=np.zeros((4, 4))))
    assert not travel_notes(small(Learner(60, 100, 0.5), dissimilarity=np.zeros((4, 4)), travel_rate=1e6))
    below = Calibrated(retention=0.4, coupling=0.1, noise=-50.0)
    assert plan(small(below)).loss.total < 0
    assert not travel_notes(small(below))
    nothing = small(Learner(60, 100, 0.0), dissimilarity=np.zeros((4, 4)), travel=np.zeros((4, 4)))
    assert plan(nothing).loss.total == 0
    assert not travel_notes(nothing)


UNTRAINED: dict[str, tuple[Learner, float]] = {  # and the share of the initial model that is left after 4 visits
    "under": (Learner(60, 100, 0.5), 0.0),
    "over": (Learner(300, 100, 0.5), (2 / 3) ** 4),
    "over, hardly": (Learner(104, 100, 0.5), 0.0),
    "proximal": (PROXIMAL, math.prod([small(PROXIMAL).updates.retention[0, 0]] * 4)),
    "calibrated": (Calibrated(retention=0.5, coupling=0.1, noise=0.1), 0.5**4),
    "forgets": (Calibrated(retention=0.0, coupling=0.0, noise=0.1), 0.0),
}


@pytest.mark.parametrize("given", [None, [0, 0, 0, 0], [1, 0, 0, 0]])
@pytest.mark.parametrize("name", UNTRAINED)
def test_assumed_perfect_initial_model_is_reported_if_it_matters(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, given: Any
) -> None:
    learner, left = UNTRAINED[name]
    problem = small(learner, initial=given)
    wanted = left > 0 and given != [1, 0, 0, 0]
    said = [note for note in plan(problem).notes if "initial model is assumed" in note]
    assert len(said) == wanted
    file = tmp_path / "problem.json"
    write_problem(problem, file)
    _, out, _ = call(capsys, "check", str(file), "--json")
    assert json.loads(out)["notes"] == said
    _, out, _ = call(capsys, "check", str(file))
    assert ("initial model is assumed" in out) == wanted
    if wanted:
        assert f"{100 * left:.3g} % of it remains" in said[0]
        assert "set initial" in said[0]
        smaller = expected_loss(problem, range(4)).error
        assert smaller < expected_loss(problem.replace(initial=[5, 5, 5, 5]), range(4)).error


def test_check_reports_if_lambda_cannot_be_chosen(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    write_problem(small(Proximal(60, 100, 0.5, regularization="auto"), initial=None), file)
    _, out, _ = call(capsys, "check", str(file), "--json")
    assert "λ cannot be chosen" in json.loads(out)["notes"][0]
    code, _, err = call(capsys, "plan", str(file))
    assert code == 2
    assert "initial is missing or 0 for all regions" in err


def test_estimates_of_the_initial_model_count(tmp_path: Path) -> None:
    problem = small(Learner(300, 100, 0.5), initial=[1, 1, 1, 1], initial_estimate=[0, 0, 0, 0])
    assert any("initial model is assumed" in note for note in plan(problem).notes)
    assert not any("initial model is assumed" in note for note in plan(problem.with_upper_bounds()).notes)
