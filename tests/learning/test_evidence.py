"""The study of evidence: orders of the literature do what they say, and the study runs from end to end."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

EVIDENCE = Path(__file__).parents[2] / "examples" / "evidence"


@pytest.fixture
def orders(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(EVIDENCE))
    import orders  # type: ignore[import-not-found]

    return orders


def test_orders_of_the_literature(orders: Any) -> None:
    errors = np.random.default_rng(0).random((6, 6))
    apart = orders.dissimilarity(errors)
    typical = apart.sum(axis=1)

    def length(order: Any) -> float:
        return float(sum(apart[i, j] for i, j in itertools.pairwise(order)))

    core = orders.periphery_to_core(errors)
    assert all(typical[i] >= typical[j] for i, j in itertools.pairwise(core))
    longest = orders.longest_path(errors)
    assert length(longest) == pytest.approx(max(map(length, itertools.permutations(range(6)))))
    assert typical[longest[-1]] <= typical[longest[0]]
    greedy = orders.most_dissimilar_next(errors)
    for t in range(5):
        assert apart[greedy[t], greedy[t + 1]] == max(apart[greedy[t], k] for k in greedy[t + 1 :])
    assert sorted(core) == sorted(longest) == sorted(greedy) == list(range(6))


def test_the_study_runs_and_goes_on_where_it_was(tmp_path: Path) -> None:
    command = [sys.executable, str(EVIDENCE / "study.py"), "-o", str(tmp_path), "--seeds", "1", "--orders", "3",
               "--runs", "1", "--settings", "rotated digits, 2 epochs"]  # fmt: skip
    first = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    found = json.loads(next(tmp_path.glob("*.json")).read_text())
    assert len(found["random"]) == len(found["predicted"]) == 3
    assert 0 < found["chosen"]["planned"] < 1
    again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    assert "done" in first
    assert "done" not in again
    assert (tmp_path / "tables.md").read_text().startswith("## rotated digits, 2 epochs")
