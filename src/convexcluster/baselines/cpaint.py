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

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.isotonic import isotonic_regression
from sklearn.utils.validation import validate_data

from ..graph import canonical
from ..problem import Floats, Ints, check_gamma


def centroids_at(X: Floats, gamma: float) -> Floats:
    """Return the minimiser A (n × d) at one fusion strength.

    Examples
    --------
    Two points move towards each other by γ each, and meet half-way.

    >>> centroids_at(np.array([[0.0], [1.0]]), 0.2)
    array([[0.2],
           [0.8]])
    >>> centroids_at(np.array([[0.0], [1.0]]), 0.6)
    array([[0.5],
           [0.5]])
    """
    n = len(X)
    shift = gamma * (2.0 * np.arange(n) - n + 1.0)
    order = np.argsort(X, axis=0, kind="stable")
    A = np.empty_like(X)
    for k in range(X.shape[1]):
        A[order[:, k], k] = isotonic_regression(X[order[:, k], k] - shift)
    return A


def fusion_heights(X: Floats) -> tuple[Floats, Ints]:
    """γ at which neighbours in each coordinate's order fuse, (d, n − 1), and the orders (d, n)."""
    from ..loops.chain import chain_fusions

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
        heights, order = fusion_heights(X)
        if self.n_clusters is not None:
            self.gamma_ = _gamma_for(heights, order, self.n_clusters)
        elif self.gamma is not None:
            self.gamma_ = check_gamma(self.gamma)
        else:
            self.gamma_ = _longest(heights, order)
        self.labels_ = partition_at(heights, order, self.gamma_)
        self.n_clusters_ = int(self.labels_.max()) + 1
        self.centroids_ = centroids_at(X, self.gamma_)
        return self


def partition_at(heights: Floats, order: Ints, gamma: float) -> Ints:
    """Rows equal in all coordinates at γ, numbered by first appearance."""
    d, n = order.shape
    cells = np.zeros((d, n), dtype=np.int64)
    cells[:, 1:] = np.cumsum(heights > gamma, axis=1)
    blocks = np.empty((n, d), dtype=np.int64)
    np.put_along_axis(blocks.T, order, cells, axis=1)
    labels = np.zeros(n, dtype=np.int64)
    # Refining by one chunk of columns at a time keeps the rows that are compared short.
    for start in range(0, d, 64):
        rows = np.column_stack([labels, blocks[:, start : start + 64]])
        labels = np.unique(rows, axis=0, return_inverse=True)[1].ravel()
    return canonical(labels)


def _gamma_for(heights: Floats, order: Ints, k: int) -> float:
    """Least fusion γ with at most k clusters; partitions are nested, so bisection finds it."""
    steps = np.unique(np.append(heights.ravel(), 0.0))
    low, high = 0, len(steps) - 1
    while low < high:
        middle = (low + high) // 2
        if int(partition_at(heights, order, steps[middle]).max()) + 1 <= k:
            high = middle
        else:
            low = middle + 1
    return float(steps[low])


def _longest(heights: Floats, order: Ints) -> float:
    """γ in the middle of the longest log-lifetime of a count of clusters in 2 … √n.

    One γ that starts each count is found by bisection; with none in that range γ fuses everything.
    """
    n = order.shape[1]
    top = max(2, int(np.sqrt(n)))
    starts = {k: _gamma_for(heights, order, k) for k in range(1, top + 1)}
    best, length = starts[1], 0.0
    for k in range(2, top + 1):
        if 0 < starts[k] < starts[k - 1] and np.log(starts[k - 1] / starts[k]) > length:
            length = float(np.log(starts[k - 1] / starts[k]))
            best = float(np.sqrt(starts[k] * starts[k - 1]))
    return best
