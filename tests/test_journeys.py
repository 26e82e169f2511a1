from __future__ import annotations

import itertools
import json
import signal
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from typing import Any

import numpy as np
import pytest

import oracle
from learnroute import (
    Calibrated,
    Constraints,
    Gradient,
    InputError,
    Journey,
    Learner,
    Problem,
    Proximal,
    error_over_time,
    expected_loss,
    plan,
    with_depot,
    write_problem,
)
from learnroute.cli import run
from learnroute.model.subsets import restrict_to
from learnroute.study.families import random_problem
from samples import OVER, UNDER, asymmetric

REAL = {"under": Learner(80, 100, 0.3), "over": Learner(120, 100, 0.3)}
ENDS: dict[str, dict[str, Any]] = {
    "free": {},
    "start": {"start": "R2"},
    "end": {"end": "R3"},
    "tour": {"start": "R4", "returns": True},
    "loop": {"returns": True},
}
NEARLY_SQUARE = Proximal(90, 100, 0.3, regularization=0.7)


def best_rest(problem: Problem, made: list[int]) -> float:
    """The lowest loss of any route that begins with the visits made, given the current knowledge."""
    return min(
        oracle.journey_loss(problem, order)["total"]
        for order in oracle.allowed_orders(problem)
        if list(order[: len(made)]) == made
    )


@pytest.mark.parametrize("ends", ENDS.values(), ids=ENDS)
@pytest.mark.parametrize("learner", REAL.values(), ids=REAL)
@pytest.mark.parametrize("kind", ["symmetric", "asymmetric", "samples"])
def test_the_rest_is_always_planned_best(kind: str, learner: Learner, ends: dict[str, Any]) -> None:
    problem = asymmetric(6, learner, 3) if kind == "asymmetric" else random_problem("uniform", 6, learner, 3)
    samples = [90, 250, 60, 150, 30, 40] if kind == "samples" else None
    problem = problem.replace(constraints=Constraints(**ends), travel_rate=0.8, samples=samples)
    trip = Journey(problem)
    assert trip.expected_loss == pytest.approx(best_rest(problem, []), rel=1e-12)
    made: list[int] = []
    for k in range(6):
        here = trip.next
        assert here is not None
        if k == 2:  # the agent may go elsewhere
            here = next(n for n in trip.rest if n not in (here, problem.constraints.end))
        made.append(problem.regions.index(here))
        trip.visit(here)
        assert list(trip.order[: len(made)]) == made
        assert trip.expected_loss == pytest.approx(best_rest(problem, made), rel=1e-12)
    assert trip.next is None
    assert trip.expected_error == pytest.approx(oracle.journey_loss(problem, made)["error"], rel=1e-12)
    with pytest.raises(InputError, match="the journey is over"):
        trip.visit()


LAWS = {
    **REAL,
    "proximal": Proximal(80, 100, 0.3, regularization=0.7),
    "schedule": Proximal(80, 100, 0.3, regularization=(0.1, 3.0, 0.5, 1.0, 2.0)),
    "gradient": Gradient(80, 100, 0.3, steps=3, rate=0.3),
    "calibrated": Calibrated(retention=0.6, coupling=0.2, noise=0.1),
    "common gain kept": Calibrated(retention=0.6, coupling=0.2, common_retention=0.9, noise=0.1),
    "common gain lost": Calibrated(retention=0.6, coupling=0.3, common_retention=0.05, noise=-0.1),
}


@pytest.mark.parametrize("ends", [{}, {"start": "R2", "returns": True}], ids=["free", "tour"])
@pytest.mark.parametrize("law", LAWS)
def test_a_journey_expects_what_the_plan_does_from_its_first_to_its_last_visit(law: str, ends: dict[str, Any]) -> None:
    problem = random_problem("vectors", 5, UNDER, 3).replace(learner=LAWS[law], constraints=Constraints(**ends))
    totals = {order: expected_loss(problem, order).total for order in oracle.allowed_orders(problem)}
    trip = Journey(problem)
    assert trip.expected_loss == pytest.approx(plan(problem).loss.total, rel=1e-9)
    made: list[int] = []
    for k in range(5):
        here = trip.rest[-1] if k == 1 else trip.next  # the agent may go elsewhere
        made.append(problem.regions.index(here or ""))
        trip.visit(here)
        loss = expected_loss(problem, trip.order)
        assert trip.expected_loss == pytest.approx(loss.total, rel=1e-9)
        assert trip.expected_error == pytest.approx(loss.error, rel=1e-9)
        assert trip.errors == pytest.approx(error_over_time(problem, trip.order)[k + 1], rel=1e-9)
        best = min(total for order, total in totals.items() if list(order[: k + 1]) == made)
        assert trip.expected_loss == pytest.approx(best, rel=1e-9)


