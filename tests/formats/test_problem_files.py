from __future__ import annotations

import copy
import json
import os
import random
import stat
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest

from learnroute import Constraints, InputError, Problem, plan, read_problem, write_plan, write_problem
from learnroute.formats import files, json_files
from learnroute.formats.json_files import problem_to_dict
from learnroute.formats.schemas import plan_schema, problem_schema
from learnroute.model.constraints import MEMBERS as CONSTRAINTS
from learnroute.model.depot import MEMBERS as DEPOT
from learnroute.model.learners import MEMBERS as LEARNER_MEMBERS
from learnroute.model.learners import TRAINING
from learnroute.model.problem import FIELDS
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, OVER, UNDER, small

ROOT = Path(__file__).parents[2]
GOOD: dict[str, Any] = {
    "travel": [[0, 1], [1, 0]],
    "dissimilarity": [[0, 2], [2, 0]],
    "learner": {"features": 80, "samples": 100, "noise": 0.1},
}


def same(a: Problem, b: Problem) -> bool:
    return json.dumps(problem_to_dict(a)) == json.dumps(problem_to_dict(b))


def test_schemas_have_the_members_that_are_read_and_written() -> None:
    problem, found = problem_schema()["properties"], plan_schema()["properties"]
    assert set(problem) == set(FIELDS)
    assert set(problem["learner"]["properties"]) == set(LEARNER_MEMBERS)
    assert set(problem["constraints"]["properties"]) == set(CONSTRAINTS)
    assert set(problem["depot"]["anyOf"][1]["properties"]) == set(DEPOT)
    fleet = {"models", "weights", "served_by", "travels"}
    assert set(found) == set(plan(small()).to_dict()) | fleet
    assert set(found["learner"]["properties"]) == {*TRAINING, "chosen", "range"}


def problems() -> list[Problem]:
    drawn = [random_problem(family, 6, learner, 3) for family in ALL_FAMILIES for learner in (UNDER, OVER)]
    names = ["plain", "with, comma", 'with "quotes"', "Zürich", "東京", "[bracket]"]
    truth = np.random.default_rng(0).normal(size=(4, 3))
    odd = Problem(drawn[0].travel, UNDER, drawn[0].dissimilarity, regions=names, title="Odd names")
    return [
        *drawn, odd, small(truth=truth, initial_model=[1, 2, 3]),
        small(coordinates=[[0, 0], [1e-9, 2], [3, 1e9], [-4, 0]]),
        small(samples=[90, 100, 110, 95], constraints=Constraints("B", None, True), travel_rate=0.3, title="Rich"),
        small(travel=None, coordinates=[[0, 51.5], [-1e-9, 2], [179.9, -60], [13.4, 52.5]], geographic=True),
        small(travel=None, coordinates=[[0, 0], [1, 2], [3, 4], [5, 6]]),
        small(dissimilarity_low=[[0, 1, 3, 2], [1, 0, 0, 1], [3, 0, 0, 4], [2, 1, 4, 0]]),
    ]  # fmt: skip


def test_json_round_trips_to_the_last_bit(tmp_path: Path) -> None:
    for problem in problems():
        write_problem(problem, tmp_path / "p.json")
        assert same(read_problem(tmp_path / "p.json"), problem)
        jsonschema.validate(json.loads((tmp_path / "p.json").read_text()), problem_schema())


def test_csv_folders_round_trip_to_the_last_bit(tmp_path: Path) -> None:
    for problem in problems():
        if problem.truth is not None:
            with pytest.raises(InputError, match="truth: CSV tables cannot hold it"):
                write_problem(problem, tmp_path / "folder")
            continue
        write_problem(problem, tmp_path / "folder")
        for path in (tmp_path / "folder", tmp_path / "folder" / "travel.csv"):
            if path.exists():
                assert same(read_problem(path), problem)


