"""simulate and estimate as a user sees them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from calls import call, call_json
from learnroute import Learner, Problem, read_problem, write_problem
from learnroute.cli import learning as command_line
from learnroute.cli import run
from learnroute.formats.samples import read_samples
from learnroute.learning import simulation as library
from learnroute.learning.preparation import Scaling
from waiting import GUARD

ROOT = Path(__file__).parents[2]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
CITY = str(ROOT / "examples" / "city-survey.json")
BUOYS = str(ROOT / "examples" / "buoys" / "samples")
TRAVEL = str(ROOT / "examples" / "buoys" / "travel.csv")


@pytest.fixture
def known_problem_file(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((4, 6))
    travel = rng.uniform(1, 2, (4, 4)) * (1 - np.eye(4))
    problem = Problem(travel, Learner(30, 12, 0.4), vectors=truth, truth=truth, initial_model=rng.standard_normal(6))
    write_problem(problem, tmp_path / "known.json")
    return tmp_path / "known.json"


@pytest.mark.parametrize("sampler", ["low-dimensional", "direct"])
@pytest.mark.parametrize("shape", [(30, 12), (12, 30)])
def test_simulate_keeps_its_contract(
    capsys: pytest.CaptureFixture[str], known_problem_file: Path, sampler: str, shape: tuple[int, int]
) -> None:
    learner = ("--features", str(shape[0]), "--samples", str(shape[1]))
    data = call_json(capsys, "simulate", str(known_problem_file), "--route", "2,0,3,1", "--runs", "3000", "--seed", "1",
                     "--sampler", sampler, *learner)  # fmt: skip
    assert list(data)[:5] == ["expected", "mean", "standard_error", "runs", "order"]
    assert data["order"] == [2, 0, 3, 1]
    assert data["route"] == ["R3", "R1", "R4", "R2"]
    assert data["runs"] == 3000
    assert abs(data["mean"] - data["expected"]) <= 4 * data["standard_error"]
    assert data["interval"][0] < data["mean"] < data["interval"][1]
    assert data["truth"]["origin"] == "given"
    assert data["others"] == []
    w = np.array(json.loads(known_problem_file.read_text())["truth"])
    if shape[0] < shape[1]:  # (e6)
        expected = np.mean(np.sum((w - w[1]) ** 2, axis=1)) + 12 * 0.16 / 17
        assert data["expected"] == pytest.approx(expected)


def test_same_seed_same_answer(capsys: pytest.CaptureFixture[str]) -> None:
    first, again, other = (call_json(capsys, "simulate", CITY, "--runs", "50", "--seed", seed) for seed in "112")
    for data in (first, again, other):
        del data["seconds"]
    assert first == again
    assert first["mean"] != other["mean"]


def test_simulate_without_truth_draws_it(capsys: pytest.CaptureFixture[str]) -> None:
    data = call_json(capsys, "simulate", WAREHOUSE, "--runs", "500")
    assert data["truth"]["origin"] == "drawn"
    assert data["method"] == "auto"
    assert data["order"] == call_json(capsys, "plan", WAREHOUSE)["order"]
    assert data["bound"] >= data["expected"] * (1 - 1e-9)


@pytest.mark.parametrize("options", [
    ("--regularization", "0.5"), ("--regularization", "auto"), ("--steps", "4", "--rate", "0.1"),
    ("--regularization", "1", "--features", "100"),
])  # fmt: skip
def test_simulate_regularised_learners(capsys: pytest.CaptureFixture[str], options: tuple[str, ...]) -> None:
    data = call_json(capsys, "simulate", WAREHOUSE, "--runs", "2000", *options)
    assert abs(data["deviation"]) < 4
    planned = call_json(capsys, "plan", WAREHOUSE, *options)
    assert data["overall"]["expected"] == pytest.approx(planned["loss"]["total"], rel=1e-6)
    assert data["learner"].items() <= planned["learner"].items()
    assert any("do not give an upper bound on the error" in note for note in data["notes"])


def test_several_routes_in_words_in_files_and_in_a_picture(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    options = ("--runs", "200", "--method", "exact", "--method", "random", "--route", "0,1,2,3,4,5,6,7")
    files = [str(tmp_path / name) for name in ("runs.csv", "runs.json", "runs.png")]
    code, out, err = call(capsys, "simulate", WAREHOUSE, *options, "-o", files[0], "--plot", files[2])
    assert code == 0
    assert "1 given" in out
    assert "3 random" in out
    assert "s.e." in out
    assert err.splitlines() == [f"wrote {files[0]}", f"wrote {files[2]}"]
    assert call(capsys, "simulate", WAREHOUSE, *options, "-o", files[1])[0] == 0
    data = json.loads(Path(files[1]).read_text())
    assert [data["method"], *(other["method"] for other in data["others"])] == ["given", "exact", "random"]
    lines = Path(files[0]).read_text().splitlines()
    assert lines[0].startswith("method,expected,mean,standard_error,low,high,runs,travel,bound,route")
    assert len(lines) == 4
    assert Path(files[2]).read_bytes().startswith(b"\x89PNG")


def test_time_limit_is_respected_and_reported(capsys: pytest.CaptureFixture[str]) -> None:
    data = call_json(capsys, "simulate", WAREHOUSE, "--runs", "100000000", "--time-limit", "1e-9")
    assert data["runs"] < data["requested_runs"] == 10**8
    assert any("time limit" in note for note in data["notes"])


def test_estimate_to_problem_to_plan(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    problem_file, rest = tmp_path / "buoys.json", tmp_path / "rest"
    report = call_json(
        capsys, "estimate", BUOYS, "--target", "height", "--scaling", "whiten", "--intercept", "--travel", TRAVEL,
        "--samples", "40", "--problem", str(problem_file), "--rest", str(rest), "-o", str(tmp_path / "report.json"),
    )  # fmt: skip
    assert report == json.loads((tmp_path / "report.json").read_text())
    problem = read_problem(problem_file)
    assert list(problem.regions) == report["regions"]
    np.testing.assert_array_equal(problem.dissimilarity, report["dissimilarity"])
    np.testing.assert_array_equal(problem.initial, report["initial"])
    assert problem.learner == Learner(6, 40, report["noise"])
    assert (np.array(report["dissimilarity"]) >= np.array(report["dissimilarity_estimate"])).all()
    np.testing.assert_allclose(report["scores"], np.sum(report["dissimilarity"], axis=1))
    assert call_json(capsys, "plan", str(problem_file))["optimal"]
    whole = read_samples(BUOYS, "height")
    for k, name in enumerate(report["regions"]):
        parts = [read_samples(rest / part, "height")[name] for part in ("train", "test")]
        assert [len(part.targets) for part in parts] == [report["samples"]["train"][k], report["samples"]["test"][k]]
        left = {tuple(row) for part in parts for row in part.features.tolist()}
        assert left < {tuple(row) for row in whole[name].features.tolist()}
        assert len(left) + report["samples"]["estimate"][k] == len(whole[name].targets)


def test_a_failing_region_is_named_and_the_rest_is_written(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    samples = tmp_path / "samples"
    samples.mkdir()
    for file in Path(BUOYS).glob("*.csv"):
        (samples / file.name).write_text(file.read_text())
    broken = (samples / "Dunes.csv").read_text().splitlines()
    broken[3] = "," + broken[3].split(",", 1)[1]
    (samples / "Dunes.csv").write_text("\n".join(broken))
    (samples / "Cape Grey.csv").write_text("not a table")
    code, out, err = call(
        capsys, "estimate", str(samples), "--target", "height", "--travel", TRAVEL, "--samples", "40",
        "--problem", str(tmp_path / "problem.json"), "-o", str(tmp_path / "bounds.csv"),
    )  # fmt: skip
    assert code == 0
    lines = err.splitlines()
    assert lines[0].startswith("learnroute: region Cape Grey: ")
    assert lines[0].endswith("column 'height' is missing; columns are not a table")
    assert lines[1].startswith("learnroute: region Dunes: missing values (1 in 'wind'; first in sample 3)")
    assert "failed     Dunes: missing values" in out
    assert read_problem(tmp_path / "problem.json").regions == (
        "Anse Noire", "Eastern Shoal", "Ferry Point", "Harbour Bar",
    )  # fmt: skip
    assert len((tmp_path / "bounds.csv").read_text().splitlines()) == 5
    dropped = call_json(capsys, "estimate", str(samples), "--target", "height", "--drop-missing")
    assert list(dropped["failures"]) == ["Cape Grey"]
    assert sum(dropped["dropped"]) == 1


def test_estimate_from_one_table_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rows = ["buoy,wind,fetch,pressure,current,period,height"]
    for file in sorted(Path(BUOYS).glob("*.csv")):
        rows += [f"{file.stem},{line}" for line in file.read_text().splitlines()[1:]]
    path = tmp_path / "all.csv"
    path.write_text("\n".join(rows))
    table = call_json(capsys, "estimate", str(path), "--target", "height", "--region", "buoy")
    folder = call_json(capsys, "estimate", BUOYS, "--target", "height")
    assert table == folder
    code, out, _ = call(capsys, "estimate", str(path), "--target", "height", "--region", "buoy", "--no-split")
    assert code == 0
    assert "standardise or whiten" in out
    assert "caveat     all samples were used" in out


@pytest.mark.parametrize(
    "arguments",
    [
        ["simulate"],
        ["simulate", "missing.json"],
        ["simulate", WAREHOUSE, "--runs", "1"],
        ["simulate", WAREHOUSE, "--runs", "many"],
        ["simulate", WAREHOUSE, "--method", "magic"],
        ["simulate", WAREHOUSE, "--route", "0,1"],
        ["simulate", WAREHOUSE, "--route", "Atlantis"],
        ["simulate", WAREHOUSE, "--level", "1"],
        ["simulate", WAREHOUSE, "--seed", "-1"],
        ["simulate", WAREHOUSE, "--sampler", "slow"],
        ["simulate", WAREHOUSE, "--sampler", "direct", "--features", "1000000", "--samples", "999000"],
        ["simulate", WAREHOUSE, "--time-limit", "0"],
        ["simulate", WAREHOUSE, "-o", "runs.xml"],
        ["simulate", WAREHOUSE, "--plot", "runs.txt"],
        ["estimate"],
        ["estimate", BUOYS],
        ["estimate", BUOYS, "--target", "depth"],
        ["estimate", "missing", "--target", "height"],
        ["estimate", BUOYS, "--target", "height", "--region", "buoy"],
        ["estimate", TRAVEL, "--target", "Dunes"],
        ["estimate", BUOYS, "--target", "height", "--level", "95"],
        ["estimate", BUOYS, "--target", "height", "--share", "0"],
        ["estimate", BUOYS, "--target", "height", "--share", "0.01"],
        ["estimate", BUOYS, "--target", "height", "--pilot", "9"],
        ["estimate", BUOYS, "--target", "height", "--initial-model", "1,2"],
        ["estimate", BUOYS, "--target", "height", "--initial-model", "a,b"],
        ["estimate", BUOYS, "--target", "height", "--travel", TRAVEL, "--samples", "5", "--problem", "p.json"],
        ["estimate", BUOYS, "--target", "height", "--travel", "missing.csv", "--problem", "p.json"],
        ["estimate", BUOYS, "--target", "height", "-o", "report.xml"],
        ["estimate", BUOYS, "--target", "height", "--rest", WAREHOUSE],
    ],
    ids=lambda arguments: " ".join(arguments).replace(str(ROOT), ""),
)
def test_errors_are_one_line_with_exit_code_2(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert err.startswith("learnroute: ")
    assert err.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_regions_with_invalid_file_names_are_reported(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = [f"{name},{x},{y}" for name in ("a/b", "c") for x, y in rng.standard_normal((30, 2))]
    (tmp_path / "all.csv").write_text("\n".join(["where,x,y", *rows]))
    arguments = ("estimate", str(tmp_path / "all.csv"), "--target", "y", "--region", "where")
    assert call(capsys, *arguments)[0] == 0
    code, _, err = call(capsys, *arguments, "--rest", str(tmp_path / "rest"))
    assert code == 2
    assert "region 'a/b': is not a valid file name" in err
    assert not (tmp_path / "rest").exists()


def test_the_choices_are_those_of_the_library() -> None:
    assert tuple(library.SAMPLERS) == command_line.SAMPLERS
    assert get_args(Scaling) == command_line.SCALINGS


def test_neither_command_needs_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None; from learnroute.cli import run;"
        "assert run(['simulate', sys.argv[1], '--runs', '10', '--json']) == 0;"
        "assert run(['estimate', sys.argv[2], '--target', 'height', '--json']) == 0;"
        "loaded = {'matplotlib', 'scipy', 'pandas'} & set(sys.modules); assert not loaded, loaded\n"
        "import learnroute.learning\n"
        "try:\n    learnroute.learning.RouteRegressor\n"
        "except ImportError as error:\n"
        "    assert \"pip install scikit-learn, or pip install '.[learning]'\" in str(error)\n"
        "else:\n    raise AssertionError\n"
    )
    done = subprocess.run([sys.executable, "-c", code, WAREHOUSE, BUOYS], capture_output=True, text=True, timeout=GUARD)
    assert done.returncode == 0, done.stderr


def test_travel_is_taken_from_places_and_columns_are_skipped(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    samples = Path("examples/buoys/samples")
    names = sorted(file.stem for file in samples.glob("*.csv"))
    rows = [f"{name};{54 + k / 10};{3 + k * k / 10}" for k, name in enumerate(names)]
    (tmp_path / "places.csv").write_text("\n".join(["id;latitude;longitude", *rows]))
    (tmp_path / "samples").mkdir()
    for file in samples.glob("*.csv"):
        header, *lines = file.read_text().splitlines()
        noted = [f"{header},note", *(f"{line},calm" for line in lines)]
        (tmp_path / "samples" / file.name).write_text("\n".join(noted))
    call = ["estimate", str(tmp_path / "samples"), "--target", "height", "--travel", str(tmp_path / "places.csv"),
            "--samples", "40", "--problem", str(tmp_path / "p.json")]  # fmt: skip
    assert run(call) == 2
    said = capsys.readouterr().err
    assert "Anse Noire and 5 more regions: note = 'calm': expected a number" in said
    assert said.count("calm") == 1
    assert run([*call, "--skip", "note"]) == 0
    problem = read_problem(tmp_path / "p.json")
    assert problem.geographic
    assert problem.coordinates is not None
    order = [names.index(name) for name in problem.regions]
    assert problem.coordinates.tolist() == [[3 + k * k / 10, 54 + k / 10] for k in order]
    assert problem.given_travel is None  # travel is the distance
    capsys.readouterr()
    assert run(["estimate", str(samples), "--target", "hight"]) == 2
    assert "Anse Noire and 5 more regions: column 'hight' is missing; did you mean height?" in capsys.readouterr().err
