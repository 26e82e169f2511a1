"""Positions for regions without coordinates, from travel costs by multidimensional scaling."""

from __future__ import annotations

import numpy as np

from learnroute.model.validation import FloatArray

LANDMARKS = 500  # regions that are scaled; further ones are placed by their costs to these


def scaled_places(travel: FloatArray) -> FloatArray:
    """Return places in the plane whose distances resemble the travel costs (classical multidimensional scaling).

    Beyond 500 regions, landmarks are used (de Silva and Tenenbaum 2004), which still recover points of a plane.
    """
    size = len(travel)
    marks = np.linspace(0, size - 1, min(size, LANDMARKS)).round().astype(np.int64)
    squares = ((travel[:, marks] + travel[marks].T) / 2) ** 2
    among = squares[marks]
    centred = among - among.mean(axis=0) - among.mean(axis=1)[:, None] + among.mean()
    values, axes = np.linalg.eigh(-centred / 2)
    spread, axes = np.sqrt(np.maximum(values[[-1, -2]], 0)), axes[:, [-1, -2]]
    if size <= LANDMARKS:
        places: FloatArray = axes * spread
    else:
        kept = spread > 1e-9 * spread[0]
        places = (among.mean(axis=0) - squares) @ axes / 2 * np.where(kept, 1 / np.where(kept, spread, 1), 0)
    return places * np.where(places.sum(axis=0) < 0, -1, 1)  # fix the arbitrary sign of eigenvectors
