"""Placement of labels beside their marks, clear of other labels, marks, lines and the frame.

Each label has candidate positions around its mark (point-feature label placement; Christensen, Marks and Shieber
1995). All labels start at their cheapest position; sweeps then move each label to the best position given all others.
Nothing is random. Lengths are in points; boxes are (left, lower, right, upper).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.model.validation import FloatArray, IntArray
from learnroute.plots.pictures import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BoolArray = NDArray[np.bool_]

DIRECTIONS = 16
GAPS = (2.5, 8.0, 15.0, 24.0, 36.0, 50.0)  # between a mark and its label
FAR = 12.0  # gap from which a line connects the label to its mark
CLEAR = 1.5  # free space around boxes
NEAR = 7.0  # a label may seem to belong to another mark that is closer than this
SWEEPS = 12
ROUNDS = 8  # of sweeps; the cost of remaining overlaps increases from round to round
KEPT = 40  # number of candidates per label, the cheapest ones
CROSSING = 6.0  # cost if a label's line crosses another label or mark
HARD = 100.0  # cost of an overlap with a label, a mark, or the outside
LABEL = "label"  # the group id of labels
POINTS = 72.0  # per inch
RADIUS, RING = 4.0, 9.0  # points: of the marks of a curve, and of a ring around one of them


class Obstacles(NamedTuple):
    """The obstacles that labels avoid."""

    marks: FloatArray  # centres of the marks, including the labels' own, x 2
    radii: FloatArray  # of the marks
    lines: FloatArray  # segments: from x, from y, to x, to y
    arrows: FloatArray  # centres of arrow heads
    frame: FloatArray  # one box


class Placement(NamedTuple):
    """The positions of placed labels."""

    centres: FloatArray  # of the labels' boxes
    far: BoolArray  # whether each label needs a line to its mark
    free: BoolArray  # whether each label overlaps nothing; others should be omitted


def fix_layout(figure: Figure) -> None:
    """Lay out the figure once, so that positions in points are final."""
    from matplotlib import rc_context

    figure.draw_without_rendering()
    with rc_context({"figure.autolayout": False, "figure.constrained_layout.use": False}):
        figure.set_layout_engine(None)  # unlike "none", which lets matplotlib draw twice to save the figure


def in_points(axes: Axes, places: FloatArray) -> FloatArray:
    """Return positions on paper, in points from the lower left corner of the axes."""
    return np.asarray((axes.transData.transform(places) - axes.bbox.p0) * POINTS / axes.figure.dpi)


def frame_of(axes: Axes) -> FloatArray:
    """Return the box of the axes, in points."""
    return np.concatenate([[0, 0], POINTS * np.array(axes.bbox.size) / axes.figure.dpi])


def draw_labels(
    axes: Axes, texts: Mapping[int, str], places: FloatArray, obstacles: Obstacles, font: float = 9,
    colours: Mapping[int, str] | None = None, strict: bool = True,
) -> None:  # fmt: skip
    """Write texts beside the marks with these indices; labels without a free position are omitted.

    A label that is far from its mark is connected to it by a line, which ends at the edge of the mark.
    """
    from matplotlib.patheffects import withStroke

    if not texts:
        return
    halo = [withStroke(linewidth=2.2 if strict else 3.0, foreground="white")]
    labels = [
        axes.annotate(
            text, places[k], xytext=(0, 0), textcoords="offset points", ha="center", va="center", fontsize=font,
            zorder=6, gid=LABEL, color=(colours or {}).get(k, "black"), parse_math=False, in_layout=False,
            path_effects=halo,
            arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": obstacles.radii[k],
                        "relpos": (0.5, 0.5)},
        )
        for k, text in texts.items()
    ]  # fmt: skip
    sizes = np.array([label.get_window_extent().size for label in labels]) * POINTS / axes.figure.dpi
    own = np.array(list(texts))
    placed = place_labels(sizes, own, obstacles, strict=strict)
    for label, centre, k, far, free in zip(labels, placed.centres, own, placed.far, placed.free, strict=True):
        label.set_position(tuple(centre - obstacles.marks[k]))
        if not far and label.arrow_patch is not None:
            label.arrow_patch.set_visible(False)
        if not free:
            label.remove()


def label_curves(
    axes: Axes, texts: Mapping[int, str], places: FloatArray, curves: Sequence[FloatArray],
    colours: Mapping[int, str] | None = None, ring_index: int | None = None,
) -> None:  # fmt: skip
    """Label points of curves, each an array of positions; the mark of one point is a wide ring."""
    bends = [in_points(axes, curve) for curve in curves]
    lines = np.concatenate([np.concatenate([way[:-1], way[1:]], axis=1) for way in bends])
    marks = in_points(axes, places)
    radii = np.where(np.arange(len(marks)) == ring_index, RING, RADIUS)
    obstacles = Obstacles(marks, radii, lines, np.empty((0, 2)), frame_of(axes))
    draw_labels(axes, texts, places, obstacles, colours=colours)


def place_labels(sizes: FloatArray, own: IntArray, obstacles: Obstacles, strict: bool = True) -> Placement:
    """Place labels of these widths and heights beside their own marks; if not `strict`, small marks may be covered."""
    sizes = sizes + 2 * CLEAR
    spots, radii = obstacles.marks[own], obstacles.radii[own]
    centres, gaps = _candidates(sizes, spots, radii)
    boxes = np.concatenate([centres - sizes[:, None] / 2, centres + sizes[:, None] / 2], axis=2)
    leaders = np.where((gaps >= FAR)[..., None], _leaders(boxes, spots), np.nan)
    alone = np.array([
        _unary_costs(boxes[i], leaders[i], gaps[i], own[i], obstacles, strict) for i in range(len(sizes))
    ])  # fmt: skip
    cheap = np.argsort(alone, axis=1, kind="stable")[:, :KEPT]
    rows = np.arange(len(sizes))[:, None]
    alone, boxes, leaders, centres = alone[rows, cheap], boxes[rows, cheap], leaders[rows, cheap], centres[rows, cheap]
    chosen = _sweeps(alone, boxes, leaders)
    every = rows[:, 0]
    hit = _overlapping_pairs(boxes[every, chosen])
    free = alone[every, chosen] < HARD if strict else np.ones(len(sizes), dtype=bool)
    while (left := hit & free & free[:, None]).any():  # omit the labels with the most overlaps, the last one first
        free[len(free) - 1 - int(np.argmax(left.sum(axis=1)[::-1]))] = False
    far = ~np.isnan(leaders[every, chosen, 0])
    return Placement(centres[every, chosen], far, free)


def clipped_lengths(lines: FloatArray, boxes: FloatArray) -> FloatArray:
    """Return the length of each line inside each box, lines broadcast against boxes (Liang and Barsky)."""
    start, way = lines[..., :2], lines[..., 2:] - lines[..., :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        to_low, to_high = (boxes[..., :2] - start) / way, (boxes[..., 2:] - start) / way
    inside = (start > boxes[..., :2]) & (start < boxes[..., 2:])
    level = way == 0
    enter = np.where(level, np.where(inside, -np.inf, np.inf), np.minimum(to_low, to_high)).max(axis=-1)
    leave = np.where(level, np.where(inside, np.inf, -np.inf), np.maximum(to_low, to_high)).min(axis=-1)
    part = np.clip(np.minimum(leave, 1) - np.maximum(enter, 0), 0, 1)
    length: FloatArray = np.nan_to_num(part * np.hypot(way[..., 0], way[..., 1]))
    return length


def _candidates(sizes: FloatArray, spots: FloatArray, radii: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the centres of all candidate boxes of each label, and their gaps to the mark."""
    angles = 2 * np.pi * np.arange(DIRECTIONS) / DIRECTIONS
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    slides = np.clip(np.sqrt(2) * rays, -1, 1) / 2  # a side, or a corner, faces the mark
    gaps = np.repeat(GAPS, DIRECTIONS)
    rays, slides = np.tile(rays, (len(GAPS), 1)), np.tile(slides, (len(GAPS), 1))
    reach = radii[:, None, None] + gaps[:, None]
    centres = spots[:, None] + reach * rays + slides * sizes[:, None]
    return centres, np.broadcast_to(gaps, centres.shape[:2])


