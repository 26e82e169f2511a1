"""No output of a command overwrites one of its inputs, however the two paths are spelled."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from calls import call
from learnroute.cli import MODULES, commands
from learnroute.cli.paths import FilePath

ROOT = Path(__file__).parents[2]
Capture = pytest.CaptureFixture[str]
ESTIMATE = ["estimate", "samples", "--target", "height"]
FOLLOW = ["follow", "samples", "--target", "height", "--plan", "plan.json"]
CALIBRATE = ["calibrate", "one.json", "--transfer", "transfer.json"]
CITY_ROUTE = "Harbour,Old Town,University,Station,Market,Riverside,Airport,Stadium,Hospital,Park,Docks,Hill"
CLASHES = {  # their last argument is an input, or a folder with one
    "plan": ["plan", "b.json", "-o", "b.json"],
    "plan, a table": ["plan", "a.csv", "-o", "a.csv"],
    "plan, a table beside the table": ["plan", "a.csv", "-o", "learner.csv"],
    "plan, beside a map": ["plan", "map.tsp", "-o", "map.regions.json"],
    "plan, in a folder": ["plan", "town", "-o", "town/regions.csv"],
    "plan, a second output": ["plan", "b.json", "-o", "new.json", "-o", "b.json"],
    "plan, the initial plan": ["plan", "b.json", "--initial", "plan.json", "-o", "plan.json"],
    "evaluate": ["evaluate", "b.json", "--route", CITY_ROUTE, "-o", "b.json"],
    "compare": ["compare", "b.json", "-o", "b.json"],
    "visits": ["visits", "b.json", "-o", "b.json"],
    "fleet": ["fleet", "b.json", "-o", "b.json"],
    "tradeoff": ["tradeoff", "b.json", "-o", "b.json"],
    "robustness": ["robustness", "b.json", "--within", "0.1", "-o", "b.json"],
    "learners": ["learners", "b.json", "-o", "b.json"],
    "simulate": ["simulate", "b.json", "-o", "b.json"],
    "check": ["check", "b.json", "--repair", "-o", "b.json"],
    "convert": ["convert", "b.json", "b.json"],
    "convert, a folder": ["convert", "town/travel.csv", "town"],
    "convert, a plan": ["convert", "plan.json", "--problem", "b.json", "plan.json"],
    "convert, its problem": ["convert", "plan.json", "--problem", "b.json", "b.json"],
    "generate": ["generate", "--travel", "map.tsp", "-o", "map.tsp"],
    "generate, measured": ["generate", "--travel", "map.tsp", "--measured", "b.json", "-o", "b.json"],
    "journey": ["journey", "--begin", "b.json", "b.json"],
    "estimate": [*ESTIMATE, "-o", "samples/Dunes.csv"],
    "estimate, travel": [*ESTIMATE, "--travel", "travel.csv", "-o", "travel.csv"],
    "estimate, the other samples": ["estimate", "split/train", "--target", "height", "--rest", "split"],
    "rehearse": ["rehearse", "samples", "--target", "height", "--travel", "t.csv", "-o", "t.csv"],
    "rehearse, its problem": ["rehearse", "samples", "--target", "h", "--problem", "b.json", "-o", "b.json"],
    "transfer": ["transfer", "samples", "--target", "height", "-o", "samples/Dunes.csv"],
    "follow": [*FOLLOW, "-o", "plan.json"],
    "calibrate": [*CALIBRATE, "-o", "transfer.json"],
    "calibrate, measured errors": [*CALIBRATE, "-o", "one.json"],
}
SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": lambda path: path,
    "with a dot": lambda path: f"./{path}",
    "absolute": lambda path: str(Path(path).absolute()),
    "through its parent": lambda path: f"../{Path.cwd().name}/{path}",
    "symbolic link": lambda path: _link(os.symlink, path),
    "hard link": lambda path: _link(os.link, path),
    "through a linked folder": lambda path: f"{_link(os.symlink, '.')}/{path}",
}


def _link(make: Callable[[Path, str], None], path: str) -> str:
    name = f"link{Path(path).suffix}"
    make(Path(path).absolute(), name)
    return name


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with an input of each kind; the checks need no valid content."""
    monkeypatch.chdir(tmp_path)
    examples = ROOT / "examples"
    shutil.copy(examples / "city-survey.json", "b.json")
    shutil.copytree(examples / "buoys" / "samples", "samples")
    shutil.copytree("samples", "split/train")
    for name in ("a.csv", "t.csv", "travel.csv"):
        Path(name).write_text("name,x,y,v1\nA,0,0,1\nB,0,1,2\n")
    for name in ("learner.csv", "map.tsp", "map.regions.json", "plan.json", "one.json", "transfer.json"):
        Path(name).write_text("kept")
    Path("town").mkdir()
    for name in ("travel.csv", "regions.csv"):
        (tmp_path / "town" / name).write_text("kept")
    return tmp_path


