"""Ten Gaussian blobs in 100 dimensions, n = 2,000, scaled to diameter one."""

from __future__ import annotations

from scipy.spatial.distance import pdist
from sklearn.datasets import make_blobs

from ..objective import Data
from .graphs import grid_to_full_fusion, knn_graph


def make() -> list[Data]:
    X, y = make_blobs(
        2_000, n_features=100, centers=10, cluster_std=1.0, center_box=(-3, 3), random_state=0
    )
    X = X - X.mean(axis=0)
    X = X / pdist(X).max()
    X = X - X.mean(axis=0)
    edges, weights = knn_graph(X)
    gammas = grid_to_full_fusion(X, y, edges, weights)
    return [Data("blobs 2000", X, edges, weights, gammas, rival=1.9)]
