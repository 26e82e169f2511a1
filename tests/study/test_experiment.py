from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import InputError
from learnroute.study.experiment import Experiment, read_experiment, streams

TINY = {"families": "uniform", "regions": 3, "features": 80}


def test_cells_are_the_product_of_the_lists_with_replicates_running_fastest() -> None:
    experiment = Experiment(("uniform", "closure"), (3, 5), (80, 120), (100,), (0.0, 1.0), replicates=2)
    cells = [experiment.cell(number) for number in range(experiment.size)]
    wanted = itertools.product(("uniform", "closure"), (3, 5), (80, 120), (100,), (0.0, 1.0), (0, 1))
    assert [tuple(vars(cell).values()) for cell in cells] == list(wanted)


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('families = ["uniform"]\nregions = [3, 4]\nfeatures = 80\nnoise = [0, 0.5]\n')
    (tmp_path / "a.json").write_text('{"families": "uniform", "regions": [3, 4], "features": 80, "noise": [0, 0.5]}')
    assert read_experiment(tmp_path / "a.toml") == read_experiment(tmp_path / "a.json")
    again = Experiment.from_dict(json.loads(json.dumps(read_experiment(tmp_path / "a.toml").to_dict())))
    assert again == read_experiment(tmp_path / "a.json")


def test_streams_are_those_of_spawn() -> None:
    children = np.random.SeedSequence(7).spawn(4)
    problem, routes = children[3].spawn(2)
    mine, seed = streams(7, 3)
    assert np.array_equal(mine.generate_state(4), problem.generate_state(4))
    assert seed == routes.generate_state(1, np.uint32)[0]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"families": "flat"}, "families = 'flat': unknown; known are uniform"),
        ({"regions": [3, 1]}, "regions[1] = 1: the number of regions must be >= 2"),
        ({"regions": []}, "regions = []: expected at least one value"),
        ({"regions": [3, 3]}, "regions[1] = 3: given twice"),
        ({"regions": {"from": 3}}, "regions = {'from': 3}: expected a value or a list of values"),
        ({"features": 0}, "features = 0"),
        ({"noise": -1}, "noise = -1.0: the noise σ must be >= 0"),
        ({"noise": "loud"}, "noise = 'loud'"),
        ({"methods": "magic"}, "methods = 'magic': unknown"),
        ({"replicates": 0}, "replicates = 0"),
        ({"replicates": 10**9}, "problems: at most 100,000,000"),
        ({"draws": 10**7}, "draws = 10000000: at most"),
        ({"seed": -1}, "seed = -1"),
        ({"famlies": "uniform"}, "famlies: unknown field; did you mean families?"),
        ({"name": 3}, "name = 3"),
    ],
)
def test_invalid_values_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        Experiment.from_dict({**TINY, **changes})
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.toml", "families = ", "not TOML"),
        ("a.toml", "", "families: missing"),
        ("a.json", "[]", "a table with families"),
        ("a.yaml", "", "experiments are .toml or .json"),
    ],
)
def test_files_that_are_no_experiment(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refusal:
        read_experiment(tmp_path / name)
    assert str(tmp_path / name) in str(refusal.value)
    assert message in str(refusal.value)
