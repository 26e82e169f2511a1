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
from learnroute import (
    Calibrated,
    Fleet,
    Learner,
    Problem,
    Proximal,
    Visits,
    compare_fleets,
    compare_learners,
    evaluate,
    expected_loss,
    plan,
    visit_curve,
    write_problem,
)
from learnroute.model.pooled import floor_of
from learnroute.tuning import FINE, GRID
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
        assert "trade-off" in note
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


# Predictions that cannot be


def noisy(seed: int, learner: Learner, size: int = 8) -> Problem:
    """Unbiased estimates with noise of the size of the dissimilarities, as few samples per region give them."""
    rng = np.random.default_rng(seed)
    models = rng.standard_normal((size, 4))
    noise = np.triu(6 * rng.standard_normal((size, size)), 1)
    estimate = ((models[:, None] - models) ** 2).sum(axis=2) + noise + noise.T
    first = (models**2).sum(axis=1)
    return Problem(
        np.zeros((size, size)), learner, dissimilarity=np.abs(estimate) + 10 * (1 - np.eye(size)),
        dissimilarity_estimate=estimate, initial=first + 5, initial_estimate=first,
    )  # fmt: skip


def doubts(notes: tuple[str, ...]) -> list[str]:
    return [note for note in notes if "is below" in note or "below 0" in note or "end of the range" in note]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["auto", "schedule"])
def test_a_plan_says_that_its_error_cannot_be(kind: str, seed: int) -> None:
    problem = noisy(seed, Proximal(10, 30, 0.5, regularization=kind))
    found = plan(problem)
    for one in (found, evaluate(problem, found.route)):
        assert one.learner is not None
        floor = floor_of(problem)
        assert one.loss.error < floor
        said = doubts(one.notes)
        assert f"the expected error, {one.loss.error:.4g}, is below {floor:.4g}, the error of the mean" in said[0]
        negative = [name for name, error in zip(one.route, one.expected_errors or (), strict=True) if error < 0]
        notes = [note for note in said if "below 0" in note]
        assert len(notes) == bool(negative)
        assert all(name in note for name in negative for note in notes)
        values = np.atleast_1d(one.learner.regularization)
        table = GRID if kind == "auto" else FINE
        at_end = ((values <= table[0] * 1.001) | (values >= table[-1] / 1.001)).any()
        assert sum("at an end of the range" in note for note in said) == at_end
        assert all(len(note) <= 500 for note in said)
        assert one.to_dict()["notes"] == list(one.notes)


def test_lambda_at_an_end_of_its_range_is_reported() -> None:
    """λ is large where the initial model is best, and small where one region seems to be like all others."""
    near = small(Proximal(60, 100, 0.5, regularization="auto"), initial=[0.01] * 4)
    apart = 9 * (1 - np.eye(4))
    apart[0] = apart[:, 0] = 0
    far = small(Proximal(20, 100, 0.0, regularization="auto"), dissimilarity=apart, initial=[1e6] * 4)
    for problem, value in ((near, "1e+09"), (far, "1e-09")):
        found = plan(problem)
        said = [note for note in doubts(found.notes) if f"λ = {value} is at an end of the range" in note]
        assert len(said) == 1
        assert said == [note for note in evaluate(problem, found.route).notes if "end of the range" in note]
        assert said[0] in compare_learners(problem).notes
    given = far.with_regularization(1e-9)
    assert not any("end of the range" in note for note in plan(given).notes)  # chosen by the user


def test_predictions_that_can_be_are_not_doubted() -> None:
    rng = np.random.default_rng(0)
    models = rng.standard_normal((8, 4))
    for learner in (Learner(10, 30, 0.5), Learner(30, 10, 0.5), Proximal(10, 30, 0.5, regularization="auto")):
        exact = Problem(np.zeros((8, 8)), learner, vectors=models, initial=(models**2).sum(axis=1))
        assert not doubts(plan(exact).notes)
    upper = noisy(0, Learner(10, 30, 0.0)).with_upper_bounds()
    assert not doubts(plan(upper).notes)  # an upper bound may be anything
    far = Calibrated(retention=0.4, coupling=0.1, noise=-50.0)
    found = plan(small(far))
    assert found.expected_errors is not None
    assert [
        note for note in found.notes if "below 0 in " in note and f"the least {min(found.expected_errors):.4g}" in note
    ]


def test_tables_of_visits_and_fleets_doubt_their_best_row() -> None:
    problem = noisy(1, Proximal(10, 30, 0.5, regularization="auto"), size=5)
    for table in (visit_curve(problem), compare_fleets(problem, vehicles=[1, 2], models=[], serve="merged", rounds=1)):
        said = doubts(table.notes)
        assert any("is below" in note for note in said)
        assert table.to_dict()["notes"] == list(table.notes)
    near = small(Proximal(60, 100, 0.5, regularization="auto"), initial=[0.01] * 4, visits=Visits("all"))
    assert any("λ = 1e+09 is at an end" in note for note in visit_curve(near).notes)


def test_notes_speak_of_no_options_of_the_command_line() -> None:
    """They are shown on the page and in notebooks, too."""
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((6, 3))
    delta = ((vectors[:, None] - vectors) ** 2).sum(axis=2)
    travel = rng.uniform(0.1, 10, (6, 6)) * (1 - np.eye(6))
    asked = Problem(
        travel + travel.T, LEARNERS["over"], dissimilarity=delta, dissimilarity_estimate=delta,
        initial=rng.uniform(1, 2, 6), travel_rate=1e-6,
    )  # fmt: skip
    fleet = asked.replace(learner=PROXIMAL, fleet=Fleet(vehicles=2, serve="own"))
    plans = [plan(asked, "algorithm1"), plan(asked), plan(fleet)]
    assert "travel_rate" in "".join(plans[1].notes)
    assert "not a metric" in plans[0].guarantee.reason
    assert "favours regions" in "".join(plans[2].notes)
    for found in plans:
        said = " ".join([*found.notes, found.guarantee.reason])
        assert "--" not in said
        assert "`learnroute" not in said
