"""Devices, pipes, full disks, Ctrl-C, hostile names: one line on standard error, the right exit code, no traceback."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from calls import call
from learnroute import InputError, read_problem
from learnroute.formats.files import atomic_write, read_text, remove_leftovers
from waiting import GUARD

ROOT = Path(__file__).parents[2]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
LONG = "n" * 300


def command(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, "-m", "learnroute", *map(str, arguments)]
    return subprocess.run(line, stderr=subprocess.PIPE, text=True, timeout=GUARD, **options)


def is_one_line(done: subprocess.CompletedProcess[str], code: int, words: str) -> None:
    assert done.returncode == code, done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("learnroute: ")
    assert words in done.stderr


def limit_files() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))


@pytest.mark.parametrize("suffix", ["", ".json", ".csv", ".npz", ".tsp", ".graphml", ".geojson"])
def test_devices_are_rejected_at_once(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"zero{suffix}"
    path.symlink_to("/dev/zero")
    with pytest.raises(InputError, match="is a device or a pipe; give a regular file"):
        read_problem(path)


def test_reading_a_device_takes_no_memory() -> None:
    done = command("plan", "/dev/zero", stdout=subprocess.PIPE, preexec_fn=limit_files)
    is_one_line(done, 2, "/dev/zero: is a device or a pipe; give a regular file, or - for JSON on standard input")


@pytest.mark.parametrize("suffix", ["", ".json", ".npz"])
def test_pipes_that_nobody_writes_to_do_not_hang(
    tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(InputError, match="is a device or a pipe"):
        read_problem(path)
    for arguments in (["sweep", path, "-o", tmp_path / "s"], ["verify", path, WAREHOUSE], ["plot", path, "-o", "x.png"],
                      ["estimate", path, "--target", "y", "--region", "r"], ["plan", WAREHOUSE, "-o", path],
                      ["journey", tmp_path / "trip.json", "--begin", path]):  # fmt: skip
        code, _, err = call(capsys, *map(str, arguments))
        assert (code, err.count("\n")) == (2, 1)


def test_files_are_read_up_to_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("learnroute.formats.files.LARGEST_FILE", 10)
    (tmp_path / "a.txt").write_text("x" * 11)
    with pytest.raises(InputError, match="is too large; files are limited to 10 bytes"):
        read_text(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\rc")
    assert read_text(tmp_path / "a.txt") == "a\nb\nc"


def test_problems_come_from_standard_input() -> None:
    text = Path(WAREHOUSE).read_text()
    done = command("plan", "-", "--json", "--start", "Receiving", input=text, stdout=subprocess.PIPE)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["route"][0] == "Receiving"
    done = command("plan", "-", input=text.replace("travel", "travelling"), stdout=subprocess.PIPE)
    is_one_line(done, 2, "standard input: travelling: unknown field; did you mean travel?")
    with Path("/dev/zero").open() as endless:
        done = command("plan", "-", stdin=endless, stdout=subprocess.PIPE, preexec_fn=limit_files)
    is_one_line(done, 2, "standard input: is too large; files are limited to 1,073,741,824 bytes")


@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", f"{LONG}.json"),
        ("plan", LONG),
        ("plan", f"{LONG}/x.json"),
        ("plan", WAREHOUSE, "-o", f"{LONG}.json"),
        ("plan", WAREHOUSE, "-o", f"{LONG}/x.json"),
        ("plan", WAREHOUSE, "--plot", f"{LONG}.png"),
        ("convert", WAREHOUSE, LONG),
        ("convert", WAREHOUSE, f"{'n' * 248}.tsp"),
        ("verify", f"{LONG}.json", WAREHOUSE),
        ("journey", f"{LONG}.json", "--begin", WAREHOUSE),
        ("journey", f"{LONG}.json"),
        ("estimate", LONG, "--target", "y"),
        ("sweep", f"{LONG}.toml", "-o", "x"),
        ("sweep", str(ROOT / "examples" / "ratios.toml"), "-o", LONG),
        ("rows", LONG, "-o", "rows.csv"),
        ("rows", ".", "-o", f"{LONG}.csv"),
        ("plot", f"{LONG}.csv", "-o", "x.png"),
    ],
)
def test_names_too_long_for_files_are_rejected(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = call(capsys, *arguments)
    assert (code, err.count("\n")) == (2, 1)
    assert "File name too long" in err or "no such folder" in err
    assert list(tmp_path.iterdir()) == []


def test_regions_too_long_for_files_are_rejected_before_any_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"{region},{x},{x * x % 7}" for region in ("a", "é" * 130) for x in range(40)]
    (tmp_path / "data.csv").write_text("\n".join(["r,x,y", *rows]))
    code, _, err = call(capsys, "estimate", str(tmp_path / "data.csv"), "--target", "y", "--region", "r",
                        "--rest", str(tmp_path / "rest"))  # fmt: skip
    assert code == 2
    assert "is not a valid file name; rename the region, or omit --rest" in err
    assert not (tmp_path / "rest").exists()


@pytest.mark.parametrize(
    "arguments",
    [("plan", WAREHOUSE), ("plan", WAREHOUSE, "--json"), ("compare", WAREHOUSE, "--methods", "nearest"), ("--help",),
     ("generate",)],
)  # fmt: skip
def test_full_standard_output_is_reported_in_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        done = command(*arguments, stdout=full)
    is_one_line(done, 2, "standard output: cannot be written (No space left on device)")


def test_closed_and_full_streams_do_not_matter(tmp_path: Path) -> None:
    shell = f'"{sys.executable}" -m learnroute plan "{WAREHOUSE}" -o plan.json'
    for streams, code in ((">&-", 0), ("2>&-", 0), (">&- 2>&-", 0), ("2>/dev/full", 0), ("--method x 2>/dev/full", 2),
                          ("--method x 2>&- >&-", 2)):  # fmt: skip
        done = subprocess.run(["sh", "-c", f"{shell} {streams}"], capture_output=True, text=True, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("Traceback")) == (code, 0), streams
        if code == 2:
            assert done.stdout == ""
    done = subprocess.run(["sh", "-c", f"{shell.replace(WAREHOUSE, '-')} <&-"], capture_output=True, text=True)
    is_one_line(done, 2, "standard input: is closed")


def test_narrow_encodings_are_supported() -> None:
    done = command("plan", WAREHOUSE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("module", ["numpy", "click", "difflib"])
@pytest.mark.parametrize("how", [("-m", "learnroute"), ("-c", "from learnroute.__main__ import main; main()")])
def test_ctrl_c_during_imports_is_one_line(tmp_path: Path, module: str, how: tuple[str, str]) -> None:
    (tmp_path / f"{module}.py").write_text(
        "import os, signal, time\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    time.sleep(20)\n"
        "except BaseException:\n    raise ImportError('as if it were not there')\n"
    )
    paths = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", str(ROOT / "src"))])
    done = subprocess.run([sys.executable, *how, "plan", WAREHOUSE], capture_output=True, text=True, timeout=GUARD,
                          env={**os.environ, "PYTHONPATH": paths})  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "learnroute: interrupted\n")


def test_refusals_are_printable_and_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem = {**json.loads(Path(WAREHOUSE).read_text()), "\x1b[2J\x1b]0;owned\x07" + "x" * 50_000: 1}
    (tmp_path / "p.json").write_text(json.dumps(problem))
    hostile = "\x1b[2J\u202e" * 200
    for arguments in (("plan", str(tmp_path / "p.json")), ("plan", f"{hostile[:40]}.json"), (hostile,),
                      ("plan", WAREHOUSE, "--method", hostile), ("plan", WAREHOUSE, "--start", hostile),
                      ("evaluate", WAREHOUSE, "--route", hostile), ("plan", WAREHOUSE, f"--{hostile}")):  # fmt: skip
        code, out, err = call(capsys, *arguments)
        assert (code, out, err.count("\n")) == (2, "", 1)
        assert err[:-1].isprintable()
        assert len(err) <= 520


def test_names_from_samples_are_printable(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"{region},{x},{y}" for region in ("a\x1b[2Jb", "c") for x, y in enumerate((1, 5, 2, 8, 3, 3, 9, 4) * 4)]
    (tmp_path / "data.csv").write_text("\n".join(["r,x,y", *rows, "\x1b[2J,u,1"]))
    code, out, err = call(capsys, "estimate", str(tmp_path / "data.csv"), "--target", "y", "--region", "r")
    assert code == 0
    assert "\x1b" not in out + err


def test_leftovers_are_removed_but_not_what_is_being_written(tmp_path: Path) -> None:
    (tmp_path / ".learnroute-abc.json").write_text("{")
    (tmp_path / ".learnroute-pipe.json").symlink_to("/dev/zero")
    (tmp_path / "own.json").write_text("{}")
    with atomic_write(tmp_path / "new.json") as temporary:
        remove_leftovers(tmp_path)
        assert temporary.exists()
        temporary.write_text("[]")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".learnroute-pipe.json", "new.json", "own.json"]
