from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from learnroute import InputError, Problem, compare, evaluate, plan
from learnroute.plots import draw_comparison, draw_plan, save_plan
from learnroute.plots.scaling import scaled_places
from learnroute.study.families import random_problem
from samples import OVER, UNDER, small


@pytest.mark.parametrize("size", [12, 700])
def test_scaling_finds_points_of_the_plane_again(size: int) -> None:
    problem = random_problem("euclidean", size, UNDER, 1)
    places = scaled_places(problem.travel)
    distances = np.hypot(*(places[:, None] - places[None]).T)
    assert distances == pytest.approx(problem.travel, abs=1e-9)


def test_a_picture_shows_names_order_and_parts() -> None:
    problem = small(OVER)
    found = evaluate(problem, ["A", "C", "B", "D"])
    figure = draw_plan(found, problem)
    route_axes, loss_axes = figure.axes[0], figure.axes[1]
    texts = [text.get_text() for text in route_axes.texts]
    assert {"A", "B", "C", "D", "1", "2", "3", "4"} <= set(texts)
    labels = [text.get_text() for text in loss_axes.get_legend().get_texts()]  # type: ignore[union-attr]
    assert any(label.startswith("lower bound") for label in labels)
    assert sum(bar.get_height() for bar in loss_axes.patches) == pytest.approx(found.loss.total, rel=1e-3)  # type: ignore[attr-defined]


@pytest.mark.parametrize("size", [2, 3, 50, 150])
def test_pictures_of_all_sizes_and_of_nothing_at_all(size: int, tmp_path: Path) -> None:
    problem = random_problem("uniform", size, OVER, 1)
    save_plan(plan(problem, "algorithm1"), problem, tmp_path / "a.png")
    zero = Problem(np.zeros((size, size)), UNDER, np.zeros((size, size)))
    save_plan(plan(zero), zero, tmp_path / "b.svg")
    draw_comparison(compare(zero, ["nearest"]), zero).savefig(tmp_path / "c.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_a_comparison_says_of_what() -> None:
    problem = small().changed(title="Harbour")
    found = compare(problem, ["nearest", "baseline"])
    assert draw_comparison(found, problem).get_suptitle().startswith("Harbour: 2 methods compared")
    assert draw_comparison(found, problem, title="Mine").get_suptitle().startswith("Mine: 2 methods")
    assert draw_comparison(found, problem.changed(title="")).get_suptitle().startswith("4 regions: ")


def test_same_plan_same_picture(tmp_path: Path) -> None:
    problem = small()
    for name in ("a.svg", "b.svg"):
        save_plan(plan(problem), problem, tmp_path / name)
    sizes = {(tmp_path / name).stat().st_size for name in ("a.svg", "b.svg")}
    assert len(sizes) == 1


def test_without_matplotlib_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install matplotlib, or pip install '\.\[plot\]'"):
        save_plan(plan(small()), small(), tmp_path / "a.png")
