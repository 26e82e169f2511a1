"""The examples run, and the documents have their results."""

from __future__ import annotations

import json
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
FLIGHTS = ROOT / "examples" / "flights"


@pytest.fixture
def flights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(FLIGHTS))


def test_feature_map_example(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(ROOT / "examples" / "feature_map.py"), run_name="__main__")
    lines = capsys.readouterr().out.splitlines()
    plain, mapped = (float(line.split()[3].rstrip(",")) for line in lines if "average final error" in line)
    assert mapped < 0.6 * plain


@pytest.mark.usefixtures("flights")
def test_great_circle_distances() -> None:
    import flights_data  # type: ignore[import-not-found]

    boston_chicago_quito_and_its_antipode = [[42.36, -71.01], [41.98, -87.90], [0.0, -78.5], [0.0, 101.5]]
    found = flights_data.great_circle(np.array(boston_chicago_quito_and_its_antipode))
    assert found[0, 1] == pytest.approx(1395, rel=0.01)
    assert found[2, 3] == pytest.approx(np.pi * 6371)
    np.testing.assert_array_equal(found, found.T)


@pytest.mark.usefixtures("flights")
def test_flights_example_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import run  # type: ignore[import-not-found]

    monkeypatch.setattr(run, "LEAST_FLIGHTS", 13_500)
    monkeypatch.setattr(run, "TESTED", 200)
    monkeypatch.setattr(run, "SETTINGS", {"under": run.SETTINGS["under"]})
    monkeypatch.setattr(sys, "argv", ["run.py", "--seeds", "2", "--orders", "3", "--output", str(tmp_path)])
    run.main()
    out, err = capsys.readouterr()
    assert "under regime, m = 11, n = 100" in out
    assert "under: followed exact" in err
    (result,) = json.loads((tmp_path / "results.json").read_text())
    assert len(result["regions"]) == 5
    assert {row["order"] for row in result["rows"]} >= {"exact", "algorithm1", "best of 3", "worst of 3"}
    no_model = result["references"]["no model (0)"]["mean"]
    assert all(200 < row["error"]["mean"] < no_model for row in result["rows"])
    assert (tmp_path / "flights.png").read_bytes().startswith(b"\x89PNG")


def test_the_flights_page_shows_the_stored_results() -> None:
    page = (ROOT / "docs" / "appendix" / "flights.md").read_text()
    for result in json.loads((FLIGHTS / "results.json").read_text()):
        rows: list[dict[str, Any]] = result["rows"]
        for row in rows:
            error = row["error"]
            assert f"| {row['order']} | {error['mean']:.1f} ± {error['half']:.1f} |" in page
        for name, value in result["references"].items():
            assert f"| {name} | {value['mean']:.1f} ± {value['half']:.1f} |" in page
