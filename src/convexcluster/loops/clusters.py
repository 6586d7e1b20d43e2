"""From duals to clusters: edges that are not saturated are fused, and what that costs.

An edge with ‖λ_l‖ < c_l has a_i = a_j at the optimum. The clusters are the connected components of
such edges; the centroid of each is the mass mean of a, which balances its demand exactly.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..problem import Floats, Ints
from .sweeps import SUMS

Reals = NDArray[np.floating]


@njit(cache=True, nogil=True, error_model="numpy")
def find(parent: Ints, x: int) -> int:
    """Root of x, halving the way."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def fuse(tail: Ints, head: Ints, c: Floats, Lam: Reals, n: int, margin: float) -> tuple[Ints, int]:
    """Components of the edges with ‖λ‖ < c(1 − margin), numbered by first node."""
    parent = np.arange(n)
    r = Lam.shape[1]
    for e in range(len(tail)):
        bound = c[e] * (1 - margin)
        row = Lam[e]
        s = row[0] - row[0]  # 0 in the precision of λ
        for k in range(r):
            s += row[k] * row[k]
        if s < bound * bound:
            x, y = find(parent, tail[e]), find(parent, head[e])
            if x < y:
                parent[y] = x
            elif y < x:
                parent[x] = y
    labels = np.empty(n, np.int64)
    count = 0
    for i in range(n):
        if parent[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[find(parent, i)]
    return labels, count


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def cluster_means(masses: Floats, A: Reals, labels: Ints, count: int) -> Floats:
    """Mass means (count, r) of the rows of A over each label."""
    r = A.shape[1]
    total = np.zeros(count)
    center = np.zeros((count, r))
    for i in range(len(masses)):
        t = labels[i]
        total[t] += masses[i]
        for k in range(r):
            center[t, k] += masses[i] * A[i, k]
    for t in range(count):
        for k in range(r):
            center[t, k] /= total[t]
    return center


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def gap_parts(
    tail: Ints,
    head: Ints,
    c: Floats,
    masses: Floats,
    A: Reals,
    Lam: Reals,
    labels: Ints,
    center: Floats,
) -> tuple[float, float]:
    """½ Σ m‖a − C‖² and Σ_l (c‖DC‖ − ⟨λ, DC⟩) over the edges between clusters.

    Their sum is the duality gap of A = C[labels] if a is the dual point of Λ.
    """
    r = A.shape[1]
    fit, slack = 0.0, 0.0
    for i in range(len(masses)):
        s = 0.0
        t = labels[i]
        for k in range(r):
            d = A[i, k] - center[t, k]
            s += d * d
        fit += 0.5 * masses[i] * s
    for e in range(len(tail)):
        x, y = labels[tail[e]], labels[head[e]]
        if x != y:
            s, q = 0.0, 0.0
            for k in range(r):
                d = center[x, k] - center[y, k]
                s += d * d
                q += d * Lam[e, k]
            slack += c[e] * np.sqrt(s) - q
    return fit, slack


@njit(cache=True, nogil=True, error_model="numpy")
def forest(ends: Ints, size: int) -> np.ndarray:
    """Which rows (i, j) of ``ends``, taken in order, join two trees (Kruskal)."""
    parent = np.arange(size)
    keep = np.zeros(len(ends), np.bool_)
    for row in range(len(ends)):
        x, y = find(parent, ends[row, 0]), find(parent, ends[row, 1])
        if x != y:
            parent[max(x, y)] = min(x, y)
            keep[row] = True
    return keep