def test_the_common_part_survives_what_is_measured_and_a_file(tmp_path: Path) -> None:
    """By hand, with ρ = 0.9: e_j = a_j + c, a_j <- p1·a_j + (1 - p1)·Δ[k, j], c <- ρ·c - q·a_k + ν."""
    problem = random_problem("vectors", 5, UNDER, 3).replace(learner=LAWS["common gain kept"])
    trip = Journey(problem, file=tmp_path / "trip.json")
    errors, common = np.array(problem.initial), 0.0
    for k in range(5):
        here = problem.regions.index(trip.next or "")
        model = errors - common
        common = 0.9 * common - 0.2 * model[here] + 0.1
        errors = 0.6 * model + 0.4 * problem.dissimilarities_to(here) + common
        measured = {}
        if k == 1:
            measured, errors[0] = {"R1": 1.25}, 1.25
        trip.visit(errors=measured)
        for one in (trip, Journey.resume(tmp_path / "trip.json")):
            assert one.errors == pytest.approx(errors, rel=1e-12)
    assert trip.expected_error == pytest.approx(float(errors.mean()), rel=1e-12)


@pytest.mark.parametrize("learner", REAL.values(), ids=REAL)
def test_measurements_replace_assumptions(learner: Learner) -> None:
    problem = random_problem("uniform", 6, learner, 1)
    assert problem.dissimilarity is not None
    known = np.array(problem.dissimilarity)
    trip = Journey(problem)
    made: list[int] = []
    rng = np.random.default_rng(2)
    while trip.next is not None:
        i = problem.regions.index(trip.next)
        made.append(i)
        measured = {name: float(rng.uniform(0.1, 12)) for name in problem.regions if name != trip.next}
        for name, value in measured.items():
            known[i, problem.regions.index(name)] = known[problem.regions.index(name), i] = value
        trip.visit(dissimilarity=measured)
        # errors so far came from what was known then; from here on, from what is known now
        assert np.array(trip.problem.dissimilarity).tolist() == known.tolist()
        left = [j for j in range(6) if j not in made]
        losses = {}
        for rest in itertools.permutations(left):
            after = Journey.__new__(Journey)
            after.__dict__.update(trip.__dict__)
            after.rest = tuple(problem.regions[j] for j in rest)
            losses[rest] = after.expected_loss
        assert trip.expected_loss == pytest.approx(min(losses.values()), rel=1e-12)
    before = trip.errors
    assert trip.expected_error == pytest.approx(float(before.mean()))


def test_measured_errors_are_taken_over() -> None:
    problem = random_problem("uniform", 4, REAL["over"], 1)
    trip = Journey(problem)
    trip.visit(errors={"R1": 7.5, "R4": 0.25})
    assert trip.errors[0] == 7.5
    assert trip.errors[3] == 0.25
    vectors = random_problem("vectors", 4, REAL["over"], 1)
    flight = Journey(vectors)
    here = flight.next
    assert here is not None
    flight.visit(vector=[0.0] * 5)
    assert flight.problem.vectors is not None
    assert not flight.problem.vectors[vectors.regions.index(here)].any()


