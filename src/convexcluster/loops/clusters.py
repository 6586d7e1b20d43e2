"""From duals to clusters: edges that are not saturated are fused, and what that costs.

An edge with ‖λ_l‖ < c_l has a_i = a_j at the optimum. The clusters are the connected components of
such edges; the centroid of each is the mass mean of a, which balances its demand exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem import Floats, Ints
from .compile import njit, run
from .sweeps import SUMS

Reals = NDArray[np.floating]


@njit(cache=True, nogil=True, error_model="numpy")
def find(parent: Ints, x: int) -> int:
    """Root of x, halving the way."""
    while parent[x] != x:
        parent[x] = parent[parent[x]]
        x = parent[x]
    return x


@njit(cache=True, nogil=True)
def join(tail, head, fused, labels):  # type: ignore[no-untyped-def]
    """Label the components of the ``fused`` edges 0, 1, … by first appearance; return how many.

    Union by smaller index with path halving, so the root of a cluster is its first sample.
    """
    n = labels.shape[0]
    for i in range(n):
        labels[i] = i
    for e in range(tail.shape[0]):
        if fused[e]:
            i = find(labels, tail[e])
            j = find(labels, head[e])
            if i < j:
                labels[j] = i
            else:
                labels[i] = j
    count = 0
    for i in range(n):
        if labels[i] == i:
            labels[i] = count
            count += 1
        else:
            labels[i] = labels[labels[i]]  # the parent is earlier and carries its number already
    return count


def merge_in_order(pairs: Ints, heights: Floats, rows: Floats) -> int:
    """SciPy's linkage of the pairs in their order, in ``rows``; returns the number of merges."""
    n = len(rows) + 1
    parts = np.arange(n), np.arange(n), np.ones(n, np.int64)
    return int(run(_merge, len(pairs), pairs, heights, *parts, rows))


@njit(cache=True, nogil=True, error_model="numpy")
def _merge(pairs, heights, root, node, size, rows):  # type: ignore[no-untyped-def]
    """The merges of :func:`merge_in_order`."""
    n, count = len(root), 0
    for t in range(len(pairs)):
        a, b = find(root, pairs[t][0]), find(root, pairs[t][1])
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        size[a] += size[b]
        rows[count][0], rows[count][1] = min(node[a], node[b]), max(node[a], node[b])
        rows[count][2], rows[count][3] = heights[t], size[a]
        root[b], node[a] = a, n + count
        count += 1
    return count


def fuse(tail: Ints, head: Ints, c: Floats, Lam: Reals, n: int, margin: float) -> tuple[Ints, int]:
    """Components of the edges with ‖λ‖ < c(1 − margin), numbered by first node.

    An edge whose c² underflows in the precision of Λ fuses nothing: ‖λ‖² is 0 there for any λ.
    """
    bound = (c * (1 - margin)) ** 2
    fused = (np.einsum("ek,ek->e", Lam, Lam) < bound) & (bound > np.finfo(Lam.dtype).tiny)
    labels = np.empty(n, dtype=np.int64)
    return labels, join(tail, head, fused, labels)


def cluster_means(masses: Floats, A: Reals, labels: Ints, count: int) -> Floats:
    """Mass means (count, r) of the rows of A over each label."""
    center = np.zeros((count, A.shape[1]))
    _add_masses(masses, A, labels, center)
    center /= np.bincount(labels, masses, count)[:, None]
    return center


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def _add_masses(masses: Floats, A: Reals, labels: Ints, center: Floats) -> None:
    """center[labels[i]] += m_i a_i."""
    for i in range(len(masses)):
        t = labels[i]
        for k in range(A.shape[1]):
            center[t, k] += masses[i] * A[i, k]


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


def forest(ends: Ints, size: int) -> np.ndarray:
    """Which rows (i, j) of ``ends``, taken in order, join two trees (Kruskal)."""
    keep = np.zeros(len(ends), dtype=np.bool_)
    run(_grow, size, ends, np.arange(size), keep)
    return keep


@njit(cache=True, nogil=True, error_model="numpy")
def _grow(ends: Ints, parent: Ints, keep: np.ndarray) -> None:
    """Kruskal: ``parent`` are trees of one node each, ``keep`` is False."""
    for row in range(len(ends)):
        x, y = find(parent, ends[row][0]), find(parent, ends[row][1])
        if x != y:
            parent[max(x, y)] = min(x, y)
            keep[row] = True
