"""The problem, its solution and how a solve can end.

    F(A) = ½ Σ mᵢ‖zᵢ − aᵢ‖² + γ Σ_l w_l ‖a_i(l) − a_j(l)‖

Samples are the rows of Z; an edge l = (i, j) has i < j and appears once. F is strongly convex, so
there is one minimiser A*. This module is a leaf: it knows nothing of kernels or solvers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Status(Enum):
    """How a solve ended, as a sentence for a person."""

    CONVERGED = "duality gap below tol"
    MAX_ITER = "iteration limit reached: raise max_iter or loosen tol"
    STALLED = "no further progress in floating point: loosen tol"
    INTERRUPTED = "interrupted before the gap was below tol"


@dataclass(frozen=True, slots=True)
class Problem:
    """min_A  ½ Σ mᵢ‖zᵢ − aᵢ‖² + γ Σ_l w_l ‖a_i(l) − a_j(l)‖.

    Build it with :meth:`of`, which checks and converts; the plain constructor trusts its caller.

    Attributes
    ----------
    Z : ndarray of shape (n, r)
        Samples, or their embedding Z Zᵀ = K.
    edges : ndarray of shape (m, 2)
        Pairs i < j, each once.
    weights : ndarray of shape (m,)
        Positive.
    gamma : float
        Fusion strength, ≥ 0.
    masses : ndarray of shape (n,)
        Positive sample masses.
    """

    Z: Floats
    edges: Ints
    weights: Floats
    gamma: float
    masses: Floats

    @classmethod
    def of(
        cls,
        Z: ArrayLike,
        edges: ArrayLike,
        weights: ArrayLike,
        gamma: float = 0.0,
        masses: ArrayLike | None = None,
    ) -> Problem:
        """Check the parts, convert them to contiguous float64 and int64, and drop zero weights.

        Examples
        --------
        >>> Problem.of([[0.0], [1.0]], [[0, 1]], [2.0], gamma=0.1).c
        array([0.2])
        """
        Z = check_samples(Z)
        edges, weights = check_graph(edges, weights, len(Z))
        return cls(Z, edges, weights, check_gamma(gamma), check_masses(masses, len(Z)))

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.Z)

    @property
    def c(self) -> Floats:
        """Capacities c_l = γ w_l: the radius of the dual ball of each edge."""
        return self.gamma * self.weights

    @property
    def scale(self) -> float:
        """½ Σ mᵢ‖zᵢ − z̄‖²: F at full fusion of a connected graph; gaps are relative to it."""
        mean = self.masses @ self.Z / self.masses.sum()
        return 0.5 * float(self.masses @ ((self.Z - mean) ** 2).sum(axis=1))

    def at(self, gamma: float) -> Problem:
        """Return the same problem at another fusion strength."""
        return replace(self, gamma=check_gamma(gamma))

    def relative(self, gap: float) -> float:
        """``gap`` over :attr:`scale`; a problem whose rows are all equal has A* = Z and scale 0."""
        scale = self.scale
        return gap / scale if scale > 0 else (0.0 if gap == 0 else np.inf)

    def objective(self, A: Floats) -> float:
        """F(A)."""
        fit = 0.5 * float(self.masses @ ((self.Z - A) ** 2).sum(axis=1))
        i, j = self.edges.T
        return fit + float(self.c @ np.linalg.norm(A[i] - A[j], axis=1))


@dataclass(frozen=True, slots=True)
class Solution:
    """A primal point, a feasible dual and the gap between them.

    Attributes
    ----------
    A : ndarray of shape (n, r)
        Centroids. Rows that are fused are equal to the last bit.
    Lam : ndarray of shape (m, r)
        Dual, ‖λ_l‖ ≤ γ w_l.
    gap : float
        F(A) − dual(Lam) ≥ 0 as computed, so that ½‖A − A*‖²_M ≤ gap + δ with the rounding δ of
        :func:`convexcluster.certificate.gap_rounding`.
    relative_gap : float
        ``gap`` over ½ Σ mᵢ‖zᵢ − z̄‖².
    status : Status
        How the solve ended.
    n_iter : int
        Iterations of the method's outermost loop.
    """

    A: Floats
    Lam: Floats
    gap: float
    relative_gap: float
    status: Status
    n_iter: int


def check_samples(Z: ArrayLike, name: str = "Z") -> Floats:
    """Return ``Z`` as a contiguous 2-D float64 array of finite numbers, or say what is wrong."""
    if hasattr(Z, "toarray"):
        raise ValueError(f"{name} is a sparse matrix: pass {name}.toarray(), or an embedding of it")
    Z = np.asarray(Z)
    if np.iscomplexobj(Z):
        raise ValueError(f"{name} is complex: pass real numbers, e.g. its real and imaginary parts")
    if Z.ndim != 2:
        raise ValueError(
            f"{name} must be 2-D (samples × dimensions), got {Z.ndim}-D: "
            f"reshape one feature with {name}.reshape(-1, 1), one sample with {name}.reshape(1, -1)"
        )
    try:
        Z = np.ascontiguousarray(Z, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None
    if Z.shape[0] == 0:
        raise ValueError(f"{name} has no samples: pass at least one row")
    check_finite(Z, name)
    return Z


def check_finite(
    Z: Floats, name: str, offset: int = 0, columns: ArrayLike | None = None, remedy: str = ""
) -> None:
    """Refuse NaN and infinity in rows of which the first has the number ``offset``."""
    if not np.isfinite(Z).all():
        row, column = np.argwhere(~np.isfinite(Z))[0]
        where = column if columns is None else repr(np.asarray(columns, dtype=object)[column])
        raise ValueError(
            f"{name} holds {Z[row, column]} in row {offset + row}, column {where}: "
            f"impute or drop missing and infinite values first{remedy}"
        )


def check_graph(edges: ArrayLike, weights: ArrayLike, n: int) -> tuple[Ints, Floats]:
    """Return edges (i < j, once each) and positive weights; edges of weight zero are dropped."""
    edges = np.asarray(edges)
    if edges.size == 0:
        edges = np.empty((0, 2), dtype=np.int64)
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError(f"edges must have shape (m, 2), got {edges.shape}")
    if not np.issubdtype(edges.dtype, np.integer) and (
        not np.issubdtype(edges.dtype, np.floating) or (edges != np.floor(edges)).any()
    ):
        raise ValueError("edges must be integer sample indices")
    edges = np.ascontiguousarray(edges, dtype=np.int64)
    weights = _numbers(weights, "weights")
    if weights.shape != (len(edges),):
        raise ValueError(f"weights must have shape ({len(edges)},), one per edge: {weights.shape}")
    if not np.isfinite(weights).all() or (weights < 0).any():
        bad = int(np.argmin(np.isfinite(weights) & (weights >= 0)))
        raise ValueError(f"weights must be finite and ≥ 0: weights[{bad}] is {weights[bad]}")
    if len(edges):
        if edges.min() < 0 or edges.max() >= n:
            bad = int(np.argmax(((edges < 0) | (edges >= n)).any(axis=1)))
            raise ValueError(
                f"edges[{bad}] = {edges[bad].tolist()} is out of range for {n} samples"
            )
        if (edges[:, 0] >= edges[:, 1]).any():
            bad = int(np.argmax(edges[:, 0] >= edges[:, 1]))
            raise ValueError(
                f"edges[{bad}] = {edges[bad].tolist()} must have i < j: use np.sort(edges, axis=1) "
                "and drop self-loops"
            )
        keys = edges[:, 0] * n + edges[:, 1]
        sorted_once = bool((keys[1:] > keys[:-1]).all())
        if not sorted_once and len(np.unique(keys)) < len(keys):
            order = np.argsort(keys, kind="stable")
            bad = int(order[1:][keys[order][1:] == keys[order][:-1]][0])
            raise ValueError(
                f"edges[{bad}] = {edges[bad].tolist()} is repeated: add the weights of its copies"
            )
    keep = weights > 0
    return (edges, weights) if keep.all() else (edges[keep].copy(), weights[keep].copy())


def check_gamma(gamma: float) -> float:
    """Return γ as a float, finite and ≥ 0."""
    try:
        gamma = float(gamma)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"gamma must be a number ≥ 0, got {gamma!r}") from None
    if not np.isfinite(gamma) or gamma < 0:
        raise ValueError(f"gamma must be finite and ≥ 0, got {gamma}")
    return gamma


def check_masses(masses: ArrayLike | None, n: int) -> Floats:
    """Return n positive masses; ``None`` means one each."""
    if masses is None:
        return np.ones(n)
    masses = _numbers(masses, "masses")
    if masses.shape != (n,):
        raise ValueError(f"masses must have shape ({n},), got {masses.shape}")
    if not np.isfinite(masses).all() or (masses <= 0).any():
        raise ValueError("masses must be finite and > 0: drop samples of mass zero")
    return masses


def _numbers(values: ArrayLike, name: str) -> Floats:
    """Return ``values`` as contiguous float64, or say which argument holds something else."""
    values = np.asarray(values)
    if np.iscomplexobj(values):
        raise ValueError(f"{name} must be real numbers, got complex ones")
    try:
        return np.ascontiguousarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{name} must hold numbers: {error}") from None
