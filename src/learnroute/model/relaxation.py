"""The linear objectives of orders, as the tour search and the proofs see them, for instances that visit regions once.

Training in region k turns each expected error e_j into p₁·e_j - q·e_k + (1 - p₁)·Δ[k, j] + ν (see docs/theory.md).
Split it as e_j = a_j - b. Then a_j ← p₁·a_j + (1 - p₁)·Δ[k, j] is a weighted mean of dissimilarities, and b, the same
for all regions, is b ← p₂·b + q·a_k - ν. So T times the final error is Σ_j a_j, which is linear in the scores, minus
T·b: the pair term, which rewards visits to regions that are dissimilar to those in the current model. Without coupling
(q = 0) the error is linear. Otherwise, a linear error bounds it from below, and another one approximates it.

If routes begin at an origin, it is the last stop of all orders, and the first position trains nothing.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import NamedTuple

import numpy as np

from learnroute.model.dissimilarities import Dissimilarities
from learnroute.model.ends import Ends
from learnroute.model.law import Updates, products_after
from learnroute.model.linear import Factored, Linear, Weighted
from learnroute.model.rounding import UNIT
from learnroute.model.routes import Routes
from learnroute.model.travel import Travel
from learnroute.model.validation import FloatArray, IntArray, freeze

SORTED_REGIONS = 400  # up to this number, pair bounds sort dissimilarities; beyond, only the largest counts
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # shares of the largest ratio of pair term to score, tried by `Pairs.ratio`


class LinearError(NamedTuple):
    """An error that is linear in scores, with weights by position or by `factors` of the regions that follow."""

    scores: FloatArray
    weights: FloatArray
    constant: float
    factors: FloatArray | None = None

    def objective(self, travel: Travel, ends: Ends) -> Linear:
        """Return the objective with this error."""
        if self.factors is not None:
            return Factored(travel, self.scores, self.factors, self.constant, ends)
        return Weighted(travel, self.scores, self.weights, self.constant, ends)

    def from_origin(self) -> LinearError:
        """Return the same error with an origin as the last stop, with a score of 0 and the first position's weight."""
        scores, weights, constant, factors = self
        scores = freeze(np.append(scores, 0.0))
        if factors is not None:
            factors = freeze(np.append(factors, 1.0))
            return LinearError(scores, freeze(products_after(np.sort(factors)[::-1])), constant, factors)
        further = weights[0] * (weights[0] / weights[1]) if len(weights) > 1 and weights[1] > 0 else 0.0
        return LinearError(scores, freeze(np.append(further, weights)), constant)


