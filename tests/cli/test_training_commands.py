"""transfer, follow and calibrate, one after the other, from sample files to a plan."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from learnroute import read_problem
from learnroute.cli import run
from learnroute.formats.samples import write_samples

BUOYS = Path(__file__).parents[2] / "examples" / "buoys" / "samples"


@pytest.fixture
def samples(tmp_path: Path) -> Path:
    """Samples of eight linear regions, for training and for testing."""
    rng = np.random.default_rng(0)
    models = rng.standard_normal((8, 5))
    for part in ("train", "test"):
        (tmp_path / "data" / part).mkdir(parents=True)
        for k, model in enumerate(models):
            x = rng.standard_normal((30, 5))
            y = x @ model + 0.2 * rng.standard_normal(30)
            write_samples(tmp_path / "data" / part / f"r{k}.csv", [f"x{i}" for i in range(5)], "y", x, y)
    return tmp_path / "data"


def test_from_samples_to_a_plan(samples: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(samples), "--target", "y", "--learner", "proximal", "--regularization", "0.3"]
    matrix, problem = tmp_path / "transfer.json", tmp_path / "problem.json"
    assert run(["transfer", *given, "-o", str(matrix), "--rows", str(tmp_path / "rows.json")]) == 0
    names = json.loads(matrix.read_text())["regions"]
    assert names == [f"r{k}" for k in range(8)]
    followed = []
    for seed in range(2):
        route = np.random.default_rng(seed).permutation(names).tolist()
        followed.append(str(tmp_path / f"errors{seed}.json"))
        assert run(["follow", *given, "--route", ",".join(route), "-o", followed[-1]]) == 0
    capsys.readouterr()
    assert run(["calibrate", *followed, "--transfer", str(matrix), "-o", str(problem)]) == 0
    printed = capsys.readouterr().out
    assert "retention p₁" in printed
    assert "R² =" in printed
    learner = read_problem(problem).learner
    assert learner.rule == "calibrated"
    assert 0 <= (learner.coupling or 0) <= (learner.retention or 0) <= 1
    assert run(["plan", str(problem), "-o", str(tmp_path / "plan.json")]) == 0
    assert "calibrated, p₁ =" in capsys.readouterr().out
    assert run(["verify", str(tmp_path / "plan.json"), str(problem)]) == 0
    capsys.readouterr()
    assert run(["follow", *given, "--plan", str(tmp_path / "plan.json"), "--json"]) == 0
    route = json.loads((tmp_path / "plan.json").read_text())["route"]
    assert json.loads(capsys.readouterr().out)["route"] == route


def test_one_folder_is_split_and_a_user_defined_learner_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_learners.py").write_text(
        "from sklearn.linear_model import SGDRegressor\n\ndef make():\n    return SGDRegressor(eta0=1e-4)\n"
    )
    given = [str(BUOYS), "--target", "height", "--learner"]
    assert run(["transfer", *given, "my_learners:make", "--repeats", "2", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["trainings"]) == {2}
    for name, said in (("my_learners:other", "--learner 'my_learners:other': module my_learners has no function other"),
                       ("ridge", "known are least-squares, proximal, or MODULE:FUNCTION")):  # fmt: skip
        assert run(["transfer", *given, name]) == 2
        assert said in capsys.readouterr().err
    assert run(["follow", *given, "proximal"]) == 2
    assert "--plan and --route: give exactly one of the two" in capsys.readouterr().err


def test_invalid_transfer_matrices_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.json"
    wrong.write_text("[]")
    assert run(["calibrate", str(wrong), "--transfer", str(wrong)]) == 2
    assert "expected a file written by `learnroute transfer -o`, with regions and transfer" in capsys.readouterr().err


def test_missing_samples_are_rejected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["follow", str(tmp_path / "none"), "--target", "y", "--route", "A"]) == 2
    assert "none: no such file or folder" in capsys.readouterr().err
