"""The levels of a smoothed-aggregation multigrid for Laplacian systems.

Aggregates are neighbourhoods of strong conductances with indicator T. Their sums B = AT are
smoothed once by Jacobi, P = T − ωD⁻¹B, and the coarse matrix is BᵀP = Tᵀ(A − ωAD⁻¹A)T: symmetric,
positive, and far cheaper than PᵀAP, of which it is an upper bound.

Reference: Vaněk, Mandel, Brezina, Algebraic multigrid by smoothed aggregation, Computing 56 (1996).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..loops.compile import njit
from ..problem import Floats

Singles = NDArray[np.float32]
Ints = NDArray[Any]  # of either width: int32 halves the traffic of the inner loops

# Coarsening stops at this many nodes, where a few Gauss–Seidel passes solve the rest.
COARSEST = 30
# Damping of the Jacobi step on T, in units of 1/λ, λ the largest eigenvalue of D⁻¹A: beyond 1 the
# coarse matrix ceases to be positive. Power steps find λ to some percent from below.
OMEGA, POWER_STEPS = 0.95, 4
# A neighbour is strong if its conductance is at least this share of the node's largest one.
STRONG = 0.05


@dataclass(frozen=True, slots=True)
class Rows:
    """−A off the diagonal, row by row: columns below i come first, those above from ``mid``."""

    ptr: Ints
    mid: Ints
    col: Ints
    val: Singles
    diag: Singles


@dataclass(frozen=True, slots=True)
class Step:
    """One level: its matrix, and the prolongation from the next one by rows and by columns."""

    A: Rows
    ptr: Ints
    col: Ints
    val: Singles
    tptr: Ints
    tcol: Ints
    tval: Singles


@njit(cache=True, nogil=True, error_model="numpy")
def _fill(
    tail: Ints, head: Ints, kappa: Floats, below: Ints, above: Ints, col: Ints, val: Singles
) -> None:
    """Write every edge into the rows of both ends; ``below`` and ``above`` are the next places."""
    for e in range(len(tail)):
        i, j = min(tail[e], head[e]), max(tail[e], head[e])
        p, q = above[i], below[j]
        col[p], val[p] = j, kappa[e]
        col[q], val[q] = i, kappa[e]
        above[i] = p + 1
        below[j] = q + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _aggregate(ptr: Ints, col: Ints, val: Singles, group: Ints, limit: Singles) -> int:
    """Neighbourhoods whose strong members are all free; the rest join their strongest neighbour.

    ``group`` comes in as −1; ``limit`` gets the conductance from which a neighbour is strong.
    """
    n = len(group)
    count = 0
    for i in range(n):
        largest = limit[i] - limit[i]
        for u in range(ptr[i], ptr[i + 1]):
            largest = max(largest, val[u])
        limit[i] *= largest
    for i in range(n):
        if group[i] >= 0 or limit[i] <= 0:
            continue
        free = True
        for u in range(ptr[i], ptr[i + 1]):
            if val[u] >= limit[i] and group[col[u]] >= 0:
                free = False
                break
        if free:
            group[i] = count
            for u in range(ptr[i], ptr[i + 1]):
                if val[u] >= limit[i]:
                    group[col[u]] = count
            count += 1
    for i in range(n):
        if group[i] < 0:
            best = -1
            strength = limit[i] - limit[i]
            for u in range(ptr[i], ptr[i + 1]):
                if val[u] > strength and group[col[u]] >= 0:
                    best, strength = group[col[u]], val[u]
            if best < 0:
                best = count
                count += 1
            group[i] = best
    return count


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _largest(ptr: Ints, col: Ints, val: Singles, diag: Singles, steps: int) -> float:
    """Estimate of the largest eigenvalue of D⁻¹A, between 1 and 2 on a Laplacian."""
    n = len(diag)
    x, y = np.empty(n, np.float32), np.empty(n, np.float32)
    for i in range(n):  # a fixed pattern of signs, as good as a random one
        x[i] = 1 if (i * 2654435761) & 65536 else -1
    value = 1.0
    for _ in range(steps):
        up, down = 0.0, 0.0
        for i in range(n):
            s = diag[i] * x[i]
            for u in range(ptr[i], ptr[i + 1]):
                s -= val[u] * x[col[u]]
            up += x[i] * s
            down += diag[i] * x[i] * x[i]
            y[i] = s / diag[i] if diag[i] > 0 else np.float32(0)
        x, y = y, x
        value = up / down if down > 0 else 1.0
    return value


@njit(cache=True, nogil=True, error_model="numpy")
def _smooth(
    ptr: Ints,
    col: Ints,
    val: Singles,
    diag: Singles,
    group: Ints,
    seen: Ints,
    omega: np.float32,
    bptr: Ints,
    bcol: Ints,
    bval: Singles,
    pval: Singles,
) -> int:
    """B = AT and P = T − ωD⁻¹B, which share their pattern; returns its size."""
    size = 0
    for i in range(len(diag)):
        begin = size
        mine = group[i]
        seen[mine] = size
        bcol[size], bval[size] = mine, diag[i]
        size += 1
        for u in range(ptr[i], ptr[i + 1]):
            t = group[col[u]]
            at = seen[t]
            if at < begin:
                seen[t] = size
                bcol[size], bval[size] = t, -val[u]
                size += 1
            else:
                bval[at] -= val[u]
        scale = omega / diag[i] if diag[i] > 0 else omega - omega
        for u in range(begin, size):
            pval[u] = -scale * bval[u]
        pval[begin] += np.float32(1)
        bptr[i + 1] = size
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _transpose(
    ptr: Ints,
    col: Ints,
    val: Singles,
    other: Singles,
    free: Ints,
    out: Ints,
    x: Singles,
    y: Singles,
) -> None:
    """Transpose two matrices of one pattern; ``free`` is where the rows of the result begin."""
    for i in range(len(ptr) - 1):
        for u in range(ptr[i], ptr[i + 1]):
            at = free[col[u]]
            out[at], x[at], y[at] = i, val[u], other[u]
            free[col[u]] = at + 1


@njit(cache=True, nogil=True, error_model="numpy")
def _coarse(
    tptr: Ints,
    tcol: Ints,
    tval: Singles,
    pptr: Ints,
    pcol: Ints,
    pval: Singles,
    seen: Ints,
    sums: Singles,
    ptr: Ints,
    mid: Ints,
    col: Ints,
    val: Singles,
    diag: Singles,
) -> int:
    """BᵀP row by row, split into what lies below, on and above the diagonal; returns its size."""
    size = 0
    found = np.empty(len(diag), np.int32)
    for g in range(len(diag)):
        count = 0
        for a in range(tptr[g], tptr[g + 1]):
            i, v = tcol[a], tval[a]
            for b in range(pptr[i], pptr[i + 1]):
                t = pcol[b]
                if seen[t] != g:
                    seen[t] = g
                    sums[t] = v * pval[b]
                    found[count] = t
                    count += 1
                else:
                    sums[t] += v * pval[b]
        ptr[g] = size
        for u in range(count):
            t = found[u]
            if t < g:
                col[size], val[size] = t, -sums[t]
                size += 1
        mid[g] = size
        for u in range(count):
            t = found[u]
            if t > g:
                col[size], val[size] = t, -sums[t]
                size += 1
            elif t == g:
                diag[g] = sums[t]
    ptr[len(diag)] = size
    return size


def _finest(n: int, tail: Ints, head: Ints, kappa: Floats, ground: Floats) -> Rows:
    low, high = np.minimum(tail, head), np.maximum(tail, head)
    below, above = np.bincount(high, minlength=n), np.bincount(low, minlength=n)
    ptr = np.zeros(n + 1, np.int32)
    np.cumsum(below + above, out=ptr[1:])
    mid = (ptr[:-1] + below).astype(np.int32)
    col, val = np.empty(2 * len(tail), np.int32), np.empty(2 * len(tail), np.float32)
    _fill(tail, head, kappa, ptr[:-1].copy(), mid.copy(), col, val)
    total = ground + np.bincount(tail, kappa, n) + np.bincount(head, kappa, n)
    return Rows(ptr, mid, col, val, total.astype(np.float32))


def _next(A: Rows) -> tuple[Step, Rows] | None:
    """Coarsen once; None if that would leave most of the nodes."""
    n = len(A.diag)
    group = np.full(n, -1, np.int32)
    count = _aggregate(A.ptr, A.col, A.val, group, np.full(n, STRONG, np.float32))
    if count > 0.9 * n:
        return None
    room = len(A.col) + n
    bptr, bcol = np.zeros(n + 1, np.int32), np.empty(room, np.int32)
    bval, pval = np.empty(room, np.float32), np.empty(room, np.float32)
    seen = np.full(count, -1, np.int32)
    omega = np.float32(OMEGA / _largest(A.ptr, A.col, A.val, A.diag, POWER_STEPS))
    size = _smooth(A.ptr, A.col, A.val, A.diag, group, seen, omega, bptr, bcol, bval, pval)
    bcol, bval, pval = bcol[:size], bval[:size], pval[:size]
    tptr = np.zeros(count + 1, np.int32)
    np.cumsum(np.bincount(bcol, minlength=count), out=tptr[1:])
    tcol = np.empty(size, np.int32)
    tval, sval = np.empty(size, np.float32), np.empty(size, np.float32)
    _transpose(bptr, bcol, pval, bval, tptr[:-1].copy(), tcol, tval, sval)
    work = int(np.diff(bptr)[tcol].sum())
    ptr, mid = np.empty(count + 1, np.int32), np.empty(count, np.int32)
    col, val = np.empty(work, np.int32), np.empty(work, np.float32)
    diag = np.zeros(count, np.float32)
    seen[:] = -1
    sums = np.empty(count, np.float32)
    size = _coarse(tptr, tcol, sval, bptr, bcol, pval, seen, sums, ptr, mid, col, val, diag)
    below = Rows(ptr, mid, col[:size].copy(), val[:size].copy(), diag)
    return Step(A, bptr, bcol, pval, tptr, tcol, tval), below


def hierarchy(
    n: int, tail: Ints, head: Ints, kappa: Floats, ground: Floats
) -> tuple[list[Step], Rows]:
    """Aggregate, smooth and coarsen until COARSEST nodes are left; also the last matrix."""
    last, steps = _finest(n, tail, head, kappa, ground), []
    while len(last.diag) > COARSEST:
        found = _next(last)
        if found is None:
            break
        step, last = found
        steps.append(step)
    return steps, last
