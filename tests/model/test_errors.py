"""Errors keep the invalid member across all layers and processes."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import Constraints, InputError, Journey, Learner, Problem, RefusedError, evaluate, plan, read_problem
from learnroute import tradeoff as tradeoff_of
from learnroute.learning.data import split
from learnroute.learning.estimation import estimate
from learnroute.learning.following import follow
from learnroute.learning.learners import RouteRegressor
from learnroute.learning.metrics import metrics_of
from learnroute.learning.simulation import simulate
from learnroute.robust import robustness
from learnroute.study.experiment import Experiment
from learnroute.study.families import random_problem
from samples import UNDER

ROBOT = Path(__file__).parents[2] / "examples" / "warehouse-robot.json"


def robot(**changes: Any) -> dict[str, Any]:
    return {**json.loads(ROBOT.read_text()), **changes}


def small(**changes: Any) -> Problem:
    return random_problem("uniform", 4, Learner(80, 100, 0.1), 1).replace(**changes)


def entry(member: str, i: int, j: int, value: Any) -> dict[str, Any]:
    data = robot()
    data[member][i][j] = value
    return data


REFUSED: list[tuple[Callable[[], Any], str]] = [
    (lambda: Problem.from_dict(3), "problem"),
    (lambda: Problem.from_dict({}), "travel"),
    (lambda: Problem.from_dict(robot(speed=1)), "speed"),
    (lambda: Problem.from_dict(robot(learner=None)), "learner"),
    (lambda: Problem.from_dict(robot(learner={})), "learner.features"),
    (lambda: Problem.from_dict(robot(learner={"features": 3})), "learner.samples"),
    (lambda: Problem.from_dict(robot(learner={"features": 100, "samples": 100})), "learner.features"),
    (lambda: Problem.from_dict(robot(learner={"features": 1.5, "samples": 100})), "learner.features"),
    (lambda: Problem.from_dict(entry("travel", 0, 1, -2.0)), "travel[0, 1]"),
    (lambda: Problem.from_dict(entry("travel", 2, 2, 1.0)), "travel[2, 2]"),
    (lambda: Problem.from_dict(entry("dissimilarity", 0, 1, 9.0)), "dissimilarity[0, 1]"),
    (lambda: Problem.from_dict(entry("travel", 1, 0, "far")), "travel[1, 0]"),
    (lambda: Problem.from_dict(robot(travel=[[0]])), "travel"),
    (lambda: Problem.from_dict(robot(vectors=[[1]] * 8)), "dissimilarity"),
    (lambda: Problem.from_dict(robot(initial=[1])), "initial"),
    (lambda: Problem.from_dict(robot(initial=[-1] * 8)), "initial[0]"),
    (lambda: Problem.from_dict(robot(regions=["a"] * 8)), "regions[1]"),
    (lambda: Problem.from_dict(robot(title="a\nb")), "title"),
    (lambda: Problem.from_dict(robot(geographic="yes")), "geographic"),
    (lambda: Problem.from_dict(robot(geographic=True, coordinates=[[0, 91]] * 8)), "coordinates[0, 1]"),
    (lambda: Problem.from_dict(robot(constraints={"start": "Nowhere"})), "constraints.start"),
    (lambda: Problem.from_dict(robot(constraints={"pause": 1})), "constraints.pause"),
    (lambda: Problem.from_dict(robot(samples=[])), "samples"),
    (lambda: Problem.from_dict(robot(travel_rate=-1)), "travel_rate"),
    (lambda: Problem.from_dict(robot(start=[1.0])), "start"),
    (lambda: Constraints("A", "A"), "constraints.end"),
    (lambda: evaluate(small(), ["R1"]), "route"),
    (lambda: evaluate(small(), ["R1", "R2", "R3", "Rx"]), "route"),
    (lambda: evaluate(small(), "R1"), "route"),
    (lambda: plan(small(), seed=-1), "seed"),
    (lambda: tradeoff_of(small(), points=1), "points"),
    (lambda: tradeoff_of(small(), points=10**6), "points"),
    (lambda: tradeoff_of(small()).within(0.0), "budget"),
    (lambda: tradeoff_of(small()).below(float("nan")), "ceiling"),
    (lambda: robustness(small(), within=2), "within"),
    (lambda: robustness(small()), "dissimilarity_low"),
    (lambda: Journey(small()).visit("nowhere"), "region"),
    (lambda: simulate(small(), range(4), sampler="loud"), "sampler"),
    (lambda: simulate(small(), range(4), runs=10**9), "runs"),
    (lambda: metrics_of(np.zeros((2, 3))), "errors"),
    (lambda: split({}, estimate=2), "estimate"),
    (lambda: Experiment.from_dict({"families": "x", "regions": 3, "features": 80}), "families"),
    (lambda: Experiment.from_dict({"regions": 3, "features": 80}), "families"),
    (lambda: Experiment.from_dict({"families": "uniform", "regions": [3, 3], "features": 80}), "regions[1]"),
    (lambda: random_problem("lumpy", 4, Learner(80, 100), 1), "family"),
]


@pytest.mark.parametrize(("call", "field"), REFUSED, ids=[f"{k}-{field}" for k, (_, field) in enumerate(REFUSED)])
def test_every_refusal_has_the_field_that_opens_its_message(call: Callable[[], Any], field: str) -> None:
    with pytest.raises(InputError) as refusal:
        call()
    assert refusal.value.field == field
    assert str(refusal.value).startswith(field)
    assert refusal.value.where is None


def test_messages_begin_with_the_file_and_keep_the_field(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(entry("travel", 0, 1, -2.0)))
    with pytest.raises(InputError) as refusal:
        read_problem(path)
    assert str(refusal.value) == f"{path}: travel[0, 1] = -2.0: travel costs must be >= 0"
    assert (refusal.value.field, refusal.value.where) == ("travel[0, 1]", str(path))
    path.write_text('{"travel": 1, "travel": 2}')
    with pytest.raises(InputError, match="travel: given twice") as refusal:
        read_problem(path)
    assert refusal.value.field == "travel"


def test_lines_of_files() -> None:
    error = InputError("a number is needed", field="x", value="far", where="a.csv", line=3)
    assert str(error) == "a.csv, line 3, x = 'far': a number is needed"
    assert str(error.within("b.csv")) == "b.csv, line 3, x = 'far': a number is needed"
    assert str(InputError("3 cells", where="a.csv", line=2)) == "a.csv, line 2: 3 cells"
    assert str(InputError("no such file", where="a.csv")) == "a.csv: no such file"
    assert str(InputError("4 needed", field="travel", found="has 3 rows")) == "travel has 3 rows: 4 needed"


def refuse(kind: type[InputError]) -> None:
    raise kind("must be >= 0", field="travel[3, 7]", value=-2.0, where="a.json")


@pytest.mark.parametrize("kind", [InputError, RefusedError])
@pytest.mark.slow
def test_error_fields_survive_pickling(kind: type[InputError]) -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as pool, pytest.raises(kind) as refusal:
        pool.submit(refuse, kind).result()
    for error in (refusal.value, pickle.loads(pickle.dumps(refusal.value))):
        assert type(error) is kind
        assert (error.field, error.where) == ("travel[3, 7]", "a.json")
        assert str(error.within("b.json")) == "b.json: travel[3, 7] = -2.0: must be >= 0"


HOSTILE = "\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\udcff\x00"


def test_messages_are_printable_whatever_the_names_are() -> None:
    error = InputError(f"known are {HOSTILE}", field=f"a{HOSTILE}", found=f"has {HOSTILE}", where=f"b{HOSTILE}\n.json")
    for one in (error, error.within(f"c{HOSTILE}")):
        assert str(one).isprintable()
        str(one).encode()  # no lone surrogates
    assert r"b\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\udcff\x00 .json: a\x1b]0;" in str(error)
    with pytest.raises(InputError) as refusal:
        Problem.from_dict(robot(**{HOSTILE: 1}))
    assert str(refusal.value).isprintable()
    assert refusal.value.field == HOSTILE  # programs get what was there


def test_messages_are_short_and_keep_beginning_and_remedy() -> None:
    with pytest.raises(InputError) as refusal:
        Problem.from_dict(robot(**{"x" * 50_000: 1}))
    message = str(refusal.value.within("problem.json"))
    assert len(message) <= 500
    assert message.startswith("problem.json: xxx")
    assert "known are travel, learner" in message
    assert message.endswith("constraints, …")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: evaluate(small(regions=["Harbour", *"BCD"]), ["harbor", *"BCD"]), "did you mean Harbour?"),
        (lambda: small(regions=["Harbour", *"BCD"], constraints=Constraints(end="Habour")), "did you mean Harbour?"),
        (lambda: plan(small(), "algoritm1"), "method = 'algoritm1': unknown; did you mean algorithm1?"),
        (lambda: random_problem("euclidian", 4, UNDER), "did you mean euclidean?"),
        (lambda: Problem.from_dict({"travle": []}), "travle: unknown field; did you mean travel?"),
        (lambda: Journey(small(regions=["Harbour", *"BCD"])).visit("Harbuor"), "did you mean Harbour?"),
        (
            lambda: Journey(small()).visit("R1", errors={"X": 1}),
            "errors.X: there is no such region; regions are R1",
        ),
        (lambda: simulate(small(), [0, 1, 2, 3], sampler="dirct"), "did you mean direct?"),
        (lambda: estimate({}, scaling="whitten"), "did you mean whiten?"),  # type: ignore[arg-type]
        (lambda: follow(["Norht", "South"], {"North": 1, "South": 2}, RouteRegressor()), "did you mean North?"),
        (lambda: plan(small(), "quickly"), "method = 'quickly': unknown; known are auto, exact, search"),
        (lambda: plan(small(), 3), "method = 3: unknown; known are auto"),  # type: ignore[arg-type]
    ],
)
def test_unknown_names_get_the_most_similar_known_one(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        call()
    assert message in str(refusal.value)