def test_plans_match_the_schema_and_the_table_says_the_same(tmp_path: Path) -> None:
    problem = small(OVER, coordinates=[[0, 0], [1, 0], [2, 0], [3, 0]])
    for method in ("exact", "algorithm1", "random"):
        found = plan(problem, method)
        write_plan(found, tmp_path / "plan.json")
        data = json.loads((tmp_path / "plan.json").read_text())
        jsonschema.validate(data, plan_schema())
        assert data == json.loads(json.dumps(found.to_dict()))
    write_plan(found, tmp_path / "plan.csv", problem)
    lines = [line.split(",") for line in (tmp_path / "plan.csv").read_text().splitlines()]
    assert lines[0] == ["position", "region", "index", "travel_from_previous", "travel_so_far", "score", "weight",
                        "x", "y"]  # fmt: skip
    assert [row[1] for row in lines[1:]] == list(found.route)
    assert float(lines[-1][4]) == pytest.approx(found.loss.travel * 4)
    write_plan(replace(found, problem=None), tmp_path / "plan.csv")
    assert (tmp_path / "plan.csv").read_text().splitlines()[0] == "position,region,index"


def test_the_contract_of_the_smallest_file() -> None:
    problem = Problem.from_dict(GOOD)
    assert problem.regions == ("R1", "R2")
    assert problem.initial.tolist() == [0, 0]
    jsonschema.validate(GOOD, problem_schema())


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.json")), ids=lambda p: p.name)
def test_examples_are_valid_metric_and_worth_planning(path: Path) -> None:
    from learnroute import check_metric, compare

    problem = read_problem(path)
    jsonschema.validate(json.loads(path.read_text()), problem_schema())
    assert check_metric(problem.travel).metric
    found = compare(problem)
    ratios = {row.method: found.ratio(row) for row in found.rows}
    assert ratios["travel"] is not None
    assert ratios["baseline"] is not None
    assert ratios["travel"] > 1.05
    assert ratios["baseline"] > 1.05


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty; expected JSON"),
        ("{", "not JSON"),
        ("[1, 2]", "problem = [1, 2]: expected an object with travel"),
        ("null", "problem = None: expected an object with"),
        ('{"travel": NaN}', "line 1, column 12: NaN: numbers must be finite"),
        ('{"title": "NaN",\n "travel": -Infinity}', "line 2, column 12: -Infinity: numbers must be finite"),
        ('{"travel": 1, "travel": 2}', "travel: given twice"),
        ("[" * 100_000, "nested too deeply"),
        (json.dumps({**GOOD, "dissimilarities": 1}), "dissimilarities: unknown field; did you mean dissimilarity?"),
        (json.dumps({**GOOD, "zzz": 1}), "zzz: unknown field; known are travel"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "travel"}), "travel: missing"),
        (json.dumps({k: v for k, v in GOOD.items() if k != "learner"}), "learner: missing"),
        (json.dumps({**GOOD, "learner": 7}), "learner = 7: expected an object with features, samples, noise"),
        (json.dumps({**GOOD, "learner": {"features": 80}}), "learner.samples: missing"),
        (json.dumps({**GOOD, "learner": {"features": 80, "samples": 100, "sigma": 1}}), "learner.sigma: unknown field"),
        (json.dumps({**GOOD, "travel": [[0, 1], [1, "a"]]}), "travel[1, 1] = 'a'"),
        ('{"travel": [[0, 1' + "0" * 5000 + "]]}", "digits"),
        (json.dumps(GOOD).replace("[0, 2]", "[0, 1e999]"), "dissimilarity[0, 1] = inf"),
    ],
    ids=range(18),
)
def test_wrong_json_is_rejected_in_one_line_that_names_the_file(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(InputError) as refusal:
        read_problem(path)
    assert str(refusal.value).startswith(f"{path}: ")
    assert message in str(refusal.value)
    assert len(str(refusal.value)) < 600


MATRIX = ",A,B\nA,0,1\nB,1,0\n"


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"travel.csv": ""}, "travel.csv: is empty"),
        (
            {"travel.csv": ",A,B\nA,0,1\n"},
            "travel.csv: 1 rows and 2 columns; expected one row and one column per region",
        ),
        ({"travel.csv": ",A,B\nA,0\nB,1,0\n"}, "travel.csv, line 2: 2 cells, but the header has 3"),
        ({"travel.csv": ",A,B\nA,0,x\nB,1,0\n"}, "travel.csv, line 2, A to B = 'x': expected a finite number"),
        ({"travel.csv": ",A,B\nA,0,\nB,1,0\n"}, "travel.csv, line 2, A to B = '': expected a finite number"),
        ({"travel.csv": ",A,B\nA,0,nan\nB,1,0\n"}, "A to B = 'nan': expected a finite number"),
        ({"travel.csv": ",A,B\nB,0,1\nA,1,0\n"}, "travel.csv, line 2: row of 'B', expected 'A'"),
        ({"travel.csv": ',A,B\nA,0,"1\nB,1,0\n'}, "not CSV"),
        ({"dissimilarity.csv": ",A,C\nA,0,1\nC,1,0\n"}, "dissimilarity.csv: region 'B' is missing"),
        ({"dissimilarity.csv": None}, "dissimilarity.csv: no such file"),
        ({"learner.csv": None}, "learner: missing"),
        ({"learner.csv": "features,samples\n80,100\n80,100\n"}, "learner.csv: 2 rows below the header"),
        ({"learner.csv": "features,samples\n80,many\n"}, "learner.csv, line 2, samples = 'many'"),
        ({"learner.csv": "features,samples\n80,100.5\n"}, "learner.samples = 100.5"),
        ({"regions.csv": "region,x\nA,0\nB,1\n"}, "columns x and y: one of them is missing"),
        ({"regions.csv": "region,lat\nA,0\nB,1\n"}, "columns lon and lat: one of them is missing"),
        ({"regions.csv": "region,lat,lon,x,y\nA,0,1,2,3\nB,1,1,1,1\n"}, "give either lon and lat, or x and y"),
        (
            {"regions.csv": "region,height\nA,0\nB,1\n"},
            "column 'height': unknown; known are initial, samples, initial_estimate",
        ),
        ({"regions.csv": "region,samples\nA,0\nB,1\n"}, "samples[0] = 0.0"),
        (
            {"options.csv": "start,finish\nA,B\n"},
            "column 'finish': unknown; known are title, start, end, return, travel_rate",
        ),
        ({"options.csv": "return\nperhaps\n"}, "options.csv, line 2, return = 'perhaps': expected true or false"),
        ({"options.csv": "start\nC\n"}, "constraints.start = 'C': there is no such region"),
        ({"travel.csv": None}, "no problem in this folder"),
        ({"travel.csv": None, "regions.csv": "region,initial\nA,0\nB,1\n"}, "or add columns lon and lat"),
        ({"regions.csv": "region,initial\nA,0\nA,1\n"}, "regions.csv: region 'A' is given twice"),
        ({"vectors.csv": "region,v1\nA,0\nB,1\n"}, "both given"),
    ],
)
def test_wrong_tables_are_rejected_by_file_line_and_field(
    tmp_path: Path, tables: dict[str, str | None], message: str
) -> None:
    good = {"travel.csv": MATRIX, "dissimilarity.csv": MATRIX, "learner.csv": "features,samples,noise\n80,100,0.1\n"}
    for name, text in {**good, **tables}.items():
        if text is not None:
            (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refusal:
        read_problem(tmp_path)
    assert message in str(refusal.value)
    assert str(tmp_path) in str(refusal.value)


def test_tables_may_come_in_any_order_of_regions(tmp_path: Path) -> None:
    (tmp_path / "travel.csv").write_text(",A,B,C\nA,0,1,2\nB,1,0,3\nC,2,3,0\n")
    (tmp_path / "dissimilarity.csv").write_text(",C,A,B\nC,0,20,30\nA,20,0,10\nB,30,10,0\n")
    (tmp_path / "regions.csv").write_text("region,y,initial,x\nB,2,22,20\nC,3,33,30\nA,1,11,10\n")
    (tmp_path / "learner.csv").write_text("features,samples,noise\n80,100,0.1\n")
    problem = read_problem(tmp_path)
    assert problem.dissimilarity is not None
    assert problem.coordinates is not None
    assert problem.dissimilarity.tolist() == [[0, 10, 20], [10, 0, 30], [20, 30, 0]]
    assert problem.initial.tolist() == [11, 22, 33]
    assert problem.coordinates.tolist() == [[10, 1], [20, 2], [30, 3]]


def test_the_learner_can_be_replaced_while_reading(tmp_path: Path) -> None:
    write_problem(small(), tmp_path / "p.json")
    problem = read_problem(tmp_path / "p.json", {"features": 120})
    assert (problem.learner.features, problem.learner.samples, problem.learner.noise) == (120, 100, 0.1)


def test_byte_order_marks_are_accepted_and_invalid_bytes_are_named(tmp_path: Path) -> None:
    (tmp_path / "bom.json").write_bytes(b"\xef\xbb\xbf" + json.dumps(GOOD).encode())
    assert read_problem(tmp_path / "bom.json").size == 2
    (tmp_path / "bad.json").write_bytes(b'{"title": "\xff"}')
    with pytest.raises(InputError, match=r"not a text file in UTF-8 \(byte 11\); save it as UTF-8"):
        read_problem(tmp_path / "bad.json")


def test_unknown_suffixes_and_missing_files_are_rejected(tmp_path: Path) -> None:
    for path in (tmp_path / "p.json", tmp_path / "p.xml", tmp_path / "p"):
        with pytest.raises(InputError, match="no such file"):
            read_problem(path)
    (tmp_path / "p.xml").write_text("<x/>")
    with pytest.raises(InputError, match=r"unknown format '\.xml'; known are \.json, \.csv, .*, a folder"):
        read_problem(tmp_path / "p.xml")
    with pytest.raises(InputError, match=r"unknown format '\.xml'; known are \.json, .*, a folder"):
        write_problem(small(), tmp_path / "p.xml")


def test_files_are_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.json"
    path.write_text("precious")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(InputError, match="No space left on device"):
        write_problem(small(), path)
    monkeypatch.undo()
    assert path.read_text() == "precious"
    assert os.listdir(tmp_path) == ["p.json"]


def test_a_write_that_is_interrupted_leaves_no_trace(tmp_path: Path) -> None:
    def interrupted() -> None:
        with files.atomic_write(tmp_path / "p.json") as temporary:
            temporary.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert os.listdir(tmp_path) == []


def test_written_files_have_ordinary_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o022)
    try:
        write_problem(small(), tmp_path / "p.json")
    finally:
        os.umask(mask)
    assert stat.S_IMODE((tmp_path / "p.json").stat().st_mode) == 0o644