def test_wrong_measurements_change_nothing() -> None:
    problem = random_problem("uniform", 4, UNDER, 1)
    trip = Journey(problem)
    for arguments, message in (
        ({"region": "R9"}, "region = 'R9': there is no such region; unvisited are R1, R2, R3, R4"),
        ({"errors": {"R9": 1}}, "errors.R9: there is no such region"),
        ({"errors": {"R1": -1}}, "errors.R1 = -1.0: errors must be >= 0"),
        ({"errors": [1, 2]}, "errors = [1, 2]: expected an object with a number for each region"),
        ({"dissimilarity": {"R2": float("nan")}}, "dissimilarity.R2 = nan: dissimilarities must be finite"),
        (
            {"region": "R1", "dissimilarity": {"R1": 2}},
            "dissimilarity.R1 = 2: the dissimilarity of a region to itself is 0",
        ),
        ({"vector": [1, 2]}, "vector: the problem has dissimilarities"),
    ):
        before = trip.to_dict()
        with pytest.raises(InputError) as refused:
            trip.visit(**arguments)
        assert message in str(refused.value)
        assert trip.to_dict() == before
    trip.visit("R2")
    with pytest.raises(InputError, match="region = 'R2': has been visited"):
        trip.visit("R2")


def test_a_journey_continues_from_its_file(tmp_path: Path) -> None:
    problem = random_problem("euclidean", 9, OVER, 4).replace(constraints=Constraints("R3", None, True))
    whole = Journey(problem, seed=5)
    file = tmp_path / "trip.json"
    Journey(problem, seed=5, file=file)
    with pytest.raises(InputError, match="exists; omit --begin to continue that journey"):
        Journey(problem, file=file)
    rng = np.random.default_rng(0)
    while whole.next is not None:
        trip = Journey.resume(file)
        assert (trip.route, trip.problem.constraints) == (whole.route, problem.constraints)
        measured = {name: float(rng.uniform(1, 9)) for name in problem.regions if name != whole.next}
        whole.visit(dissimilarity=measured)
        trip.visit(dissimilarity=measured)
        assert trip.errors.tolist() == whole.errors.tolist()
    assert Journey.resume(file).route == whole.route


DRIVE = """
import os, signal, sys
from learnroute import Journey

left = int(sys.argv[2])  # files opened or renamed beside the journey's before the process is killed; 0: it is not

def kill(event, arguments):
    global left
    if event in ("open", "os.rename") and str(arguments[0]).startswith(os.path.dirname(sys.argv[1])):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

trip = Journey.resume(sys.argv[1])
sys.addaudithook(kill)
while trip.next is not None:
    here = trip.problem.regions.index(trip.next)
    others = [(k, n) for k, n in enumerate(trip.problem.regions) if k != here]
    trip.visit(dissimilarity={n: 1.0 + (here * 7 + k * 3) % 11 for k, n in others})
"""


def test_resumes_to_the_same_route_after_a_kill_at_any_step(tmp_path: Path) -> None:
    problem = random_problem("uniform", 8, OVER, 2)
    routes = []
    for name, kills in (("whole", ()), ("killed", (1, 2, 3, 4, 6))):
        file = tmp_path / f"{name}.json"
        Journey(problem, seed=1, file=file)
        for kill in kills:
            visits, leftovers = len(Journey.resume(file).visits), len(list(tmp_path.glob(".learnroute-*")))
            killed = subprocess.run([sys.executable, "-c", DRIVE, str(file), str(kill)], capture_output=True, text=True)
            assert killed.returncode == -signal.SIGKILL, killed.stderr
            made = max(0, kill - 1 - leftovers) // 3  # two opens and a rename per write, and an open per leftover
            assert len(Journey.resume(file).visits) == visits + made
        subprocess.run([sys.executable, "-c", DRIVE, str(file), "0"], check=True, capture_output=True)
        routes.append(Journey.resume(file).to_dict())
        assert not list(tmp_path.glob(".learnroute-*"))  # the next write removes what killed ones left
    assert routes[0] == routes[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.pop("rest"), "not a journey"),
        (lambda d: d.update(rest=["R1"]), "rest = ['R1']: expected the regions not visited yet"),
        (lambda d: d.update(visits=[3]), "visits[0] = 3: expected an object with region"),
        (lambda d: d.update(visits=[{"region": "X"}]), "region = 'X': there is no such region"),
        (lambda d: d.update(method="best"), "method = 'best': unknown"),
        (lambda d: d["problem"].pop("learner"), "learner: missing"),
    ],
)
def test_damaged_files_are_rejected_by_name(tmp_path: Path, change: Any, message: str) -> None:
    file = tmp_path / "trip.json"
    data = Journey(random_problem("uniform", 4, UNDER, 1), file=file).to_dict()
    change(data)
    file.write_text(json.dumps(data))
    with pytest.raises(InputError) as refused:
        Journey.resume(file)
    assert str(refused.value).startswith(f"{file}: ")
    assert message in str(refused.value)


