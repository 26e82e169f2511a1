from __future__ import annotations

import contextlib
import random
import shutil
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from learnroute import InputError
from learnroute.cli import run
from learnroute.study.cells import COLUMNS, solve_cell
from learnroute.study.experiment import Experiment
from learnroute.study.rows import read_rows, write_rows
from learnroute.study.store import EXPERIMENT_FILE, LOG_FILE, Store, open_store
from learnroute.study.summary import RunningStatistics, Statistics, condition, grouped_ratios
from learnroute.study.sweeps import sweep
from waiting import GUARD

MIXED = Experiment(("uniform", "closure"), (3, 4), (80, 100, 120), replicates=3)  # m = 100 fails


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("rows") / "sweep"
    sweep(MIXED, place, workers=1)
    return place


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_rows_come_back_bit_for_bit(folder: Path, tmp_path: Path, suffix: str) -> None:
    rows = list(Store(folder).rows())
    path = tmp_path / f"rows{suffix}"
    assert write_rows(rows, path) == MIXED.size * 3
    assert list(read_rows(path)) == rows
    assert list(read_rows(folder)) == rows
    assert [path.name for path in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_rows_load_straight_into_tables(folder: Path, tmp_path: Path, library: str, suffix: str) -> None:
    write_rows(Store(folder).rows(), tmp_path / f"rows.{suffix}")
    wanted = grouped_ratios(Store(folder).rows(), ["method"])
    mean = sum(wanted["algorithm1",]) / len(wanted["algorithm1",])
    code = (
        f"import {library} as lib; rows = lib.read_{suffix}('rows.{suffix}');"
        "kept = rows[rows.method == 'algorithm1'] if lib.__name__ == 'pandas' else "
        "rows.filter(lib.col('method') == 'algorithm1');"
        "print(list(rows.columns), len(rows), kept['ratio'].mean(), rows['ratio'].dtype, kept['cell'].max())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, timeout=GUARD, check=True
    )
    columns, rest = done.stdout.split("] ")
    count, found, kind, last = rest.split()
    assert columns + "]" == str(list(COLUMNS))
    assert int(count) == MIXED.size * 3
    assert float(found) == pytest.approx(mean, rel=1e-12)
    assert kind.lower() == "float64"
    assert int(last) == MIXED.size - 1


def fill(folder: Path, replicates: int) -> Path:
    """A store with many cells, made without solving them."""
    experiment = Experiment(("uniform",), (3,), (80,), replicates=replicates)
    values = solve_cell(experiment, 0)
    with open_store(folder, experiment, resume=False) as store:
        for first in range(0, replicates, 500):
            store.add((number, values) for number in range(first, first + 500))
    return folder


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """A store of few cells, and one of many."""
    folder = tmp_path_factory.mktemp("stores")
    return {replicates: fill(folder / str(replicates), replicates) for replicates in (2_000, 5_000)}


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_memory_does_not_grow_with_the_rows(tmp_path: Path, stores: dict[int, Path], suffix: str) -> None:
    def peak(replicates: int) -> int:
        tracemalloc.start()
        write_rows(Store(stores[replicates]).rows(), tmp_path / f"{replicates}{suffix}")
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    write_rows([], tmp_path / f"none{suffix}")  # what writing needs is loaded before memory is measured
    few, many = peak(2_000), peak(5_000)
    assert many - few < 60 * (5_000 - 2_000)  # a place and a few flags a cell; a cell's rows are 1500 bytes


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "cell,family\n1,uniform\n", "has no column 'regions'; give rows written by `learnroute sweep`"),
        ("a.csv", "", "has no column 'cell'; give rows written by `learnroute sweep`"),
        ("a.csv", ",".join(COLUMNS) + "\n" + "x" + "," * (len(COLUMNS) - 1) + "\n", "line 2"),
        ("a.parquet", "no", "not a Parquet file"),
        ("a.xlsx", "", "unknown format"),
    ],
)
def test_invalid_rows_are_rejected(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError) as refusal:
        list(read_rows(tmp_path / name))
    assert message in str(refusal.value)


def test_folders_without_a_log_are_named(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(folder, tmp_path / "sweep")
    (tmp_path / "sweep" / LOG_FILE).unlink()
    for missing in (LOG_FILE, EXPERIMENT_FILE):
        assert run(["rows", str(tmp_path / "sweep"), "-o", str(tmp_path / "rows.csv")]) == 2
        _, err = capsys.readouterr()
        said = "has no solved problems yet" if missing == LOG_FILE else "is not the folder of a sweep"
        assert f"{tmp_path / 'sweep'}: {said}" in err
        assert f"(no {missing})" in err
        assert not (tmp_path / "rows.csv").exists()
        (tmp_path / "sweep" / EXPERIMENT_FILE).unlink(missing_ok=True)


def test_damaged_rows_are_rejected(folder: Path, tmp_path: Path) -> None:
    for suffix in (".csv", ".parquet"):
        path = tmp_path / f"rows{suffix}"
        write_rows(Store(folder).rows(), path)
        whole = path.read_bytes()
        chance = random.Random(1)
        for _ in range(40):
            damaged = bytearray(whole)
            for _ in range(20):
                damaged[chance.randrange(len(whole))] = chance.randrange(256)
            path.write_bytes(damaged)
            with contextlib.suppress(InputError):
                list(read_rows(path))
        path.write_bytes(whole[: len(whole) // 2] + b"\xff\xfe\0" + whole[len(whole) // 2 :])
        with pytest.raises(InputError, match=f"rows{suffix}"):
            list(read_rows(path))


def test_without_pyarrow_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(InputError, match=r"\(or write \.csv\): pip install joblib pyarrow"):
        write_rows([], tmp_path / "rows.parquet")
    assert list(tmp_path.iterdir()) == []


def test_statistics_are_those_of_the_sample() -> None:
    sample = [1.0, 2.0, 4.0, 9.0]
    found, running = Statistics.of(sample), RunningStatistics()
    for value in sample:
        running.add(value)
    assert (found.count, found.mean, found.maximum) == (4, 4.0, 9.0)
    assert found.half_width == pytest.approx(1.96 * (38 / 3 / 4) ** 0.5, rel=1e-4)
    assert (running.count, running.mean, running.maximum) == (4, 4.0, 9.0)
    assert running.half_width == pytest.approx(found.half_width)


def test_groups_exclude_failures(folder: Path) -> None:
    groups = grouped_ratios((row for row in Store(folder).rows() if row["family"] == "closure"), ["features", "method"])
    assert {key[0] for key in groups} == {80, 120}
    assert all(len(values) == 6 for values in groups.values())


@pytest.mark.parametrize(("text", "wanted"), [("regions=4", ("regions", 4)), ("family=closure", ("family", "closure"))])
def test_conditions(text: str, wanted: tuple[str, Any]) -> None:
    assert condition(text) == wanted
