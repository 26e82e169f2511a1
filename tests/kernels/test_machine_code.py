"""Machine code is kept for the next process, and read only where it is whole."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from learnroute.kernels import kernel
from learnroute.kernels.value_types import NotInSubsetError
from learnroute.model.validation import FloatArray, IntArray

SCRIPT = """
import numpy as np
from learnroute.kernels import translator
from learnroute.model.metric import _detours
translated = []
made = translator.Unit.__init__
translator.Unit.__init__ = lambda self, *args, **named: (translated.append(args), made(self, *args, **named))[1]
travel = np.array([[0.0, 5.0, 1.0], [5.0, 0.0, 1.0], [1.0, 1.0, 0.0]])
shortest = travel.copy()
found = _detours(travel, travel, np.argsort(travel, axis=1), 0.0, shortest, 0, 3)
print(shortest[0, 1], found, len(translated))
"""


def _run(folder: Path) -> str:
    environment = {**os.environ, "LEARNROUTE_CACHE_DIR": str(folder)}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_the_next_process_finds_machine_code_and_does_without_where_it_cannot(tmp_path: Path) -> None:
    assert _run(tmp_path) == "2.0 2 1"
    assert _run(tmp_path) == "2.0 2 0"
    (file,) = (path for path in tmp_path.rglob("*") if path.is_file())
    content = file.read_bytes()
    file.write_bytes(content[: len(content) // 2])  # half-written by something else
    assert _run(tmp_path) == "2.0 2 1"
    assert _run(tmp_path) == "2.0 2 0"
    nowhere = tmp_path / "a file"
    nowhere.write_text("")
    assert _run(nowhere) == "2.0 2 1"


def test_old_versions_are_removed(tmp_path: Path) -> None:
    for number in range(9):
        old = tmp_path / "kernels" / f"old{number}"
        old.mkdir(parents=True)
        (old / "code").write_text("")
        os.utime(old, (number, number))
    _run(tmp_path)
    left = sorted(path.name for path in (tmp_path / "kernels").iterdir())
    assert len(left) == 6
    assert {"old8", "old4"} <= set(left)
    assert "old3" not in left


def test_threads_run_beside_each_other_and_do_not_mix() -> None:
    def sorted_rows(sort: Callable[..., None], matrix: FloatArray) -> FloatArray:
        found = np.empty_like(matrix)
        sort(matrix, np.argsort(matrix, axis=1), found)
        return found

    @kernel
    def sort_rows(matrix: FloatArray, near: IntArray, found: FloatArray) -> None:
        for _ in range(50):
            for i in range(len(matrix)):
                for k in range(len(matrix)):
                    found[i, k] = matrix[i, near[i, k]]

    matrices = np.random.default_rng(0).random((8, 40, 40))
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda matrix: sorted_rows(sort_rows, matrix), matrices))
    for rows, matrix in zip(found, matrices, strict=True):
        assert np.array_equal(rows, np.sort(matrix, axis=1))


def test_a_wrong_index_is_found_where_indices_are_checked(tmp_path: Path) -> None:
    (tmp_path / "paths.py").write_text(
        "from learnroute.kernels import kernel\nfrom learnroute.model.validation import IntArray\n\n\n"
        "@kernel\ndef root(parent: IntArray, i: int) -> int:\n"
        "    while parent[i] != i:\n        i = parent[i]\n    return i\n"
    )
    script = (
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nimport numpy as np\nfrom paths import root\n"
        "print(root(np.array([1, 2, 2]), 0))\nroot(np.array([1, 2, 7]), 0)\n"
    )
    environment = {**os.environ, "LEARNROUTE_CACHE_DIR": str(tmp_path), "LEARNROUTE_CHECKED": "1"}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == "2"
    assert done.returncode != 0
    assert "index 7 of 3" in done.stderr


def test_a_kernel_without_source_code_is_refused() -> None:
    space: dict[str, object] = {"kernel": kernel}
    with pytest.raises(NotInSubsetError, match="f: its source code is not known"):
        exec("@kernel\ndef f(x):\n    return x\nf(1)", space)
