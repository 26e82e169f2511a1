"""TSPLIB: distances by its rules (known optimal tours as oracles), every matrix form, and rejected input."""

from __future__ import annotations

import json
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import InputError, plan, read_problem, write_plan, write_problem
from learnroute.formats.json_files import problem_to_dict
from learnroute.study.families import random_problem
from samples import OVER, asymmetric, small

ROOT = Path(__file__).parents[2]
INSTANCES = Path(__file__).parent / "instances"
LEARNER = {"features": 60, "samples": 100}
BURMA = [1, 2, 14, 3, 4, 5, 6, 12, 7, 13, 8, 11, 9, 10]
COSTS = [[0, 11, 12, 13], [11, 0, 23, 24], [12, 23, 0, 34], [13, 24, 34, 0]]


def write_instance(folder: Path, text: str, size: int = 4, **rest: Any) -> Path:
    data = {"learner": LEARNER, "vectors": [[float(i)] for i in range(size)], **rest}
    (folder / "x.regions.json").write_text(json.dumps(data))
    (folder / "x.tsp").write_text(text)
    return folder / "x.tsp"


def tour_of(path: Path) -> list[int]:
    words = path.read_text().split("TOUR_SECTION")[1].split()
    assert words[-2:] == ["-1", "EOF"]
    return [int(word) for word in words[:-2]]


def length(travel: Any, tour: list[int]) -> float:
    return float(sum(travel[a - 1, b - 1] for a, b in pairwise([*tour, tour[0]])))


@pytest.mark.parametrize(("name", "best"), [("berlin52", 7542), ("att48", 10628)])
def test_the_known_optimal_tours_have_their_known_lengths(tmp_path: Path, name: str, best: int) -> None:
    tour = tour_of(INSTANCES / f"{name}.opt.tour")
    write_instance(tmp_path, "", len(tour))
    shutil.copy(INSTANCES / f"{name}.tsp", tmp_path / "x.tsp")
    problem = read_problem(tmp_path / "x.tsp")
    assert length(problem.travel, tour) == best
    assert problem.title == name
    assert problem.regions[0] == "R1"
    assert not problem.geographic


def test_geographic_distances_are_those_of_tsplib() -> None:
    problem = read_problem(ROOT / "examples" / "burma14" / "burma14.tsp")
    assert length(problem.travel, BURMA) == 3323
    assert problem.geographic
    assert problem.coordinates is not None
    assert problem.coordinates[0] == pytest.approx([96 + 10 / 60, 16 + 47 / 60])  # DDD.MM, longitude first


def test_roundings_by_hand(tmp_path: Path) -> None:
    expected = {"EUC_2D": 4, "CEIL_2D": 4, "MAN_2D": 5, "MAX_2D": 3, "ATT": 2}  # (0, 0) to (3, 2): 3.61, / √10: 1.14
    for kind, cost in expected.items():
        text = f"DIMENSION: 2\nEDGE_WEIGHT_TYPE: {kind}\nNODE_COORD_SECTION\n1 0 0\n2 3 2\nEOF\n"
        assert read_problem(write_instance(tmp_path, text, 2)).travel.tolist() == [[0, cost], [cost, 0]]
    text = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: CEIL_2D\nNODE_COORD_SECTION\n1 0 0\n2 3 1\n"
    assert read_problem(write_instance(tmp_path, text, 2)).travel[0, 1] == 4  # 3.16


