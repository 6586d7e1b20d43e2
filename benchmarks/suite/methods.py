"""Ours and the rivals that run live: features → labels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph

from benchmarks.machine import installed
from convexcluster import KernelConvexClustering

OURS = "ours"
NEAREST = ", nearest"  # the column of a method whose noise is given to the nearest cluster

# Numbers of components that are tried after the best so far. Half as many may stop the search at a
# local minimum of BIC, twice as many cost as many more fits; neither was measured.
PATIENCE = 10


@dataclass(frozen=True)
class Method:
    """How a method is called.

    Attributes
    ----------
    run : callable
        (X, k) → labels; k is not looked at where nothing is told.
    about : str
        Its settings, for the page.
    package : str
        The distribution whose version the labels belong to.
    noise : bool
        Whether −1 is among its labels: such a method has a second column, see ``NEAREST``.
    """

    run: Callable[[np.ndarray, int], np.ndarray]
    about: str
    package: str = "scikit-learn"
    noise: bool = False

    def missing(self) -> str | None:
        """Why the method cannot run here, or None if it can."""
        if installed(self.package) != "absent":
            return None
        return f"{self.package} is not installed: pip install --group rivals"


def plscan(X: np.ndarray, k: int) -> np.ndarray:
    from fast_hdbscan import PLSCAN

    return np.asarray(PLSCAN(reproducible=True).fit(np.ascontiguousarray(X)).labels_)


def leiden(X: np.ndarray, k: int) -> np.ndarray:
    """Modularity at resolution 1 on the symmetric graph of 15 neighbours, as for single cells."""
    from igraph import Graph
    from leidenalg import RBConfigurationVertexPartition, find_partition

    near = kneighbors_graph(X, min(15, len(X) - 1))
    tail, head = (near + near.T).nonzero()
    graph = Graph(len(X), np.column_stack([tail, head])[tail < head].tolist())
    found = find_partition(graph, RBConfigurationVertexPartition, n_iterations=-1, seed=0)
    return np.asarray(found.membership)


def mixture(X: np.ndarray, k: int) -> np.ndarray:
    """Full covariances; the number of components with the least BIC.

    The likelihood does not depend on the scale of a feature, but what scikit-learn adds to the
    diagonal of a covariance is absolute: features have unit variance here.
    """
    X = X[:, X.std(axis=0) > 0]
    X = X / X.std(axis=0)
    least, labels, since = np.inf, np.zeros(len(X), dtype=int), 0
    for components in range(1, len(X) // 2):
        model = GaussianMixture(components, n_init=3, random_state=0).fit(X)
        bic = model.bic(X)
        since = 0 if bic < least else since + 1
        if since == 0:
            least, labels = bic, model.predict(X)
        if since == PATIENCE:
            break
    return labels


def spectral(X: np.ndarray, k: int) -> np.ndarray:
    model = SpectralClustering(k, affinity="nearest_neighbors", random_state=0)
    return model.fit_predict(X)


TOLD_K: dict[str, Method] = {
    OURS: Method(
        lambda X, k: KernelConvexClustering(k).fit_predict(X),
        "`KernelConvexClustering(k)`",
        "convexcluster",
    ),
    "spectral": Method(spectral, "graph of 10 neighbours"),
    "k-means": Method(lambda X, k: KMeans(k, n_init=10, random_state=0).fit_predict(X), "10 draws"),
}

TOLD_NOTHING: dict[str, Method] = {
    OURS: Method(
        lambda X, k: KernelConvexClustering().fit_predict(X),
        "`KernelConvexClustering()`",
        "convexcluster",
    ),
    "HDBSCAN 5": Method(
        lambda X, k: HDBSCAN(min_cluster_size=5, copy=True).fit_predict(X),
        "least size 5",
        noise=True,
    ),
    "HDBSCAN 15": Method(
        lambda X, k: HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X),
        "least size 15",
        noise=True,
    ),
    "PLSCAN": Method(plscan, "its defaults", "fast-hdbscan", noise=True),
    "mixtures": Method(mixture, "full covariances of features with unit variance, least BIC"),
    "Leiden": Method(leiden, "resolution 1, symmetric graph of 15 neighbours", "leidenalg"),
}
