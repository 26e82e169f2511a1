"""Long commands killed by SIGKILL at each write: the same command then resumes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from waiting import GUARD

ROOT = Path(__file__).parents[2]
WAREHOUSE = str(ROOT / "examples" / "warehouse-robot.json")
BUOYS = str(ROOT / "examples" / "buoys" / "samples")
# the process ends itself at the n-th step that concerns the folder: a file opened, locked, changed or renamed
KILLED = """
import os, signal, sys
folder, left = sys.argv[1], int(sys.argv[2])
def count(event, given):
    global left
    if event in ("open", "os.chmod", "os.rename", "os.remove") and str(given[0]).startswith(folder):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
sys.addaudithook(count)
from learnroute.cli import run
sys.exit(run(sys.argv[3:]))
"""
COMMANDS = {
    "visits": ("visits", WAREHOUSE),
    "fleet": ("fleet", WAREHOUSE, "--time-limit", "0.3"),
    "learners": ("learners", WAREHOUSE),
    "rehearse": ("rehearse", BUOYS, "--target", "height", "--draws", "2"),
}


def run_killed(folder: Path, steps: int, *arguments: str) -> int:
    line = [sys.executable, "-c", KILLED, str(folder), str(steps), *arguments]
    return subprocess.run(line, capture_output=True, timeout=GUARD).returncode


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_killed_at_any_step_of_writing_starts_again(tmp_path: Path, name: str) -> None:
    out = tmp_path / "out.json"
    for before in (None, "{}\n"):  # nothing there, or an older file
        for steps in range(1, 20):
            if before is None:
                out.unlink(missing_ok=True)
            else:
                out.write_text(before)
            code = run_killed(tmp_path, steps, *COMMANDS[name], "-o", str(out))
            if code == 0:
                break
            assert code == -signal.SIGKILL
            found = out.read_text() if out.exists() else None
            assert found == before or json.loads(found or "")  # not at all, or whole
        assert steps > 2  # it was killed between the beginning and the end of a write
        assert json.loads(out.read_text())
        assert [path.name for path in tmp_path.iterdir()] == ["out.json"]  # nothing is left of the killed ones