FORMS = {  # which (row, column) come in which order
    "FULL_MATRIX": [(i, j) for i in range(4) for j in range(4)],
    "UPPER_ROW": [(i, j) for i in range(4) for j in range(i + 1, 4)],
    "LOWER_ROW": [(i, j) for i in range(4) for j in range(i)],
    "UPPER_DIAG_ROW": [(i, j) for i in range(4) for j in range(i, 4)],
    "LOWER_DIAG_ROW": [(i, j) for i in range(4) for j in range(i + 1)],
    "UPPER_COL": [(i, j) for j in range(4) for i in range(j)],
    "LOWER_COL": [(i, j) for j in range(4) for i in range(j + 1, 4)],
    "UPPER_DIAG_COL": [(i, j) for j in range(4) for i in range(j + 1)],
    "LOWER_DIAG_COL": [(i, j) for j in range(4) for i in range(j, 4)],
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_an_explicit_matrix(tmp_path: Path, form: str) -> None:
    numbers = [COSTS[i][j] if i != j else 9999 for i, j in FORMS[form]]  # the diagonal means nothing
    for per_line in (1, 3, 100):
        lines = [" ".join(map(str, numbers[k : k + per_line])) for k in range(0, len(numbers), per_line)]
        head = f"NAME: x\nTYPE: TSP\nDIMENSION: 4\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: {form}\n"
        path = write_instance(tmp_path, head + "EDGE_WEIGHT_SECTION\n" + "\n".join(lines) + "\nEOF\n")
        assert read_problem(path).travel.tolist() == COSTS


def test_problems_round_trip_to_the_last_bit(tmp_path: Path) -> None:
    problems = [small(), random_problem("euclidean", 7, OVER, 1), small(samples=[90, 105, 110, 95], travel_rate=0.5)]
    for problem in problems:
        named = problem.replace(title="Some name")
        write_problem(named, tmp_path / "p.tsp")
        assert problem_to_dict(read_problem(tmp_path / "p.tsp")) == problem_to_dict(named)
    skewed = asymmetric(6, OVER, 1).replace(title="skewed")
    write_problem(skewed, tmp_path / "q.atsp")
    assert problem_to_dict(read_problem(tmp_path / "q.atsp")) == problem_to_dict(skewed)
    with pytest.raises(InputError, match=r"travel differs by direction; end the name in \.atsp"):
        write_problem(skewed, tmp_path / "p.tsp")


def test_travel_between_places_is_written_as_a_matrix(tmp_path: Path) -> None:
    problem = small(travel=None, coordinates=[[8, 47], [9, 47], [8, 48], [9, 46]], geographic=True)
    write_problem(problem, tmp_path / "p.tsp")
    again = read_problem(tmp_path / "p.tsp")
    np.testing.assert_array_equal(again.travel, problem.travel)
    assert again.geographic
    assert again.title == "p"


def test_tours_count_from_one(tmp_path: Path) -> None:
    found = plan(small())
    write_plan(found, tmp_path / "p.tour")
    assert tour_of(tmp_path / "p.tour") == [i + 1 for i in found.order]
    assert "TYPE: TOUR\nDIMENSION: 4\n" in (tmp_path / "p.tour").read_text()


POINTS = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\nNODE_COORD_SECTION\n"
MATRIX = "DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\nEDGE_WEIGHT_SECTION\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "DIMENSION = '': expected the number of regions"),
        ("DIMENSION: many\n", "DIMENSION = 'many'"),
        ("DIMENSION: 1000000000\n", "limited to 20,000 regions"),
        ("DIMENSION: 9999999999999999999\n", "DIMENSION = '9999999999999999999'"),
        ("TYPE: CVRP\nDIMENSION: 2\n", "TYPE = 'CVRP': expected TSP or ATSP"),
        ("DIMENSION: 2\nDIMENSION: 3\n", "line 2, DIMENSION: given twice"),
        ("1 2 3\n", "line 1: '1 2 3': expected a keyword such as DIMENSION"),
        ("FIXED_EDGES_SECTION\n", "line 1, FIXED_EDGES_SECTION: unknown; known are"),
        ("DIMENSION: 2\nEDGE_WEIGHT_TYPE: XRAY1\n", "EDGE_WEIGHT_TYPE = 'XRAY1': known are EXPLICIT, EUC_2D"),
        ("DIMENSION: 2\nEDGE_WEIGHT_TYPE: EUC_2D\n", "NODE_COORD_SECTION: missing"),
        (POINTS + "1 0 0\n2 1\n", "line 5, NODE_COORD_SECTION: 2 entries; expected a node with its x and y"),
        (POINTS + "1 0 0\n", "NODE_COORD_SECTION: 1 nodes, but DIMENSION is 2"),
        (POINTS + "1 0 0\n2 1 north\n", "line 5, NODE_COORD_SECTION: 'north': expected a finite number"),
        (POINTS + "1 0 0\n2 1 1e300\n", "line 5, NODE_COORD_SECTION: '1e300': expected a finite number"),
        (MATRIX.replace("FULL", "HALF"), "EDGE_WEIGHT_FORMAT = 'HALF_MATRIX': known are FULL_MATRIX, UPPER_ROW"),
        (MATRIX + "0 1 1\n", "EDGE_WEIGHT_SECTION: 3 numbers; FULL_MATRIX of DIMENSION 2 has 4"),
        (MATRIX + "0 1\nnan 0\n", "line 6, EDGE_WEIGHT_SECTION: 'nan': expected a finite number"),
        (MATRIX + "0 1\n-1 0\n", "travel[1, 0] = -1.0: travel costs must be >= 0"),
        ("DIMENSION: 2\nEDGE_WEIGHT_TYPE: EXPLICIT\nEDGE_WEIGHT_FORMAT: FULL_MATRIX\n", "EDGE_WEIGHT_SECTION: missing"),
    ],
)
def test_wrong_instances_are_rejected_by_file_line_and_field(tmp_path: Path, text: str, message: str) -> None:
    path = write_instance(tmp_path, text, 2)
    with pytest.raises(InputError) as refusal:
        read_problem(path)
    assert str(refusal.value).startswith(str(path))
    assert message in str(refusal.value)


def test_missing_companion_members_are_named(tmp_path: Path) -> None:
    path = write_instance(tmp_path, MATRIX + "0 1\n1 0\n", 2)
    other = tmp_path / "x.regions.json"
    for text, message in (
        ("[]", "x.regions.json: []: expected an object with learner"),
        ("{", "x.regions.json: line 1, column 2: not JSON"),
        ('{"travel": [[0, 1], [1, 0]]}', "x.regions.json: travel: comes from x.tsp; remove it here"),
        ("{}", "x.regions.json: has neither vectors nor dissimilarity of the regions; add one"),
        ('{"vectors": [[0], [1]]}', "learner: missing"),
    ):
        other.write_text(text)
        with pytest.raises(InputError) as refusal:
            read_problem(path)
        assert message in str(refusal.value)
    assert read_problem(path, LEARNER).size == 2
    other.unlink()
    with pytest.raises(InputError, match=r"x\.tsp: has no vectors and no .*; put .* into x\.regions\.json beside it"):
        read_problem(path)