def test_replanning_improves_routes_if_bounds_are_loose() -> None:
    adapting_gain = run_path(str(Path(__file__).parents[1] / "benchmarks" / "adapting.py"))["adapting_gain"]
    assert adapting_gain(UNDER, 6, 0.0, 5).mean == 0  # nothing to learn
    loose = adapting_gain(Learner(200, 100), 7, 2.0, 60, seed=2)
    assert loose.interval[0] > 0
    assert loose.known > loose.mean
    assert adapting_gain(Learner(200, 100), 5, 2.0, 3, seed=2) == adapting_gain(Learner(200, 100), 5, 2.0, 3, seed=2)


def test_command_stores_a_journey(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem, file, seen = tmp_path / "problem.json", tmp_path / "trip.json", tmp_path / "seen.json"
    write_problem(random_problem("uniform", 5, OVER, 2), problem)

    def called(*arguments: str, code: int = 0) -> str:
        assert run(["journey", str(file), *arguments]) == code
        printed = capsys.readouterr()
        return printed.err if code else printed.out

    call = [sys.executable, "-m", "learnroute", "journey", str(file), "--begin", str(problem), "--json"]
    first = json.loads(subprocess.run(call, capture_output=True, text=True, check=True).stdout)
    assert first["rest"] == list(plan(random_problem("uniform", 5, OVER, 2)).route)
    seen.write_text(json.dumps({"errors": {first["next"]: 0.5}}))
    second = json.loads(called("--visited", first["next"], "--measured", str(seen), "--json"))
    assert second["visited"] == [first["next"]]
    assert second["errors"][first["next"]] == 0.5
    assert f"next       {second['next']}" in called()
    assert "has been visited" in called("--visited", first["next"], code=2)
    assert "exists; omit --begin" in called("--begin", str(problem), code=2)
    seen.write_text("{")
    assert f"{seen}: line 1" in called("--visited", second["next"], "--measured", str(seen), code=2)


def test_a_time_limit_ends_each_planning(tmp_path: Path) -> None:
    problem = random_problem("vectors", 60, Learner(400, 100, 0.1), 1)
    trip = Journey(problem, file=tmp_path / "trip.json", time_limit=1e-6)
    assert sorted(trip.rest) == sorted(problem.regions)
    trip.visit(time_limit=1e-6)
    assert sorted(trip.rest) == sorted(trip.left)
    assert Journey.resume(tmp_path / "trip.json").rest == trip.rest
    before = trip.to_dict()
    with pytest.raises(InputError, match=r"^time_limit = 0: seconds must be > 0"):
        trip.visit(time_limit=0)
    assert trip.to_dict() == before


def test_the_command_takes_a_time_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_problem(random_problem("vectors", 6, Learner(80, 100, 0.1), 1), tmp_path / "p.json")
    trip = str(tmp_path / "trip.json")
    assert run(["journey", trip, "--begin", str(tmp_path / "p.json"), "--time-limit", "5"]) == 0
    assert run(["journey", trip, "--visited", "R1", "--time-limit", "-1"]) == 2
    assert "--time-limit = -1.0: seconds must be > 0" in capsys.readouterr().err
    assert not Journey.resume(trip).visits


@pytest.mark.parametrize(
    "learner", [*REAL.values(), Proximal(90, 100, 0.3, regularization=0.7)], ids=[*REAL, "proximal"]
)
@pytest.mark.parametrize("kind", ["matrices", "vectors", "samples"])
def test_after_a_region_is_dropped_the_rest_is_planned_best(tmp_path: Path, kind: str, learner: Learner) -> None:
    problem = random_problem("places" if kind == "vectors" else "uniform", 6, learner, 3)
    samples = [90, 250, 60, 150, 30, 40] if kind == "samples" else None
    initial = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    problem = problem.replace(constraints=Constraints(end="R5"), samples=samples, initial=initial)
    trip = Journey(problem, "exact" if learner.rule == "least-squares" else "auto", file=tmp_path / "trip.json")
    here = trip.next
    trip.visit(errors={"R1": 0.5, "R2": 0.25} if kind != "vectors" else None)
    gone = next(name for name in trip.rest if name != "R5")
    assert trip.drop(gone) == trip.next != gone
    assert gone not in trip.problem.regions
    assert trip.route[0] == here
    assert trip.route[-1] == "R5"
    kept = [name for name in problem.regions if name != gone]
    assert sorted(trip.route) == sorted(kept)
    again = Journey.resume(tmp_path / "trip.json")
    assert again.rest == trip.rest
    assert again.errors.tolist() == trip.errors.tolist()
    losses = []
    for order in itertools.permutations(trip.rest[:-1]):  # all ways through what is left
        again.rest = (*order, "R5")
        losses.append(again.expected_loss)
    assert trip.expected_loss == pytest.approx(min(losses), rel=1e-9)
    places = [problem.regions.index(name) for name in kept]
    assert trip.problem.travel.tolist() == problem.travel[np.ix_(places, places)].tolist()
    apart = [problem.dissimilarities_to(i)[places].tolist() for i in places]
    assert [trip.problem.dissimilarities_to(i).tolist() for i in range(5)] == apart


def test_invalid_drops_are_rejected_and_change_nothing() -> None:
    problem = random_problem("uniform", 4, REAL["over"], 3).replace(constraints=Constraints("R1", "R4"))
    trip = Journey(problem)
    trip.visit()
    before = trip.to_dict()
    for name, message in (
        ("R1", "has been visited; unvisited are R2, R3, R4"),
        ("R4", r"R4': is the start or end of the route \(constraints\) and cannot be dropped"),
        ("R9", "there is no such region; unvisited are R2, R3, R4"),
    ):
        with pytest.raises(InputError, match=message):
            trip.drop(name)
    assert trip.to_dict() == before
    trip.drop("R2")
    assert trip.route == ("R1", "R3", "R4")


@pytest.mark.parametrize(
    "learner", [*REAL.values(), Proximal(90, 100, 0.3, regularization=0.7)], ids=[*REAL, "proximal"]
)
@pytest.mark.parametrize("kind", ["matrices", "vectors", "samples", "importance", "depot"])
def test_added_region_has_the_errors_of_an_original_one(tmp_path: Path, kind: str, learner: Learner) -> None:
    whole = random_problem("places" if kind == "vectors" else "uniform", 6, learner, 3)
    samples = [90, 250, 60, 150, 30, 40] if kind == "samples" else None
    importance = [0.0, 2.0, 1.0, 0.5, 3.0, 4.0] if kind == "importance" else None
    whole = whole.replace(samples=samples, initial=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], importance=importance)
    if kind == "depot":
        whole = with_depot(asymmetric_of(whole), "R2")
    last, size = whole.regions[-1], whole.size
    less = restrict_to(whole, range(size - 1))
    trip = Journey(less, file=tmp_path / "trip.json")
    measured = {} if kind == "vectors" else {whole.regions[0]: 0.5}
    made = [str(trip.next)]
    trip.visit(errors=measured)
    given: dict[str, Any] = {"initial": float(whole.initial[-1]), "samples": None if samples is None else samples[-1],
                             "importance": None if importance is None else importance[-1]}  # fmt: skip
    if kind == "vectors":
        assert whole.coordinates is not None
        assert whole.vectors is not None
        given |= {"coordinates": whole.coordinates[-1].tolist(), "vector": whole.vectors[-1].tolist()}
    else:
        row, stops = whole.dissimilarities_to(size - 1), [name for name in whole.stops if name != last]
        places = [whole.stops.index(name) for name in stops]
        given["dissimilarity"] = {name: float(row[i]) for i, name in enumerate(whole.regions[:-1])}
        given["travel"] = {name: float(whole.ways.matrix[size - 1, i]) for i, name in zip(places, stops, strict=True)}
        given["travel_back"] = {
            name: float(whole.ways.matrix[i, size - 1]) for i, name in zip(places, stops, strict=True)
        }
    trip.add(last, **given)
    assert trip.problem.ways.matrix.tolist() == whole.ways.matrix.tolist()
    always = Journey(whole)
    always.visit(made[0], errors=measured)
    assert trip.errors.tolist() == always.errors.tolist()
    assert trip.expected_loss == pytest.approx(always.expected_loss, rel=1e-12)
    again = Journey.resume(tmp_path / "trip.json")
    assert again.rest == trip.rest
    assert again.errors.tolist() == trip.errors.tolist()


