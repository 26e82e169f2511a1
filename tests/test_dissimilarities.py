"""Dissimilarities of plans: unbiased estimates if the problem has them, upper bounds on request; results name them.

The oracle: a problem that has the estimates as its only dissimilarities, and one that has the upper bounds.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from calls import call
from learnroute import (
    Calibrated,
    Constraints,
    Gradient,
    InputError,
    Journey,
    Learner,
    Problem,
    Proximal,
    compare,
    compare_learners,
    error_over_time,
    evaluate,
    expected_loss,
    plan,
    read_problem,
    robustness,
    tradeoff,
    verify,
    write_problem,
)
from learnroute.formats import WRITERS, plan_from
from learnroute.formats.json_files import problem_to_dict
from learnroute.learning import simulate
from learnroute.model.value import largest_loss
from learnroute.tuning import GRID

LEARNERS = {
    "under": Learner(60, 100, 0.5),
    "over": Learner(120, 100, 0.5),
    "proximal": Proximal(60, 100, 0.5, regularization=2.0),
    "auto": Proximal(60, 100, 0.5, regularization="auto"),
    "schedule": Proximal(60, 100, 0.5, regularization="schedule"),
    "gradient": Gradient(60, 100, 0.5, steps=4, rate=0.2),
    "calibrated": Calibrated(retention=0.4, coupling=0.1, common_retention=0.6, noise=0.1),
}
SIZE = 5


def problems(learner: Learner) -> tuple[Problem, Problem, Problem]:
    """A problem with bounds and estimates; the same with the estimates alone; the same with the bounds alone."""
    rng = np.random.default_rng(1)
    models = rng.standard_normal((SIZE, 4))
    true = ((models[:, None] - models) ** 2).sum(axis=2)
    share = rng.uniform(0, 6, (SIZE, SIZE))
    wide = true * (1.5 + np.triu(share, 1) + np.triu(share, 1).T)
    first = (models**2).sum(axis=1)
    places: dict[str, Any] = {"coordinates": rng.random((SIZE, 2)), "learner": learner}
    both = Problem(
        **places, dissimilarity=wide, dissimilarity_low=true / 2, dissimilarity_estimate=true, initial=4 * first,
        initial_estimate=first,
    )  # fmt: skip
    alone = Problem(**places, dissimilarity=true, initial=first)
    bounds = Problem(**places, dissimilarity=wide, dissimilarity_low=true / 2, initial=4 * first)
    return both, alone, bounds


def assert_same_plan(found: Any, wanted: Any) -> None:
    """The same route, loss and learner."""
    assert found.order == wanted.order
    assert found.loss == wanted.loss
    assert found.learner == wanted.learner
    assert found.lower_bound == wanted.lower_bound


@pytest.mark.parametrize("name", LEARNERS)
def test_plans_are_those_of_the_estimates_or_of_the_bounds(name: str) -> None:
    both, alone, bounds = problems(LEARNERS[name])
    found, upper = plan(both), plan(both.with_upper_bounds())
    assert_same_plan(found, plan(alone))
    assert_same_plan(upper, plan(bounds))
    assert (found.dissimilarities, upper.dissimilarities) == ("estimate", "upper")
    assert found.to_dict()["dissimilarities"] == "estimate"
    assert not any("unbiased" in note or "upper bound" in note for note in found.notes)
    assert_same_plan(evaluate(both, range(SIZE)), evaluate(alone, range(SIZE)))
    decided = both.replace(learner=found.learner)
    history = error_over_time(decided, found.order)
    assert history == pytest.approx(error_over_time(alone.replace(learner=found.learner), found.order))
    assert float(history[-1].mean()) == pytest.approx(expected_loss(decided, found.order).error)


@pytest.mark.parametrize("name", LEARNERS)
def test_the_largest_loss_goes_by_the_bounds(name: str) -> None:
    both, _, bounds = problems(LEARNERS[name])
    found = plan(both)
    assert found.learner is not None
    limits = bounds.replace(learner=found.learner)
    assert found.loss_at_most == pytest.approx(largest_loss(limits, found.visits))
    assert found.loss_at_most is not None
    assert found.loss_at_most >= expected_loss(limits, found.order).total * (1 - 1e-12)
    assert found.loss_at_most > found.loss.total
    low, high = limits.dissimilarity_low, limits.dissimilarity
    assert low is not None
    assert high is not None
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = np.triu(rng.uniform(low, high), 1)
        some = limits.replace(dissimilarity=drawn + drawn.T, dissimilarity_low=None)
        assert expected_loss(some, found.order).total <= found.loss_at_most * (1 + 1e-12)
    unknown = largest_loss(both.replace(learner=found.learner, dissimilarity_low=None), found.visits)
    assert (unknown is None) == limits.updates.coupled


@pytest.mark.parametrize("name", ["under", "over", "auto"])
def test_plan_and_learners_agree(name: str) -> None:
    both, _, _ = problems(LEARNERS[name])
    for asked in (both, both.with_upper_bounds()):
        table, planned = compare_learners(asked), plan(asked)
        row = table.rows[1] if name != "auto" else table.rows[4]
        assert row.total == pytest.approx(planned.loss.total, rel=1e-9)
        ends = {(row.order or ())[-1]}
        if name == "auto" and planned.learner == asked.learner.with_regularization(
            GRID[-1]
        ):  # both ways are as good there
            ends.add((row.order or ())[0])
        assert planned.order[-1] in ends
        assert table.dissimilarities == planned.dissimilarities


def test_every_result_names_its_dissimilarities() -> None:
    both, alone, _ = problems(LEARNERS["over"])
    for asked, kind in ((both, "estimate"), (both.with_upper_bounds(), "upper"), (alone, "upper")):
        results = compare(asked, ["exact"]), tradeoff(asked), compare_learners(asked), Journey(asked)
        for found in (*results, simulate(asked, range(SIZE), runs=50)):
            assert found.dissimilarities == found.to_dict()["dissimilarities"] == kind
    found = compare(both, ["exact"])
    assert found.rows[0].loss == plan(alone).loss
    assert tradeoff(both).points == tradeoff(alone).points
    measured = Problem(1 - np.eye(3), Learner(60, 100), transfer=np.ones((3, 3)))
    assert plan(measured).dissimilarities == "measured"
    for kind in ("estimate", "upper"):
        with pytest.raises(InputError, match=f"dissimilarities = '{kind}'"):
            measured.with_dissimilarities(kind)
    with pytest.raises(InputError, match="initial_estimate: belongs to dissimilarities"):
        measured.replace(initial_estimate=[1, 1, 1])


def test_robustness_is_about_the_upper_bounds() -> None:
    for name in ("under", "auto"):
        both, _, bounds = problems(LEARNERS[name])
        found, wanted = robustness(both, draws=5), robustness(bounds, draws=5)
        assert found.dissimilarities == found.plan.dissimilarities == found.to_dict()["dissimilarities"] == "upper"
        assert found.plan.loss == wanted.plan.loss
        assert (found.worst_case, found.best_case) == (wanted.worst_case, wanted.best_case)
        assert found.pairs == wanted.pairs


@pytest.mark.parametrize("name", LEARNERS)
def test_plans_are_verified_with_the_dissimilarities_they_name(name: str) -> None:
    both, alone, _ = problems(LEARNERS[name])
    found, upper = plan(both), plan(both.with_upper_bounds())
    assert verify(both, found).holds, verify(both, found)
    assert verify(both, upper).holds
    assert verify(both.with_upper_bounds(), upper).holds
    data = found.to_dict()
    del data["dissimilarities"]  # then it is what the problem goes by
    assert verify(both, data).holds
    assert verify(both, found.to_dict() | {"dissimilarities": "upper"}).verdict == "refuted"
    assert verify(both, upper.to_dict() | {"dissimilarities": "estimate"}).verdict == "refuted"
    for kind in ("measured", "given", 3, ["upper"]):
        assert verify(both, found.to_dict() | {"dissimilarities": kind}).verdict == "refuted"
    refuted = verify(alone, found)
    assert refuted.verdict == "refuted"
    assert "no unbiased estimates" in next(iter(refuted)).detail
    raised = found.to_dict() | {"loss_at_most": found.loss.total}
    assert verify(both, raised).verdict == "refuted"


def test_plans_are_read_back_with_their_dissimilarities() -> None:
    both, _, _ = problems(LEARNERS["over"])
    for asked in (both, both.with_upper_bounds()):
        found = plan(asked)
        again = plan_from(json.loads(json.dumps(found.to_dict())), both)
        assert (again.loss, again.dissimilarities) == (found.loss, found.dissimilarities)


@pytest.mark.parametrize("suffix", [suffix for suffix in WRITERS if suffix not in (".gpkg",)])
def test_files_keep_what_is_given(suffix: str, tmp_path: Path) -> None:
    both, _, _ = problems(LEARNERS["under"])
    path = tmp_path / f"problem{suffix}"
    try:
        write_problem(both, path)
    except InputError:
        pytest.skip("the format cannot hold estimates, and says so")
    again = problem_to_dict(read_problem(path))
    for field, value in problem_to_dict(both).items():
        if field in ("dissimilarity", "dissimilarity_low", "dissimilarity_estimate", "initial", "initial_estimate"):
            assert np.array(again[field]) == pytest.approx(np.array(value), rel=1e-12)


def test_estimates_take_precedence_over_vectors() -> None:
    both, alone, _ = problems(LEARNERS["proximal"])
    vectors = np.random.default_rng(3).standard_normal((SIZE, 3))
    mixed = both.replace(dissimilarity=None, dissimilarity_low=None, vectors=vectors)
    found = plan(mixed)
    assert_same_plan(found, plan(alone))
    assert found.loss_at_most is None
    assert verify(mixed, found).holds
    assert plan(mixed.with_upper_bounds()).loss == plan(alone.replace(
        dissimilarity=None, vectors=vectors, initial=both.initial)).loss  # fmt: skip


# Journeys


def test_journey_uses_estimates_and_measurements(tmp_path: Path) -> None:
    both, alone, bounds = problems(LEARNERS["over"])
    file = tmp_path / "trip.json"
    trip, wanted, upper = Journey(both, file=file), Journey(alone), Journey(both.with_upper_bounds())
    assert (trip.route, trip.expected_loss) == (wanted.route, wanted.expected_loss)
    assert upper.expected_loss == Journey(bounds).expected_loss
    measured = {name: 0.5 + k for k, name in enumerate(both.regions) if name != trip.next}
    for one in (trip, wanted):
        one.visit(dissimilarity=measured)
        one.visit(errors={both.regions[0]: 2.5})
    for one in (trip, Journey.resume(file)):
        assert one.route == wanted.route
        assert one.errors == pytest.approx(wanted.errors)
        assert one.dissimilarities == "estimate"
    for one in (trip, wanted):
        one.add("new", coordinates=[0.3, 0.4], dissimilarity=dict.fromkeys(both.regions, 1.5), initial=2.0)
    assert trip.route == wanted.route
    assert trip.expected_loss == pytest.approx(wanted.expected_loss)
    for one in (trip, wanted):
        one.drop(one.rest[-1])
    assert trip.expected_loss == pytest.approx(wanted.expected_loss)


def test_a_journey_takes_a_vector_beside_estimates() -> None:
    both, alone, _ = problems(LEARNERS["over"])
    vectors = np.random.default_rng(3).standard_normal((SIZE, 3))
    trip = Journey(both.replace(dissimilarity=None, dissimilarity_low=None, vectors=vectors))
    wanted = Journey(alone)
    here = both.regions.index(trip.next or "")
    trip.visit(vector=[1.0, 2.0, 3.0])
    apart = ((vectors - np.array([1.0, 2.0, 3.0])) ** 2).sum(axis=1)
    wanted.visit(dissimilarity={name: float(apart[k]) for k, name in enumerate(both.regions) if k != here})
    assert trip.route == wanted.route
    assert trip.expected_loss == pytest.approx(wanted.expected_loss)


# Tables of learners


def test_saves_is_the_same_everywhere(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    both, _, _ = problems(LEARNERS["under"])
    found = compare_learners(both)
    place = found.table().texts()[0]
    assert len(place) == 8
    frame = found.to_frame()
    first = found.rows[0].total
    assert first is not None
    for row, data, saved in zip(found.rows, found.to_dict()["rows"], frame.saves, strict=True):
        if row is found.rows[0]:
            continue
        assert row.total is not None
        assert row.saves == data["saves"] == saved == first - row.total
    file = tmp_path / "both.json"
    write_problem(both, file)
    _, out, _ = call(capsys, "learners", str(file))
    assert "uses unbiased estimates of the dissimilarities" in out


@pytest.mark.parametrize("shape", ["under", "over", "equal", "noisy", "many"])
def test_the_best_row_has_the_least_total_and_no_row_beats_its_own_best(shape: str) -> None:
    learner = {
        "under": Learner(20, 30, 0.5), "over": Learner(30, 20, 0.5), "noisy": Learner(20, 30, 5.0),
        "equal": Proximal(20, 20, 0.5, regularization=1.0), "many": Learner(3, 10_000, 0.01),
    }[shape]  # fmt: skip
    both, _, _ = problems(learner)
    far = both.replace(travel_rate=0.01, constraints=Constraints(returns=True))
    for asked, limit in ((both, None), (far, 1e-3)):
        found = compare_learners(asked, time_limit=limit)
        totals = {(row.learner, row.route_kind): row.total for row in found.rows if row.total is not None}
        learners = {key: total for key, total in totals.items() if key[0] != "mean-model"}
        assert found.best.total == min(learners.values())
        own = totals["proximal", "own-best"]
        assert own <= min(total for key, total in totals.items() if key[0] == "proximal")
        scheduled = totals["schedule", "own-best"]
        assert scheduled <= min(own, totals["running-mean", "shortest"]) * (1 + 1e-12)
        if ("least-squares", "papers-best") in totals:
            assert totals["least-squares", "papers-best"] <= totals["least-squares", "shortest"]


def test_recursive_least_squares_can_be_the_best_row() -> None:
    rng = np.random.default_rng(1)
    models = 0.05 * rng.standard_normal((5, 20))  # nearly the same everywhere: one fit of all samples is best
    problem = Problem(
        None, Learner(20, 30, 0.5), vectors=models, initial=((models - 0.5) ** 2).sum(axis=1),
        coordinates=rng.random((5, 2)), travel_rate=0.0,
    )  # fmt: skip
    found = compare_learners(problem)
    assert found.best.learner == "recursive"
    assert "recursive" in repr(found)


# Command line and service's contract


def test_on_the_command_line(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    both, alone, bounds = problems(LEARNERS["over"])
    file, bare = tmp_path / "both.json", tmp_path / "alone.json"
    write_problem(both, file)
    write_problem(alone, bare)
    for options, wanted, kind in (((), alone, "estimate"), (("--dissimilarities", "upper"), bounds, "upper")):
        for name in ("plan", "compare", "tradeoff", "learners", "check", "simulate"):
            _, out, _ = call(capsys, name, str(file), *options, "--json")
            assert json.loads(out)["dissimilarities"] == kind, name
        _, out, _ = call(capsys, "plan", str(file), *options, "--json")
        assert json.loads(out)["loss"]["total"] == pytest.approx(plan(wanted).loss.total)
        _, out, _ = call(capsys, "plan", str(file), *options)
        assert ("uses unbiased estimates of the dissimilarities" in out) == (kind == "estimate")
        assert ("with the upper bounds on the dissimilarities" in out) == (kind == "estimate")
        trip = tmp_path / f"{kind}.json"
        _, out, _ = call(capsys, "journey", str(trip), "--begin", str(file), *options, "--json")
        assert json.loads(out)["dissimilarities"] == kind
        _, out, _ = call(capsys, "journey", str(trip), "--json")
        assert json.loads(out)["dissimilarities"] == kind
    _, out, _ = call(capsys, "plan", str(bare))
    assert "estimate" not in out
    _, out, _ = call(capsys, "robustness", str(file), "--draws", "2")
    assert "uses upper bounds on the dissimilarities, not the unbiased estimates" in out
    for arguments in (
        ("plan", str(bare), "--dissimilarities", "estimate"),
        ("plan", str(file), "--dissimilarities", "true"),
        ("robustness", str(file), "--dissimilarities", "estimate"),
        ("journey", str(tmp_path / "upper.json"), "--dissimilarities", "upper"),
    ):
        code, out, err = call(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert "dissimilarities" in err
