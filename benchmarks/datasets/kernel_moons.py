"""Gaussian kernel (bandwidth 0.2) of 1,000 moons through its eigen-embedding, kNN in its metric."""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import make_moons

from ..objective import Data
from .graphs import knn_graph

# γ at which the last two clusters fuse, times 1.2, as in the peers' run
TOP = 283.8277


def make() -> list[Data]:
    X, _ = make_moons(1_000, noise=0.05, random_state=0)
    start = time.perf_counter()
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    values, vectors = np.linalg.eigh(np.exp(-squares / (2 * 0.2**2)))
    keep = values > 1e-10 * values[-1]
    Z = np.ascontiguousarray((vectors[:, keep] * np.sqrt(values[keep]))[:, ::-1])
    Z -= Z.mean(axis=0)
    prepare = time.perf_counter() - start
    edges, weights = knn_graph(Z)
    gammas = np.geomspace(1e-6 * TOP, TOP, 40)
    return [Data("kernel moons 1000", Z, edges, weights, gammas, prepare, rival=8.1)]
