"""Edge assembly crossover (Nagata and Kobayashi 2013) of the tours of a search, by the compiled core (`cpp/eax.h`)."""

from __future__ import annotations

import numpy as np

from learnroute._core import (
    EdgeAssembly,
    EdgeCosts,
    EdgeCounts,
    FallingScores,
    PairScores,
    PositionScores,
    ScoreBounds,
    TourScores,
)
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.local_search import tour
from learnroute.solvers.local_search.tour_search import TourSearch


def edge_assembly(search: TourSearch, tours: IntArray, joining: int) -> EdgeAssembly:
    """Return the crossover of a population of tours; subtours are joined along `joining` candidates per vertex."""
    state = search.state
    return EdgeAssembly.of(
        _costs(state),
        _scores(state),
        fixed=state.route[tour.FIXED],
        candidates=search.nearest_candidates(joining),
        has_ends=bool(state.counts[tour.ENDS]),
        least_gain=state.numbers[tour.LEAST],
        most_credit=state.numbers[tour.CREDIT],
        counts=EdgeCounts(tours, edge_entropies(len(tours))),
    )


def edge_entropies(members: int) -> FloatArray:
    """Return the entropy of an edge by the number of tours that it is in; more than all are counted like all."""
    shares = np.arange(1, members + 1) / members
    return np.concatenate([[0.0], -shares * np.log(shares), [0.0, 0.0]])


def _costs(state: tour.Tour) -> EdgeCosts:
    kind = state.counts[tour.KIND]
    if kind in (tour.MATRIX, tour.DIRECTED):
        return EdgeCosts.by_matrix(state.ways, bool(kind == tour.DIRECTED))
    return EdgeCosts.by_places(state.ways, state.numbers[tour.UNIT], bool(kind == tour.GLOBE))


def _scores(state: tour.Tour) -> TourScores | None:
    """Return what scores add to the value of a tour; None where travel alone counts."""
    counts, numbers, sums = state.counts, state.numbers, state.sums
    kind, reach, size = counts[tour.SCORED], int(counts[tour.REACH]), int(counts[tour.REGIONS])
    if kind == tour.NOT_SCORED:
        return None
    bounds = ScoreBounds(reach, numbers[tour.FLOOR], numbers[tour.SWING], sums[tour.POWER])
    if kind == tour.GENERAL:
        return PositionScores(bounds, sums[tour.SCORE], sums[tour.WEIGHT])
    if kind != tour.PAIRED:
        return FallingScores(bounds, numbers[tour.HEAVIEST], sums[tour.SCORE], sums[tour.FACTOR])
    dissimilarity, retention, plasticity, coupling, second, noise, initial = np.split(
        state.pairs, np.arange(1, 7) * size
    )
    first = max(0, size - reach)  # what comes before counts for nothing
    return PairScores.of(
        bounds,
        sums[tour.SCORE],
        retention,
        plasticity,
        coupling,
        second,
        noise,
        dissimilarity,
        initial[0],
        numbers[tour.COUNTED],
        sums[tour.SUMMED, first],
        sums[tour.COMMON, first],
    )
