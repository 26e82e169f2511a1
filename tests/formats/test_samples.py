"""Samples from CSV: round trips, and errors that name the region."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from learnroute import InputError
from learnroute.formats.samples import causes, read_samples, write_samples

GOOD = "a,y,b\n1,10,2\n3,30,4\n"


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / f"{name}.csv").write_text(text)
    return tmp_path


def test_folder_has_one_file_per_region(tmp_path: Path) -> None:
    found = read_samples(folder(tmp_path, north=GOOD, south="b,a,y\n5,6,7\n"), "y")
    assert list(found) == ["north", "south"]
    assert found["north"].columns == ("a", "b")
    assert found["north"].features.tolist() == [[1, 2], [3, 4]]
    assert found["north"].targets.tolist() == [10, 30]
    assert found["south"].columns == ("b", "a")


def test_a_table_is_grouped_by_its_region_column(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("a,where,y\n1,south,2\n3,north,4\n5,south,6\n")
    found = read_samples(path, "y", "where")
    assert list(found) == ["north", "south"]
    assert found["south"].features.tolist() == [[1], [5]]
    assert found["south"].targets.tolist() == [2, 6]
    assert found["south"].columns == ("a",)


def test_missing_cells_are_nan_whatever_they_are_called(tmp_path: Path) -> None:
    found = read_samples(folder(tmp_path, north="a,y\n,1\nNA,2\nnan,3\nNULL,4\n5,\n"), "y")["north"]
    assert np.isnan(found.features[:4, 0]).all()
    assert np.isnan(found.targets[4])


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,y\n1,2\nred,4\n", "line 3, a = 'red': expected a number"),
        ("a,b\n1,2\n", "column 'y' is missing; columns are a, b"),
        ("y,y\n1,2\n", "column 'y' is given twice"),
        ("y\n1\n", "no column besides 'y'"),
        ("a,y\n1,2,3\n", "line 2: 3 cells, but the header has 2"),
        ("", "empty"),
    ],
)
def test_invalid_files_fail_alone(tmp_path: Path, text: str, problem: str) -> None:
    found = read_samples(folder(tmp_path, bad=text, good=GOOD), "y")
    assert problem in (found["bad"].problem or "")
    assert found["good"].problem is None


def test_a_bad_row_fails_its_region_alone(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("a,where,y\n1,south,2\nred,north,4\n5,south,6\n")
    found = read_samples(path, "y", "where")
    assert "line 3, a = 'red'" in (found["north"].problem or "")
    assert found["south"].problem is None


def test_members_that_concern_all_regions_are_rejected(tmp_path: Path) -> None:
    path = tmp_path / "all.csv"
    path.write_text("a,where,y\n1,,2\n")
    for target, region, message in (
        ("y", None, "--region is missing; give the column with the region names"),
        ("z", "where", "column 'z' is missing; columns are a, where, y"),
        ("y", "place", "column 'place' is missing"),
        ("y", "y", "cannot be both"),
        ("y", "where", "line 2: column 'where' is empty"),
    ):
        with pytest.raises(InputError, match=message):
            read_samples(path, target, region)
    with pytest.raises(InputError, match="omit --region"):
        read_samples(tmp_path, "y", "where")
    with pytest.raises(InputError, match="no such file"):
        read_samples(tmp_path / "none.csv", "y", "where")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"no \.csv files"):
        read_samples(tmp_path / "empty", "y")


def test_written_samples_read_back(tmp_path: Path) -> None:
    features, targets = np.array([[0.1, 1e-17], [2.0, 3.5]]), np.array([1 / 3, -2.0])
    write_samples(tmp_path / "north.csv", ["a", "b"], "y", features, targets)
    found = read_samples(tmp_path, "y")["north"]
    np.testing.assert_array_equal(found.features, features)
    np.testing.assert_array_equal(found.targets, targets)


def test_columns_may_be_skipped(tmp_path: Path) -> None:
    found = read_samples(folder(tmp_path, north="t,a,y\nnoon,1,2\nnight,3,4\n"), "y", skip=["t"])["north"]
    assert found.columns == ("a",)
    assert found.features.tolist() == [[1.0], [3.0]]
    table = tmp_path / "all.csv"
    table.write_text("where,note,a,y\nN,x,1,2\nS,z,3,4\n")
    assert read_samples(table, "y", "where", ["note"])["S"].features.tolist() == [[3.0]]
    with pytest.raises(InputError, match=r"column 'nota' is missing; did you mean note\?"):
        read_samples(table, "y", "where", ["nota"])
    assert "cannot be both" in str(read_samples(table, "y", "where", ["y"])["S"].problem)


def test_common_cause_is_reported_once() -> None:
    failures = {
        "A": "d/A.csv, line 2, time = 'noon': expected a number",
        "B": "d/B.csv, line 7, time = 'night': expected a number",
        "C": "d/C.csv: column 'y' is missing",
    }
    assert causes(failures) == [
        "A and 1 more region: time = 'noon': expected a number",
        "C: d/C.csv: column 'y' is missing",
    ]
    del failures["C"]
    assert causes(failures) == ["A and 1 more region: time = 'noon': expected a number"]
    assert causes({}) == []
