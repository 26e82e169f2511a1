"""Labels in pictures: texts beside points, off other labels, marks and lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from learnroute.model.validation import FloatArray
from learnroute.plots.label_placement import Ground, place_labels
from learnroute.plots.pictures import GREY

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

LABEL = "label"  # the group id of labels
POINTS = 72.0  # per inch
RADIUS, RING = 4.0, 9.0  # points: of the marks of a curve, and of a ring around one of them


def fix_layout(figure: Figure) -> None:
    """Lay the figure out once, so that places in points are final."""
    figure.draw_without_rendering()
    figure.set_layout_engine("none")


def in_points(axes: Axes, places: FloatArray) -> FloatArray:
    """Return places on paper, in points from the lower left corner of the axes."""
    return np.asarray((axes.transData.transform(places) - axes.bbox.p0) * POINTS / axes.figure.dpi)


def frame_of(axes: Axes) -> FloatArray:
    """Return the box of the axes, in points."""
    return np.concatenate([[0, 0], POINTS * np.array(axes.bbox.size) / axes.figure.dpi])


def draw_labels(
    axes: Axes, texts: Mapping[int, str], places: FloatArray, ground: Ground, font: float = 9,
    colours: Mapping[int, str] | None = None, strict: bool = True,
) -> None:  # fmt: skip
    """Write texts beside the marks of these numbers; labels without a free place are left out.

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
            arrowprops={"arrowstyle": "-", "color": GREY, "lw": 0.6, "shrinkA": 0, "shrinkB": ground.radii[k],
                        "relpos": (0.5, 0.5)},
        )
        for k, text in texts.items()
    ]  # fmt: skip
    sizes = np.array([label.get_window_extent().size for label in labels]) * POINTS / axes.figure.dpi
    own = np.array(list(texts))
    placed = place_labels(sizes, own, ground, strict=strict)
    for label, centre, k, far, free in zip(labels, placed.centres, own, placed.far, placed.free, strict=True):
        label.set_position(tuple(centre - ground.marks[k]))
        if not far and label.arrow_patch is not None:
            label.arrow_patch.set_visible(False)
        if not free:
            label.remove()


def label_curves(
    axes: Axes, texts: Mapping[int, str], places: FloatArray, curves: Sequence[FloatArray],
    colours: Mapping[int, str] | None = None, ringed: int | None = None,
) -> None:  # fmt: skip
    """Label points of curves, each curve an array of places; the mark of one point is a wide ring."""
    bends = [in_points(axes, curve) for curve in curves]
    lines = np.concatenate([np.concatenate([way[:-1], way[1:]], axis=1) for way in bends])
    marks = in_points(axes, places)
    radii = np.where(np.arange(len(marks)) == ringed, RING, RADIUS)
    ground = Ground(marks, radii, lines, np.empty((0, 2)), frame_of(axes))
    draw_labels(axes, texts, places, ground, colours=colours)
