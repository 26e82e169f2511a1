"""Hand a planned order over to frameworks of continual learning: Avalanche, Continuum, Mammoth.

None of them is imported before it is needed. `order` is a plan, or indices of regions (tasks) from 0 on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from learnroute.errors import InputError
from learnroute.model.losses import as_permutation
from learnroute.model.result import Plan


def avalanche_benchmark(order: Plan | Sequence[int], **streams: Sequence[Any]) -> Any:
    """Return an Avalanche benchmark whose experiences come in the planned order.

    `streams` are lists of AvalancheDatasets by the name of their stream, one a region:
    `avalanche_benchmark(plan, train=train_sets, test=test_sets)`. It is Avalanche's `benchmark_from_datasets`.
    """
    from avalanche.benchmarks.scenarios.dataset_scenario import benchmark_from_datasets

    if not streams:
        raise InputError("missing; give lists of datasets by name, such as train=… and test=…", field="streams")
    sorted_streams = {name: [sets[k] for k in _stops(order, len(sets))] for name, sets in streams.items()}
    return benchmark_from_datasets(**sorted_streams)


def avalanche_classes(order: Plan | Sequence[int], classes: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Return what Avalanche's `class_incremental_benchmark` needs where each region is a group of classes.

    `class_incremental_benchmark({"train": …, "test": …}, **avalanche_classes(plan, classes))`; `classes[k]` are those
    of region k.
    """
    groups = _groups(order, classes)
    return {"class_order": [c for group in groups for c in group], "num_classes_per_exp": [len(g) for g in groups]}


def continuum_scenario(order: Plan | Sequence[int], scenario: Any) -> Any:
    """Return a Continuum scenario with its tasks in the planned order, by its `create_subscenario`."""
    from continuum.scenarios import create_subscenario

    return create_subscenario(scenario, _stops(order, len(scenario)))


def mammoth_arguments(order: Plan | Sequence[int], classes: Sequence[Sequence[int]]) -> list[str]:
    """Return arguments for Mammoth's main.py that put groups of classes, the same number each, into the planned order.

    Mammoth relabels class c as the c-th entry of `--custom_class_order` and then takes labels in ascending order. So
    it wants the inverse of the order of classes, and uses it only with `--permute_classes`.
    """
    groups = _groups(order, classes)
    if len({len(group) for group in groups}) > 1:
        raise InputError("Mammoth has the same number of classes in each task", field="classes")
    wanted = [c for group in groups for c in group]
    inverse = [wanted.index(c) for c in range(len(wanted))]
    return ["--permute_classes", "1", "--custom_class_order", ",".join(map(str, inverse))]


def _stops(order: Plan | Sequence[int], size: int) -> list[int]:
    return [int(k) for k in as_permutation(order.order if isinstance(order, Plan) else order, size)]


def _groups(order: Plan | Sequence[int], classes: Sequence[Sequence[int]]) -> list[list[int]]:
    groups = [[int(c) for c in classes[k]] for k in _stops(order, len(classes))]
    everyone = sorted(c for group in groups for c in group)
    if everyone != list(range(len(everyone))):
        raise InputError("each class from 0 on must be in one region, and in no other", field="classes")
    return groups
