"""Biconvex clustering (BCC): convex clustering with a quadratic penalty that weighs features.

    min  Σᵢ Σ_l (w_l² + λw_l)(x_il − μ_il)² + γ Σᵢⱼ φᵢⱼ ‖μᵢ − μⱼ‖²   over μ and w ≥ 0, Σ w_l = 1

Input is X (n × p). With D_ij = Σ_l (w_l² + λw_l)(x_il − x_jl)², the affinities are
φ_ij = exp(−D_ij/2p) where j is a neighbour of i; they are rebuilt in each round. For fixed φ the
objective is convex in μ and in w: μ by sweeps of its stationarity, w_l = ½(α/A_l − λ)₊ with
A_l = Σᵢ (x_il − μ_il)² and α such that the weights sum to 1 (in closed form after sorting A).
Labels: average linkage of μ.

Reference: Chakraborty & Xu (2023), Biconvex clustering, J. Comput. Graph. Statist.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import validate_data

from ..partition import canonical
from ..problem import Floats


def sweep_centroids(
    X: Floats, mu: Floats, omega: Floats, S: sparse.csr_array, gamma: float
) -> Floats:
    """One sweep of μ_il = [γ Σⱼ S_ij μ_jl + ω_l x_il] / [γ Σⱼ S_ij + ω_l].

    All rows move at once. Twice the diagonal dominates the matrix of the quadratic form, so the
    objective falls. Where the denominator vanishes the centroid has no pull and stays.
    """
    bottom = gamma * np.asarray(S.sum(axis=1)).reshape(-1, 1) + omega
    top = gamma * (S @ mu) + omega * X
    return np.divide(top, bottom, out=mu.copy(), where=bottom > 0)


def feature_weights(A: Floats, sparsity: float) -> Floats:
    """Minimise Σ (w_l² + λw_l) A_l over the simplex: w_l = ½(α/A_l − λ)₊."""
    scale = A.max()
    if scale <= 0:
        return np.full(len(A), 1.0 / len(A))
    # A feature without error would take all the weight and leave 0/0: bound it from below.
    A = np.maximum(A / scale, np.finfo(float).eps)

    # With the m best features active, Σ w = ½(α Σ 1/A − mλ) = 1 gives α; m is the greatest count
    # for which the last active feature still has weight.
    ranked = np.sort(A)
    count = np.arange(1, len(A) + 1)
    alpha = (2 + count * sparsity) / np.cumsum(1 / ranked)
    active = np.flatnonzero(alpha > sparsity * ranked)[-1]
    w = np.maximum(alpha[active] / A - sparsity, 0)
    return w / w.sum()


class BiconvexClustering(ClusterMixin, BaseEstimator):
    """Biconvex clustering: centroids and feature weights together.

    Parameters
    ----------
    n_clusters : int, default 8
        Where the average linkage of the centroids is cut.
    gamma : float or "auto", default "auto"
        Fusion strength. "auto" is 1/p² + λ/p, the coefficient of the fit at uniform weights.
    sparsity : float or "auto", default "auto"
        λ, which drives weights of noisy features to 0. "auto" is 1/p.
    n_neighbors : int, default 5
    max_iter : int, default 50
        Rounds of affinities, sweeps and weights.
    n_sweeps : int, default 10
        Sweeps of the centroids in each round.
    tol : float, default 1e-4
        Stop when no weight changes by more than this share of the largest.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    centroids_ : ndarray of shape (n, p)
        μ, one row per sample.
    feature_weights_ : ndarray of shape (p,)
        On the simplex; constant features have weight 0.
    linkage_ : ndarray of shape (n − 1, 4)
        Average linkage of the centroids.
    n_iter_ : int

    Examples
    --------
    >>> X = [[0.0, 3.0], [0.1, 7.0], [5.0, 3.5], [5.1, 6.5]]
    >>> BiconvexClustering(2, n_neighbors=1).fit(X).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        gamma: float | str = "auto",
        sparsity: float | str = "auto",
        n_neighbors: int = 5,
        max_iter: int = 50,
        n_sweeps: int = 10,
        tol: float = 1e-4,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.sparsity = sparsity
        self.n_neighbors = n_neighbors
        self.max_iter = max_iter
        self.n_sweeps = n_sweeps
        self.tol = tol

    def fit(self, X: Any, y: Any = None) -> BiconvexClustering:
        """Cluster the rows of X (n × p)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        if not 1 <= self.n_clusters <= len(X):
            raise ValueError(f"n_clusters must be in 1 … {len(X)}, got {self.n_clusters}")
        # A constant feature has no error and no information, and would take all the weight.
        varies = np.ptp(X, axis=0) > 0
        mu, w = X.copy(), np.zeros(X.shape[1])
        if varies.any():
            mu[:, varies], w[varies] = self._alternate(np.ascontiguousarray(X[:, varies]))
        else:
            self.n_iter_ = 0
        self.centroids_, self.feature_weights_ = mu, w
        # Features of weight 0 are smoothed at no cost and say nothing about the clusters.
        self.linkage_ = linkage(mu[:, w > 0] if (w > 0).any() else mu, "average")
        self.labels_ = canonical(fcluster(self.linkage_, self.n_clusters, "maxclust"))
        return self

    def _alternate(self, X: Floats) -> tuple[Floats, Floats]:
        """Rounds of affinities, centroids and weights until the weights settle."""
        p = X.shape[1]
        sparsity = 1.0 / p if self.sparsity == "auto" else float(self.sparsity)
        gamma = 1.0 / p**2 + sparsity / p if self.gamma == "auto" else float(self.gamma)
        mu, w = X.copy(), np.full(p, 1.0 / p)
        for iteration in range(1, self.max_iter + 1):
            self.n_iter_ = iteration
            omega = w**2 + sparsity * w
            S = affinities(X, omega, self.n_neighbors)
            for _ in range(self.n_sweeps):
                mu = sweep_centroids(X, mu, omega, S, gamma)
            old, w = w, feature_weights(((X - mu) ** 2).sum(axis=0), sparsity)
            if np.abs(w - old).max() <= self.tol * w.max():
                break
        return mu, w


def affinities(X: Floats, omega: Floats, n_neighbors: int) -> sparse.csr_array:
    """φ + φᵀ, with φ_ij = exp(−D_ij/2p) where j is a neighbour of i in the weighted metric D."""
    n, p = X.shape
    metric = NearestNeighbors(n_neighbors=min(n_neighbors, n - 1)).fit(X * np.sqrt(omega))
    graph = metric.kneighbors_graph(mode="distance")
    graph.data = np.exp(-(graph.data**2) / (2 * p))
    phi = sparse.csr_array(graph)
    return sparse.csr_array(phi + phi.T)
