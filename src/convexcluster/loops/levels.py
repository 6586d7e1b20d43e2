"""Contracted graphs: parallel edges summed, duals carried up and down.

Contracting nodes by ``labels`` turns the edges between two groups into one edge of weight Σw and
dual Σ ±λ. ``up[l]`` is the edge above l (−1 inside a group) and ``share[l]`` = ± w_l / Σw, so that
a dual above comes down as λ_l = share · λ_up: parallel, and feasible whenever the one above is.
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .compile import njit


@njit(cache=True, nogil=True, error_model="numpy")
def _fill_contracted(
    tail: Ints,
    head: Ints,
    w: Floats,
    labels: Ints,
    start: Ints,
    seen: Ints,
    order: Ints,
    new_tail: Ints,
    new_head: Ints,
    new_w: Floats,
    up: Ints,
    share: Floats,
) -> int:
    """Fill the contracted edges, bucket by bucket of the lower label; returns their number."""
    count = len(seen)
    for e in range(len(tail)):
        x, y = labels[tail[e]], labels[head[e]]
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
            x, y = labels[tail[e]], labels[head[e]]
            other = y if x == t else x
            if seen[other] < begin:
                seen[other] = edges
                new_tail[edges], new_head[edges], new_w[edges] = t, other, 0.0
                edges += 1
            up[e] = seen[other]
            new_w[up[e]] += w[e]
            share[e] = w[e] if x == t else -w[e]
    for e in range(len(tail)):
        if up[e] >= 0:
            share[e] /= new_w[up[e]]
    return edges


def contract_edges(
    tail: Ints, head: Ints, w: Floats, labels: Ints, count: int
) -> tuple[Ints, Ints, Floats, Ints, Floats]:
    """Edges (tail, head, Σw) between groups, with ``up`` and ``share`` of the edges below."""
    x, y = labels[tail], labels[head]
    lower = np.minimum(x, y)[x != y]
    start = np.zeros(count, dtype=np.int64)
    start[1:] = np.cumsum(np.bincount(lower, minlength=count))[:-1]
    size = len(lower)
    order, new_tail, new_head = np.empty((3, size), dtype=np.int64)
    new_w, up, share = np.empty(size), np.full(len(tail), -1), np.zeros(len(tail))
    seen = np.full(count, -1)
    edges = _fill_contracted(
        tail, head, w, labels, start, seen, order, new_tail, new_head, new_w, up, share
    )
    return new_tail[:edges].copy(), new_head[:edges].copy(), new_w[:edges].copy(), up, share


@njit(cache=True, nogil=True, error_model="numpy")
def by_edge_above(up: Ints) -> tuple[Ints, Ints]:
    """Edges below in the order of the edge above, and where those of each edge above begin."""
    size, inside = 0, 0
    for t in up:
        size = max(size, t + 1)
        inside += t < 0
    start = np.zeros(size + 2, np.int64)
    for t in up:
        if t >= 0:
            start[t + 2] += 1
    for t in range(size):
        start[t + 2] += start[t + 1]
    order = np.empty(len(up) - inside, np.int64)
    for e in range(len(up)):
        t = up[e]
        if t >= 0:
            order[start[t + 1]] = e
            start[t + 1] += 1
    return order, start[:-1]


@njit(cache=True, nogil=True, error_model="numpy")
def lift_duals(order: Ints, start: Ints, share: Floats, Lam: Floats, above: Floats) -> None:
    """above = Σ ±λ over the edges below.

    Those of the t-th edge above are ``order[start[t]]``, … up to ``order[start[t + 1]]``.
    """
    r = Lam.shape[1]
    for t in range(len(above)):
        top = above[t]
        for k in range(r):
            top[k] = 0.0
        for q in range(start[t], start[t + 1]):
            row = Lam[order[q]]
            sign = 1.0 if share[order[q]] > 0 else -1.0
            for k in range(r):
                top[k] += sign * row[k]


@njit(cache=True, nogil=True, error_model="numpy")
def lower_duals(
    tail: Ints,
    head: Ints,
    c: Floats,
    up: Ints,
    share: Floats,
    labels: Ints,
    Lam: Floats,
    above: Floats,
    before: Floats,
) -> Ints:
    """Bring the duals above down; return the edges inside clusters.

    Between clusters λ = share · above, which keeps λ parallel to its parent; inside a cluster the
    change above − before is added and clipped, so that what was routed before stays routed.
    """
    r = Lam.shape[1]
    inside = np.empty(len(tail), np.int64)
    count = 0
    for e in range(len(tail)):
        t, f = up[e], share[e]
        if labels[tail[e]] != labels[head[e]]:
            for k in range(r):
                Lam[e, k] = f * above[t, k]
            continue
        inside[count] = e
        count += 1
        if t >= 0:
            s = 0.0
            for k in range(r):
                Lam[e, k] += f * (above[t, k] - before[t, k])
                s += Lam[e, k] * Lam[e, k]
            if s > c[e] * c[e]:
                f = c[e] / np.sqrt(s)
                for k in range(r):
                    Lam[e, k] *= f
    return inside[:count]


@njit(cache=True, nogil=True, error_model="numpy")
def extrapolate_inside(
    inside: np.ndarray, c: Floats, Lam: Floats, last: Floats, ahead: float
) -> None:
    """λ += ahead · (λ − last) inside contracted nodes, clipped; ``last`` becomes the old λ.

    While a partition stands its optimal duals are affine in γ, so the step is exact.
    """
    r = Lam.shape[1]
    for e in range(len(c)):
        if not inside[e]:
            for k in range(r):
                last[e, k] = Lam[e, k]
            continue
        s = 0.0
        for k in range(r):
            v = Lam[e, k]
            Lam[e, k] = v + ahead * (v - last[e, k])
            last[e, k] = v
            s += Lam[e, k] * Lam[e, k]
        if s > c[e] * c[e]:
            f = c[e] / np.sqrt(s)
            for k in range(r):
                Lam[e, k] *= f


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(total: Floats, labels: Ints, rows: Floats) -> None:
    """total[labels[i]] += rows[i], in place."""
    for i in range(len(labels)):
        t = labels[i]
        for k in range(rows.shape[1]):
            total[t, k] += rows[i, k]