def asymmetric_of(problem: Problem) -> Problem:
    travel = np.array(problem.travel)
    travel[np.triu_indices(problem.size)] *= 1.3
    return problem.replace(travel=travel)


def test_invalid_additions_are_rejected_and_change_nothing() -> None:
    problem = random_problem("uniform", 3, REAL["over"], 3)
    trip = Journey(problem)
    trip.visit()
    before = trip.to_dict()
    ways = dict.fromkeys(problem.regions, 1.0)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"region": "R1"}, "exists; give another name"),
        ({"region": "N"}, "travel: missing; travel costs are given"),
        ({"region": "N", "travel": {**ways, "R9": 2.0}}, r"travel\.R9: there is no such region"),
        ({"region": "N", "travel": {"R1": 1.0}}, r"travel\.R2: missing"),
        ({"region": "N", "travel": {**ways, "R1": -1.0}}, r"travel\.R1 = -1"),
        ({"region": "N", "travel": ways}, "dissimilarity: missing"),
        ({"region": "N", "travel": ways, "vector": [1.0]}, "vector = .*give those"),
        ({"region": "N", "travel": ways, "coordinates": [1, 2]}, "coordinates = .*remove it"),
        ({"region": "N", "travel": ways, "dissimilarity": ways, "samples": 3}, "samples = 3.*remove it"),
    ]
    for given, message in cases:
        with pytest.raises(InputError, match=message):
            trip.add(**given)
    assert trip.to_dict() == before
    trip.add("N", travel=ways, dissimilarity=ways)
    assert "N" in trip.rest


