"""Other ways to choose the number of clusters: a score for every cut of the tree.

Input is a :class:`Candidates`; output of a selector is an array with the score of k = 1, …, k_max,
the greater the better. ``SELECTORS`` lists them; a new one is a function and a line. "auto" is no
score: it is the cut that the boundaries themselves make.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..labels import elbow_scores
from ..numerics.linkage import cut
from ..numerics.parameters import shown
from ..partition import means
from ..path.clusterpath import ClusterPath
from ..problem import Floats, Ints

# Silhouettes need pairs of samples; more than this many are drawn.
SAMPLES = 1_000


@dataclass(frozen=True)
class Candidates:
    """Everything that a selector may look at."""

    linkage: Floats  # (n − 1, 4): candidate k is its cut into k clusters
    Z: Floats  # (n, r): embedding
    path: ClusterPath
    k_max: int  # greatest number of clusters that is considered

    @cached_property
    def sse(self) -> Floats:
        """SSE in Z of the cut into k = 1, …, k_max clusters."""
        mass = self.path.masses
        found = np.empty(self.k_max)
        for k in range(1, self.k_max + 1):
            label = self.labels(k)
            rest = self.Z - means(self.Z, mass, label)[label]
            found[k - 1] = float(mass @ (rest**2).sum(axis=1))
        return found

    def labels(self, k: int) -> Ints:
        """The candidate with k clusters."""
        return cut(self.linkage, k)


def scored(selector: Callable[[Candidates], Floats], candidates: Candidates) -> Floats:
    """What a selector returns, if that is a number for every candidate."""
    found = selector(candidates)
    try:
        scores = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        scores = np.empty(0)
    if scores.shape != (candidates.k_max,) or np.isnan(scores).any():
        raise ValueError(
            f"selection must return one score for each k = 1, …, {candidates.k_max}, but "
            f"{getattr(selector, '__name__', selector)} returned {shown(found)}"
        )
    return scores


def lifetimes(path: ClusterPath, k_max: int) -> tuple[Floats, Floats]:
    """Longest γ range (k_max, 2) over which the fusions leave k clusters, and its log length.

    The fusions are those of ``path.to_linkage()``; nan and 0 where a k never occurs.
    """
    ranges, length = np.full((k_max, 2), np.nan), np.zeros(k_max)
    positive = path.gammas[path.gammas > 0]  # log γ has no beginning at γ = 0
    if not len(positive):
        return ranges, length
    ends = np.maximum(path.to_linkage()[:, 2], positive[0])
    begins = np.concatenate([positive[:1], ends[:-1]])
    count = np.arange(path.n_samples, 1, -1)  # clusters before each fusion
    shown = count <= k_max
    ranges[count[shown] - 1] = np.column_stack([begins, ends])[shown]
    length[count[shown] - 1] = np.log(ends / begins)[shown]
    return ranges, length


def elbow(candidates: Candidates) -> Floats:
    """The paper's elbow: how far SSE_k lies below the chord of its first ten values."""
    near = elbow_scores(candidates.sse)
    return np.concatenate([near, np.zeros(candidates.k_max - len(near))])


def lifetime(candidates: Candidates) -> Floats:
    """Length in log γ of the longest range with k clusters; one cluster lasts for ever: 0."""
    score = lifetimes(candidates.path, candidates.k_max)[1]
    score[0] = 0.0
    return score


def height_gap(candidates: Candidates) -> Floats:
    """Logarithm of the heights of the merge that ends k clusters over the one that makes them.

    0 where the latter is zero: what is never held apart says nothing about the number of clusters.
    """
    heights = candidates.linkage[::-1, 2][: candidates.k_max]
    heights = heights[heights > 0]
    score = np.zeros(candidates.k_max)
    score[1 : len(heights)] = np.log(heights[:-1] / heights[1:])
    return score


def silhouette(candidates: Candidates) -> Floats:
    """Mean silhouette in the RKHS; 0 for one cluster."""
    from sklearn.metrics import pairwise_distances, silhouette_score

    n = len(candidates.Z)
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

SELECTORS: dict[str, Selector | None] = {
    "auto": None,
    "elbow": elbow,
    "lifetime": lifetime,
    "height_gap": height_gap,
    "silhouette": silhouette,
}


def greatest_count(n_samples: float) -> int:
    """Number of clusters up to which candidates are scored: 1.5 √n, at least 10."""
    return max(10, int(1.5 * np.sqrt(n_samples)))
