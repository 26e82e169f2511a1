"""User errors: one line with file or option, value and remedy, and exit code 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from learnroute.cli import run

ROOT = Path(__file__).parents[2]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
BUOYS = [str(ROOT / "examples" / "buoys" / "samples"), "--target", "height"]
OWN = """
class Diverges:
    def partial_fit(self, features, targets):
        return self

    def predict(self, features):
        return features[:, 0] * float("nan")

def nothing():
    pass
"""
MISTAKES = {
    "a problem as plan": (["verify", WAREHOUSE, WAREHOUSE], "warehouse-robot.json: plan has no route: expected a plan"),
    "a problem as samples": (["estimate", WAREHOUSE, "--target", "y"], "samples are read from a CSV table"),
    "the plan of other regions": (
        ["follow", *BUOYS, "--plan", "plan.json"],
        "plan.json: route: there is no data for region",
    ),
    "the problem of other regions": (
        ["rehearse", *BUOYS, "--problem", WAREHOUSE],
        "warehouse-robot.json: route: there is no data for region",
    ),
    "a learner that predicts nan": (
        ["follow", *BUOYS, "--route", "Dunes", "--learner", "own_messages:Diverges"],
        "--learner has an error of nan: predictions must be finite",
    ),
    "a function without a learner": (
        ["transfer", *BUOYS, "--learner", "own_messages:nothing"],
        "--learner 'own_messages:nothing': nothing() returned nothing; return a learner",
    ),
    "a depot without coordinates": (["rehearse", *BUOYS, "--depot", "1,2"], "--depot: the regions have no coordinates"),
    "a method of a sweep": (
        ["sweep", WAREHOUSE, "-o", "out", "--methods", "magic"],
        "--methods = 'magic': unknown; known are",
    ),
    "infinity": (["plan", WAREHOUSE, "--noise", "inf"], "--noise = inf: the noise σ must be finite\n"),
    "a part of a word": (
        ["plan", WAREHOUSE, "--start", "all"],
        "--start = 'all': there is no such region; regions are",
    ),
    "the beginning of a word": (["plan", WAREHOUSE, "--start", "parts"], "did you mean Small parts?"),
    "an unreadable table in a folder": (["plan", "."], "2 problems in this folder; give one of them: latin.csv, plan"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_one_line_names_what_is_wrong(
    mistake: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments, message = MISTAKES[mistake]
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_messages.py").write_text(OWN)
    if "plan.json" in arguments:
        assert run(["plan", WAREHOUSE, "-o", "plan.json"]) == 0
    if arguments[-1] == ".":
        (tmp_path / "latin.csv").write_bytes("name,x,y\nZürich,1,2\n".encode("latin-1"))
        (tmp_path / "planned.json").write_text(Path(WAREHOUSE).read_text())
    capsys.readouterr()
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert not out
    assert message in err
    assert err.count("\n") == 1


def test_estimates_fit_into_100_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["estimate", *BUOYS, "--scaling", "whiten", "--intercept"]) == 0
    _, _, head, rule, *rows = capsys.readouterr().out.split("\n")
    assert "initial error" in head
    assert max(map(len, (head, rule, *rows[:6]))) <= 100