def test_the_command_adds_a_region(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_problem(random_problem("vectors", 4, Learner(80, 100, 0.1), 1), tmp_path / "p.json")
    trip, new = str(tmp_path / "trip.json"), tmp_path / "new.json"
    assert run(["journey", trip, "--begin", str(tmp_path / "p.json")]) == 0
    width = len(json.loads((tmp_path / "p.json").read_text())["vectors"][0])
    ways = dict.fromkeys(("R1", "R2", "R3", "R4"), 3.0)
    new.write_text(json.dumps({"region": "Pier", "travel": ways, "vector": [0.5] * width, "coordinates": [1, 2]}))
    assert run(["journey", trip, "--add", str(new)]) == 0
    assert sorted(Journey.resume(trip).rest) == ["Pier", "R1", "R2", "R3", "R4"]
    for wrong, line in (
        ({"name": "X"}, "name: unknown field"),
        ({"travel": ways}, "region: missing"),
        ([1], "expected a JSON object"),
    ):
        new.write_text(json.dumps(wrong))
        assert run(["journey", trip, "--add", str(new)]) == 2
        assert line in capsys.readouterr().err
    assert run(["journey", trip, "--add", str(new), "--drop", "R1"]) == 2
    assert "only one change per call" in capsys.readouterr().err


def test_the_command_drops_a_region(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_problem(random_problem("vectors", 5, Learner(80, 100, 0.1), 1), tmp_path / "p.json")
    trip = str(tmp_path / "trip.json")
    assert run(["journey", trip, "--begin", str(tmp_path / "p.json")]) == 0
    assert run(["journey", trip, "--drop", "R3"]) == 0
    assert sorted(Journey.resume(trip).rest) == ["R1", "R2", "R4", "R5"]
    assert run(["journey", trip, "--drop", "R1", "--visited", "R2"]) == 2
    assert "only one change per call" in capsys.readouterr().err
