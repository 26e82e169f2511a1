"""Export a planned order to continual-learning frameworks: Avalanche, Continuum, Mammoth.

None of them is imported before it is needed. `order` is a plan, or a list of indices of regions (tasks) from 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from learnroute.errors import InputError
from learnroute.model.given_routes import as_permutation
from learnroute.model.result import Plan


def avalanche_benchmark(order: Plan | Sequence[int], **streams: Sequence[Any]) -> Any:
    """Return an Avalanche benchmark whose experiences come in the planned order.

    `streams` are lists of AvalancheDatasets, one per region, by the name of their stream:
    `avalanche_benchmark(plan, train=train_sets, test=test_sets)`. This calls Avalanche's `benchmark_from_datasets`.
    """
    from avalanche.benchmarks.scenarios.dataset_scenario import benchmark_from_datasets

    if not streams:
        raise InputError("missing; give lists of datasets by name, such as train=… and test=…", field="streams")
    sorted_streams = {name: [sets[k] for k in _stops(order, len(sets))] for name, sets in streams.items()}
    return benchmark_from_datasets(**sorted_streams)


def avalanche_classes(order: Plan | Sequence[int], classes: Sequence[Sequence[int]]) -> dict[str, list[int]]:
    """Return arguments for Avalanche's `class_incremental_benchmark` if each region is a group of classes.

    `class_incremental_benchmark({"train": …, "test": …}, **avalanche_classes(plan, classes))`; `classes[k]` are the
    classes of region k.
    """
    groups = _groups(order, classes)
    return {"class_order": [c for group in groups for c in group], "num_classes_per_exp": [len(g) for g in groups]}


def continuum_scenario(order: Plan | Sequence[int], scenario: Any) -> Any:
    """Return a Continuum scenario with its tasks in the planned order, using `create_subscenario`."""
    from continuum.scenarios import create_subscenario

    return create_subscenario(scenario, _stops(order, len(scenario)))


def mammoth_arguments(order: Plan | Sequence[int], classes: Sequence[Sequence[int]]) -> list[str]:
    """Return arguments for Mammoth's main.py that put groups of classes, all of the same size, into the planned order.

    Mammoth relabels class c as the c-th entry of `--custom_class_order` and then visits labels in ascending order. It
    therefore needs the inverse of the order of classes, and uses it only with `--permute_classes`.
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
