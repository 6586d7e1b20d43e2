"""Data and graphs that several test modules use."""

from __future__ import annotations

import numpy as np
from sklearn.neighbors import NearestNeighbors

from convexcluster.graph import Graph
from convexcluster.points.error import cohesion


def rings(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Noisy circles of radius 1 and 3 around the origin, and which one each sample is on."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    angle, radius = rng.uniform(0, 2 * np.pi, n), np.array([1.0, 3.0])[y]
    radius = radius + 0.1 * rng.normal(size=n)
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]), y


def knn_edges(X: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs i < j of which one is among the k nearest of the other, and their squared distances."""
    near = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X, return_distance=False)
    pairs = np.stack([np.repeat(np.arange(len(X)), k), near[:, 1:].ravel()], axis=1)
    edges = np.unique(np.sort(pairs, axis=1), axis=0).astype(np.int64)
    return edges, ((X[edges[:, 0]] - X[edges[:, 1]]) ** 2).sum(axis=1)


def inherited_graph(graph: Graph, labels: np.ndarray, masses: np.ndarray) -> Graph:
    """The graph that a graph between cells passes on to their rows, written out.

    It has an edge for every pair of rows in the same or in adjacent cells.
    """
    count = int(labels.max()) + 1
    M = np.bincount(labels, masses, count).astype(np.float64)
    table = np.zeros((count, count))
    i, j = graph.edges.T
    table[i, j] = table[j, i] = graph.weights / (M[i] * M[j])
    table[np.diag_indices(count)] = cohesion(graph, M) / M
    p, q = np.triu_indices(len(labels), 1)
    w = table[labels[p], labels[q]] * masses[p] * masses[q]
    keep = w > 0
    return Graph(np.column_stack([p[keep], q[keep]]).astype(np.int64), w[keep])


def assert_same_fit(first, second) -> None:
    """Two fits of equal data: labels, γ and what is proved; gaps differ by their rounding alone.

    Sums of equal numbers depend on how their arrays lie in memory.
    """
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_allclose(first.gamma_, second.gamma_, rtol=1e-12)
    a, b = first.certificate_, second.certificate_
    assert a.partition == b.partition
    assert abs(a.gap - b.gap) <= a.rounding + b.rounding
