"""Places for regions that have none: from travel costs, by multidimensional scaling."""

from __future__ import annotations

import numpy as np

from learnroute.model.validation import FloatArray


def scaled_places(travel: FloatArray) -> FloatArray:
    """Return places in the plane whose distances resemble the travel costs (classical multidimensional scaling)."""
    squares = ((travel + travel.T) / 2) ** 2
    centred = squares - squares.mean(axis=0) - squares.mean(axis=1)[:, None] + squares.mean()
    values, axes = np.linalg.eigh(-centred / 2)
    places: FloatArray = axes[:, [-1, -2]] * np.sqrt(np.maximum(values[[-1, -2]], 0))
    return places * np.where(places.sum(axis=0) < 0, -1, 1)  # eigenvectors have no sign of their own
