from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.text import Text

from learnroute import Constraints, Problem, plan
from learnroute.formats import read_problem
from learnroute.model.validation import FloatArray
from learnroute.plots import draw_plan
from learnroute.plots.label_placement import LABEL, Obstacles, clipped_lengths, place_labels
from learnroute.plots.maps import degrees
from learnroute.plots.routes import MOST_MARKS, MOST_NAMES
from samples import UNDER

EXAMPLES = Path(__file__).parents[2] / "examples"
DPI = 150  # as pictures are written


def waypoints(size: int) -> Problem:
    rng = np.random.default_rng(3)
    places = rng.random((size, 2)) * [30, 20]
    names = [f"Waypoint {k}" for k in range(1, size + 1)]
    return Problem(None, UNDER, vectors=rng.normal(size=(size, 3)), coordinates=places, regions=names)


def there_and_back() -> Problem:
    return read_problem(EXAMPLES / "city-survey.json").replace(constraints=Constraints(returns=True))


PROBLEMS: dict[str, Callable[[], Problem]] = {
    "burma14": lambda: read_problem(EXAMPLES / "burma14" / "burma14.tsp"),
    "city survey": lambda: read_problem(EXAMPLES / "city-survey.json"),
    "lakes": lambda: read_problem(EXAMPLES / "lakes.geojson"),
    "North Sea": lambda: read_problem(EXAMPLES / "north-sea.json"),
    "warehouse": lambda: read_problem(EXAMPLES / "warehouse-robot.json"),
    "40 waypoints": lambda: waypoints(40),
    "there and back": there_and_back,
    "streets": lambda: read_problem(EXAMPLES / "old-town" / "old-town.graphml"),
}


def draw(problem: Problem) -> Axes:
    figure = draw_plan(plan(problem, "nearest"), problem)
    figure.set_dpi(DPI)
    figure.draw_without_rendering()
    return figure.axes[0]


def label_boxes(axes: Axes) -> FloatArray:
    """The boxes of all labels, without the lines to their marks, in points."""
    texts = [text for text in axes.texts if text.get_gid() == LABEL]
    return np.array([Text.get_window_extent(text).extents for text in texts]) * 72 / DPI


def marks(axes: Axes) -> tuple[FloatArray, FloatArray]:
    """Centres and radii of all marks, in points."""
    dots = [one for one in axes.collections if isinstance(one, PathCollection)]
    places = [np.asarray(one.get_offsets()) for one in dots]
    radii = [np.full(len(place), np.sqrt(one.get_sizes()[0]) / 2) for one, place in zip(dots, places, strict=True)]
    return axes.transData.transform(np.concatenate(places)) * 72 / DPI, np.concatenate(radii)


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_label_is_on_a_label_a_mark_or_the_frame(name: str) -> None:
    problem = PROBLEMS[name]()
    axes = draw(problem)
    boxes = label_boxes(axes)
    assert len(boxes) == problem.size
    low, high = boxes[:, :2], boxes[:, 2:]
    overlap = ((low[:, None] < high) & (low < high[:, None])).all(axis=2)
    assert overlap.sum() == problem.size  # each with itself
    spots, radii = marks(axes)
    apart = np.clip(spots[:, None], low, high) - spots[:, None]
    assert (np.hypot(apart[..., 0], apart[..., 1]) > radii[:, None]).all()
    frame = np.array(axes.bbox.extents) * 72 / DPI
    assert (low > frame[:2]).all()
    assert (high < frame[2:]).all()


@pytest.mark.parametrize("name", ["city survey", "North Sea", "streets"])
def test_maps_have_equal_scales_and_fill_the_frame(name: str) -> None:
    problem = PROBLEMS[name]()
    axes = draw(problem)
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    width, height = axes.bbox.size
    stretch = 1 / np.cos(np.radians((bottom + top) / 2)) if problem.geographic else 1.0
    assert (right - left) / stretch / width == pytest.approx((top - bottom) / height, rel=1e-6)
    line = np.asarray(axes.lines[0].get_xydata())
    share = np.ptp(line, axis=0) / [right - left, top - bottom]
    assert share.min() > 0.7
    assert (axes.get_xlabel(), axes.get_ylabel()) == (
        ("longitude", "latitude") if problem.geographic else ("x", "y")
    )  # fmt: skip


def test_arrows_lead_along_the_streets() -> None:
    problem = PROBLEMS["streets"]()
    axes = draw(problem)
    arrows = [text for text in axes.texts if text.arrow_patch is not None and not text.get_text()]  # type: ignore[attr-defined]
    assert len(arrows) >= problem.size - 1
    line = axes.transData.transform(np.asarray(axes.lines[0].get_xydata()))
    segments = np.concatenate([line[:-1], line[1:]], axis=1)
    for arrow in arrows:
        x, y = axes.transData.transform(arrow.xy)  # type: ignore[attr-defined]
        assert clipped_lengths(segments, np.array([x - 1, y - 1, x + 1, y + 1])).max() > 0


def test_many_regions_have_numbers_and_very_many_a_coloured_line() -> None:
    texts = [text.get_text() for text in draw(waypoints(MOST_NAMES + 1)).texts]
    assert "61" in texts
    assert not any("Waypoint" in text for text in texts)
    axes = draw(waypoints(MOST_MARKS + 1))
    assert len(marks(axes)[0]) == 2
    assert len(axes.texts) == 2
    assert len(np.unique(axes.collections[0].get_colors(), axis=0)) > 100  # type: ignore[attr-defined]


def test_names_are_written_as_they_are() -> None:
    problem = Problem([[0, 1], [1, 0]], UNDER, [[0, 1], [1, 0]], regions=["$a_b$", "longer" * 20], title="$x")
    texts = {text.get_text() for text in draw(problem).texts}
    assert "$a_b$" in texts
    assert max(map(len, texts)) <= 30


def test_regions_on_both_sides_of_the_date_line_stay_together() -> None:
    places = [[179.0, -17.0], [-179.0, -16.0], [178.0, -18.0]]
    problem = Problem(None, UNDER, np.ones((3, 3)) - np.eye(3), coordinates=places, geographic=True)
    axes = draw(problem)
    assert np.ptp(axes.get_xlim()) < 10
    shown = [text.get_text() for text in axes.get_xticklabels()]
    assert any(text.endswith("W") for text in shown)
    assert any(text.endswith("E") for text in shown)
    assert [degrees(x, "E", "W") for x in (0.0, 5.5, -12.0, 180.0)] == ["0°", "5.5°E", "12°W", "180°"]


def test_labels_without_room_are_omitted() -> None:
    marks = np.full((50, 2), 50.0)
    obstacles = Obstacles(marks, np.full(50, 3.0), np.empty((0, 4)), np.empty((0, 2)), np.array([0.0, 0, 100, 100]))
    placed = place_labels(np.full((50, 2), [30.0, 10.0]), np.arange(50), obstacles)
    assert 4 <= placed.free.sum() < 50


def test_lengths_inside_boxes() -> None:
    lines = np.array([[0, 0, 10, 0], [0, 5, 10, 5], [2, -5, 2, 5], [3, 0, 4, 0], [0, 0, 4, 4]], dtype=float)
    lengths = clipped_lengths(lines, np.array([1, -1, 6, 1], dtype=float))
    assert lengths == pytest.approx([5, 0, 2, 1, 0])
