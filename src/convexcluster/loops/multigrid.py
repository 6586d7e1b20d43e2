"""Laplacian systems by conjugate gradients with a smoothed-aggregation multigrid.

    (diag(ground) + Dᵀ diag(κ) D) y = b,   b (n, r); every column shares the matrix.

Aggregates are neighbourhoods of strong conductances; their indicator T is smoothed once by Jacobi,
P = (I − ω D⁻¹A) T, and the coarse matrix is PᵀAP. One V-cycle with a Gauss–Seidel sweep on either
side, in single precision, preconditions conjugate gradients in double precision.

Reference: Vaněk, Mandel, Brezina, Algebraic multigrid by smoothed aggregation, Computing 56 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..problem import Floats

Singles = NDArray[np.float32]
Ints = NDArray[Any]  # of either width: int32 halves the traffic of the inner loops

# Coarsening stops at this many nodes, where a few Gauss–Seidel sweeps solve the rest.
COARSEST = 30
COARSEST_SWEEPS = 12
# More levels than this never arise: an aggregate has at least two nodes.
MAX_LEVELS = 32
# Damping of the Jacobi step on T: 4/3 over the largest eigenvalue of D⁻¹A, which is at most 2.
OMEGA = 2 / 3
# A neighbour is strong if its conductance is at least this share of the node's largest one.
STRONG = 0.05


@njit(cache=True, nogil=True, error_model="numpy")
def _adjacency(n: int, ei: Ints, ej: Ints, kappa: Floats) -> tuple[Ints, Ints, Singles]:
    """CSR of the conductances, both directions, without the diagonal."""
    ptr = np.zeros(n + 1, np.int32)
    for e in range(len(ei)):
        ptr[ei[e] + 1] += 1
        ptr[ej[e] + 1] += 1
    for i in range(n):
        ptr[i + 1] += ptr[i]
    free = ptr[:-1].copy()
    col = np.empty(ptr[n], np.int32)
    val = np.empty(ptr[n], np.float32)
    for e in range(len(ei)):
        i, j = ei[e], ej[e]
        col[free[i]], val[free[i]] = j, kappa[e]
        col[free[j]], val[free[j]] = i, kappa[e]
        free[i] += 1
        free[j] += 1
    return ptr, col, val


@njit(cache=True, nogil=True, error_model="numpy")
def _aggregate(ptr: Ints, col: Ints, val: Singles) -> tuple[Ints, int]:
    """Neighbourhoods whose strong members are all free; the rest join their strongest neighbour."""
    n = len(ptr) - 1
    group = np.full(n, -1, np.int32)
    limit = np.zeros(n, np.float32)
    count = 0
    for i in range(n):
        for u in range(ptr[i], ptr[i + 1]):
            limit[i] = max(limit[i], np.float32(STRONG) * val[u])
    for i in range(n):
        free = group[i] < 0
        for u in range(ptr[i], ptr[i + 1]):
            free &= val[u] < limit[i] or group[col[u]] < 0
        if free and limit[i] > 0:
            group[i] = count
            for u in range(ptr[i], ptr[i + 1]):
                if val[u] >= limit[i]:
                    group[col[u]] = count
            count += 1
    seeds = count
    for i in range(n):
        if group[i] < 0:
            best, strength = -1, np.float32(0)
            for u in range(ptr[i], ptr[i + 1]):
                j = col[u]
                if val[u] > strength and group[j] >= 0:
                    best, strength = group[j], val[u]
            if best < 0:
                best = count
                count += 1
            group[i] = best
    return group, max(count, seeds)


@njit(cache=True, nogil=True, error_model="numpy")
def _prolongation(
    ptr: Ints, col: Ints, val: Singles, diag: Singles, group: Ints, count: int
) -> tuple[Ints, Ints, Singles]:
    """CSR of P = (I − ω D⁻¹A) T."""
    n = len(ptr) - 1
    seen = np.full(count, -1, np.int32)
    out = np.zeros(n + 1, np.int32)
    pcol = np.empty(len(col) + n, np.int32)
    pval = np.empty(len(col) + n, np.float32)
    size = 0
    for i in range(n):
        begin = size
        seen[group[i]] = size
        pcol[size] = group[i]
        pval[size] = 1 - np.float32(OMEGA) if diag[i] > 0 else np.float32(1)
        size += 1
        for u in range(ptr[i], ptr[i + 1]):
            t = group[col[u]]
            if seen[t] < begin:
                seen[t] = size
                pcol[size] = t
                pval[size] = 0
                size += 1
            pval[seen[t]] += np.float32(OMEGA) * val[u] / diag[i]
        out[i + 1] = size
    return out, pcol[:size], pval[:size]


@njit(cache=True, nogil=True, error_model="numpy")
def _galerkin(
    ptr: Ints,
    col: Ints,
    val: Singles,
    diag: Singles,
    pptr: Ints,
    pcol: Ints,
    pval: Singles,
    count: int,
) -> tuple[Ints, Ints, Singles, Singles]:
    """PᵀAP as CSR of its negated off-diagonal, and its diagonal."""
    n = len(diag)
    seen = np.full(count, -1, np.int32)
    bound = 0
    for i in range(n):
        bound += pptr[i + 1] - pptr[i]
        for a in range(ptr[i], ptr[i + 1]):
            bound += pptr[col[a] + 1] - pptr[col[a]]
    qptr = np.zeros(n + 1, np.int32)  # AP, row by row
    qcol = np.empty(bound, np.int32)
    qval = np.empty(bound, np.float32)
    size = 0
    for i in range(n):
        begin = size
        for u in range(pptr[i], pptr[i + 1]):
            seen[pcol[u]] = size
            qcol[size], qval[size] = pcol[u], diag[i] * pval[u]
            size += 1
        for a in range(ptr[i], ptr[i + 1]):
            j = col[a]
            for u in range(pptr[j], pptr[j + 1]):
                s = pcol[u]
                if seen[s] < begin:
                    seen[s] = size
                    qcol[size], qval[size] = s, 0
                    size += 1
                qval[seen[s]] -= val[a] * pval[u]
        qptr[i + 1] = size
    start = np.zeros(count + 1, np.int32)  # rows of Pᵀ
    for u in range(len(pcol)):
        start[pcol[u] + 1] += 1
    for t in range(count):
        start[t + 1] += start[t]
    free = start[:-1].copy()
    row = np.empty(len(pcol), np.int32)
    weight = np.empty(len(pcol), np.float32)
    bound = 0
    for i in range(n):
        for u in range(pptr[i], pptr[i + 1]):
            row[free[pcol[u]]], weight[free[pcol[u]]] = i, pval[u]
            free[pcol[u]] += 1
            bound += qptr[i + 1] - qptr[i]
    bound = min(bound, count * count)
    seen[:] = -1
    cptr = np.zeros(count + 1, np.int32)
    ccol = np.empty(bound, np.int32)
    cval = np.empty(bound, np.float32)
    cdiag = np.zeros(count, np.float32)
    size = 0
    for t in range(count):
        begin = size
        for h in range(start[t], start[t + 1]):
            for u in range(qptr[row[h]], qptr[row[h] + 1]):
                s = qcol[u]
                if s == t:
                    cdiag[t] += weight[h] * qval[u]
                    continue
                if seen[s] < begin:
                    seen[s] = size
                    ccol[size], cval[size] = s, 0
                    size += 1
                cval[seen[s]] -= weight[h] * qval[u]
        cptr[t + 1] = size
    return cptr, ccol[:size].copy(), cval[:size].copy(), cdiag


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """All levels, one after the other.

    Level q has the nodes nodes[q] … nodes[q + 1], off-diagonal entries −val of A at ptr, and rows
    of the prolongation from level q + 1 at pptr.
    """

    nodes: Ints
    ptr: Ints
    col: Ints
    val: Singles
    diag: Singles
    pptr: Ints
    pcol: Ints
    pval: Singles


def hierarchy(n: int, ei: Ints, ej: Ints, kappa: Floats, ground: Floats) -> Hierarchy:
    """Aggregate, smooth and coarsen until COARSEST nodes are left."""
    ptr, col, val = _adjacency(n, ei, ej, kappa)
    diag = (ground + np.bincount(ei, kappa, n) + np.bincount(ej, kappa, n)).astype(np.float32)
    levels, prolongations, diags = [(ptr, col, val)], [], [diag]
    while len(levels) < MAX_LEVELS and len(diags[-1]) > COARSEST:
        ptr, col, val = levels[-1]
        diag, size = diags[-1], len(diags[-1])
        group, count = _aggregate(ptr, col, val)
        if count > 0.9 * size:
            break
        pptr, pcol, pval = _prolongation(ptr, col, val, diag, group, count)
        cptr, ccol, cval, cdiag = _galerkin(ptr, col, val, diag, pptr, pcol, pval, count)
        prolongations.append((pptr, pcol, pval))
        levels.append((cptr, ccol, cval))
        diags.append(cdiag)
    sizes = [len(d) for d in diags]
    prolongations.append((np.zeros(sizes[-1] + 1, np.int32), np.empty(0, np.int32), val[:0]))
    entries = np.cumsum([0] + [len(level[1]) for level in levels])
    smoothed = np.cumsum([0] + [len(level[1]) for level in prolongations])
    return Hierarchy(
        nodes=np.cumsum([0, *sizes]),
        ptr=np.concatenate([level[0] + at for level, at in zip(levels, entries)]),
        col=np.concatenate([level[1] for level in levels]),
        val=np.concatenate([level[2] for level in levels]),
        diag=np.concatenate(diags),
        pptr=np.concatenate([level[0] + at for level, at in zip(prolongations, smoothed)]),
        pcol=np.concatenate([level[1] for level in prolongations]),
        pval=np.concatenate([level[2] for level in prolongations]),
    )


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _smooth(
    base: int,
    size: int,
    level: int,
    ptr: Ints,
    col: Ints,
    val: Singles,
    diag: Singles,
    b: Singles,
    x: Singles,
    forward: bool,
) -> None:
    """One Gauss–Seidel pass on a level."""
    r = b.shape[1]
    for q in range(size):
        i = base + q if forward else base + size - 1 - q
        if diag[i] <= 0:
            continue
        f = np.float32(1) / diag[i]
        begin, end = ptr[i + level], ptr[i + level + 1]
        if r == 2:
            s0, s1 = b[i, 0], b[i, 1]
            for u in range(begin, end):
                j, v = base + col[u], val[u]
                s0 += v * x[j, 0]
                s1 += v * x[j, 1]
            x[i, 0] = s0 * f
            x[i, 1] = s1 * f
        else:
            row = x[i]
            for k in range(r):
                row[k] = b[i, k]
            for u in range(begin, end):
                other, v = x[base + col[u]], val[u]
                for k in range(r):
                    row[k] += v * other[k]
            for k in range(r):
                row[k] *= f


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _residual(
    base: int,
    size: int,
    level: int,
    ptr: Ints,
    col: Ints,
    val: Singles,
    diag: Singles,
    b: Singles,
    x: Singles,
    out: Singles,
) -> None:
    """out = b − A x on a level."""
    r = b.shape[1]
    for i in range(base, base + size):
        row, d = out[i], diag[i]
        for k in range(r):
            row[k] = b[i, k] - d * x[i, k]
        for u in range(ptr[i + level], ptr[i + level + 1]):
            other, v = x[base + col[u]], val[u]
            for k in range(r):
                row[k] += v * other[k]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _conjugate_gradients(
    nodes: Ints,
    ptr: Ints,
    col: Ints,
    val: Singles,
    diag: Singles,
    pptr: Ints,
    pcol: Ints,
    pval: Singles,
    extra: Floats,
    res: Floats,
    reduction: float,
    max_iter: int,
) -> tuple[Floats, int]:
    """Solve for the right-hand side ``res``, which becomes the residual."""
    depth = len(nodes) - 1
    n, r = res.shape
    b = np.zeros((nodes[depth], r), np.float32)
    x, rest = np.zeros_like(b), np.zeros_like(b)
    y, p, w = np.zeros_like(res), np.zeros_like(res), np.zeros_like(res)
    rz, start = 1.0, -1.0
    for it in range(max_iter):
        now = 0.0
        for i in range(n):
            for k in range(r):
                now += res[i, k] * res[i, k]
                b[i, k] = res[i, k]
        if start < 0:
            start = now
        if now <= reduction * start:
            return y, it
        for q in range(depth):  # down
            base, size = nodes[q], nodes[q + 1] - nodes[q]
            for i in range(base, base + size):
                for k in range(r):
                    x[i, k] = 0
            turns = COARSEST_SWEEPS if q == depth - 1 else 1
            for turn in range(turns):
                _smooth(base, size, q, ptr, col, val, diag, b, x, turn % 2 == 0)
            if q == depth - 1:
                break
            _residual(base, size, q, ptr, col, val, diag, b, x, rest)
            for i in range(nodes[q + 1], nodes[q + 2]):
                for k in range(r):
                    b[i, k] = 0
            for i in range(base, base + size):
                for u in range(pptr[i + q], pptr[i + q + 1]):
                    target, v = b[nodes[q + 1] + pcol[u]], pval[u]
                    for k in range(r):
                        target[k] += v * rest[i, k]
        for back in range(depth - 1):  # up
            q = depth - 2 - back
            base, size = nodes[q], nodes[q + 1] - nodes[q]
            for i in range(base, base + size):
                for u in range(pptr[i + q], pptr[i + q + 1]):
                    source, v = x[nodes[q + 1] + pcol[u]], pval[u]
                    for k in range(r):
                        x[i, k] += v * source[k]
            _smooth(base, size, q, ptr, col, val, diag, b, x, q < 0)
        new = 0.0
        for i in range(n):
            for k in range(r):
                new += res[i, k] * x[i, k]
        beta = new / rz if it else 0.0
        rz = new
        for i in range(n):
            for k in range(r):
                p[i, k] = x[i, k] + beta * p[i, k]
        curvature = 0.0
        for i in range(n):
            row, mine = w[i], p[i]
            for k in range(r):
                row[k] = extra[i] * mine[k]
            for u in range(ptr[i], ptr[i + 1]):  # as differences: A maps constants to 0 exactly
                other, v = p[col[u]], val[u]
                for k in range(r):
                    row[k] += v * (mine[k] - other[k])
            for k in range(r):
                curvature += p[i, k] * row[k]
        if curvature <= 0:
            return y, it
        alpha = rz / curvature
        for i in range(n):
            for k in range(r):
                y[i, k] += alpha * p[i, k]
                res[i, k] -= alpha * w[i, k]
    return y, max_iter


def solve_laplacian(
    n: int,
    ei: Ints,
    ej: Ints,
    kappa: Floats,
    rhs: Floats,
    *,
    ground: Floats | None = None,
    reduction: float,
    max_iter: int = 30,
) -> Floats:
    """Solve until ‖residual‖² ≤ reduction · ‖rhs‖² or for ``max_iter`` iterations."""
    unit, strongest = float(np.abs(rhs).max(initial=0.0)), float(kappa.max(initial=0.0))
    if unit == 0 or strongest == 0:
        return np.zeros_like(rhs)
    # single precision has a narrow range: the sizes of rhs and κ are taken out
    extra = np.zeros(n) if ground is None else ground / strongest
    h = hierarchy(n, ei, ej, kappa / strongest, extra)
    levels = h.nodes, h.ptr, h.col, h.val, h.diag, h.pptr, h.pcol, h.pval
    y, _ = _conjugate_gradients(*levels, extra, rhs / unit, reduction, max_iter)
    return y * (unit / strongest)
