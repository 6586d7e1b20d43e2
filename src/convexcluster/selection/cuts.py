"""How well the cuts of a tree separate the graph: conductances of nested clusters.

Input is a linkage over k groups of samples and the graph between them; output is, for every
number of clusters, the conductance-ratio score

    S(k) = Σ_C min(v_C, 1 − v_C) · log( inner(C) / outer(C) ),     v_C = vol(C)/vol(all),

    outer(C) = (cut(C, rest) + ε) / min(vol(C), vol(rest)),
    inner(C) = min(1, min_D (cut(D, C∖D) + ε) / min(vol(D), vol(C∖D))),  D below C in the tree.

A good cluster is hard to cut inside and easy to cut off. A tenth of the mean weight, ε, is added to
every cut: cuts of nothing and of a weak edge are not told apart. Conductance as a criterion:
Kannan, Vempala and Vetta, J. ACM 2004.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..graph import Graph
from ..numerics.linkage import intervals
from ..problem import Floats, Ints

# ε in mean weights. One whole edge hides how clearly curves are apart, whose own cuts are a few
# edges; a thousandth (the weight of a bridge) makes a single weak edge decide.
WEAK = 0.1


@dataclass(frozen=True)
class NestedCuts:
    """A tree over k leaves and a graph between them, ready for conductances.

    Nodes are numbered as in SciPy: leaves 0 … k − 1, then merges in order. Leaves are laid on a
    line on which every node is the interval [low, high).
    """

    linkage: Floats
    low: Ints
    high: Ints
    volume: Floats  # of each node
    inside: Floats  # weight of the edges inside each node
    head: Ints  # position of each edge's first end on the line, below ``tail``
    tail: Ints
    weights: Floats
    least: float  # added to every cut

    @classmethod
    def of(cls, linkage: Floats, graph: Graph, atoms: Ints) -> NestedCuts:
        """Lay out the tree over the groups ``atoms`` of samples, and the graph of samples."""
        k = len(linkage) + 1
        low, high = intervals(linkage)
        children = linkage[:, :2].astype(np.int64)
        split = np.empty(k - 1, dtype=np.int64)  # row that separates positions p and p + 1
        split[low[children[:, 1]] - 1] = np.arange(k - 1)
        place = low[:k]
        order = np.argsort(place)

        i, j = atoms[graph.edges].T
        ends, twice = np.concatenate([i, j]), np.tile(graph.weights, 2)
        degree = np.bincount(ends, twice, k).astype(np.float64)
        volume = _interval_sums(degree[order], low, high)
        within = np.bincount(i[i == j], graph.weights[i == j], k).astype(np.float64)
        head, tail = np.sort([place[i[i != j]], place[j[i != j]]], axis=0)
        weights = graph.weights[i != j]
        own = np.bincount(_range_max(split, head, tail), weights, max(k - 1, 1))
        inside = np.concatenate([within, np.empty(k - 1)])
        for row, (a, b) in enumerate(children):
            inside[k + row] = inside[a] + inside[b] + own[row]
        mean = float(graph.weights.mean()) if len(graph.weights) else 1.0
        return cls(linkage, low, high, volume, inside, head, tail, weights, WEAK * mean)

    @property
    def n_leaves(self) -> int:
        """Number of leaves of the tree."""
        return len(self.linkage) + 1

    def outer(self, node: int) -> float:
        """Conductance of a node against all the rest."""
        volume, total = self.volume[node], self.volume[-1]
        cut = volume - 2 * self.inside[node]
        return float((cut + self.least) / max(min(volume, total - volume), 1e-300))

    def inner(self, node: int) -> float:
        """Least conductance of a part of the node, among its descendants, inside the node."""
        low, high = self.low[node], self.high[node]
        below = np.flatnonzero((self.low >= low) & (self.high <= high))
        below = below[below != node]
        if not len(below):
            return 1.0
        mine = (self.head >= low) & (self.tail < high)
        size = high - low
        ends = np.concatenate([self.head[mine], self.tail[mine]]) - low
        degree = np.bincount(ends, np.tile(self.weights[mine], 2), size).astype(np.float64)
        crossing = _interval_sums(degree, self.low[below] - low, self.high[below] - low)
        # edges inside a leaf are in ``inside`` but not in ``crossing``
        leaf = self.inside[: self.n_leaves][np.argsort(self.low[: self.n_leaves])][low:high]
        hidden = _interval_sums(leaf, self.low[below] - low, self.high[below] - low)
        cut = np.maximum(crossing - 2 * (self.inside[below] - hidden), 0.0)
        smaller = np.minimum(self.volume[below], self.volume[node] - self.volume[below])
        return float(min(1.0, ((cut + self.least) / np.maximum(smaller, 1e-300)).min()))

    def labels(self, k_max: int) -> Ints:
        """Labels of the leaves for k = 1, …, k_max clusters, shape (k_max, n_leaves)."""
        return nested_labels(self.linkage, k_max, self.low, self.high)

    def members(self, n_clusters: int) -> list[int]:
        """Nodes that are the clusters of the cut into ``n_clusters``."""
        k = self.n_leaves
        nodes = {2 * k - 2}
        for row in range(k - 2, k - 1 - n_clusters, -1):
            nodes.remove(k + row)
            nodes.update(int(child) for child in self.linkage[row, :2])
        return sorted(nodes)


def nested_labels(
    linkage: Floats, k_max: int, low: Ints | None = None, high: Ints | None = None
) -> Ints:
    """Labels of the leaves for k = 1, …, k_max clusters, shape (k_max, n_leaves)."""
    if low is None or high is None:
        low, high = intervals(linkage)
    k = len(linkage) + 1
    table = np.zeros((min(k_max, k), k), dtype=np.int64)
    current = np.zeros(k, dtype=np.int64)
    for count in range(1, len(table)):
        right = int(linkage[k - 1 - count, 1])
        current[low[right] : high[right]] = count
        table[count] = current[low[:k]]
    return table


def conductance_ratio(cuts: NestedCuts, k_max: int) -> Floats:
    """S(k) for k = 1, …, k_max; S(1) = 0."""
    total = cuts.volume[-1]
    value: dict[int, float] = {}

    def gain(node: int) -> float:
        if node not in value:
            share = cuts.volume[node] / total if total > 0 else 0.0
            ratio = cuts.inner(node) / cuts.outer(node)
            value[node] = float(min(share, 1 - share) * np.log(ratio))
        return value[node]

    score = np.zeros(min(k_max, cuts.n_leaves))
    for k in range(2, len(score) + 1):
        score[k - 1] = sum(gain(node) for node in cuts.members(k))
    return score


def volume_entropy(cuts: NestedCuts, k_max: int) -> Floats:
    """−Σ_C v_C log v_C of the clusters' volumes for k = 1, …, k_max."""
    share = cuts.volume / max(float(cuts.volume[-1]), 1e-300)
    each = -share * np.log(np.maximum(share, 1e-300))
    count = min(k_max, cuts.n_leaves)
    return np.array([each[cuts.members(k)].sum() if k > 1 else 0.0 for k in range(1, count + 1)])


def _interval_sums(values: Floats, low: Ints, high: Ints) -> Floats:
    total = np.concatenate([[0.0], np.cumsum(values)])
    return total[high] - total[low]


def _range_max(values: Ints, start: Ints, stop: Ints) -> Ints:
    """Greatest of values[start:stop] for many non-empty intervals, by doubling."""
    if not len(start):
        return np.empty(0, dtype=np.int64)
    table = [values]
    while 2 ** len(table) <= len(values):
        half = 2 ** (len(table) - 1)
        table.append(np.maximum(table[-1][:-half], table[-1][half:]))
    level = np.log2(stop - start).astype(np.int64)
    result = np.empty(len(start), dtype=np.int64)
    for q, row in enumerate(table):
        here = level == q
        result[here] = np.maximum(row[start[here]], row[stop[here] - 2**q])
    return result
