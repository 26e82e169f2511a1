"""A few thousand damaged files of every format; `benchmarks/fuzz.py` alone reads a hundred thousand."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fuzz.py"


@pytest.mark.slow
def test_damaged_files_are_read_or_refused_but_never_crash_or_hang() -> None:
    command = [sys.executable, str(SCRIPT), "--files", "4500", "--seed", "1"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    table = [line.split() for line in done.stdout.splitlines()[1:-1]]
    assert len(table) == 9
    for row in table:
        read, refused, wrong, hung = map(int, row[-5:-1])
        assert (read + refused, wrong, hung) == (500, 0, 0)
        assert min(read, refused) > 20  # neither all well nor beyond recognition
