"""Suffix labelling: the optimum of an objective with pair terms, extending suffixes from the last region backwards.

The cost of a suffix depends on the regions before it only through a weighted mean of their dissimilarities. So a label
stores, besides its cost, one number per region that may precede it: the gain of the pair terms if the mean were that
region's. A suffix dominates another one with the same regions and the same first region if it costs no more for each
of them, since then it costs no more for any mean. Labels whose completion bound reaches the incumbent are dropped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from learnroute.model.ends import Ends
from learnroute.model.instance import Instance
from learnroute.model.law import products_after
from learnroute.model.relaxation import Pairs
from learnroute.model.rounding import PROOF, margin
from learnroute.model.routes import Routes
from learnroute.model.validation import FloatArray, IntArray
from learnroute.solvers.contract import Answer, Budget, Rung
from learnroute.solvers.core_instance import CoreInstance
from learnroute.solvers.exact.enumeration import CANCELLED, unproved
from learnroute.solvers.params import SolverParams, SuffixLabellingParams


@dataclass(eq=False)
class Labels:
    """Suffixes of one length: their regions, first and last region, and costs.

    `gains[:, j]` is the gain of the pair terms if the preceding model is that of region j; the last column is for the
    initial model. `retention` and `second` are the products of p₁ and p₂ over the suffix. `sizes` are sums of the
    absolute values of all terms of costs and gains, which bound their rounding errors.
    """

    held: IntArray
    first: IntArray
    last: IntArray
    costs: FloatArray
    gains: FloatArray
    retention: FloatArray
    second: FloatArray
    sizes: FloatArray
    parents: IntArray

    @classmethod
    def empty(cls, regions: IntArray, size: int) -> Labels:
        """Return one suffix without regions for each of the given ones, which will be its first and last region."""
        nothing = np.zeros(len(regions))
        return cls(
            np.zeros(len(regions), dtype=np.int64), regions, regions, nothing, np.zeros((len(regions), size + 1)),
            nothing + 1.0, nothing + 1.0, nothing, np.arange(len(regions)),
        )  # fmt: skip

    def select(self, rows: IntArray | FloatArray) -> Labels:
        """Return the labels of the given rows."""
        return Labels(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))

    def add(self, travel: FloatArray) -> None:
        """Add travel to the costs of the suffixes."""
        self.costs, self.sizes = self.costs + travel, self.sizes + travel

    def totals(self, initial: float) -> FloatArray:
        """Return the values of complete orders; `initial` is the sum of all errors of the initial model."""
        totals: FloatArray = self.costs - self.gains[:, -1] + self.retention * initial
        return totals

    def __len__(self) -> int:
        return len(self.costs)


class SuffixLabelling(Rung):
    """The rung of suffix labelling, for coupled errors if each region is visited once.

    With `quick`, it is tried for fewer regions, and gives up sooner.
    """

    def __init__(self, quick: bool) -> None:
        self.quick = quick

    def _effort(self, params: SolverParams) -> SuffixLabellingParams:
        effort = params.suffix_labelling
        if not self.quick:
            return effort
        return effort._replace(most_regions=effort.auto_regions, labels=min(effort.labels, effort.auto_labels))

    def supports(self, instance: Instance, params: SolverParams) -> bool:
        """Whether errors are coupled, all shares are between 0 and 1, and there are few enough regions."""
        few = len(instance.visits.regions) <= self._effort(params).most_regions
        return few and instance.permutation and instance.coupled and instance.orders.error.convex

    def search_share(self, instance: Instance, budget: Budget, params: SolverParams) -> float:
        """Leave most of the time to the search."""
        return params.search.search_share

    def prove(
        self, instance: Instance, answer: Answer | None, rng: np.random.Generator, budget: Budget, params: SolverParams
    ) -> Answer:
        """Return the optimum, with the given routes as the first incumbent; unproved if time or labels run out."""
        assert answer is not None
        search = _Search(instance, answer.routes, self._effort(params))
        labels, levels = search.endings(), []
        size = search.size
        for position in range(size - 2, -1, -1):
            levels.append(labels)
            grown = search.grow(labels, position)
            if grown is None:
                return unproved(answer, f"the limit of {search.params.labels:,} labels was reached")
            labels = grown
            budget.progress("exact", (size - 1 - position) / size)
            if len(labels) == 0:  # the incumbent is optimal
                break
            if budget.exhausted and position:
                return unproved(answer, budget.end)
        best = answer.routes
        if len(labels):
            found = search.trace(labels, int(np.argmin(labels.totals(search.pairs.total))), levels)
            best = min(best, found, key=instance)
        # one label may have been dropped for another, that one for a third, and so on
        sizes = max(search.largest, instance.magnitude(best))
        if size * margin(16 * size, sizes) > PROOF * abs(instance(best)):
            return unproved(replace(answer, routes=best), CANCELLED)
        return Answer(best, "exact", optimal=True)


class _Search:
    def __init__(self, instance: Instance, incumbent: Routes, params: SuffixLabellingParams) -> None:
        self.problem, self.pairs, self.params = CoreInstance(instance), instance.orders.error, params
        self.size, self.rate = self.problem.size, instance.rate
        self.travel = instance.rate * self.problem.travel[:-1, :-1]
        self.begin = np.where(self.problem.may_begin, self.rate * self.problem.travel[-1, :-1], np.inf)
        self.finish = np.where(self.problem.may_end, self.rate * self.problem.travel[:-1, -1], np.inf)
        value = instance(incumbent)
        self.target = value - PROOF * abs(value)  # completion bounds must be below this
        first, last = (None if end < 0 else end for end in (self.problem.first, self.problem.last))
        self.positions = Ends(first, last).positions(self.size)
        self.tables = self.pairs.updates.tables
        given = self.pairs.dissimilarities
        self.delta = np.column_stack([given.matrix.T, given.initial])  # [k, j]: in k, of what j or the initial model is
        self.alike = self.pairs.same_samples or self.pairs.same_positions  # products depend on the set of regions only
        self.completion = _Completion(self.travel, float(self.begin.min()), self.pairs)
        self.largest = 0.0  # largest `sizes` of compared labels

    def endings(self) -> Labels:
        """Return the labels of single regions, at the last position."""
        may = np.flatnonzero(self.positions[-1])
        made = self._extend(Labels.empty(may, self.size), may, self.size - 1)
        made.add(self.finish[may])
        return made

    def grow(self, labels: Labels, position: int) -> Labels | None:
        """Return all undominated labels with one more region; None if there are too many."""
        found, total = [], 0
        for region in np.flatnonzero(self.positions[position]).tolist():
            rows = np.flatnonzero((labels.held >> region) & 1 == 0)
            if not len(rows):
                continue
            made = self._extend(labels.select(rows), np.full(len(rows), region), position)
            made.add(self.travel[region, labels.first[rows]])
            made.parents = rows
            if position == 0:
                made.add(self.begin[region])
                if self.problem.cyclic:
                    made.add(self.travel[made.last, region])
            promising = made.select(np.flatnonzero(self.completion.bounds(made, position) < self.target))
            self.largest = max(self.largest, float(promising.sizes.max(initial=0.0)))
            found.append(self._drop_dominated(promising))
            total += len(found[-1])
            if total > self.params.labels:
                return None
        columns = {
            name: np.concatenate([getattr(one, name) for one in found]) if found else getattr(labels, name)[:0]
            for name in Labels.__dataclass_fields__
        }
        return Labels(**columns)

    def _extend(self, labels: Labels, regions: IntArray, position: int) -> Labels:
        """Prepend a region to each suffix; the caller adds travel."""
        retention, plasticity, coupling, second, noise = (table[position, regions] for table in self.tables)
        rows, count = np.arange(len(labels)), self.pairs.count
        scores = self.pairs.dissimilarities.scores[regions]
        scored, noisy = labels.retention * plasticity * scores, count * labels.second * noise
        gained = plasticity * labels.gains[rows, regions]
        paired = (count * labels.second * coupling)[:, None] * self.delta[regions]
        gains = retention[:, None] * labels.gains + paired
        sizes = labels.sizes + scored + np.abs(noisy) + gained + paired.max(axis=1)
        return Labels(
            labels.held | (1 << regions), regions, labels.last, labels.costs + scored + noisy - gained, gains,
            labels.retention * retention, labels.second * second, sizes, labels.parents,
        )  # fmt: skip

    def _drop_dominated(self, labels: Labels) -> Labels:
        """Drop labels dominated by the best labels with the same regions. All have the same first region."""
        if not self.alike or len(labels) < 2:
            return labels
        for rule in (np.max, np.mean, np.min):
            worth = labels.costs[:, None] - labels.gains
            key = labels.held * self.size + labels.last if self.problem.cyclic else labels.held
            order = np.lexsort((rule(worth, axis=1), key))
            begins = np.flatnonzero(np.diff(key[order], prepend=-1))
            champions = np.repeat(order[begins], np.diff(np.append(begins, len(order))))
            held = (labels.held[order, None] >> np.arange(self.size)) & 1 == 1
            better = worth[champions] <= worth[order]
            better[:, : self.size] |= held
            labels = labels.select(np.sort(order[~better.all(axis=1) | (champions == order)]))
        return labels

    def trace(self, labels: Labels, row: int, levels: list[Labels]) -> Routes:
        """Return the routes of a label of full length."""
        order = []
        for each in (labels, *reversed(levels)):
            order.append(int(each.first[row]))
            row = int(each.parents[row])
        return Routes.of_order(self.problem.regions[order])


class _Completion:
    """Completion bounds: lower bounds on the cost of the remaining regions, by set.

    The value of an order is the cost of its suffix plus two parts that depend on the regions before it: a sum over
    these regions by their shares in the model, and the part that is common to all errors. If dissimilarities are
    squared distances between points, the common part is at least minus the mean squared distance of the model's points
    from any centre, which is another sum by shares (docs/appendix/proofs.md). So both are bounded together.
    """

    def __init__(self, travel: FloatArray, begin: float, pairs: Pairs) -> None:
        size, given = len(travel), pairs.dissimilarities
        self.pairs, self.scores, self.everyone = pairs, given.scores, (1 << size) - 1
        others = travel + np.diag(np.full(size, np.inf))
        self.travel = begin + _subset_sums(others.min(axis=1))
        retention, plasticity, coupling, second, _ = pairs.updates.tables
        self.least = (retention.min(axis=1), plasticity.min(axis=1), second.min(axis=1))
        self.most = (retention.max(axis=1), second.max(axis=1), coupling.max(axis=1))
        self.common = _Common(np.zeros(size), given.largest(), np.ones(size), np.zeros(size), 0.0)
        if given.symmetric and second.min() >= 0:
            learnt, left = (shares[:-1] for shares in pairs.shares_before)
            farthest = 4 * float(given.radii.max())
            lost = self.most[2] * (learnt * given.misfit[1] + pairs.unlearnt * farthest) + pairs.lacking * farthest
            away = np.maximum(given.initial - given.radii, 0.0)
            centred = _Common(given.radii, away, left, lost, pairs.unlearnt * farthest)
            nothing = Labels.empty(np.zeros(1, dtype=np.int64), size)
            self.common = max(self.common, centred, key=lambda common: float(self._bounds(nothing, size, common)[0]))

    def bounds(self, labels: Labels, position: int) -> FloatArray:
        """Return lower bounds on the value of any order that ends with each suffix from the given position."""
        if position == 0:
            return labels.totals(self.pairs.total)  # complete orders
        return self._bounds(labels, position, self.common)

    def _bounds(self, labels: Labels, position: int, common: _Common) -> FloatArray:
        count, initial, unlearnt = self.pairs.count, self.pairs.total, self.pairs.unlearnt
        retention, plasticity, second = (column[:position] for column in self.least)
        most_retention, most_second, coupling = (column[:position] for column in self.most)
        noise = self.pairs.updates.noise[:position].min(axis=1)
        left, kept = self.everyone & ~labels.held, count * labels.second
        later = products_after(most_second)
        is_open = (left[:, None] >> np.arange(len(self.scores))) & 1 == 1
        costs = labels.retention[:, None] * self.scores - labels.gains[:, :-1] - kept[:, None] * common.radii
        costs = np.sort(np.where(is_open, costs, np.inf), axis=1)[:, :position]
        weights = np.sort(products_after(retention) * plasticity)[::-1]
        least = costs[:, 0]
        low, high = float(np.prod(retention)), float(np.prod(most_retention))  # shares of the initial model
        rest = max(1 - float(weights.sum()) - high - unlearnt, 0.0), 1 - float(weights.sum()) - low + unlearnt
        first = labels.retention * initial - labels.gains[:, -1]
        paired = _sorted_products(left, common.ranks, common.away, np.sort(later * coupling * common.left[:position]))
        fixed = float((products_after(second) * noise - later * common.lost[:position]).sum()) - common.missed
        parts = [
            self.travel[left], costs @ weights, np.minimum(rest[0] * least, rest[1] * least),
            np.minimum(low * first, high * first), kept * (fixed - paired),
        ]  # fmt: skip
        noisy = float((products_after(second) * np.abs(noise)).sum())
        sizes = labels.sizes + np.abs(labels.gains).max(axis=1) + sum(map(np.abs, parts))
        sizes += labels.retention * (initial + float(self.scores.max())) + kept * (noisy + common.size)
        found: FloatArray = labels.costs + sum(parts) - margin(32 * len(self.scores), 1.0) * sizes
        return found


class _Common:
    """A bound on the common part of errors before a suffix: minus the sum of a_k before each visit, by weights.

    `radii` are the squared distances of regions from the centre, which count by their shares. Before each visit, a_k
    exceeds the mean squared distance of points by at most `away`, times the initial model's share `left`. `lost` is a
    correction by position, and `missed` one for all of them.
    """

    def __init__(self, radii: FloatArray, away: FloatArray, left: FloatArray, lost: FloatArray, missed: float) -> None:
        self.radii, self.away, self.left, self.lost, self.missed = radii, away, left, lost, missed
        self.ranks = np.argsort(away)
        self.size = 4 * float(radii.max()) + float(away.max())


def _subset_sums(numbers: FloatArray) -> FloatArray:
    sums = np.zeros(1)
    for number in numbers:
        sums = np.concatenate([sums, sums + number])
    return sums


def _sorted_products(sets: IntArray, ranked: IntArray, numbers: FloatArray, weights: FloatArray) -> FloatArray:
    """Return, for each set, the weighted sum of its numbers in ranked order."""
    found, rank = np.zeros(len(sets)), np.zeros(len(sets), dtype=np.int64)
    for region in ranked.tolist():
        member = (sets >> region) & 1 == 1
        found += np.where(member, weights[np.minimum(rank, len(weights) - 1)] * numbers[region], 0.0)
        rank += member
    return found
