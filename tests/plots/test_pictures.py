from __future__ import annotations

import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.collections import PathCollection
from matplotlib.patches import Rectangle
from matplotlib.text import Annotation, Text

from learnroute import (
    Calibrated,
    Gradient,
    InputError,
    Learner,
    Problem,
    Proximal,
    compare,
    compare_learners,
    evaluate,
    plan,
    read_problem,
    tradeoff,
    visit_curve,
)
from learnroute.model.scaling import scaled_places
from learnroute.model.value import Loss
from learnroute.plots import draw_comparison, draw_plan
from learnroute.plots.label_placement import LABEL
from learnroute.plots.losses import segments_of
from learnroute.study.families import random_problem
from samples import OVER, UNDER, small

EXAMPLES = Path(__file__).parents[2] / "examples"


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
    plan(problem, "algorithm1").save(tmp_path / "a.png")
    zero = Problem(np.zeros((size, size)), UNDER, np.zeros((size, size)))
    plan(zero).save(tmp_path / "b.svg")
    draw_comparison(compare(zero, ["nearest"]), zero).savefig(tmp_path / "c.png")
    assert (tmp_path / "a.png").stat().st_size > 10_000


def test_comparison_names_the_problem() -> None:
    problem = small().replace(title="Harbour")
    found = compare(problem, ["nearest", "baseline"])
    assert draw_comparison(found, problem).get_suptitle().startswith("Harbour: 2 methods compared")
    assert draw_comparison(found, problem, title="Mine").get_suptitle().startswith("Mine: 2 methods")
    assert draw_comparison(found, problem.replace(title="")).get_suptitle().startswith("4 regions: ")


def test_same_plan_same_picture(tmp_path: Path) -> None:
    problem = small()
    for name in ("a.svg", "b.svg"):
        plan(problem).save(tmp_path / name)
    sizes = {(tmp_path / name).stat().st_size for name in ("a.svg", "b.svg")}
    assert len(sizes) == 1


def test_learners_have_their_legend_below_the_curves_and_the_best_λ_labelled() -> None:
    problem = small(Learner(30, 20, 0.3))
    found = compare_learners(problem)
    figure = found.plot()
    figure.draw_without_rendering()
    axes, legend = figure.axes[0], figure.legends[0]
    assert legend.get_window_extent().y1 < axes.get_window_extent().y0
    curve = min(found.curves, key=lambda one: min(one.totals))
    best = found.regularizations[curve.totals.index(min(curve.totals))]
    assert [text.get_text() for text in axes.texts] == [f"best λ = {float(f'{best:.2g}'):g}"]


def test_long_titles_are_wrapped_and_travel_has_its_unit() -> None:
    places = [[4.9, 52.4], [5.1, 52.1], [4.5, 51.9], [6.6, 53.2]]
    problem = small(travel=None, coordinates=places, geographic=True, title=20 * "very long ")
    for found in (tradeoff(problem), visit_curve(problem)):
        figure = found.plot()
        figure.draw_without_rendering()
        assert figure.axes[0].get_xlabel() == "travel of the whole route (km)"
        title = next(text for text in figure.texts if text.get_text() == figure.get_suptitle())
        assert title.get_window_extent().x1 < figure.bbox.x1


def test_numbers_of_visits_are_off_curves_and_each_other() -> None:
    problem = read_problem(EXAMPLES / "north-sea.json")
    figure = visit_curve(problem).plot()
    figure.draw_without_rendering()
    boxes = np.array([Text.get_window_extent(text).extents for text in figure.axes[0].texts])
    assert len(boxes) == problem.size + 1  # and the initial model
    low, high = boxes[:, :2], boxes[:, 2:]
    assert ((low[:, None] < high) & (low < high[:, None])).all(axis=2).sum() == len(boxes)  # each with itself


def test_lines_to_far_labels_end_at_the_edge_of_their_marks() -> None:
    rng = np.random.default_rng(1)
    places = np.concatenate([[[0, 0], [100, 60]], [50, 30] + rng.random((6, 2)) * [26, 26]])
    names = [f"A rather long name {k}" for k in range(8)]
    problem = Problem(None, UNDER, vectors=rng.normal(size=(8, 3)), coordinates=places, regions=names)
    figure = draw_plan(plan(problem), problem)
    axes = figure.axes[0]
    sizes = [one.get_sizes() for one in axes.collections if isinstance(one, PathCollection)]
    radii = [np.sqrt(size[0]) / 2 for size in sizes if len(size)]
    notes = [text for text in axes.texts if isinstance(text, Annotation) and text.get_gid() == LABEL]
    led = [text for text in notes if text.arrow_patch is not None and text.arrow_patch.get_visible()]
    assert led
    for text in led:
        assert text.arrowprops is not None
        end = text.arrowprops["shrinkB"]
        assert min(abs(radius - end) for radius in radii) < 1e-9


