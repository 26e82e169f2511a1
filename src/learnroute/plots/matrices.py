"""Estimate, Transfer, Following -> picture: a matrix with the names of the regions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from learnroute.learning.estimation import Estimate
from learnroute.learning.following import Following
from learnroute.learning.transfers import Transfer
from learnroute.model.table import clip
from learnroute.model.validation import FloatArray
from learnroute.plots.pictures import Picture, literal, picture_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_NAMES = 40  # along an axis; with more regions, there are no names
LONGEST = 18  # maximum characters of a name


@picture_of(Estimate, "What `estimate` returned")
def draw_estimate(estimate: Estimate, ax: Axes | None = None) -> Figure:
    """Draw the estimated dissimilarities between all regions; estimates below 0 count as 0."""
    names, matrix = estimate.regions, np.maximum(estimate.dissimilarity, 0.0)
    return _draw(matrix, names, names, "Estimated dissimilarities", ("region", "region"), ax)


@picture_of(Transfer, "What `transfer` returned")
def draw_transfer(transfer: Transfer, ax: Axes | None = None) -> Figure:
    """Draw the error in each region of models trained in each region alone."""
    title = f"{(transfer.measure or 'error').replace('_', ' ').capitalize()} after training in one region"
    return _draw(transfer.errors, transfer.regions, transfer.regions, title, ("trained in", "tested in"), ax)


@picture_of(Following, "What `follow` returned")
def draw_following(following: Following, ax: Axes | None = None) -> Figure:
    """Draw the error in each region after each visit."""
    title = f"Errors along the route; mean after the last region: {following.final}"
    return _draw(following.errors, following.route, following.tested, title, ("after training in", "tested in"), ax)


def _draw(
    matrix: FloatArray, rows: Sequence[str], columns: Sequence[str], title: str, axes_names: tuple[str, str],
    ax: Axes | None,
) -> Figure:  # fmt: skip
    side = 3.2 + 0.28 * min(max(len(rows), len(columns)), MOST_NAMES)
    picture = Picture(ax, (side + 1.2, side))
    axes = picture.axes
    image = axes.imshow(matrix, cmap="viridis", aspect="auto")
    picture.figure.colorbar(image, ax=axes)
    for names, set_ticks, turn in ((rows, axes.set_yticks, 0), (columns, axes.set_xticks, 90)):
        few = len(names) <= MOST_NAMES
        set_ticks(range(len(names)) if few else [], [literal(clip(name, LONGEST)) for name in names] if few else [],
                  rotation=turn)  # fmt: skip
    axes.set_ylabel(axes_names[0])
    axes.set_xlabel(axes_names[1])
    return picture.finish(title, 11, box=True)
