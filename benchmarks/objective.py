"""What a path is judged by: the objective of the full problem against a certified lower bound.

    error(γ) = (F(A_γ) − D_γ) / ½‖Z − Z̄‖²

D_γ is the dual value of a certified run at tol = 1e-7, so that the error of any method, certified
or not, is known up to 1e-7.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from convexcluster import solve_path
from convexcluster.problem import Problem


@dataclass(frozen=True)
class Data:
    """One problem with its grid; ``prepare`` seconds were spent on an embedding, and count."""

    name: str
    Z: np.ndarray
    edges: np.ndarray
    weights: np.ndarray
    gammas: np.ndarray
    prepare: float = 0.0
    rival: float | None = None  # CCMM at its default settings, in yardsticks

    def problem(self, gamma: float) -> Problem:
        return Problem.of(self.Z, self.edges, self.weights, gamma)


def yardstick() -> float:
    """Best of five stable sorts of three million floats: places a machine beside another."""
    values = np.random.default_rng(0).random(3_000_000)
    best = np.inf
    for _ in range(5):
        copy = values.copy()
        start = time.thread_time()
        copy.sort(kind="stable")
        best = min(best, time.thread_time() - start)
    return best


def lower_bounds(data: Data) -> np.ndarray:
    """D_γ along the grid, from a certified run at 1e-7."""
    path = solve_path(data.Z, data.edges, data.weights, data.gammas, tol=1e-7)
    return objectives(data, path) - path.gaps * path.scale


def objectives(data: Data, path) -> np.ndarray:
    """F along the grid for anything with ``labels(gamma)`` and ``centroids(gamma)``."""
    return np.array(
        [data.problem(g).objective(path.centroids(g)[path.labels(g)]) for g in data.gammas]
    )
