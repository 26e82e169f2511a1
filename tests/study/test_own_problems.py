"""Sweeps over problem files: rows agree with plans for any format, and need no other file."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from learnroute import InputError, Learner, Proximal, plan, read_problem, with_depot, write_problem
from learnroute.cli import run
from learnroute.study.experiment import read_experiment
from learnroute.study.families import random_problem
from learnroute.study.rows import read_rows
from learnroute.study.store import Store


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_problem(random_problem("uniform", 5, Learner(80, 100, 0.1), 1), tmp_path / "a.json")
    write_problem(random_problem("places", 6, Learner(120, 100, 0.2), 2), tmp_path / "b.npz")
    write_problem(random_problem("uniform", 4, Proximal(80, 100, 0.1, regularization=2.0), 3), tmp_path / "c.tsp")
    write_problem(with_depot(random_problem("uniform", 6, Learner(120, 100), 4), "R2"), tmp_path / "d.json")
    return tmp_path


def sweep_rows(folder: Path, text: str) -> list[dict[str, Any]]:
    (folder / "study.toml").write_text(text)
    assert run(["sweep", str(folder / "study.toml"), "-o", str(folder / "out"), "--workers", "1"]) == 0
    return list(read_rows(folder / "out" / "rows.csv"))


def test_rows_are_those_of_the_plans(folder: Path) -> None:
    rows = sweep_rows(folder, 'problems = ["*.json", "b.npz", "c.tsp"]\nmethods = ["exact", "travel"]\n')
    assert [row["family"] for row in rows[::2]] == ["a.json", "d.json", "b.npz", "c.tsp"]
    for row in rows:
        problem = read_problem(folder / row["family"])
        found = plan(problem, row["method"])
        assert row["error"] is None
        assert row["loss_total"] == found.loss.total
        assert (row["regions"], row["features"], row["noise"]) == (
            problem.size, problem.learner.features, problem.learner.noise,
        )  # fmt: skip


def test_learners_may_be_replaced(folder: Path) -> None:
    rows = sweep_rows(
        folder, 'problems = "a.json"\nfeatures = [60, 200]\nnoise = [0, 1]\nmethods = "exact"\nreplicates = 2\n'
    )
    assert [(row["features"], row["noise"], row["replicate"]) for row in rows] == [
        (m, s, k) for m in (60, 200) for s in (0.0, 1.0) for k in (0, 1)
    ]
    for row in rows:
        changed = read_problem(folder / "a.json", learner={"features": row["features"], "noise": row["noise"]})
        assert row["loss_total"] == plan(changed, "exact").loss.total


def test_a_sweep_keeps_its_problems(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = sweep_rows(folder, 'problems = ["a.json", "b.npz"]\nmethods = "nearest"\n')
    again = ["sweep", str(folder / "study.toml"), "-o", str(folder / "out"), "--workers", "1", "--resume"]
    assert run(again) == 0
    shutil.copy(folder / "d.json", folder / "a.json")
    assert run(again) == 2
    assert "other problems, or problems that have changed since" in capsys.readouterr().err
    (folder / "a.json").unlink()
    assert list(Store(folder / "out").rows()) == rows


def test_files_are_given_on_the_command_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / name) for name in ("a.json", "b.npz")]
    assert run(["sweep", *files, "-o", str(folder / "out"), "--workers", "1", "--methods", "exact,nearest"]) == 0
    rows = list(Store(folder / "out").rows())
    names = [(row["family"], row["method"]) for row in rows]
    assert names == [(file, method) for file in ("a.json", "b.npz") for method in ("exact", "nearest")]
    capsys.readouterr()
    (folder / "study.toml").write_text("problems = 'a.json'")
    for arguments, line in (
        ([*files, str(folder / "study.toml")], "study.toml: is an experiment; give it alone"),
        ([str(folder / "study.toml"), "--methods", "exact"], "--methods = 'exact': the experiment has its own methods"),
        ([files[0], files[0]], "given twice"),
        ([str(folder / "none.json")], "none.json: no such file"),
        ([files[0], "--methods", "exakt"], "--methods = 'exakt': unknown; did you mean exact?"),
    ):
        assert run(["sweep", *arguments, "-o", str(folder / "new"), "--workers", "1"]) == 2
        said = capsys.readouterr().err
        assert line in said
        assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('problems = "x*.json"', "problems[0] = 'x*.json': no such file"),
        ("problems = []", "problems = []: expected at least one file"),
        ("problems = [3]", "problems = [3]: expected a list of file names"),
        ('problems = "a.json"\nregions = 3', "regions: is set by the problems"),
        ('problems = "a.json"\nmethod = "exact"', "method: unknown field; did you mean methods?"),
        ('problems = "a.json"\nnoise = -1', "noise = -1"),
        ('problem = "a.json"', "problem: unknown field"),
        ('problems = "study.toml"', "unknown format '.toml'"),
    ],
)
def test_invalid_input_is_reported_in_one_line(folder: Path, text: str, line: str) -> None:
    (folder / "study.toml").write_text(text)
    with pytest.raises(InputError) as refusal:
        read_experiment(folder / "study.toml")
    assert line in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_json_experiments_are_distinguished_from_problems(folder: Path) -> None:
    (folder / "study.json").write_text(json.dumps({"problems": ["a.json"], "methods": ["exact"]}))
    assert run(["sweep", str(folder / "study.json"), "-o", str(folder / "out"), "--workers", "1"]) == 0
