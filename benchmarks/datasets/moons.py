"""Two moons in the plane, n = 1,000, 5,000 and 10,000 (and any n for the growth)."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_moons

from ..objective import Data
from .graphs import grid_to_full_fusion, knn_graph

RIVAL = {1_000: 0.4, 5_000: 2.4, 10_000: 4.7}  # CCMM, default settings, in yardsticks


def moons(n: int) -> Data:
    X, y = make_moons(n, noise=0.05, random_state=0)
    X = np.ascontiguousarray(X - X.mean(axis=0))
    edges, weights = knn_graph(X)
    gammas = grid_to_full_fusion(X, y, edges, weights)
    return Data(f"moons {n}", X, edges, weights, gammas, rival=RIVAL.get(n))


def make() -> list[Data]:
    return [moons(n) for n in RIVAL]
