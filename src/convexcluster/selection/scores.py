"""Scores for every number of clusters: the selectors.

Input is a :class:`Candidates`: the tree whose cuts are the candidates, the graph, the path and the
samples. Output of a selector is an array with the score of k = 1, …, k_max, the greater the
better. ``SELECTORS`` lists them; a new one is a function and a line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..graph import Graph
from ..labels import elbow_scores, sse_curve
from ..numerics.linkage import cut
from ..path.clusterpath import ClusterPath
from ..problem import Floats, Ints
from .average import PathAverage, average_tree
from .cuts import NestedCuts, conductance_ratio, volume_entropy
from .null import Null

# Weight of the entropy beside the conductances: a cluster of share v counts v·log(1/v) for being
# there, if the eigenvalues show it. From ½ to ¾ the choices are much the same.
INFORMATION = 0.6

# Silhouettes need pairs of samples; more than this many are drawn.
SAMPLES = 1_000


@dataclass(frozen=True)
class Candidates:
    """Everything that a selector may look at."""

    linkage: Floats  # (n − 1, 4): tree over the samples; candidate k is its cut into k clusters
    tree: Floats  # (g − 1, 4): the same over groups of samples that are never apart
    atoms: Ints  # (n,): group of every sample
    average: PathAverage | None  # distances of the tree; None for the tree of fusions
    Z: Floats  # (n, r): embedding
    graph: Graph
    path: ClusterPath
    k_max: int  # greatest number of clusters that is considered
    min_cluster_size: float  # smaller clusters (in mass) do not count
    null: Null | None = None  # structureless data to compare with

    @cached_property
    def cuts(self) -> NestedCuts:
        """The tree laid out over the graph whose cuts are counted."""
        graph = self.graph if self.null is None else self.null.own
        return NestedCuts.of(self.tree, graph, self.atoms)

    @cached_property
    def sse(self) -> Floats:
        """SSE of the cut into k = 1, …, k_max clusters: in the averaged distances, or in Z."""
        if self.average is not None:
            return sse_curve(self.linkage)[: self.k_max]
        return np.array([self._sse_in_Z(k) for k in range(1, self.k_max + 1)])

    def _sse_in_Z(self, k: int) -> float:
        label, mass = self.labels(k), self.path.masses
        weight = np.bincount(label, mass)
        means = np.stack([np.bincount(label, mass * z) for z in self.Z.T], axis=1) / weight[:, None]
        return float(mass @ ((self.Z - means[label]) ** 2).sum(axis=1))

    def labels(self, k: int) -> Ints:
        """The candidate with k clusters."""
        return cut(self.linkage, k)

    @cached_property
    def lifetimes(self) -> tuple[Floats, Floats]:
        """γ range (k_max, 2) over which the fusions leave k clusters, and its length in log γ."""
        return lifetimes(self.path, self.k_max, self.min_cluster_size)


def lifetimes(path: ClusterPath, k_max: int, min_size: float = 0.0) -> tuple[Floats, Floats]:
    """Longest γ range over which exactly k clusters of at least ``min_size`` exist, and log length.

    The fusions are those of ``path.to_linkage()``; nan and 0 where a k never occurs.
    """
    ranges, length = np.full((k_max, 2), np.nan), np.zeros(k_max)
    positive = path.gammas[path.gammas > 0]  # log γ has no beginning at γ = 0
    if not len(positive):
        return ranges, length
    linkage, n = path.to_linkage(), path.n_samples
    mass = np.concatenate([path.masses, np.empty(n - 1)])
    count = int((path.masses >= min_size).sum())
    begin = float(positive[0])
    for row, (a, b) in enumerate(linkage[:, :2].astype(np.int64)):
        mass[n + row] = mass[a] + mass[b]
        after = count + int(mass[n + row] >= min_size)
        after -= int(mass[a] >= min_size) + int(mass[b] >= min_size)
        if after != count:
            end = max(float(linkage[row, 2]), begin)
            if 1 <= count <= k_max and np.log(end / begin) >= length[count - 1]:
                ranges[count - 1], length[count - 1] = (begin, end), np.log(end / begin)
            count, begin = after, end
    return ranges, length


def elbow(candidates: Candidates) -> Floats:
    """The paper's elbow: how far SSE_k lies below the chord of its first ten values."""
    near = elbow_scores(candidates.sse[: candidates.k_max])
    return np.concatenate([near, np.zeros(candidates.k_max - len(near))])


def lifetime(candidates: Candidates) -> Floats:
    """Length in log γ of the longest range with k clusters; one cluster lasts for ever: 0."""
    score = candidates.lifetimes[1].copy()
    score[0] = 0.0
    return score


