"""Kernel k-means: Lloyd's iteration in the RKHS, seeded by k-means++ there.

    min over partitions  Σᵢ ‖φ(xᵢ) − c_{t(i)}‖²,   c_t the mean of φ over cluster t

Input is X (n × d), or K for ``kernel="precomputed"``. A centre is c_j = Σ_l v_lj φ(x_l), so

    d_ij = K_ii − 2 Σ_l v_lj K_il + v_jᵀ K v_j.

References: Schölkopf, Smola & Müller (1998), Neural Computation 10; Arthur & Vassilvitskii (2007).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from ..kernels import Kernel, resolve_kernel
from ..partition import canonical, first
from ..problem import Floats, Ints


def kernel_distances(K: Floats, V: Floats) -> Floats:
    """d_ij = K_ii − 2 Σ_l v_lj K_il + v_jᵀ K v_j, clipped at 0.

    Examples
    --------
    >>> kernel_distances(np.array([[0.0, 0.0], [0.0, 4.0]]), np.array([[0.5], [0.5]]))
    array([[1.],
           [1.]])
    """
    KV = K @ V
    norms = np.einsum("lj,lj->j", V, KV)
    return np.maximum(np.diagonal(K)[:, None] - 2 * KV + norms, 0)


def kernel_seeds(K: Floats, k: int, rng: np.random.RandomState) -> Ints:
    """k-means++: each seed is drawn with probability proportional to its squared distance so far.

    Of 2 + ⌊log k⌋ draws the one that lowers the total most is kept, as in scikit-learn.
    """
    diagonal = np.diagonal(K)
    seeds = np.empty(k, dtype=np.int64)
    seeds[0] = rng.randint(len(K))
    closest = np.maximum(diagonal + diagonal[seeds[0]] - 2 * K[seeds[0]], 0)
    for t in range(1, k):
        total = closest.sum()
        if total > 0:
            draws = np.searchsorted(
                np.cumsum(closest), total * rng.uniform(size=2 + int(np.log(k)))
            )
            draws = np.minimum(draws, len(K) - 1)
        else:  # fewer distinct points than clusters
            draws = rng.randint(len(K), size=1)
        trials = np.minimum(closest, diagonal + diagonal[draws, None] - 2 * K[draws]).clip(min=0)
        best = int(np.argmin(trials.sum(axis=1)))
        seeds[t], closest = draws[best], trials[best]
    return seeds


def lloyd(K: Floats, labels: Ints, k: int, max_iter: int) -> tuple[Ints, float, int]:
    """Labels at a fixed point, Σ of squared distances, iterations. The sum never rises.

    A cluster that loses all its points takes the point that is farthest from its own centre.
    """
    rows = np.arange(len(K))
    for iteration in range(1, max_iter + 1):
        d = kernel_distances(K, memberships(labels, k))
        new = np.argmin(d, axis=1)
        own = d[rows, new]
        for empty in np.setdiff1d(np.arange(k), new):
            lone = int(np.argmax(np.where(np.bincount(new, minlength=k)[new] > 1, own, -1.0)))
            new[lone], own[lone] = empty, 0.0
        if np.array_equal(new, labels):
            return labels, float(own.sum()), iteration
        labels = new
    d = kernel_distances(K, memberships(labels, k))
    return labels, float(d[rows, labels].sum()), max_iter


def memberships(labels: Ints, k: int) -> Floats:
    """V (n × k), column j averages cluster j; the column of an empty cluster is 0."""
    V = np.zeros((len(labels), k))
    V[np.arange(len(labels)), labels] = 1.0
    return V / np.maximum(V.sum(axis=0), 1.0)


class KernelCentres(ClusterMixin, BaseEstimator):
    """What kernel k-means and its power-mean relative share: the Gram matrix and prediction.

    A subclass has ``n_clusters``, ``kernel``, ``bandwidth`` and ``kernel_params``; its ``fit`` ends
    with :meth:`_keep`.
    """

    n_clusters: int
    kernel: Any
    bandwidth: Any
    kernel_params: Any
    kernel_: Kernel

    def _gram(self, X: Any) -> Floats:
        """Check X, resolve the kernel, keep both, and return K."""
        X = validate_data(self, X, dtype=np.float64)
        if not 1 <= self.n_clusters <= len(X):
            raise ValueError(f"n_clusters must be in 1 … {len(X)}, got {self.n_clusters}")
        self.kernel_ = resolve_kernel(self.kernel, self.bandwidth, self.kernel_params, X)
        self._fit_X = None if self.kernel_.name == "precomputed" else X
        return np.ascontiguousarray(self.kernel_(X))

    def _keep(self, K: Floats, V: Floats, labels: Ints) -> None:
        """Number the clusters by first appearance and keep what prediction needs."""
        self.labels_ = canonical(labels)
        names = labels[first(self.labels_)]
        rest = np.setdiff1d(np.arange(V.shape[1]), names)  # centres that no sample is nearest to
        self.dual_coef_ = V[:, np.concatenate([names, rest])].T.copy()
        self._centre_norms = np.einsum("jl,jl->j", self.dual_coef_, self.dual_coef_ @ K)

    def predict(self, X: Any) -> Ints:
        """Nearest centre of each row of X (m × d; m × n of k(new, training) if precomputed)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=np.float64, reset=False)
        K = X if self._fit_X is None else self.kernel_(X, self._fit_X)
        # k(x, x) is the same for all centres and does not move the minimum.
        d = self._centre_norms - 2 * (K @ self.dual_coef_.T)
        return np.argmin(d, axis=1).astype(np.int64)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


class KernelKMeans(KernelCentres):
    """Kernel k-means with k-means++ seeds in the RKHS and restarts.

    Parameters
    ----------
    n_clusters : int, default 8
    kernel : str or callable, default "rbf"
        As in :class:`~convexcluster.KernelConvexClustering`.
    bandwidth : float or "auto", default "auto"
    kernel_params : dict, optional
    n_init : int, default 10
        Restarts; the lowest sum of squares wins.
    max_iter : int, default 300
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Numbered by first appearance.
    dual_coef_ : ndarray of shape (n_clusters, n)
        v: centre t is Σ_l v_tl φ(x_l).
    inertia_ : float
        Σ of squared distances to the centres, in the RKHS.
    n_iter_ : int

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> KernelKMeans(2, kernel="linear", random_state=0).fit(X).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        bandwidth: float | str = "auto",
        kernel_params: dict[str, Any] | None = None,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.kernel_params = kernel_params
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KernelKMeans:
        """Cluster the rows of X (n × d)."""
        K = self._gram(X)
        rng = check_random_state(self.random_state)
        diagonal = np.diagonal(K)
        best = np.inf
        for _ in range(self.n_init):
            seeds = kernel_seeds(K, self.n_clusters, rng)
            start = diagonal[:, None] + diagonal[seeds] - 2 * K[:, seeds]
            labels, inertia, n_iter = lloyd(
                K, np.argmin(start, axis=1), self.n_clusters, self.max_iter
            )
            if inertia < best:
                best, self.n_iter_, kept = inertia, n_iter, labels
        self.inertia_ = best
        self._keep(K, memberships(kept, self.n_clusters), kept)
        return self
