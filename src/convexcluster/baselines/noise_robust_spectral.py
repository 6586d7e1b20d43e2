"""Spectral clustering that sets noise apart first: our reading of "SC-NR".

The paper's reference for SC-NR is blank and the method cannot be identified, so this is what the
name suggests and no more: points of low k-nearest-neighbour density are set apart, the rest is
clustered spectrally on its k-nearest-neighbour graph, and each point set apart takes the label of
its nearest clustered point. Input is X (n × d); the density of xᵢ is the inverse of its mean
distance to its neighbours.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import spectral_clustering
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from ..partition import canonical
from ..problem import Floats


class NoiseRobustSpectralClustering(ClusterMixin, BaseEstimator):
    """Spectral clustering of the dense points; the others follow (our reading of "SC-NR").

    Parameters
    ----------
    n_clusters : int, default 8
    n_neighbors : int, default 10
        Neighbours of the density and of the graph.
    noise_share : float, default 0.1
        Share of the points, those of least density, that is set apart.
    affinity : {"nearest_neighbors", "rbf"}, default "nearest_neighbors"
        The graph of the dense points: symmetrised neighbours, or exp(−d²/2σ²).
    bandwidth : float, optional
        σ of the rbf affinity; by default the mean distance to the ``n_neighbors``-th neighbour.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
    noise_ : ndarray of shape (n,), bool
        Whether the point was set apart.

    Examples
    --------
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [9.0]]
    >>> model = NoiseRobustSpectralClustering(2, n_neighbors=2, random_state=0).fit(X)
    >>> model.labels_
    array([0, 0, 0, 1, 1, 1, 1])
    >>> model.noise_.nonzero()[0]
    array([6])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_neighbors: int = 10,
        noise_share: float = 0.1,
        affinity: str = "nearest_neighbors",
        bandwidth: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.noise_share = noise_share
        self.affinity = affinity
        self.bandwidth = bandwidth
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> NoiseRobustSpectralClustering:
        """Cluster the rows of X (n × d)."""
        X = validate_data(self, X, dtype=np.float64, ensure_min_samples=2)
        n = len(X)
        if not 1 <= self.n_clusters <= n:
            raise ValueError(f"n_clusters must be in 1 … {n}, got {self.n_clusters}")
        if not 0 <= self.noise_share < 1:
            raise ValueError(f"noise_share must be in [0, 1), got {self.noise_share}")
        neighbors = min(self.n_neighbors, n - 1)
        distances, _ = NearestNeighbors(n_neighbors=neighbors).fit(X).kneighbors()
        # At least n_clusters + 1 points must stay for the graph to have that many parts.
        apart = min(int(np.ceil(self.noise_share * n)), max(n - self.n_clusters - 1, 0))
        self.noise_ = np.zeros(n, dtype=bool)
        self.noise_[np.argsort(-distances.mean(axis=1), kind="stable")[:apart]] = True
        core = X[~self.noise_]
        labels = np.empty(n, dtype=np.int64)
        labels[~self.noise_] = self._cluster(core, float(distances[:, -1].mean()))
        if apart:
            nearest = NearestNeighbors(n_neighbors=1).fit(core).kneighbors(X[self.noise_])[1]
            labels[self.noise_] = labels[~self.noise_][nearest[:, 0]]
        self.labels_ = canonical(labels)
        return self

    def _cluster(self, core: Floats, scale: float) -> np.ndarray:
        """Spectral labels of the dense points."""
        if self.n_clusters in (1, len(core)):
            return np.arange(len(core)) % self.n_clusters
        if self.affinity == "nearest_neighbors":
            graph = kneighbors_graph(core, min(self.n_neighbors, len(core) - 1), include_self=True)
            affinity = 0.5 * (graph + graph.T)
        elif self.affinity == "rbf":
            sigma = scale if self.bandwidth is None else self.bandwidth
            affinity = rbf_kernel(core, gamma=0.5 / sigma**2 if sigma > 0 else 1.0)
        else:
            raise ValueError(f"affinity must be 'nearest_neighbors' or 'rbf', got {self.affinity}")
        return spectral_clustering(
            affinity,
            n_clusters=self.n_clusters,
            random_state=check_random_state(self.random_state),
        )
