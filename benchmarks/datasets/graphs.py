"""The graph of the peers' measurements: union kNN, k = 10, w = exp(−½d²), components joined."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from convexcluster.graph import components


def knn_graph(X: np.ndarray, k: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """Edges and weights; each component is joined to its nearest other one until one is left."""
    n = len(X)
    distance, near = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    i = np.repeat(np.arange(n), k + 1)
    pairs = np.sort(np.stack([i, near.ravel()], axis=1), axis=1)
    distance = distance.ravel()[pairs[:, 0] != pairs[:, 1]]
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    pairs, first = np.unique(pairs, axis=0, return_index=True)
    distance = distance[first]
    while (label := components(pairs, n)).max() > 0:
        found = {}
        for t in range(label.max() + 1):
            own, other = np.flatnonzero(label == t), np.flatnonzero(label != t)
            d, j = NearestNeighbors(n_neighbors=1).fit(X[other]).kneighbors(X[own])
            best = int(d[:, 0].argmin())
            pair = sorted((int(own[best]), int(other[j[best, 0]])))
            found[tuple(pair)] = d[best, 0]
        pairs = np.concatenate([pairs, np.array(list(found))])
        distance = np.concatenate([distance, list(found.values())])
        order = np.lexsort((pairs[:, 1], pairs[:, 0]))
        pairs, distance = pairs[order], distance[order]
    return pairs, np.exp(-0.5 * distance**2)


def grid_to_full_fusion(X, y, edges, weights, count: int = 40) -> np.ndarray:
    """Geometric over six decades, up to 1.2 times the γ at which the last class is pulled in."""
    inside = y[edges[:, 0]] == y[edges[:, 1]]
    top = 0.0
    for label in np.unique(y):
        cut = weights[~inside & (y[edges] == label).any(axis=1)].sum()
        if cut > 0:
            top = max(top, float(np.linalg.norm(X[y == label].sum(axis=0)) / cut))
    return np.geomspace(1.2e-6 * top, 1.2 * top, count)
