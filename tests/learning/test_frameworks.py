"""Export of orders to frameworks, with stand-ins and, if installed, the frameworks themselves."""

from __future__ import annotations

import sys
import types
from typing import Any

import numpy as np
import pytest

from learnroute import InputError, plan
from learnroute.learning.frameworks import (
    avalanche_benchmark,
    avalanche_classes,
    continuum_scenario,
    mammoth_arguments,
)
from samples import small

CLASSES = [[4, 1], [0, 5], [2, 3]]


def stand_in(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    parts = name.split(".")
    for k in range(1, len(parts) + 1):
        monkeypatch.setitem(sys.modules, ".".join(parts[:k]), types.ModuleType(".".join(parts[:k])))
    for member, value in members.items():
        setattr(sys.modules[name], member, value)


def test_mammoth_gets_the_inverse_permutation() -> None:
    """What Mammoth does: relabel by the order, then take classes t·c … (t + 1)·c - 1 as task t."""
    arguments = mammoth_arguments([2, 0, 1], CLASSES)
    assert arguments[:3] == ["--permute_classes", "1", "--custom_class_order"]
    class_order = np.array([int(c) for c in arguments[3].split(",")])
    relabelled = class_order[np.arange(6)]
    tasks = [set(np.flatnonzero(relabelled // 2 == t).tolist()) for t in range(3)]
    assert tasks == [{2, 3}, {4, 1}, {0, 5}]
    with pytest.raises(InputError, match="same number of classes"):
        mammoth_arguments([0, 1], [[0], [1, 2]])
    with pytest.raises(InputError, match="classes: each class"):
        mammoth_arguments([0, 1], [[0], [0]])


def test_avalanche_gets_datasets_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(monkeypatch, "avalanche.benchmarks.scenarios.dataset_scenario", benchmark_from_datasets=dict)
    planned = plan(small())
    found = avalanche_benchmark(planned, train=list("abcd"), test=list("efgh"))
    assert found == {"train": ["abcd"[k] for k in planned.order], "test": ["efgh"[k] for k in planned.order]}
    assert avalanche_classes([2, 0, 1], CLASSES) == {
        "class_order": [2, 3, 4, 1, 0, 5], "num_classes_per_exp": [2, 2, 2],
    }  # fmt: skip
    with pytest.raises(InputError, match="route: region 0 is visited 2 times"):
        avalanche_benchmark([0, 0], train=["a", "b"])


def test_continuum_gets_the_indices(monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(
        monkeypatch, "continuum.scenarios", create_subscenario=lambda scenario, tasks: [scenario[k] for k in tasks]
    )
    assert continuum_scenario([2, 0, 1], ["a", "b", "c"]) == ["c", "a", "b"]


def test_works_with_avalanche() -> None:
    benchmarks = pytest.importorskip("avalanche.benchmarks.utils", reason="Avalanche is not installed")
    torch = pytest.importorskip("torch")
    sets = []
    for k in range(3):
        data = torch.utils.data.TensorDataset(torch.full((4, 1), float(k)), torch.zeros(4, dtype=torch.long))
        sets.append(benchmarks.AvalancheDataset([data]))
    found = avalanche_benchmark([2, 0, 1], train=sets)
    assert [float(one.dataset[0][0]) for one in found.train_stream] == [2.0, 0.0, 1.0]


def test_works_with_continuum() -> None:
    continuum = pytest.importorskip("continuum", reason="Continuum is not installed")
    x, t = np.arange(6, dtype=float).reshape(6, 1), np.repeat(np.arange(3), 2)
    data = continuum.datasets.InMemoryDataset(x, t, t, data_type=continuum.tasks.TaskType.TENSOR)
    found = continuum_scenario([2, 0, 1], continuum.scenarios.ContinualScenario(data))
    assert [set(task.get_raw_samples()[1]) for task in found] == [{2}, {0}, {1}]