def test_without_matplotlib_the_remedy_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(InputError, match=r"pip install matplotlib, or pip install '\.\[plot\]'"):
        plan(small()).save(tmp_path / "a.png")


PROXIMAL = Proximal(60, 200, 0.5, regularization=12.0)
TAKEN_OFF = {
    "proximal": (PROXIMAL, {"gain from averaging models"}, "proximal, λ = 12"),
    "schedule": (
        replace(PROXIMAL, regularization=(1.0, 2.0, 3.0, 4.0)),
        {"gain from averaging models"},
        "proximal, λ = 1 … 4 by position",
    ),
    "gradient": (Gradient(60, 200, 0.5, steps=3, rate=0.3), {"gain from averaging models"}, "3 gradient steps of 0.3"),
    "calibrated": (
        Calibrated(noise=-9.0, retention=0.7, coupling=0.3),
        {"gain from averaging models", "error from noise (taken off)"}, "calibrated, p₁ = 0.7, q = 0.3",
    ),
    "long steps": (Gradient(2, 100_000, steps=1, rate=1.9), None, "1 gradient step of 1.9"),
}  # fmt: skip


@pytest.mark.parametrize(("learner", "taken_off", "said"), TAKEN_OFF.values(), ids=TAKEN_OFF)
def test_bars_add_up_to_the_total_and_the_learner_is_named(
    learner: Learner, taken_off: set[str] | None, said: str
) -> None:
    problem = small(UNDER).replace(learner=learner, initial=[30.0, 0.0, 40.0, 20.0])
    found = plan(problem)
    if taken_off is not None:
        assert {segment.name for segment in segments_of([found.loss]) if segment.height < 0} == taken_off
    figure = draw_plan(found, problem)
    assert said in figure.get_suptitle()
    axes = figure.axes[1]
    bars = [bar for bar in axes.patches if isinstance(bar, Rectangle)]
    size = found.loss.magnitude
    assert math.fsum(bar.get_height() for bar in bars) == pytest.approx(found.loss.total, abs=1e-3 * size)
    low, high = axes.get_ylim()
    assert all(low <= y <= high for bar in bars for y in (bar.get_y(), bar.get_y() + bar.get_height()))
    legend = axes.get_legend()
    assert legend is not None
    labels = {text.get_text().split("  ")[0] for text in legend.get_texts()} - {"total", "lower bound"}
    assert labels == {segment.name for segment in segments_of([found.loss])}
    compared = compare(problem, ["exact", "travel", "nearest"])
    figure = draw_comparison(compared, problem)
    assert said in figure.get_suptitle().replace("\n", " ")
    losses = [row.loss for row in compared.rows if row.loss is not None]
    for k, loss in enumerate(losses):
        bars = [bar for bar in figure.axes[0].patches if isinstance(bar, Rectangle)]
        own = [bar for bar in bars if round(bar.get_x() + bar.get_width() / 2) == k]
        assert math.fsum(bar.get_height() for bar in own) == pytest.approx(loss.total, abs=1e-3 * loss.magnitude)
    labels = {text.get_text() for legend in figure.legends for text in legend.get_texts()}
    assert {segment.name for segment in segments_of(losses)} <= labels


def test_the_lambda_that_was_chosen_is_named() -> None:
    problem = small(UNDER).replace(learner=replace(PROXIMAL, regularization="auto"), initial=[30.0, 10.0, 40.0, 20.0])
    found = plan(problem)
    assert found.learner is not None
    wanted = f"proximal, λ = {found.learner.fixed_regularization[0]:.4g}"
    assert wanted in draw_plan(found, problem).get_suptitle()  # the problem as it was asked
    assert wanted in draw_comparison(compare(problem, ["travel"]), problem).get_suptitle().replace("\n", " ")


@given(st.lists(st.lists(st.floats(-10, 10), min_size=5, max_size=5), min_size=1, max_size=4))
def test_segments_lead_from_zero_to_the_total(parts: list[list[float]]) -> None:
    losses = [Loss(math.fsum(each), *each) for each in parts]
    segments = segments_of(losses)
    for k, loss in enumerate(losses):
        own = [segment for segment in segments if segment.bar == k]
        at = 0.0
        for segment in own:  # each begins where the one before ends
            assert segment.bottom == pytest.approx(at, abs=1e-9)
            at += segment.height
        assert at == pytest.approx(loss.total, abs=5e-4 * max(one.magnitude for one in losses))
        signs = [segment.height > 0 for segment in own]
        assert signs == sorted(signs, reverse=True)
