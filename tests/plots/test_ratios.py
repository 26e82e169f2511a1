from __future__ import annotations

from pathlib import Path

import pytest

from learnroute import InputError
from learnroute.cli import run
from learnroute.plots import draw_ratios
from learnroute.plots.lines import style_of
from learnroute.solvers.methods import METHODS
from learnroute.study.cells import Row
from learnroute.study.experiment import Experiment
from learnroute.study.store import Store
from learnroute.study.summary import Statistics, grouped_ratios
from learnroute.study.sweeps import sweep

WIDE = Experiment(("uniform", "closure"), (2, 3, 4), (80, 120), noise=(0.0, 1.0), replicates=4, draws=2)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("figures") / "sweep"
    sweep(WIDE, place, workers=1)
    return place


@pytest.fixture
def rows(folder: Path) -> list[Row]:
    return list(Store(folder).rows())


def test_lines_go_through_the_means(rows: list[Row]) -> None:
    figure = draw_ratios(rows, "regions", {"family": "closure", "noise": 0.0, "features": 80})
    (axes,) = figure.axes
    shown = {"family": "closure", "noise": 0.0, "features": 80, "method": "baseline"}
    wanted = grouped_ratios([row for row in rows if shown.items() <= row.items()], ["regions"])
    (line,) = [line for line in axes.lines if line.get_label() == "baseline"]
    assert list(line.get_xdata()) == [2, 3, 4]  # type: ignore[arg-type]
    assert list(line.get_ydata()) == pytest.approx([Statistics.of(wanted[t,]).mean for t in (2, 3, 4)])  # type: ignore[arg-type]
    assert figure.get_supylabel() == "loss ÷ optimum"
    assert "4 problems per point" in figure.get_suptitle()


def test_every_method_has_its_own_style_and_name() -> None:
    looks = [style_of(name) for name in METHODS]
    assert [look.name for look in looks] == list(METHODS)
    assert len({look.colour for look in looks}) == len({look.marker for look in looks}) == len(METHODS)
    exact, search = style_of("exact"), style_of("search")
    assert exact.dash != search.dash
    assert exact.width > 2 * search.width  # one is seen below the other


def test_a_panel_for_every_other_dimension(rows: list[Row]) -> None:
    figure = draw_ratios(rows)  # regions vary most
    assert len(figure.axes) == 8
    assert figure.axes[0].get_title() == "family uniform, m = 80, σ = 0"
    assert len(draw_ratios(rows, "noise").axes) == 12
    assert len(draw_ratios(rows, "features", {"regions": 3}, "spread").axes) == 4


def test_bounds_are_not_reported_as_optima(tmp_path: Path) -> None:
    sweep(Experiment("uniform", (5, 6), 80, methods=("nearest",), replicates=2), tmp_path / "a", workers=1)  # type: ignore[arg-type]
    assert draw_ratios(Store(tmp_path / "a").rows()).get_supylabel() == "loss ÷ best lower bound"


def test_too_many_panels_and_empty_data_are_rejected(rows: list[Row]) -> None:
    with pytest.raises(InputError, match="nothing to draw"):
        draw_ratios(rows, where={"family": "vectors"})
    more = [{**row, "samples": n} for row in rows for n in (100, 101)]
    with pytest.raises(InputError, match=r"16 panels .*: at most 12 are legible; choose, e.g. --where family=closure"):
        draw_ratios(more, "regions")


def test_the_command_takes_stores_and_files_together(folder: Path, tmp_path: Path) -> None:
    assert run(["rows", str(folder), "-o", str(tmp_path / "rows.csv")]) == 0
    for name, extra in (("a.png", []), ("b.svg", ["--where", "noise=1", "--band", "spread"])):
        sources = [str(folder), str(tmp_path / "rows.csv")]
        assert run(["plot", *sources, "--x", "regions", "-o", str(tmp_path / name), *extra]) == 0
        assert (tmp_path / name).stat().st_size > 10_000
