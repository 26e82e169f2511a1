"""If memory runs out in the compiled core, Python gets a MemoryError and continues."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

LIMITED = """
import resource
import numpy as np
from learnroute._core import Costs, GreedyPaths, HeldKarp, KdTree, fix_by_reduced_cost

size = 2000
square, line, status = np.ones((size, size)), np.ones(size), np.zeros((size, size), dtype=np.int8)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**24, used + 2**24))
try:
    {call}
except MemoryError:
    print("MemoryError")
assert KdTree(np.random.default_rng(1).random((100, 3))).nearest(5).shape == (100, 5)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the size of the process is read from /proc")
@pytest.mark.skipif("asan" in os.environ.get("LD_PRELOAD", ""), reason="the sanitizer needs more memory than the limit")
@pytest.mark.parametrize("call", [
    "HeldKarp(np.ones((26, 26)), line[:26], line[:26], None, line[:26], np.ones((26, 26), dtype=bool))",
    "Costs.from_matrix(square, np.arange(size), line, line, False, True)",
    "fix_by_reduced_cost(square, status, line, 1e9)",  # without Python's lock
    "GreedyPaths(10**8)",
])  # fmt: skip
def test_memory_exhaustion_is_a_memory_error(call: str) -> None:
    code = LIMITED.format(call=call)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout.strip()) == (0, "MemoryError"), done.stderr
