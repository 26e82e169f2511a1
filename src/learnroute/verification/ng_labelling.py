"""Labelling of the ng-routes of the layered network, with arrays of whole numbers and independent of the solver.

Each position has arrays of labels, sorted by region and cost. No sum can overflow: `ng_route` chooses the grid so that
costs and multipliers along a route stay below 2^58, forbidden arcs cost 2^61, and at most three such numbers are ever
added.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from learnroute.verification.checks import EffortExceededError
from learnroute.verification.grid import LARGEST, Costs, IntMatrix

Masks = NDArray[np.uint64]  # one bit per region, in words of 64

WORD = 64
MOST_LABELS = 1_000_000  # labels stored at once in one direction
MOST_WORK = 1_500_000_000  # arcs processed and pairs of labels compared in one check: about a minute
A_LABELLING = 2_000_000  # part of this work that every labelling takes at least
COMPARED = 100  # cheaper labels that each label is compared with for dominance
TOGETHER = 1 << 20  # pairs of labels, or labels and arcs, processed in one step
ONE_BY_ONE = 28  # labels of the other direction that each label is compared with, before all are compared with all
TOGETHER_WITH = 256  # labels of the other direction per step of that comparison


@dataclass
class Effort:
    """The remaining effort of a check."""

    work: int = MOST_WORK

    def spend(self, work: int) -> None:
        """Subtract work; raise EffortExceededError if none remains."""
        self.work -= work
        if self.work < 0:
            raise EffortExceededError


class Layer(NamedTuple):
    """The labels of one position."""

    region: IntMatrix
    cost: IntMatrix  # up to and including the region
    forbidden: Masks  # labels x words
    starts: IntMatrix  # index of the first label of each region, and the number of labels

    @classmethod
    def of(cls, region: IntMatrix, cost: IntMatrix, forbidden: Masks, size: int, effort: Effort) -> Layer:
        """Sort labels by region and cost, without those dominated by a cheaper label that forbids less."""
        order = np.lexsort((*forbidden.T, cost, region))
        region, cost, forbidden = region[order], cost[order], forbidden[order]
        at, block = 0, 4
        while at < COMPARED:
            starts = np.searchsorted(region, np.arange(size + 1))
            own = np.arange(len(region))
            kept = np.ones(len(region), dtype=bool)
            behind = np.flatnonzero(own - starts[region] > at)
            effort.spend(len(behind) * block)
            for some in _split(behind, TOGETHER // block):
                cheaper = starts[region[some]][:, None] + np.arange(at, at + block)
                dominated = cheaper < some[:, None]
                cheaper = np.where(dominated, cheaper, 0)
                for word in forbidden.T:
                    dominated &= word[cheaper] & ~word[some][:, None] == 0
                kept[some] = ~dominated.any(axis=1)
            region, cost, forbidden = region[kept], cost[kept], forbidden[kept]
            at, block = at + block, min(2 * block, 32)
        return cls(region, cost, forbidden, np.searchsorted(region, np.arange(size + 1)))


def cheapest(layers: list[Layer]) -> int | None:
    """Return the cost of the cheapest route; None if no label remains."""
    return int(layers[-1].cost.min()) if len(layers[-1].cost) else None


def as_words(masks: list[list[int]]) -> Masks:
    """Return the sets at each position and region (one bit per region) as positions x regions x words."""
    size = len(masks)
    words = -(-size // WORD)
    raw = b"".join(mask.to_bytes(8 * words, "little") for row in masks for mask in row)
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64).reshape(size, size, words)


class Network:
    """The layered network of docs/bounds.md. Arcs that no label uses are fixed to 0 for all later labels.

    Forbidden arcs and ends cost `LARGEST`.
    """

    def __init__(self, costs: Costs, effort: Effort) -> None:
        self.costs, self.effort, self.size = costs, effort, costs.size
        nodes = costs.nodes.copy()
        nodes[0] += costs.begin
        nodes[-1] += costs.finish
        self.nodes = np.where((nodes < costs.goal) & costs.model.ends.positions(costs.size), nodes, LARGEST)
        self.arcs = np.where((costs.travel < costs.goal) & ~np.eye(self.size, dtype=bool), costs.travel, LARGEST)
        self.free = np.ones((self.size - 1, self.size, self.size), dtype=bool)  # position, from, to
        self.bits = np.zeros((self.size, -(-self.size // WORD)), dtype=np.uint64)
        for v in range(self.size):
            self.bits[v, v // WORD] = np.uint64(1 << v % WORD)

    def labels(
        self, multipliers: IntMatrix, ng_sets: Masks, other: list[Layer] | None = None, backward: bool = False
    ) -> list[Layer]:
        """Return all labels that may lead to an order below the goal, by position.

        `other` are labels of the other direction: a label is dropped unless one of them at the same position and
        region, with no forbidden region in common, completes it below the limit. With `backward`, labels and layers
        begin at the last position.
        """
        self.effort.spend(A_LABELLING + self.size**3)
        free = self.free[::-1].transpose(0, 2, 1) if backward else self.free
        nodes = np.where(self.nodes < LARGEST, self.nodes - multipliers, LARGEST)
        nodes, ng_sets = (nodes[::-1], ng_sets[::-1]) if backward else (nodes, ng_sets)
        run = _Run(self, nodes, self.arcs.T if backward else self.arcs, free, ng_sets)
        limit = self.costs.goal - int(multipliers.sum())  # cost from which a route is no order below the goal
        layers, taken = run.layers(limit, other)
        self.free &= taken[::-1].transpose(0, 2, 1) if backward else taken
        return layers


class _Run:
    """Labelling in one direction."""

    def __init__(
        self, network: Network, nodes: IntMatrix, arcs: IntMatrix, free: NDArray[np.bool_], ng_sets: Masks
    ) -> None:
        self.bits, self.effort, self.size = network.bits, network.effort, network.size
        self.nodes, self.arcs, self.free, self.ng_sets = nodes, arcs, free, ng_sets

    def layers(self, limit: int, other: list[Layer] | None) -> tuple[list[Layer], NDArray[np.bool_]]:
        """Extend all labels position by position; return them, and the arcs that they use."""
        completion = self._completion()
        taken = np.zeros_like(self.free)
        first = np.flatnonzero(completion[0] < limit)
        if other is not None:
            nothing = np.zeros((len(first), self.bits.shape[1]), dtype=np.uint64)
            first = first[self._can_complete(first, nothing, np.full(len(first), limit), other[-1])]
        found = [Layer.of(first, self.nodes[0, first], self.bits[first], self.size, self.effort)]
        for t in range(1, self.size):
            parts, count = [], 0
            for layer in _pieces(found[-1], self.size):
                tail, head = self._arcs_below(layer, t, completion[t], limit)
                reached = layer.cost[tail] + self.arcs[layer.region[tail], head]
                known = layer.forbidden[tail] & self.ng_sets[t, head]
                if other is not None:
                    kept = self._can_complete(head, known, limit - reached, other[self.size - 1 - t])
                    tail, head, reached, known = tail[kept], head[kept], reached[kept], known[kept]
                taken[t - 1, layer.region[tail], head] = True
                cost, forbidden = reached + self.nodes[t, head], known | self.bits[head]
                parts.append(Layer.of(head, cost, forbidden, self.size, self.effort))
                count += len(parts[-1].region)
                if count + sum(len(each.region) for each in found) > MOST_LABELS:
                    raise EffortExceededError
            found.append(parts[0] if len(parts) == 1 else self._join(parts))
        return found, taken

    def _join(self, parts: list[Layer]) -> Layer:
        region, cost, forbidden, _ = (np.concatenate(column) for column in zip(*parts, strict=True))
        return Layer.of(region, cost, forbidden, self.size, self.effort)

    def _arcs_below(
        self, layer: Layer, t: int, completion: IntMatrix, limit: int
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the arcs (label, region) that extend labels to position t with completions below the limit."""
        self.effort.spend(len(layer.region) * self.size)
        onward = np.where(self.free[t - 1], np.minimum(self.arcs + completion, LARGEST), LARGEST)
        open_to = layer.cost[:, None] + onward[layer.region] < limit
        octets = layer.forbidden.astype("<u8").view(np.uint8)
        open_to &= np.unpackbits(octets, axis=1, count=self.size, bitorder="little") == 0
        tail, head = np.nonzero(open_to)
        return tail, head

    def _can_complete(self, head: IntMatrix, known: Masks, most: IntMatrix, other: Layer) -> NDArray[np.bool_]:
        """Whether a label of the other direction, cheaper than `most`, forbids no region in `known`."""
        found = np.zeros(len(head), dtype=bool)
        left = np.flatnonzero(other.starts[head] < other.starts[head + 1])
        at, block = 0, 4
        while len(left) and at < ONE_BY_ONE:
            self.effort.spend(len(left) * block)
            place = other.starts[head[left]][:, None] + np.arange(at, at + block)
            inside = place < other.starts[head[left] + 1][:, None]
            place = np.where(inside, place, 0)
            cheap = inside & (other.cost[place] < most[left][:, None])
            fits = cheap
            for word, word_there in zip(known.T, other.forbidden.T, strict=True):
                fits = fits & (word[left][:, None] & word_there[place] == 0)
            done = fits.any(axis=1)
            found[left[done]] = True
            left, at, block = left[~done & cheap[:, -1]], at + block, 2 * block
        for w in np.unique(head[left]).tolist():
            mine, theirs = left[head[left] == w], range(int(other.starts[w]) + at, int(other.starts[w + 1]))
            self._compare(mine, known, most, other, theirs, found)
        return found

    def _compare(
        self, left: IntMatrix, known: Masks, most: IntMatrix, other: Layer, theirs: range, found: NDArray[np.bool_]
    ) -> None:
        """Compare all labels of one region with all of the other direction; mark those that can be completed."""
        for k in theirs[::TOGETHER_WITH]:
            here = slice(k, min(k + TOGETHER_WITH, theirs.stop))
            left = left[most[left] > other.cost[k]]
            self.effort.spend(len(left) * TOGETHER_WITH)
            for some in _split(left, TOGETHER // TOGETHER_WITH):
                fits = other.cost[here] < most[some][:, None]
                for word, word_there in zip(known.T, other.forbidden.T, strict=True):
                    fits &= word[some][:, None] & word_there[here] == 0
                found[some] = fits.any(axis=1)
            left = left[~found[left]]

    def _completion(self) -> IntMatrix:
        """Return the cost of the cheapest completion from each position and region, with no region forbidden."""
        completion = self.nodes.copy()
        for t in range(self.size - 2, -1, -1):
            onward = np.where(self.free[t], self.arcs + completion[t + 1], LARGEST).min(axis=1)
            completion[t] = np.minimum(completion[t] + onward, LARGEST)
        return completion


def _pieces(layer: Layer, size: int) -> Iterator[Layer]:
    """Yield the labels of a layer in parts, so that the arcs of a part fit into memory."""
    for some in _split(np.arange(len(layer.region)), TOGETHER // size):
        yield Layer(layer.region[some], layer.cost[some], layer.forbidden[some], layer.starts)


def _split(numbers: IntMatrix, step: int) -> Iterator[IntMatrix]:
    """Yield the numbers, `step` at a time; one empty array if there are none."""
    for k in range(0, max(1, len(numbers)), step):
        yield numbers[k : k + step]
