"""Kernel power k-means (KPKM): kernel k-means smoothed by power means, annealed to k-means.

    min over centres  Σᵢ M_s(d_i1, …, d_ik),   M_s(d) = ((1/k) Σ_j d_j^s)^{1/s},  s < 0

d_ij is the squared RKHS distance of φ(xᵢ) to c_j = Σ_l v_lj φ(x_l). M_s is concave, so its tangent
majorises it: with

    ω_ij = ∂M_s/∂d_ij = (1/k) d_ij^{s−1} ((1/k) Σ_l d_il^s)^{1/s − 1}

the next centres are v_lj = ω_lj/Σ_l ω_lj. M_s falls as s falls towards −∞, where it is the least
distance; s ← ηs after each step, η slightly above 1. Each step lowers the objective.

Reference: Paul, Chakraborty, Das & Xu (2022), Implicit annealing in kernel spaces, IEEE TPAMI.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ..problem import Floats, Ints
from .kernel_kmeans import KernelCentres, kernel_distances, kernel_seeds


def power_mean(d: Floats, s: float) -> Floats:
    """M_s of each row of d > 0, in logarithms (d^s overflows long before s is −100)."""
    return np.exp(_log_mean(np.log(d), s)[:, 0] / s)


def _log_mean(log_d: Floats, s: float) -> Floats:
    """log((1/k) Σ_j d_j^s) of each row, shape (n, 1), scaled by the largest term."""
    scaled = s * log_d
    top = scaled.max(axis=1, keepdims=True)
    return top + np.log(np.exp(scaled - top).mean(axis=1, keepdims=True))


def tangent(d: Floats, s: float) -> Floats:
    """ω_ij = ∂M_s/∂d_ij."""
    log_d = np.log(d)
    return np.exp((s - 1) * log_d + (1 / s - 1) * _log_mean(log_d, s)) / d.shape[1]


class KernelPowerKMeans(KernelCentres):
    """Kernel power k-means.

    Parameters
    ----------
    n_clusters : int, default 8
    kernel : str or callable, default "rbf"
        As in :class:`~convexcluster.KernelConvexClustering`.
    bandwidth : float or "auto", default "auto"
    kernel_params : dict, optional
    power : float, default -1.0
        s at the start, < 0.
    anneal : float, default 1.05
        η: s ← ηs after each step.
    n_init : int, default 4
        Restarts; the lowest Σ of least squared distances wins.
    max_iter : int, default 200
    tol : float, default 1e-6
        Stop when the labels stand and the objective falls by less than this share in a step.
    random_state : int, RandomState or None

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Nearest centre, numbered by first appearance.
    dual_coef_ : ndarray of shape (n_clusters, n)
        v: centre t is Σ_l v_tl φ(x_l).
    inertia_ : float
        Σ of least squared distances, in the RKHS.
    objective_ : ndarray of shape (1 + iterations,)
        Σᵢ M_s at each step; it never rises.
    n_iter_ : int

    Examples
    --------
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> KernelPowerKMeans(2, kernel="linear", random_state=0).fit(X).labels_
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        kernel: Any = "rbf",
        bandwidth: float | str = "auto",
        kernel_params: dict[str, Any] | None = None,
        power: float = -1.0,
        anneal: float = 1.05,
        n_init: int = 4,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.kernel_params = kernel_params
        self.power = power
        self.anneal = anneal
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> KernelPowerKMeans:
        """Cluster the rows of X (n × d)."""
        if not self.power < 0 or not self.anneal >= 1:
            raise ValueError(
                f"power must be < 0 and anneal ≥ 1, got {self.power} and {self.anneal}"
            )
        K = self._gram(X)
        rng = check_random_state(self.random_state)
        best = np.inf
        for _ in range(self.n_init):
            V, labels, inertia, objective = self._descend(K, kernel_seeds(K, self.n_clusters, rng))
            if inertia < best:
                best, self.objective_, kept = inertia, objective, (V, labels)
        self.inertia_, self.n_iter_ = best, len(self.objective_) - 1
        self._keep(K, *kept)
        return self

    def _descend(self, K: Floats, seeds: Ints) -> tuple[Floats, Ints, float, Floats]:
        """Majorise and minimise from centres at the seeds, while s goes to −∞."""
        diagonal = np.diagonal(K)
        # A centre on a sample has distance 0, where the tangent is infinite: keep off it by a
        # round-off of the largest squared norm.
        floor = np.finfo(float).eps * max(float(np.abs(diagonal).max()), np.finfo(float).tiny)
        V = np.zeros((len(K), self.n_clusters))
        V[seeds, np.arange(self.n_clusters)] = 1.0
        # Seeds alone would stay where they are (all the tangent's weight): start from the means of
        # their cells mixed with the overall mean, which leaves every distance positive.
        cells = np.argmin(diagonal[seeds] - 2 * K[:, seeds], axis=1)
        V += cells[:, None] == np.arange(self.n_clusters)
        V = 0.9 * V / V.sum(axis=0) + 0.1 / len(K)
        s, objective, labels = self.power, [], np.full(len(K), -1)
        for _ in range(self.max_iter + 1):
            d = np.maximum(kernel_distances(K, V), floor)
            old, labels = labels, np.argmin(d, axis=1)
            objective.append(float(power_mean(d, s).sum()))
            fall = objective[-2] - objective[-1] if len(objective) > 1 else np.inf
            if fall <= self.tol * abs(objective[-1]) and np.array_equal(old, labels):
                break
            if len(objective) <= self.max_iter:
                omega = tangent(d, s)
                V = omega / omega.sum(axis=0)
                s *= self.anneal
        return V, labels, float(d.min(axis=1).sum()), np.array(objective)
