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
from learnroute.kernels import at_hand, machine_code
from learnroute.precompile import DONE, LASTS, LOCK, going_on, in_background, main
from learnroute.study.families import random_problem


def test_a_short_limit_has_the_next_plan_find_everything_compiled(tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    write_problem(random_problem("euclidean", 40, Learner(120, 100, 0.1), 1), file)
    environment = {**os.environ, "LEARNROUTE_CACHE_DIR": str(tmp_path / "cache")}

    def planned() -> tuple[list[str], float]:
        command = [sys.executable, "-m", "learnroute", "plan", str(file), "--time-limit", "2", "--json"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=60)
        found = json.loads(done.stdout)
        return found["notes"], found["loss"]["total"]

    notes, first = planned()
    assert any("compiling" in note for note in notes)
    (folder,) = (tmp_path / "cache" / "kernels").iterdir()
    deadline = time.monotonic() + 100
    while (folder / LOCK).exists():
        assert time.monotonic() < deadline
        time.sleep(0.2)
    notes, best = planned()
    assert not any("compiling" in note for note in notes)
    assert best <= first <= 1.02 * best  # what is compiled in a hurry finds good routes, too
    assert not (folder / LOCK).exists()  # nothing was left to compile


@pytest.fixture
def started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """An empty folder of machine code, and the commands of processes that would have been started."""
    commands: list[list[str]] = []

    class Process:
        def __init__(self, command: list[str], **_: object) -> None:
            commands.append(command)

        def wait(self) -> None:
            return

    monkeypatch.setattr(machine_code, "kernel_folder", lambda: tmp_path)
    monkeypatch.setattr(machine_code, "_loaded_once", set())
    monkeypatch.setattr(subprocess, "Popen", Process)
    return commands


def test_one_process_compiles_at_a_time(tmp_path: Path, started: list[list[str]]) -> None:
    in_background()
    in_background()
    assert started == [[sys.executable, "-P", "-m", "learnroute.precompile", str(tmp_path.resolve() / LOCK), "19"]]
    assert going_on()
    long_ago = time.time() - LASTS - 1
    os.utime(tmp_path / LOCK, (long_ago, long_ago))  # that process must have died
    assert not going_on()
    in_background()
    assert len(started) == 2


def test_what_was_done_is_not_done_again(tmp_path: Path, started: list[list[str]]) -> None:
    (tmp_path / DONE).touch()
    in_background()
    assert not started


def test_without_a_folder_nothing_is_started(started: list[list[str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "kernel_folder", lambda: None)
    in_background()
    assert not started


def test_a_process_that_cannot_be_started_leaves_no_lock(
    tmp_path: Path, started: list[list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(subprocess, "Popen", refuse)
    in_background()
    assert not (tmp_path / LOCK).exists()


def test_plans_go_on_when_the_folder_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine_code, "kernel_folder", lambda: tmp_path / "gone")
    assert at_hand()
    assert not at_hand("a kernel that does not exist")


def test_a_file_named_by_mistake_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "problem.json"
    file.touch()
    for arguments in ([str(file)], [str(file), "19"]):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 2
        assert "takes no arguments" in capsys.readouterr().err
    assert file.exists()
