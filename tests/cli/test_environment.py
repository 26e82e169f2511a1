"""Restricted environments: no home, no user, no locale, little memory, full disks, paths of another system."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from learnroute import Learner, write_problem
from learnroute.study.families import random_problem
from waiting import GUARD

ROOT = Path(__file__).parents[2]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
CITY = str(ROOT / "examples" / "city-survey.json")  # its names are not ASCII
NOBODY = """
import pwd, sys
def refuse(*_):
    raise KeyError("getpwuid(): uid not found: 54321")
pwd.getpwuid = pwd.getpwnam = refuse
from learnroute.cli import run
sys.exit(run(sys.argv[1:]))
"""


def command(*arguments: Any, program: tuple[str, ...] = ("-m", "learnroute"), **options: Any) -> Any:
    line = [sys.executable, *program, *map(str, arguments)]
    # no bytecode: on a full disk, Python itself leaves half of it
    own = {"PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    environment = {**own, **options.pop("env", {})}
    return subprocess.run(line, env=environment, capture_output=True, timeout=GUARD, **options)


def is_one_line(done: Any, words: str) -> None:
    text = done.stderr.decode()
    assert (done.returncode, text.count("\n")) == (2, 1), text
    assert text.startswith("learnroute: ")
    assert words in text


@pytest.mark.slow
@pytest.mark.parametrize("home", [None, "/proc", "/dev/null"])
@pytest.mark.parametrize("program", [("-m", "learnroute"), ("-c", NOBODY)], ids=["user", "nobody"])
def test_no_home_and_no_user_name_are_needed(tmp_path: Path, home: str | None, program: tuple[str, ...]) -> None:
    env = {} if home is None else {"HOME": home}
    done = command("plan", WAREHOUSE, "-o", "plan.json", "--plot", "route.png", program=program, env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr.decode().splitlines() == ["wrote plan.json", "wrote route.png"]
    is_one_line(command("plan", "~/problem.json", program=program, env=env, cwd=tmp_path), "no such file")


@pytest.mark.slow
def test_no_locale_is_needed(tmp_path: Path) -> None:
    env = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = command("plan", CITY, "-o", "plan.json", env=env, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    plain = command("plan", CITY, "-o", "other.json", env={"PYTHONUTF8": "1"}, cwd=tmp_path)
    assert plain.returncode == 0
    assert (tmp_path / "plan.json").read_bytes()[:200] == (tmp_path / "other.json").read_bytes()[:200]
    is_one_line(command("plan", "Köln.json", env=env, cwd=tmp_path), "no such file")


def least_memory(megabytes: int) -> Any:
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))


@pytest.mark.slow
def test_little_memory_is_enough_for_small_problems_and_one_line_for_large_ones(tmp_path: Path) -> None:
    done = command("plan", WAREHOUSE, "-o", tmp_path / "plan.json", preexec_fn=least_memory(400))
    assert done.returncode == 0, done.stderr
    write_problem(random_problem("euclidean", 2500, Learner(120, 100, 0.1), 1), tmp_path / "large.npz")
    before = sorted(tmp_path.iterdir())
    done = command("plan", tmp_path / "large.npz", "-o", tmp_path / "large.json", preexec_fn=least_memory(230))
    is_one_line(done, "the problem does not fit into memory; give fewer regions")
    assert sorted(tmp_path.iterdir()) == before


UNLOADABLE = """
import sys
class Finder:
    def find_spec(self, name, *_):
        if name.partition(".")[0] == "scipy":
            raise ImportError("_dfitpack.so: failed to map segment from shared object")
sys.meta_path.insert(0, Finder())
from learnroute.cli import run
sys.exit(run(sys.argv[1:]))
"""


def test_library_that_cannot_be_loaded_is_reported_in_one_line(tmp_path: Path) -> None:
    samples, program = ROOT / "examples" / "buoys" / "samples", ("-c", UNLOADABLE)
    done = command("rehearse", samples, "--target", "height", "-o", "out.json", program=program, cwd=tmp_path)
    is_one_line(done, "a library cannot be loaded: _dfitpack.so: failed to map segment")
    assert list(tmp_path.iterdir()) == []


def small_files() -> None:
    """A disk with room for 700 bytes per file."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ("plan", WAREHOUSE, "-o", "out.json"),
        ("plan", WAREHOUSE, "-o", "out.npz"),
        ("plan", WAREHOUSE, "--plot", "out.png"),
        ("compare", WAREHOUSE, "-o", "out.json"),
        ("convert", WAREHOUSE, "out.npz"),
        ("convert", WAREHOUSE, "out.json"),
        ("journey", "out.json", "--begin", WAREHOUSE),
        ("visits", WAREHOUSE, "-o", "out.json"),
        ("fleet", WAREHOUSE, "--time-limit", "0.3", "-o", "out.json"),
    ],
    ids=" ".join,
)
def test_full_disk_leaves_the_existing_file(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    out = next(Path(name) for name in arguments if name.startswith("out."))
    if arguments[0] != "journey":
        (tmp_path / out).write_text("what was there")
    before = [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())]
    done = command(*arguments, cwd=tmp_path, preexec_fn=small_files)
    is_one_line(done, "cannot be written (File too large)")
    assert [(path.name, path.read_bytes()) for path in sorted(tmp_path.iterdir())] == before


@pytest.mark.parametrize("name", [r"C:\data\problem.json", r"\\server\share\problem.json", "C:problem.json", "NUL:"])
def test_paths_of_windows_are_rejected_elsewhere_in_one_line(tmp_path: Path, name: str) -> None:
    is_one_line(command("plan", name, cwd=tmp_path), "no such file")
    assert list(tmp_path.iterdir()) == []
