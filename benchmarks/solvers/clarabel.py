"""Clarabel through cvxpy, one γ after the other: the independent reference, for small n."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np

from convexcluster.partition import canonical

from ..objective import Data

TOLERANCES = (1e-6,)


class Points:
    """Centroids of all samples per γ, with the interface of a path."""

    def __init__(self, n: int) -> None:
        self.n, self.A = n, {}

    def labels(self, gamma: float) -> np.ndarray:
        return canonical(np.arange(self.n))

    def centroids(self, gamma: float) -> np.ndarray:
        return self.A[gamma]


def skip(data: Data) -> str | None:
    if find_spec("cvxpy") is None or find_spec("clarabel") is None:
        return "cvxpy or clarabel is not installed"
    if data.Z.size > 2_500:
        return "more than 2,500 numbers: minutes"
    return None


def warm_up(data: Data) -> None:
    """Nothing is compiled."""


def run(data: Data, tol: float) -> Points:
    import cvxpy as cp

    points = Points(len(data.Z))
    A, gamma = cp.Variable(data.Z.shape), cp.Parameter(nonneg=True)
    D = A[data.edges[:, 0]] - A[data.edges[:, 1]]
    penalty = gamma * cp.sum(cp.multiply(data.weights, cp.norm(D, axis=1)))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(A - data.Z) + penalty))
    for value in data.gammas:
        gamma.value = float(value)
        problem.solve(solver="CLARABEL")
        points.A[value] = A.value
    return points