def test_mutated_files_are_read_or_rejected_but_never_crash() -> None:
    """A thousand damaged copies of an example: each is a problem or one line that says what is wrong."""
    rng = random.Random(1)
    base = json.loads((ROOT / "examples" / "warehouse-robot.json").read_text())
    junk: list[Any] = [None, True, -1, 1e308, 10**400, "x", "", [], {}, [[]], 0, 99, 100, "NaN", [1, 2], "\0", 1e101]
    refusals = []
    for _ in range(1000):
        data: Any = copy.deepcopy(base)
        node = data
        while isinstance(node, dict | list) and node:
            key = rng.choice(list(node)) if isinstance(node, dict) else rng.randrange(len(node))
            if rng.random() < 0.4 or not isinstance(node[key], dict | list) or not node[key]:
                node[key] = rng.choice(junk)
                break
            node = node[key]
        text = json.dumps(data)
        if rng.random() < 0.2:
            cut = rng.randrange(len(text))
            text = text[:cut] + rng.choice(["", '"', "[", "}", "\\u", ",", "-", "e9"]) + text[cut + 1 :]
        try:
            plan(Problem.from_dict(json_files.parse(text)), "nearest")
        except InputError as refusal:
            refusals.append(str(refusal))
    assert 700 < len(refusals) < 1000
    assert not any("\n" in line for line in refusals)
