"""Contracted graphs: parallel edges summed, duals carried up and down.

Contracting nodes by ``labels`` turns the edges between two groups into one edge of weight ΣW and
dual Σ ±λ. ``up[l]`` is the edge above l (−1 inside a group) and ``share[l]`` = ± W_l / ΣW, so that
a dual above comes down as λ_l = share · λ_up: parallel, and feasible whenever the one above is.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem import Floats, Ints


@njit(cache=True, nogil=True, error_model="numpy")
def _contract(
    ei: Ints,
    ej: Ints,
    W: Floats,
    labels: Ints,
    start: Ints,
    seen: Ints,
    order: Ints,
    ni: Ints,
    nj: Ints,
    nW: Floats,
    up: Ints,
    share: Floats,
) -> int:
    """Fill the contracted edges, bucket by bucket of the lower label; returns their number."""
    count = len(seen)
    for e in range(len(ei)):
        x, y = labels[ei[e]], labels[ej[e]]
        if x != y:
            t = min(x, y)
            order[start[t]] = e
            start[t] += 1
    edges, q = 0, 0
    for t in range(count):
        begin = edges
        while q < start[t]:
            e = order[q]
            q += 1
            x, y = labels[ei[e]], labels[ej[e]]
            other = y if x == t else x
            if seen[other] < begin:
                seen[other] = edges
                ni[edges], nj[edges], nW[edges] = t, other, 0.0
                edges += 1
            up[e] = seen[other]
            nW[up[e]] += W[e]
            share[e] = W[e] if x == t else -W[e]
    for e in range(len(ei)):
        if up[e] >= 0:
            share[e] /= nW[up[e]]
    return edges


def contract(
    ei: Ints, ej: Ints, W: Floats, labels: Ints, count: int
) -> tuple[Ints, Ints, Floats, Ints, Floats]:
    """Edges (i, j, ΣW) between groups, with ``up`` and ``share`` of the edges below."""
    x, y = labels[ei], labels[ej]
    lower = np.minimum(x, y)[x != y]
    start = np.zeros(count, dtype=np.int64)
    start[1:] = np.cumsum(np.bincount(lower, minlength=count))[:-1]
    size = len(lower)
    order, ni, nj = np.empty((3, size), dtype=np.int64)
    nW, up, share = np.empty(size), np.full(len(ei), -1), np.zeros(len(ei))
    seen = np.full(count, -1)
    edges = _contract(ei, ej, W, labels, start, seen, order, ni, nj, nW, up, share)
    return ni[:edges].copy(), nj[:edges].copy(), nW[:edges].copy(), up, share


@njit(cache=True, nogil=True, error_model="numpy")
def lift_duals(up: Ints, share: Floats, lam: Floats, above: Floats) -> None:
    """above = Σ ±λ over the edges below, in place."""
    r = lam.shape[1]
    for t in range(len(above)):
        for k in range(r):
            above[t, k] = 0.0
    for e in range(len(up)):
        if up[e] >= 0:
            row, top = lam[e], above[up[e]]
            sign = 1.0 if share[e] > 0 else -1.0
            for k in range(r):
                top[k] += sign * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def lower_duals(
    ei: Ints,
    ej: Ints,
    c: Floats,
    up: Ints,
    share: Floats,
    labels: Ints,
    lam: Floats,
    above: Floats,
    before: Floats,
) -> Ints:
    """Bring the duals above down; return the edges inside clusters.

    Between clusters λ = share · above, which keeps λ parallel to its parent; inside a cluster the
    change above − before is added and clipped, so that what was routed before stays routed.
    """
    r = lam.shape[1]
    inside = np.empty(len(ei), np.int64)
    count = 0
    for e in range(len(ei)):
        t, f = up[e], share[e]
        if labels[ei[e]] != labels[ej[e]]:
            for k in range(r):
                lam[e, k] = f * above[t, k]
            continue
        inside[count] = e
        count += 1
        if t >= 0:
            s = 0.0
            for k in range(r):
                lam[e, k] += f * (above[t, k] - before[t, k])
                s += lam[e, k] * lam[e, k]
            if s > c[e] * c[e]:
                f = c[e] / np.sqrt(s)
                for k in range(r):
                    lam[e, k] *= f
    return inside[:count]


@njit(cache=True, nogil=True, error_model="numpy")
def extrapolate(inside: np.ndarray, c: Floats, lam: Floats, last: Floats, ahead: float) -> None:
    """λ += ahead · (λ − last) inside contracted nodes, clipped; ``last`` becomes the old λ.

    While a partition stands its optimal duals are affine in γ, so the step is exact.
    """
    r = lam.shape[1]
    for e in range(len(c)):
        if not inside[e]:
            for k in range(r):
                last[e, k] = lam[e, k]
            continue
        s = 0.0
        for k in range(r):
            v = lam[e, k]
            lam[e, k] = v + ahead * (v - last[e, k])
            last[e, k] = v
            s += lam[e, k] * lam[e, k]
        if s > c[e] * c[e]:
            f = c[e] / np.sqrt(s)
            for k in range(r):
                lam[e, k] *= f


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(total: Floats, labels: Ints, rows: Floats) -> None:
    """total[labels[i]] += rows[i], in place."""
    for i in range(len(labels)):
        t = labels[i]
        for k in range(rows.shape[1]):
            total[t, k] += rows[i, k]