def _contents(folder: Path) -> dict[Path, str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _refused(capsys: Capture, arguments: list[str], folder: Path) -> None:
    before = _contents(folder)
    code, out, err = call(capsys, *arguments)
    assert (code, out, err.count("\n")) == (2, "", 1), err
    assert f"{Path(arguments[-1])}: would overwrite the input " in err
    assert _contents(folder) == before


@pytest.mark.parametrize("clash", CLASHES)
def test_every_command_refuses_to_overwrite_an_input(clash: str, folder: Path, capsys: Capture) -> None:
    _refused(capsys, CLASHES[clash], folder)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("clash", ["plan", "plan, a table beside the table", "convert", "estimate", "journey"])
def test_other_spellings_of_an_input_are_refused(clash: str, spelling: str, folder: Path, capsys: Capture) -> None:
    *arguments, path = CLASHES[clash]
    _refused(capsys, [*arguments, SPELLINGS[spelling](path)], folder)


def test_a_picture_does_not_overwrite_an_input(folder: Path, capsys: Capture) -> None:
    os.link("b.json", "b.svg")
    _refused(capsys, ["plan", "b.json", "--plot", "b.svg"], folder)


def test_the_file_on_standard_input_is_not_overwritten(
    folder: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open("b.json", "rb") as file, io.TextIOWrapper(file) as text:
        monkeypatch.setattr("sys.stdin", text)
        _refused(capsys, ["plan", "-", "-o", "b.json"], folder)


@pytest.mark.parametrize("arguments", [
    ["plan", "b.json", "-o", "new.json", "-o", "./new.json"],
    ["plan", "b.json", "-o", "new.svg", "--plot", "../{name}/new.svg"],
    [*ESTIMATE, "--problem", "new.json", "-o", "new.json"],
    [*ESTIMATE, "--planning", "half", "--rest", "half"],
    ["transfer", "samples", "--target", "height", "--rows", "new.json", "-o", "new.json"],
])  # fmt: skip
def test_two_outputs_are_not_one_file(arguments: list[str], folder: Path, capsys: Capture) -> None:
    before = _contents(folder)
    code, _, err = call(capsys, *(word.format(name=folder.name) for word in arguments))
    assert (code, err.count("\n")) == (2, 1)
    assert "is to be written 2 times; give each file once" in err
    assert _contents(folder) == before


def test_estimate_keeps_an_existing_problem(folder: Path, capsys: Capture) -> None:
    before = _contents(folder)
    code, out, err = call(capsys, *ESTIMATE, "--problem", "b.json")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "b.json: exists; --problem is the file of the new problem" in err
    assert _contents(folder) == before
    assert call(capsys, *ESTIMATE, "--problem", "new.json")[0] == 0


def test_outputs_beside_inputs_may_be_written_again(folder: Path, capsys: Capture) -> None:
    for arguments in (
        ["plan", "b.json", "-o", "out.json"],
        [*ESTIMATE, "-o", "dissimilarity.csv", "--rest", "held-out"],
        ["transfer", "samples", "--target", "height", "--rows", "rows.json"],
    ):
        assert call(capsys, *arguments)[0] == 0
        assert call(capsys, *arguments)[0] == 0


def test_every_path_says_whether_it_is_written() -> None:
    for name in MODULES:
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        for param in command.params:
            assert not isinstance(param.type, click.Path) or isinstance(param.type, FilePath), (name, param.name)
            said = (param.help or "") if isinstance(param, click.Option) else ""
            assert not isinstance(param.type, FilePath) or said.startswith(("Write", "Draw")) <= param.type.written
