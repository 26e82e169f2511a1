"""Edge assembly crossover (Nagata and Kobayashi 2013) of the tours of a search, by the compiled core (`cpp/eax.h`)."""

from __future__ import annotations

import numpy as np

from learnroute._core import EdgeAssembly, EdgeCounts
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.local_search.tour_search import TourSearch


def edge_assembly(search: TourSearch, tours: IntArray, joining: int) -> EdgeAssembly:
    """Return the crossover of a population of tours; subtours are joined along `joining` candidates per vertex."""
    counts = EdgeCounts(tours, edge_entropies(len(tours)))
    return EdgeAssembly(search.costs, search.terms, search.limits, search.longest_candidates, joining, counts)


def edge_entropies(members: int) -> FloatArray:
    """Return the entropy of an edge by the number of tours that contain it, at most all."""
    shares = np.arange(1, members + 1) / members
    return np.concatenate([[0.0], -shares * np.log(shares), [0.0, 0.0]])