def _leaders(boxes: FloatArray, spots: FloatArray) -> FloatArray:
    """Return the lines from marks to the nearest points of their boxes."""
    goals = np.clip(spots[:, None], boxes[..., :2], boxes[..., 2:])
    return np.concatenate([np.broadcast_to(spots[:, None], goals.shape), goals], axis=2)


def _unary_costs(
    boxes: FloatArray, leaders: FloatArray, gaps: FloatArray, own: int, obstacles: Obstacles, strict: bool
) -> FloatArray:
    """Return the cost of each candidate of a label, regardless of the other labels."""
    outside = np.maximum(obstacles.frame[:2] - boxes[:, :2], 0) + np.maximum(boxes[:, 2:] - obstacles.frame[2:], 0)
    cost = HARD * (outside > 0).any(axis=1) + outside.sum(axis=1)
    cost += gaps / 9
    turn = np.tile(np.arange(DIRECTIONS), len(GAPS))
    upright = np.isin(turn, (0, 4, 8, 12))
    cost += np.where(upright, 0.0, 0.25) + np.where(turn > DIRECTIONS // 2, 0.1, 0.0)
    nearest = np.clip(obstacles.marks[None], boxes[:, None, :2], boxes[:, None, 2:]) - obstacles.marks
    apart = np.hypot(nearest[..., 0], nearest[..., 1]) - obstacles.radii
    hits = (apart < 0) & (np.arange(len(obstacles.marks)) != own)
    cost += (HARD if strict else 2.0) * hits.sum(axis=1)
    if strict:
        cost += HARD * (apart[:, own] < 0)
        close = np.clip(NEAR - apart, 0, NEAR)
        cost += 0.3 * (close.sum(axis=1) - close[:, own])
        crossing = np.abs(clipped_lengths(leaders[:, None], _around(obstacles.marks, obstacles.radii)[None])) > 0
        cost += CROSSING * (crossing.sum(axis=1) - crossing[:, own])
    reach = np.concatenate([boxes[:, :2].min(axis=0), boxes[:, 2:].max(axis=0)])
    inside = clipped_lengths(obstacles.lines[clipped_lengths(obstacles.lines, reach) > 0], boxes[:, None])
    cost += (0.12 * inside + 1.2 * (inside > 0)).sum(axis=1)
    heads = _overlaps(boxes[:, None], _around(obstacles.arrows, np.full(len(obstacles.arrows), 4.0))[None])
    return np.asarray(cost + 3.0 * heads.sum(axis=1))


def _sweeps(alone: FloatArray, boxes: FloatArray, leaders: FloatArray) -> IntArray:
    """Choose a candidate for each label: start with the cheapest and move labels in turn, with rising overlap costs."""
    size = len(alone)
    every = np.arange(size)
    chosen = np.zeros(size, dtype=np.int64)
    best, least = chosen.copy(), np.inf
    dear = np.ones(size)
    for _ in range(ROUNDS):
        for _ in range(SWEEPS):
            moved = False
            for i in range(size):
                others = every != i
                there = boxes[every, chosen][others], leaders[every, chosen][others]
                hard, soft = _pairwise_costs(boxes[i], leaders[i], *there)
                costs = alone[i] + soft + HARD * (hard @ np.maximum(dear[others], dear[i]))
                moved |= bool(chosen[i] != costs.argmin())
                chosen[i] = costs.argmin()
            if not moved:
                break
        hit = _overlapping_pairs(boxes[every, chosen])
        cost = alone[every, chosen].sum() + HARD * hit.sum()
        if cost < least:
            best, least = chosen.copy(), cost
        if not hit.any():
            break
        dear[hit.any(axis=1)] *= 1.7
    return best


def _pairwise_costs(
    boxes: FloatArray, leaders: FloatArray, other_boxes: FloatArray, other_leaders: FloatArray
) -> tuple[BoolArray, FloatArray]:
    """Return which placed labels each candidate overlaps, and the cost of crossings with leaders."""
    hard = _overlaps(boxes[:, None], other_boxes)
    far, led = ~np.isnan(leaders[:, 0]), ~np.isnan(other_leaders[:, 0])
    crossings = np.zeros(len(boxes))
    crossings[far] += (clipped_lengths(leaders[far, None], other_boxes) > 0).sum(axis=1)
    crossings += (clipped_lengths(other_leaders[led], boxes[:, None]) > 0).sum(axis=1)
    return hard, CROSSING * crossings


def _overlapping_pairs(boxes: FloatArray) -> BoolArray:
    """Return which boxes overlap which others."""
    hit = _overlaps(boxes[:, None], boxes)
    np.fill_diagonal(hit, False)
    return hit


def _overlaps(one: FloatArray, other: FloatArray) -> BoolArray:
    return np.asarray((one[..., :2] < other[..., 2:]).all(axis=-1) & (other[..., :2] < one[..., 2:]).all(axis=-1))


def _around(places: FloatArray, radii: FloatArray) -> FloatArray:
    return np.concatenate([places - radii[:, None], places + radii[:, None]], axis=1)