class Orders:
    """The orders of the stops of an instance that visits each of some regions once, and their linear objectives.

    Parameters
    ----------
    travel, rate, ends, known, updates, total
        As for `Instance`; `total` is the weighted sum of the initial model's errors.
    regions
        The regions to be visited. Stops are numbered in this order; the origin, if there is one, is the last stop.
    coupled
        Whether the error is not linear.
    """

    def __init__(
        self, travel: Travel, rate: float, ends: Ends, known: Dissimilarities, updates: Updates, total: float,
        regions: IntArray, coupled: bool,
    ) -> None:  # fmt: skip
        size = known.size
        self.has_origin = ends.first == size
        self.stops = np.append(regions, size) if self.has_origin else regions
        everything = len(self.stops) == travel.size
        self.travel = (travel if everything else travel.of(self.stops)).scale_by(rate)
        number = np.full(size + 1, -1)
        number[self.stops] = np.arange(len(self.stops))
        self._number, self.ends, self.coupled = number, ends.renumber(number), coupled
        self.error = Pairs(known.of(regions), updates.of(regions), total, size)

    @property
    def size(self) -> int:
        """The number of stops."""
        return len(self.stops)

    def routes(self, order: IntArray) -> Routes:
        """Return the routes of an order of stops."""
        visits = self.stops[order]
        return Routes.of_order(visits[visits < len(self._number) - 1])

    def order(self, routes: Routes) -> IntArray:
        """Return the order of stops of routes."""
        visits = self._number[routes.order]
        return np.append(len(self.stops) - 1, visits) if self.has_origin else visits

    def complete(self, routes: Routes) -> Routes:
        """Return routes with each missing region inserted where it adds the least travel (cheapest insertion).

        Rosenkrantz, Stearns and Lewis (1977). Fixed ends are respected.
        """
        order = self.order(routes)
        missing = np.setdiff1d(np.arange(self.size), order).tolist()
        found, travel = order.tolist() or missing[:1], self.travel
        for stop in missing[0 if len(order) else 1 :]:
            stops = np.array(found)
            there, back = travel.between(stops, stop), travel.between(stop, stops)
            around = there[:-1] + back[1:] - travel.legs(stops, closed=False)
            costs = np.concatenate([back[:1], around, there[-1:]])
            if self.ends.closed:
                costs[0] = costs[-1] = there[-1] + back[0] - float(travel.between(found[-1], found[0]))
            found.insert(int(np.argmin(costs)), stop)
        return self.routes(self.ends.repair(np.array(found, dtype=np.int64)))

    @cached_property
    def exact(self) -> Linear | None:
        """The value of orders; None if errors are coupled."""
        return None if self.coupled else self._objective(self.error.uncoupled)

    @cached_property
    def relaxation(self) -> Linear:
        """A lower bound on the value of every order; the value itself if errors are not coupled."""
        return self.exact or self._objective(self.error.relaxation)

    @cached_property
    def typical(self) -> Linear:
        """An approximation of the value of orders, for searches; the value itself if errors are not coupled."""
        return self.exact or self._objective(self.error.typical)

    def _objective(self, error: LinearError) -> Linear:
        return (error.from_origin() if self.has_origin else error).objective(self.travel, self.ends)