def height_gap(candidates: Candidates) -> Floats:
    """Logarithm of the heights of the merge that ends k clusters over the one that makes them."""
    heights = candidates.linkage[::-1, 2][: candidates.k_max]
    heights = np.maximum(heights, 1e-12 * max(heights.max(initial=0.0), 1e-300))
    score = np.zeros(candidates.k_max)
    score[1 : len(heights)] = np.log(heights[:-1] / heights[1:])
    return score


def conductance(candidates: Candidates) -> Floats:
    """Conductance ratio of the clusters, see :mod:`convexcluster.selection.cuts`."""
    score = conductance_ratio(candidates.cuts, candidates.k_max)
    return np.concatenate([score, np.full(candidates.k_max - len(score), -np.inf)])


def auto(candidates: Candidates) -> Floats:
    """:func:`conductance`, and what the eigenvalues of the graph say of k groups.

    Let δ_j be how far the j-th eigenvalue lies below that of structureless data. Of partitions that
    are as easily cut, the one whose labels tell more about the samples (entropy H of the clusters'
    volumes) is better, if so many groups are there:

        S(k) + 0.6 Σ_{j ≤ k} (H(j) − H(j−1)) clip(δ_j, −1, 1).

    In the plane and in space, where groups are often curves or strips, whose eigenvalues are small
    all along, what counts is whether the next one is not:

        S(k) + clip(δ_k − δ_{k+1}, 0, 1).

    One cluster has 0.
    """
    score, null = conductance(candidates), candidates.null
    if null is not None:
        told = volume_entropy(candidates.cuts, candidates.k_max)
        count = len(told)
        if null.planar:
            score[:count] += null.drop(count)
        else:
            gained = np.diff(told, prepend=0.0) * null.shown(count)
            score[:count] += INFORMATION * np.cumsum(gained)
    return score


def stability(candidates: Candidates) -> Floats:
    """Mean adjusted Rand index between the candidate and the cut of the tree of every single γ.

    A partition that appears only at some γ agrees with few of them.
    """
    score = np.zeros(candidates.k_max)
    average = candidates.average
    if average is None or not len(average.steps):
        return score
    mass, k_max = average.masses, min(candidates.k_max, len(average.masses))
    chosen = candidates.cuts.labels(k_max)
    # eight γ spread over the path tell as much as all of them
    steps = average.steps[np.linspace(0, len(average.steps) - 1, 8).round().astype(int)]
    for step in np.unique(steps):
        alone = average.at(candidates.path, int(step))
        labels = NestedCuts.of(average_tree(alone), candidates.graph, average.atoms).labels(k_max)
        for k in range(2, k_max + 1):
            score[k - 1] += rand_index(chosen[k - 1], labels[k - 1], mass) / len(np.unique(steps))
    return score


def rand_index(first: Ints, second: Ints, masses: Floats) -> float:
    """Adjusted Rand index of two labelings of weighted points, with continuous pair counts."""
    size = int(second.max()) + 1
    joint = np.bincount(first * size + second, masses)
    total = masses.sum() ** 2
    together = float((joint**2).sum())
    a = float((np.bincount(first, masses) ** 2).sum())
    b = float((np.bincount(second, masses) ** 2).sum())
    self_pairs = float((masses**2).sum())
    together, a, b, total = (v - self_pairs for v in (together, a, b, total))
    expected = a * b / total if total > 0 else 0.0
    chance_free = 0.5 * (a + b) - expected
    return float((together - expected) / chance_free) if chance_free > 0 else 1.0


def silhouette(candidates: Candidates) -> Floats:
    """Mean silhouette in the RKHS; 0 for one cluster."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    n = len(candidates.atoms)
    draw = np.random.default_rng(0).choice
    rows = np.arange(n) if n <= SAMPLES else np.sort(draw(n, SAMPLES, replace=False))
    distance = pairwise_distances(candidates.Z[rows])
    score = np.zeros(candidates.k_max)
    for k in range(2, candidates.k_max + 1):
        label = candidates.labels(k)[rows]
        if 2 <= len(np.unique(label)) < len(rows):
            score[k - 1] = silhouette_score(distance, label, metric="precomputed")
    return score


Selector = Callable[[Candidates], Floats]

SELECTORS: dict[str, Selector] = {
    "auto": auto,
    "conductance": conductance,
    "elbow": elbow,
    "lifetime": lifetime,
    "height_gap": height_gap,
    "stability": stability,
    "silhouette": silhouette,
}
