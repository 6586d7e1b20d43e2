"""C-PAINT: ℓ1 convex clustering with uniform weights, solved exactly.

    min_A  ½ Σ ‖xᵢ − aᵢ‖² + γ Σ_{i<j} ‖aᵢ − aⱼ‖₁

Input is X (n × d). The problem falls apart into coordinates; with the values of one sorted,
y₍₁₎ ≤ … ≤ y₍ₙ₎, the penalty is linear on the ordered cone and the minimiser is the isotonic
regression of y₍ᵢ₎ − γ(2i − n − 1). Clusters are the rows that are equal in all coordinates. Once
fused, values stay fused, so the partitions are nested and γ can be searched by bisection.

Reference: Zhang, Chen & Terada (2021), Dynamic visualization for ℓ1 fusion convex clustering in
near-linear time, UAI.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..partition import canonical
from ..problem import Floats, Ints, check_gamma


def fusion_heights(X: Floats) -> tuple[Floats, Ints]:
    """γ at which neighbours in each coordinate's order fuse, (d, n − 1), and the orders (d, n)."""
    from .loops.chain import chain_fusions

    order = np.ascontiguousarray(np.argsort(X, axis=0, kind="stable").T)
    values = np.take_along_axis(np.ascontiguousarray(X.T), order, axis=1)
    heights = np.zeros((X.shape[1], len(X) - 1))
    for k in range(X.shape[1]):
        chain_fusions(values[k], heights[k])
    return heights, order


class CPaint(ClusterMixin, BaseEstimator):
    """ℓ1 convex clustering with uniform weights (C-PAINT).

    Parameters
    ----------
    n_clusters : int, optional
        Take the least γ with at most this many clusters. Fusions of rows can coincide, so that the
        answer may have fewer.
    gamma : float, optional
        Fusion strength; used if ``n_clusters`` is None. If both are None, the γ in the middle (on
        a log scale) of the longest stretch with one partition into 2 … √n clusters is taken.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each sample, numbered by first appearance.
    n_clusters_ : int
    gamma_ : float
        Fusion strength of ``labels_``.
    centroids_ : ndarray of shape (n, d)
        The minimiser at ``gamma_``, one row per sample.

    Examples
    --------
    >>> X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
    >>> CPaint(n_clusters=2).fit(X).labels_
    array([0, 0, 1, 1])
    """

    def __init__(self, n_clusters: int | None = None, *, gamma: float | None = None) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma

    def fit(self, X: Any, y: Any = None) -> CPaint:
        """Cluster the rows of X (n × d)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if self.n_clusters is not None and not 1 <= self.n_clusters <= len(X):
            raise ValueError(f"n_clusters must be in 1 … {len(X)}, got {self.n_clusters}")
        fusions = Fusions(*fusion_heights(X))
        if self.n_clusters is not None:
            self.gamma_ = fusions.gamma_for(self.n_clusters)
        elif self.gamma is not None:
            self.gamma_ = check_gamma(self.gamma)
        else:
            self.gamma_ = _longest(fusions)
        self.labels_ = fusions.partition(self.gamma_)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.centroids_ = fusions.centroids(X, self.gamma_)
        self._fusions = fusions
        return self

    def cut(self, n_clusters: int) -> Ints:
        """Labels (n,) at the least γ with at most ``n_clusters`` clusters."""
        check_is_fitted(self)
        return self._fusions.partition(self._fusions.gamma_for(n_clusters))


# Samples up to which the γ of all pairs is kept, n² floats or 32 MB: one tree then answers for
# every number of clusters. Twice as many samples take 128 MB; beyond the limit each number of
# clusters costs a bisection.
PAIRS = 2_000


class Fusions:
    """The fusions of all coordinates, and the least γ for any number of clusters."""

    def __init__(self, heights: Floats, order: Ints) -> None:
        self.heights, self.order = heights, order
        self._rising: Floats | None = None
        if order.shape[1] <= PAIRS:
            self._rising = _tree_heights(heights, order)

    def blocks(self, gamma: float) -> Ints:
        """Number of the fused block of each position of each order, shape (d, n)."""
        cells = np.zeros(self.order.shape, dtype=np.int64)
        cells[:, 1:] = np.cumsum(self.heights > gamma, axis=1)
        return cells

    def partition(self, gamma: float) -> Ints:
        """Rows equal in all coordinates at γ, numbered by first appearance."""
        d, n = self.order.shape
        cells = np.empty((n, d), dtype=np.int64)
        np.put_along_axis(cells.T, self.order, self.blocks(gamma), axis=1)
        labels = np.zeros(n, dtype=np.int64)
        # Refining by one chunk of columns at a time keeps the rows that are compared short.
        for start in range(0, d, 64):
            rows = np.column_stack([labels, cells[:, start : start + 64]])
            labels = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
        return canonical(labels)

    def centroids(self, X: Floats, gamma: float) -> Floats:
        """The minimiser at γ: block means of y₍ᵢ₎ − γ(2i − n − 1), as isotonic regression has."""
        d, n = self.order.shape
        values = np.take_along_axis(np.ascontiguousarray(X.T), self.order, axis=1)
        values = values - gamma * (2.0 * np.arange(n) - n + 1.0)
        cells = (self.blocks(gamma) + n * np.arange(d)[:, None]).ravel()
        count = np.bincount(cells, minlength=n * d)
        means = np.bincount(cells, values.ravel(), n * d) / np.maximum(count, 1)
        A = np.empty((n, d))
        np.put_along_axis(A.T, self.order, means[cells].reshape(d, n), axis=1)
        return A

    def gamma_for(self, k: int) -> float:
        """Least fusion γ with at most k clusters; partitions are nested."""
        n = self.order.shape[1]
        if self._rising is not None:
            return float(self._rising[n - k - 1]) if k < n else 0.0
        steps = np.unique(np.append(self.heights.ravel(), 0.0)).tolist()
        return steps[bisect_left(steps, -k, key=lambda gamma: -self.partition(gamma).max() - 1)]


def _tree_heights(heights: Floats, order: Ints) -> Floats:
    """γ of the n − 1 merges of rows, rising.

    The γ at which a pair is fused in all coordinates is a maximum of ultrametrics, and so itself
    one: single linkage reads its tree off.
    """
    from scipy.cluster.hierarchy import linkage
    from scipy.spatial.distance import squareform

    from .loops.chain import pair_fusions

    n = order.shape[1]
    together = np.zeros((n, n))
    for k in range(len(order)):
        pair_fusions(heights[k], order[k], together)
    return linkage(squareform(together, checks=False), "single")[:, 2]


def _longest(fusions: Fusions) -> float:
    """γ in the middle of the longest log-lifetime of a count of clusters in 2 … √n.

    With none in that range γ fuses everything.
    """
    n = fusions.order.shape[1]
    top = max(2, int(np.sqrt(n)))
    starts = {k: fusions.gamma_for(k) for k in range(1, top + 1)}
    best, length = starts[1], 0.0
    for k in range(2, top + 1):
        if 0 < starts[k] < starts[k - 1] and np.log(starts[k - 1] / starts[k]) > length:
            length = float(np.log(starts[k - 1] / starts[k]))
            best = float(np.sqrt(starts[k] * starts[k - 1]))
    return best
