"""All requested files are written, and every file is named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from calls import call
from learnroute import plan, read_problem, tradeoff

ROOT = Path(__file__).parents[2]
LAKES = str(ROOT / "examples" / "lakes.geojson")
CITY = str(ROOT / "examples" / "city-survey.json")
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
Capture = pytest.CaptureFixture[str]


@pytest.mark.parametrize(
    ("command", "suffixes"),
    [
        (["plan", LAKES], ["gpx", "plan", "json", "txt"]),
        (["plan", LAKES, "--json"], ["geojson", "csv"]),
        (["evaluate", LAKES, "--route", ",".join(read_problem(LAKES).regions)], ["gpx", "csv"]),
        (["compare", LAKES, "--methods", "nearest,travel"], ["json", "csv"]),
        (["tradeoff", LAKES], ["json", "csv"]),
        (["tradeoff", LAKES, "--budget", "1e6"], ["json", "gpx", "plan"]),
        (["learners", WAREHOUSE], ["json", "csv", "md"]),
        (["robustness", LAKES, "--within", "0.1", "--draws", "2"], ["json"]),
        (["simulate", LAKES, "--runs", "10"], ["csv", "json"]),
        (["generate", "--regions", "4"], ["json", "npz"]),
        (["check", CITY, "--repair"], ["json", "npz"]),
    ],
)
def test_every_output_is_written(capsys: Capture, tmp_path: Path, command: list[str], suffixes: list[str]) -> None:
    files = [tmp_path / f"out.{suffix}" for suffix in suffixes]
    files += [tmp_path / "more" / f"out.{suffixes[0]}"]
    (tmp_path / "more").mkdir()
    code, _, err = call(capsys, *command, *(word for file in files for word in ("-o", str(file))))
    assert code == 0, err
    assert [line for line in err.splitlines() if line.startswith("wrote")] == [f"wrote {file}" for file in files]
    assert all(file.stat().st_size for file in files)


def test_every_picture_is_drawn(capsys: Capture, tmp_path: Path) -> None:
    files = [tmp_path / "a.png", tmp_path / "b.svg"]
    assert call(capsys, "plan", LAKES, *(word for file in files for word in ("--plot", str(file))))[0] == 0
    assert all(file.exists() for file in files)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["plan", LAKES, "-o", "a.gpx", "-o", "b.xyz"], "b.xyz: unknown format '.xyz'"),
        (["plan", CITY, "-o", "a.json", "-o", "b.gpx"], "b.gpx"),  # it has no longitudes
        (["evaluate", CITY, "--route", "Harbour", "-o", "b.gpx"], "b.gpx"),
        (["plan", LAKES, "-o", "a.json", "-o", "missing/b.json"], "missing/b.json: cannot be written (no folder"),
        (["plan", LAKES, "-o", "a.json", "-o", "a.json"], "a.json: is to be written 2 times; give each file once"),
        (["plan", LAKES, "--seed", "1", "--seed", "2"], "--seed is given 2 times; give it once"),
        (["sweep", "x.toml", "-o", "a", "-o", "b"], "--output is given 2 times; give it once"),
        (["tradeoff", LAKES, "-o", "a.gpx"], "a.gpx: holds one route; pick it with --budget or --ceiling"),
        (["plan", LAKES, "--method", "exat"], "'exat' is unknown; did you mean exact?"),
        (["generate", "--family", "euclid"], "'euclid' is unknown; did you mean euclidean?"),
        (["plan", CITY, "--start", "Harbor"], "did you mean Harbour?"),
    ],
)
def test_all_destinations_are_checked_before_the_work(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = call(capsys, *arguments)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert message in err
    assert not list(tmp_path.iterdir())


def test_a_saved_plan_is_converted(capsys: Capture, tmp_path: Path) -> None:
    saved, track = tmp_path / "plan.json", tmp_path / "route.gpx"
    direct = tmp_path / "direct.gpx"
    assert call(capsys, "plan", LAKES, "--return", "-o", str(saved), "-o", str(direct))[0] == 0
    code, _, err = call(capsys, "convert", str(saved), str(track), "--problem", LAKES, "--return")
    assert (code, err) == (0, f"wrote {track}\n")
    assert track.read_text() == direct.read_text()
    again = tmp_path / "again.json"
    assert call(capsys, "convert", str(saved), str(again), "--problem", LAKES, "--return")[0] == 0
    assert json.loads(again.read_text()) == json.loads(saved.read_text())


def test_a_plan_of_another_problem_is_not_converted(capsys: Capture, tmp_path: Path) -> None:
    saved, track = str(tmp_path / "plan.json"), str(tmp_path / "route.csv")
    call(capsys, "plan", LAKES, "-o", saved)
    for arguments, message in (
        ([saved, track, "--problem", CITY], "plan.json: route"),
        ([saved, track, "--problem", LAKES, "--noise", "5"], "plan.json: loss.total ="),
        ([saved, str(tmp_path / "route.gpx")], "to convert a plan, give its problem with --problem"),
        ([saved, str(tmp_path / "p.json.json")], "is a plan, not a problem"),
        ([LAKES, track, "--problem", LAKES], "plans are read from .json files"),
    ):
        code, _, err = call(capsys, "convert", *arguments)
        assert (code, len(err.splitlines())) == (2, 1)
        assert message in err
    assert not Path(track).exists()


def test_the_picked_route_is_exported(capsys: Capture, tmp_path: Path) -> None:
    problem = read_problem(LAKES)
    budget = plan(problem, "travel").travel_cost * 1.01
    assert call(capsys, "tradeoff", LAKES, "--budget", str(budget), "-o", str(tmp_path / "route.txt"))[0] == 0
    picked = tradeoff(problem).within(budget)
    assert [int(i) for i in (tmp_path / "route.txt").read_text().split()] == list(picked.order)


def test_a_folder_of_several_problems_is_rejected(capsys: Capture) -> None:
    code, _, err = call(capsys, "plan", str(ROOT / "examples"))
    assert (code, len(err.splitlines())) == (2, 1)
    assert "4 problems in this folder; give one of them: city-survey.json, lakes.geojson, north-sea.json, ware" in err


def test_the_only_problem_of_a_folder_is_named(capsys: Capture, tmp_path: Path) -> None:
    file = tmp_path / "lakes.json"
    assert call(capsys, "convert", LAKES, str(file))[0] == 0
    assert call(capsys, "plan", str(file), "-o", str(tmp_path / "plan.json"))[0] == 0  # a plan is no problem
    code, _, err = call(capsys, "plan", str(tmp_path))
    assert (code, err) == (0, f"reading {file}\n")
    assert call(capsys, "journey", str(tmp_path / "trip.json"), "--begin", str(tmp_path))[2] == f"reading {file}\n"
    assert call(capsys, "generate", "--family", "places", "-o", str(tmp_path / "town.csv"))[0] == 0
    assert "2 problems in this folder; give one of them: lakes.json, town.csv" in call(capsys, "plan", str(tmp_path))[2]


def test_tables_beside_another_problem_are_rejected(capsys: Capture, tmp_path: Path) -> None:
    assert call(capsys, "convert", CITY, str(tmp_path / "town"))[0] == 0
    assert call(capsys, "plan", str(tmp_path / "town"))[0] == 0
    assert call(capsys, "convert", CITY, str(tmp_path / "town" / "city.json"))[0] == 0
    code, _, err = call(capsys, "plan", str(tmp_path / "town"))
    assert code == 2
    assert "2 problems in this folder; give one of them: travel.csv, city.json" in err


@pytest.mark.parametrize("name", ["town.csv", "town.tsp", "town", "town.json", "town.npz"])
def test_every_file_of_a_problem_is_named(capsys: Capture, tmp_path: Path, name: str) -> None:
    command = ["generate", "--family", "places", "--regions", "5", "-o", str(tmp_path / name)]
    code, _, err = call(capsys, *command)
    assert code == 0
    named = {line.removeprefix("wrote ") for line in err.splitlines()}
    assert named == {str(path) for path in tmp_path.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", [["plan"], ["compare", "--methods", "nearest,travel"], ["tradeoff"]])
def test_pictures_and_prints_have_the_title_that_was_given(capsys: Capture, tmp_path: Path, command: list[str]) -> None:
    picture = tmp_path / "route.svg"
    words = [command[0], LAKES, *command[1:], "--title", "Summer & winter", "--plot", str(picture)]
    code, out, err = call(capsys, *words)
    assert code == 0, err
    assert out.startswith("Summer & winter: 9 regions") or command == ["tradeoff"]
    assert "Summer &amp; winter" in picture.read_text()
    assert "Nine lakes" not in picture.read_text() + out


def test_a_title_of_several_lines_is_rejected(capsys: Capture) -> None:
    code, _, err = call(capsys, "plan", LAKES, "--title", "one\ntwo")
    assert code == 2
    assert "title" in err
