"""Machine code compiled beforehand: by hand, and in the background after a plan that had no time for it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from learnroute import Learner, write_problem
from learnroute.kernels import machine_code
from learnroute.precompile import LASTS, LOCK, in_background
from learnroute.study.families import random_problem


def test_a_short_limit_has_the_next_plan_find_everything_compiled(tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    write_problem(random_problem("euclidean", 40, Learner(120, 100, 0.1), 1), file)
    environment = {**os.environ, "LEARNROUTE_CACHE_DIR": str(tmp_path / "cache")}

    def notes() -> list[str]:
        command = [sys.executable, "-m", "learnroute", "plan", str(file), "--time-limit", "2", "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
        found: list[str] = json.loads(done.stdout)["notes"]
        return found

    assert any("compiling" in note for note in notes())
    (folder,) = (tmp_path / "cache" / "kernels").iterdir()
    deadline = time.monotonic() + 100
    while (folder / LOCK).exists():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    assert not any("compiling" in note for note in notes())
    assert not (folder / LOCK).exists()  # nothing was left to compile


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """An empty folder of machine code, and the commands of processes that would have been started."""
    commands: list[list[str]] = []
    monkeypatch.setattr(machine_code, "kernel_folder", lambda: tmp_path)
    monkeypatch.setattr(machine_code, "_loaded_once", set())
    monkeypatch.setattr(subprocess, "Popen", lambda command, **_: commands.append(command))
    return commands


def test_one_process_compiles_at_a_time(tmp_path: Path, started: list[list[str]]) -> None:
    in_background(100)
    in_background(100)
    assert started == [[sys.executable, "-m", "learnroute.precompile", str(tmp_path / LOCK), "19"]]
    long_ago = time.time() - LASTS - 1
    os.utime(tmp_path / LOCK, (long_ago, long_ago))  # that process must have died
    in_background(100)
    assert len(started) == 2


def test_nothing_is_compiled_for_few_regions_or_where_all_is_at_hand(tmp_path: Path, started: list[list[str]]) -> None:
    in_background(20)
    for name in ("iterate", "match_next", "label", "minimum_cuts"):
        (tmp_path / f"{name}-0").touch()
    in_background(100)
    assert not started


def test_without_a_folder_nothing_is_started(started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "kernel_folder", lambda: None)
    in_background(100)
    assert not started