class Pairs:
    """The expected error of orders: its linear part, its pair term, and bounds on both.

    Parameters
    ----------
    dissimilarities
        Δ between the regions of the objective.
    updates
        The effect of training at each position in each region.
    total
        The weighted sum of the errors of all regions before the first visit.
    count
        The number T of all regions, which is the sum of their weights.
    """

    def __init__(self, dissimilarities: Dissimilarities, updates: Updates, total: float, count: int) -> None:
        self.dissimilarities, self.updates, self.total, self.count = dissimilarities, updates, total, count

    @cached_property
    def same_samples(self) -> bool:
        """Whether training depends on the position alone."""
        return self.updates.same_regions

    @cached_property
    def same_positions(self) -> bool:
        """Whether training depends on the region alone."""
        return self.updates.same_positions

    @cached_property
    def convex(self) -> bool:
        """Whether all p₁ are in [0, 1] and all q >= 0, which long gradient steps may violate."""
        retention, _, coupling, second, _ = self.updates.tables
        return bool(retention.min() >= 0 and retention.max() <= 1 and coupling.min() >= 0 and second.max() <= 1)

    @property
    def uncoupled(self) -> LinearError:
        """The error if it is linear: without coupling, and with training that is the same at every position."""
        known, count = self.dissimilarities, self.count
        retention, plasticity, _, _, noise = (freeze(table[0]) for table in self.updates.tables)
        constant = float(np.prod(retention)) * self.total
        if self.same_samples:
            constant = math.fsum([constant, *(count * products_after(retention) * noise)])
            with np.errstate(under="ignore"):
                weights = float(plasticity[0]) * float(retention[0]) ** np.arange(known.size - 1, -1, -1.0)
            return LinearError(known.scores, freeze(weights), constant)
        scores = freeze(plasticity * known.scores + count * noise)
        factors = retention if retention.any() else None  # if nothing is retained, only the last region counts
        return LinearError(scores, freeze(np.append(np.zeros(known.size - 1), 1.0)), constant, factors)

    @cached_property
    def typical(self) -> LinearError:
        """The error with the pair term of a region with mean dissimilarity, as an approximation for searches."""
        retention, plasticity, coupling, second, _ = self.updates.tables
        scores = self.dissimilarities.scores
        if self.same_positions and not self.same_samples and self.convex:
            return self._by_region(plasticity[0] * scores, 0.0)
        weights = products_after(retention.mean(axis=1)) * plasticity.mean(axis=1)
        weights -= products_after(second.mean(axis=1)) * coupling.mean(axis=1)
        return LinearError(scores, _non_decreasing(np.maximum(0.0, weights)), 0.0)

    @cached_property
    def ratio(self) -> float:
        """The multiple ρ of a region's largest pair term that `relaxation` subtracts from its score.

        Any number >= 0 is valid; this is the one with the best bound of a few candidates.
        """
        if not self.same_samples or not self.convex:
            return 0.0
        weights, paired = self._columns()
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.where(paired > 0, paired / _non_decreasing(weights), 0.0)
        top = float(most[np.isfinite(most)].max(initial=0.0))
        return max((share * top for share in SHARES), key=lambda ratio: _rearrangement_bound(self._relax(ratio)))

    @cached_property
    def relaxation(self) -> LinearError:
        """A linear lower bound on the error of every order; of the known relaxations, the one with the best bound."""
        return max((self.rearrangement, self.floor), key=_rearrangement_bound)

    @cached_property
    def rearrangement(self) -> LinearError:
        """The error with a lower bound on each pair term.

        Before a visit to k, a_k is a weighted mean. So its pair term is at least the one that the largest
        dissimilarities of k with the largest weights would give, say -T·u_t·A_k with u_t >= 0. At position t, score and
        pair term then cost W_t·S_k - T·u_t·A_k, which is W_t·(S_k - T·ρ·A_k) + T·(ρ·W_t - u_t)·A_k for any ρ. The first
        term is linear in scores, and the second is bounded by the rearrangement inequality.
        """
        retention, plasticity, coupling, second, noise = self.updates.tables
        if not self.convex:
            return self._worst_case
        if self.same_samples:
            return self._relax(self.ratio)
        size, count, most = self.dissimilarities.size, self.count, self.dissimilarities.largest()
        wide = rounding_factor(size)
        if self.same_positions:
            costs = count * (noise[0] / wide - coupling[0] * most * wide)
            kept = np.where(second[0] < 1, second[0], 1 - UNIT)
            order = np.argsort(-(costs / (1 - kept)), kind="stable")  # the larger of two neighbours comes first
            terms = products_after(second[0][order]) * costs[order]
            return self._by_region(plasticity[0] * self.dissimilarities.scores, _sum_below(terms, wide))
        low, high = products_after(second.min(axis=1)), products_after(second.max(axis=1))
        terms = np.array(
            [count * (noise[t] * low[t] / wide - coupling[t] * most * high[t] * wide).min() for t in range(size)]
        )
        weights = _non_decreasing(products_after(retention.min(axis=1)) * plasticity.min(axis=1))
        constant = float(np.prod(retention.min(axis=1))) * self.total
        return LinearError(self.dissimilarities.scores, weights, constant + _sum_below(terms, wide))

    @cached_property
    def floor(self) -> LinearError:
        """The error of the weighted mean of all models, which bounds that of any model, and the noise of any order.

        This holds for squared distances between points and for laws that models obey: p₂ <= p₁ - q and
        q <= p₁·(1 - p₁). If dissimilarities are not quite squared distances, points are fitted to them (classical
        scaling). The worst-case effect of the misfit of the points, and of the excess of a law over its two limits, is
        subtracted (docs/bounds.md). For an asymmetric matrix there is no such bound; then this is `rearrangement`.
        """
        given, size, count = self.dissimilarities, self.dissimilarities.size, self.count
        if count != size or not given.symmetric or (given.vectors is None and size > SORTED_REGIONS):
            return self.rearrangement
        _, _, coupling, second, noise = self.updates.tables
        weights, radii = given.region_weights, given.radii
        farthest = 4 * float(radii.max())  # no squared distance between two of the points is larger
        first = radii - given.initial  # relative to an initial model at the mean of all
        below, above = given.misfit
        later = count * products_after(second.max(axis=1))
        paired = later * np.abs(coupling).max(axis=1)
        learnt_before, first_before = self.shares_before
        if self.convex:
            missed, worst, misfits = np.maximum(first, 0.0), max(0.0, float(-first.min())), (below, above)
        else:
            missed, worst, misfits = np.abs(first), float(np.abs(first).max()), (below + size * above, above + below)
        terms = [
            math.fsum(weights * radii),
            count * math.fsum(products_after(second.min(axis=1)) * noise.min(axis=1)),
            -math.fsum(later * self.lacking) * farthest,
            -self.unlearnt * (size + math.fsum(paired)) * farthest,
            -learnt_before[-1] * misfits[0],
            -math.fsum(paired * learnt_before[:-1]) * misfits[1],
            -first_before[-1] * math.fsum(weights * missed),
            -math.fsum(paired * first_before[:-1]) * worst,
            -abs(math.fsum([*weights, -count]))  # rounding difference between the sum of the weights and T
            * (learnt_before[-1] + first_before[-1])
            * max(farthest + above, float(given.initial.max())),
        ]
        return _constant(size, terms)

    @cached_property
    def lacking(self) -> FloatArray:
        """By position, the maximum excess of p₂ and q over the limits that models obey, and rounding."""
        retention, plasticity, coupling, second, _ = self.updates.tables
        excess = second - (retention - coupling)
        beyond = np.maximum(coupling - retention * plasticity, 0.0).max(axis=1) + 8 * UNIT
        if self.convex:
            return freeze(np.maximum(excess.max(axis=1) + 8 * UNIT, beyond))
        learnt_before, first_before = self.shares_before  # shares of either sign: the model may lie outside of points
        reach = learnt_before[:-1] + first_before[:-1]
        return freeze(reach * ((1 + reach) * (np.abs(excess).max(axis=1) + 8 * UNIT) + reach * beyond))

    @cached_property
    def unlearnt(self) -> float:
        """How far the sum of all shares in a model may be from 1."""
        retention, plasticity = self.updates.retention, self.updates.plasticity
        return math.fsum((np.abs(plasticity - (1 - retention)) + UNIT).max(axis=1))

    @cached_property
    def shares_before(self) -> tuple[FloatArray, FloatArray]:
        """The largest shares of all visits before each position, and of the initial model, in the model there.

        The last entry is for the end of the order. Shares of either sign count by their absolute values.
        """
        size = self.dissimilarities.size
        kept, learnt = (np.abs(table).max(axis=1) for table in (self.updates.retention, self.updates.plasticity))
        learnt_before, first_before = np.zeros(size + 1), np.ones(size + 1)
        for t in range(size):
            learnt_before[t + 1] = kept[t] * learnt_before[t] + learnt[t]
            first_before[t + 1] = kept[t] * first_before[t]
        return np.minimum(learnt_before, 1.0) if self.convex else learnt_before, first_before

    @cached_property
    def _worst_case(self) -> LinearError:
        """The error with a worst-case bound on every term, for laws whose shares may have either sign."""
        _, plasticity, coupling, second, noise = self.updates.tables
        given, size, count = self.dissimilarities, self.dissimilarities.size, self.count
        kept = np.abs(self.updates.retention).max(axis=1)
        learnt_before, first_before = self.shares_before
        paired = products_after(second.max(axis=1)) * np.abs(coupling).max(axis=1)
        terms = [
            -math.fsum(products_after(kept) * np.abs(plasticity).max(axis=1)) * float(given.scores.max()),
            -first_before[-1] * self.total,
            count * math.fsum(products_after(second.min(axis=1)) * noise.min(axis=1)),
            -count * math.fsum(paired * (learnt_before + first_before)[:-1]) * float(given.largest().max()),
        ]
        return _constant(size, terms)

    def _relax(self, ratio: float) -> LinearError:
        scores, size, count = self.dissimilarities.scores, self.dissimilarities.size, self.count
        column = self.updates.retention[:, -1], self.updates.second[:, -1], self.updates.noise[:, -1]
        weights, paired = self._columns()
        counted, most = _non_decreasing(weights), self._largest_means
        lowered = scores - count * ratio * most
        shift = max(0.0, -float(lowered.min()))
        swapped = count * (ratio * counted - paired)
        wide = rounding_factor(size)
        terms = [
            math.fsum(np.sort(weights - counted)[::-1] * np.sort(scores)),
            _sum_below(np.sort(swapped) * np.sort(most)[::-1], wide),
            -shift * math.fsum(counted) * wide,
            float(np.prod(column[0])) * self.total,
            count * math.fsum(products_after(column[1]) * column[2]),
        ]
        constant = math.fsum(terms) - (wide - 1) * math.fsum([*map(abs, terms), *(counted * (scores + shift))])
        return LinearError(freeze(np.maximum(0.0, lowered + shift)), counted, constant)

    def _columns(self) -> tuple[FloatArray, FloatArray]:
        """Return the weights of scores and of pair terms by position, if training depends on positions alone."""
        retention, plasticity, coupling, second, _ = (table[:, -1] for table in self.updates.tables)
        return products_after(retention) * plasticity, products_after(second) * coupling

    def _by_region(self, scores: FloatArray, constant: float) -> LinearError:
        factors = freeze(self.updates.retention[0])
        weights = products_after(np.sort(factors)[::-1])
        return LinearError(freeze(scores), freeze(weights), constant + float(np.prod(factors)) * self.total, factors)

    @cached_property
    def _largest_means(self) -> FloatArray:
        """The largest a_k that each region can have at any position, if training depends on positions alone."""
        size, given = self.dissimilarities.size, self.dissimilarities
        if size > SORTED_REGIONS:
            return given.largest() * rounding_factor(size)
        retention, plasticity = self.updates.retention[:, -1], self.updates.plasticity[:, -1]
        others = -np.sort(-given.matrix.T, axis=1)  # each column of D, largest first
        weights, first, most = np.empty(0), 1.0, np.array(given.initial)
        for t in range(1, size):
            weights = np.append(weights * retention[t - 1], plasticity[t - 1])
            first *= retention[t - 1]
            largest = -np.sort(-weights)
            most = np.maximum(most, others[:, :t] @ largest + first * given.initial)
        return most * rounding_factor(size)


def _constant(size: int, terms: list[float]) -> LinearError:
    """Return a lower bound on the sum of terms that may each have a rounding error, for all orders."""
    constant = math.fsum(terms) - (rounding_factor(size) - 1) * 4 * math.fsum(map(abs, terms))
    return LinearError(np.zeros(size), np.zeros(size), constant)


def rounding_factor(size: int) -> float:
    """Return a factor that increases sums of T terms of the same sign by more than rounding can decrease them."""
    return 1 + 32 * (size + 8) * UNIT


def _sum_below(terms: FloatArray, wide: float) -> float:
    """Return a lower bound on the sum of products that may each have a small rounding error."""
    return math.fsum(terms) - (wide - 1) * math.fsum(np.abs(terms))


def _non_decreasing(weights: FloatArray) -> FloatArray:
    """Return the largest non-decreasing weights that do not exceed the given ones."""
    return freeze(np.minimum.accumulate(weights[::-1])[::-1])


def _rearrangement_bound(linear: LinearError) -> float:
    """Return the minimum error over all orders by the rearrangement inequality."""
    return math.fsum([*(linear.weights * np.sort(linear.scores)[::-1]), linear.constant])
