from __future__ import annotations

import io
import json
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute import InputError, Problem, plan, read_problem, write_plan, write_problem
from learnroute.formats import npz_files
from learnroute.formats.json_files import problem_to_dict
from learnroute.formats.npz_files import PLENTY
from learnroute.model.constraints import Constraints
from learnroute.study.families import random_problem
from samples import ALL_FAMILIES, OVER, UNDER, small


def problems() -> list[Problem]:
    drawn = [random_problem(family, 6, OVER, 3) for family in ALL_FAMILIES]
    rng = np.random.default_rng(1)
    lonlat = np.column_stack([rng.uniform(-180, 180, 5), rng.uniform(-90, 90, 5)])
    ends = Constraints(start="R2", end="R1", returns=True)
    far = Problem(learner=UNDER, coordinates=lonlat, vectors=rng.normal(size=(5, 2)), geographic=True, constraints=ends)
    return [*drawn, far, small(truth=rng.normal(size=(4, 3)), initial_model=[1, 2, 3], title="Öl", travel_rate=0.5)]


def test_archives_round_trip_to_the_last_bit(tmp_path: Path) -> None:
    for problem in problems():
        write_problem(problem, tmp_path / "p.npz")
        again = read_problem(tmp_path / "p.npz")
        assert json.dumps(problem_to_dict(again)) == json.dumps(problem_to_dict(problem))


def test_plans_are_written_compactly(tmp_path: Path) -> None:
    found = plan(small())
    write_plan(found, tmp_path / "plan.npz")
    with np.load(tmp_path / "plan.npz") as archive:
        assert archive["order"].tolist() == list(found.order)
        rest = json.loads(str(archive["plan"]))
    assert rest["loss"] == found.loss.to_dict()
    assert not {"route", "order"} & set(rest)


def archive(path: Path, **changes: Any) -> Path:
    members = {"coordinates": np.zeros((3, 2)), "vectors": np.ones((3, 1)), "learner": np.array([80, 100, 0.1])}
    np.savez(path, **{**members, **changes})
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"learner": np.zeros(2)}, r"learner has shape \(2,\)"),
        ({"title": np.array(["a", "b"])}, r"title has shape \(2,\)"),
        ({"constraints": np.array("{")}, "expected JSON text"),
        ({"coordinates": np.full((3, 2), np.nan)}, r"coordinates\[0, 0\]"),
        ({"vectors": np.ones((2, 1))}, "vectors has 2 rows"),
        ({"colour": np.zeros(1)}, "colour"),
        ({"start": np.zeros(2)}, "start: unknown field"),
        ({"vectors": np.array([[1], [None], [3]], dtype=object)}, "not a NumPy archive that can be read"),
    ],
)
def test_wrong_archives_are_rejected_by_name(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_problem(archive(tmp_path / "p.npz", **changes))


def test_files_that_are_no_archives_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "p.npz"
    for content in (b"", b"PK\x03\x04 broken", archive(path).read_bytes()[:200]):
        path.write_bytes(content)
        with pytest.raises(InputError, match="not a NumPy archive that can be read"):
            read_problem(path)
    archive(path)
    monkeypatch.setattr(npz_files, "MOST_BYTES", 100)
    with pytest.raises(InputError, match="archives are limited to 100"):
        read_problem(path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"regions": np.array("abc")}, r"regions has shape \(\): expected a list of names"),
        ({"regions": np.array(3)}, r"regions has shape \(\): expected a list of names"),
        ({"regions": np.array([["a"], ["b"], ["c"]])}, r"regions has shape \(3, 1\)"),
        ({"regions": np.array([0.5, 1, 2])}, "regions: is an array of float64; expected names"),
        ({"regions": np.array([b"a", b"b", b"c"])}, "expected numbers or text"),
        ({"title": np.array(3)}, "title = 3: expected text"),
        ({"geographic": np.array("False")}, "geographic = 'False': expected true or false"),
        ({"constraints": np.array('{"start": NaN}')}, "expected JSON text"),
        ({"vectors": np.ones((3, 1), dtype=complex)}, "expected numbers or text"),
        ({"coordinates": np.array(3.0)}, "coordinates = 3.0: expected a list of rows"),
        ({"learner": np.array(3.0)}, r"learner has shape \(\)"),
    ],
)
def test_arrays_of_another_shape_or_kind_are_rejected(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_problem(archive(tmp_path / "p.npz", **changes))


@pytest.mark.slow
def test_bombs_are_rejected_before_they_are_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "p.npz"
    rows = (PLENTY // 8 + 1000) // 1000
    np.savez_compressed(path, travel=np.zeros((rows, 1000)))
    assert path.stat().st_size < 1_000_000
    tracemalloc.start()
    with pytest.raises(InputError, match=r"may be packed at most 100 to 1: write it with numpy\.savez"):
        read_problem(path)
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


@pytest.mark.parametrize("shape", [(1 << 40, 2), (1 << 62, 1 << 62), (3, 3)])
def test_headers_with_wrong_sizes_are_rejected(tmp_path: Path, shape: tuple[int, ...]) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(archive(tmp_path / "p.npz"), "a") as file:
        file.writestr("initial.npy", header.getvalue() + bytes(48))
    with pytest.raises(InputError, match="bytes, but there are 48"):
        read_problem(tmp_path / "p.npz")


@pytest.mark.parametrize(
    ("name", "kind", "shape", "message"),
    [
        ("regions", "<U0", (3 * 10**7,), "expected numbers or text"),
        ("title", "<U0", (), "expected numbers or text"),
        ("travel", "<f8", (0, 10**15), "travel has 0 rows: a problem needs at least 2 regions"),
        ("travel", "<f8", (10**15, 0), "matrices are limited to 20,000 regions"),
        ("importance", "<f8", (10**15, 0), "importance has 1000000000000000 entries: expected 3"),
    ],
)
def test_arrays_without_bytes_are_rejected_before_they_take_memory(
    tmp_path: Path, name: str, kind: str, shape: tuple[int, ...], message: str
) -> None:
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(archive(tmp_path / "p.npz"), "a") as file:
        file.writestr(f"{name}.npy", header.getvalue())
    assert (tmp_path / "p.npz").stat().st_size < 3000
    tracemalloc.start()
    with pytest.raises(InputError, match=message):
        read_problem(tmp_path / "p.npz")
    assert tracemalloc.get_traced_memory()[1] < 10_000_000
    tracemalloc.stop()


def test_repeated_and_unknown_members_are_rejected(tmp_path: Path) -> None:
    with zipfile.ZipFile(archive(tmp_path / "p.npz"), "a") as file:
        file.writestr("vectors", b"")
    with pytest.raises(InputError, match="'vectors': given twice"):
        read_problem(tmp_path / "p.npz")
    with zipfile.ZipFile(tmp_path / "q.npz", "w") as file:
        file.writestr("vectors", b"3")
    with pytest.raises(InputError, match="'vectors' is not an array"):
        read_problem(tmp_path / "q.npz")


def test_highly_compressible_arrays_are_written_uncompressed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(npz_files, "PLENTY", 10_000)
    size = 400
    problem = Problem(1 - np.eye(size), UNDER, 1 - np.eye(size))
    write_problem(problem, tmp_path / "p.npz")
    assert np.array_equal(read_problem(tmp_path / "p.npz").travel, problem.travel)
