"""generate --travel: dissimilarities, random or measured, added to travel from a file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from learnroute import Learner, read_problem
from learnroute.cli import run
from learnroute.study.families import random_problem

BURMA = Path("examples/burma14/burma14.tsp")


@pytest.fixture
def tsp(tmp_path: Path) -> Path:
    """A bare instance of TSPLIB."""
    shutil.copy(BURMA, tmp_path / "burma.tsp")
    return tmp_path / "burma.tsp"


@pytest.mark.parametrize("family", ["uniform", "vectors"])
@pytest.mark.parametrize("name", ["burma.regions.json", "new.json"])
def test_dissimilarities_are_drawn_for_a_bare_tsp(tsp: Path, family: str, name: str) -> None:
    out = tsp.parent / name
    options = ["--family", family, "--seed", "3", "--features", "120", "--noise", "0.5"]
    assert run(["generate", "--travel", str(tsp), *options, "-o", str(out)]) == 0
    problem = read_problem(tsp if name.endswith(".regions.json") else out)
    drawn = random_problem(family, 14, Learner(120, 100), 3)
    known = read_problem(BURMA)
    np.testing.assert_array_equal(problem.travel, known.travel)
    np.testing.assert_array_equal(problem.coordinates, known.coordinates)
    np.testing.assert_array_equal(problem.scores, drawn.scores)
    np.testing.assert_array_equal(problem.initial, drawn.initial)
    assert (problem.learner.features, problem.learner.noise, problem.geographic) == (120, 0.5, True)


def test_measured_ones_are_brought_into_order(tsp: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    delta = rng.random((14, 14))
    delta = delta + delta.T
    np.fill_diagonal(delta, 0)
    names = [f"R{i + 1}" for i in range(14)]
    order = rng.permutation(14)
    table = tsp.parent / "measured.csv"

    def write(called: list[str]) -> None:
        rows = [",".join(["", *(called[i] for i in order)])]
        rows += [",".join([called[i], *(repr(float(delta[i, j])) for j in order)]) for i in order]
        table.write_text("\n".join(rows))

    arguments = ["generate", "--travel", str(tsp), "--measured", str(table), "-o", str(tsp.parent / "out.json")]
    write(names)
    assert run(arguments) == 0
    np.testing.assert_array_equal(read_problem(tsp.parent / "out.json").dissimilarity, delta)
    write([f"Town {i}" for i in range(14)])  # names of its own: the nodes are called so, in its order
    assert run(arguments) == 0
    named = read_problem(tsp.parent / "out.json")
    assert named.regions == tuple(f"Town {i}" for i in order)
    np.testing.assert_array_equal(named.dissimilarity, delta[np.ix_(order, order)])
    graph = ["generate", "--travel", "examples/old-town/old-town.graphml", "--measured", str(table)]
    capsys.readouterr()
    assert run(graph) == 2
    assert "measured.csv: dissimilarity has 14 rows" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--travel", "none.tsp"], "none.tsp: no such file"),
        (["--travel", "README.md"], "unknown format '.md'; known here are .tsp"),
        (["--travel", str(BURMA), "--regions", "5"], "--regions = 5: the file of --travel has its own number"),
        (["--measured", "a.csv"], "--measured: needs --travel"),
        (["--travel", str(BURMA), "--measured", "examples/ratios.toml"], "unknown format '.toml'"),
        (["--travel", str(BURMA), "--measured", "examples/north-sea.json"], "vectors has 10 rows: expected 14"),
        (["--travel", str(BURMA), "--features", "100"], "features"),
    ],
)
def test_invalid_input_is_reported_in_one_line(
    options: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["generate", *options]) == 2
    said = capsys.readouterr().err
    assert line in said
    assert said.count("\n") == 1


def test_a_json_problem_gets_new_dissimilarities(tmp_path: Path) -> None:
    assert run(["generate", "--travel", "examples/city-survey.json", "-o", str(tmp_path / "new.json")]) == 0
    new, old = read_problem(tmp_path / "new.json"), read_problem("examples/city-survey.json")
    assert new.regions == old.regions
    assert new.learner == old.learner
    np.testing.assert_array_equal(new.travel, old.travel)
    assert not np.array_equal(new.scores, old.scores)
    assert json.loads((tmp_path / "new.json").read_text())["title"] == old.title
