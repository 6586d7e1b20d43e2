"""Laplacian systems by conjugate gradients with a smoothed-aggregation multigrid.

    (diag(ground) + Dᵀ diag(κ) D) y = b,   b (n, r); every column shares the matrix.

Aggregates are neighbourhoods of strong conductances; their indicator T is smoothed once by Jacobi,
P = (I − ω D⁻¹A) T, and the coarse matrix is PᵀAP. One V-cycle with a Gauss–Seidel sweep on either
side, in single precision, preconditions conjugate gradients in double precision. The cycle is a
loop over small compiled functions: one large function would take seconds to compile.

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
Matrix = tuple[Ints, Ints, Singles]  # CSR: ptr, col, val

# Coarsening stops at this many nodes, where a few Gauss–Seidel sweeps solve the rest.
COARSEST = 30
COARSEST_SWEEPS = 12
# Damping of the Jacobi step on T: 4/3 over the largest eigenvalue of D⁻¹A, which is at most 2.
OMEGA = 2 / 3
# A neighbour is strong if its conductance is at least this share of the node's largest one.
STRONG = 0.05


@njit(cache=True, nogil=True, error_model="numpy")
def _laplacian(
    ei: Ints, ej: Ints, kappa: Floats, ptr: Ints, col: Ints, val: Singles, diag: Floats
) -> None:
    """Fill a CSR Laplacian whose ``ptr`` is set; the diagonal comes first in every row."""
    n = len(diag)
    free = np.empty(n, np.int32)
    for i in range(n):
        col[ptr[i]], val[ptr[i]] = i, diag[i]
        free[i] = ptr[i] + 1
    for e in range(len(ei)):
        i, j = ei[e], ej[e]
        col[free[i]], val[free[i]] = j, -kappa[e]
        col[free[j]], val[free[j]] = i, -kappa[e]
        free[i] += 1
        free[j] += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _aggregate(ptr: Ints, col: Ints, val: Singles, group: Ints, limit: Singles) -> int:
    """Neighbourhoods whose strong members are all free; the rest join their strongest neighbour.

    ``group`` comes in as −1; ``limit`` is the conductance from which a neighbour is strong.
    """
    n = len(group)
    count = 0
    for i in range(n):
        free = group[i] < 0 and limit[i] > 0
        for u in range(ptr[i], ptr[i + 1]):
            free &= -val[u] < limit[i] or group[col[u]] < 0
        if free:
            group[i] = count
            for u in range(ptr[i], ptr[i + 1]):
                if -val[u] >= limit[i]:
                    group[col[u]] = count
            count += 1
    for i in range(n):
        if group[i] < 0:
            best = -1
            strength = limit[i] - limit[i]
            for u in range(ptr[i], ptr[i + 1]):
                if -val[u] > strength and group[col[u]] >= 0:
                    best, strength = group[col[u]], -val[u]
            if best < 0:
                best = count
                count += 1
            group[i] = best
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply(
    aptr: Ints,
    acol: Ints,
    aval: Singles,
    bptr: Ints,
    bcol: Ints,
    bval: Singles,
    seen: Ints,
    cptr: Ints,
    ccol: Ints,
    cval: Singles,
) -> int:
    """CSR product into arrays that are large enough; ``seen`` comes in as −1. Returns its size."""
    size = 0
    for i in range(len(aptr) - 1):
        begin = size
        for a in range(aptr[i], aptr[i + 1]):
            j, v = acol[a], aval[a]
            for b in range(bptr[j], bptr[j + 1]):
                t = bcol[b]
                if seen[t] < begin:
                    seen[t] = size
                    ccol[size], cval[size] = t, v * bval[b]
                    size += 1
                else:
                    cval[seen[t]] += v * bval[b]
        cptr[i + 1] = size
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _transpose(
    ptr: Ints, col: Ints, val: Singles, tptr: Ints, free: Ints, tcol: Ints, tval: Singles
) -> None:
    """Fill the transpose; ``free`` is where the rows of the result begin."""
    for i in range(len(ptr) - 1):
        for u in range(ptr[i], ptr[i + 1]):
            at = free[col[u]]
            tcol[at], tval[at] = i, val[u]
            free[col[u]] = at + 1


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _relax(
    ptr: Ints, col: Ints, val: Singles, diag: Singles, b: Singles, x: Singles, forward: bool
) -> None:
    """One Gauss–Seidel pass: x_i += (b_i − (Ax)_i)/A_ii."""
    n, r = x.shape
    for q in range(n):
        i = q if forward else n - 1 - q
        if diag[i] <= 0:
            continue
        if r == 2:
            s0, s1 = b[i, 0], b[i, 1]
            for u in range(ptr[i], ptr[i + 1]):
                j, v = col[u], val[u]
                s0 -= v * x[j, 0]
                s1 -= v * x[j, 1]
            x[i, 0] += s0 / diag[i]
            x[i, 1] += s1 / diag[i]
            continue
        row = x[i]
        for k in range(r):
            row[k] = b[i, k]
        for u in range(ptr[i] + 1, ptr[i + 1]):  # the diagonal comes first
            other, v = x[col[u]], val[u]
            for k in range(r):
                row[k] -= v * other[k]
        for k in range(r):
            row[k] /= diag[i]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _add_product(ptr: Ints, col: Ints, val: Singles, sign: int, x: Any, out: Any) -> None:
    """out += sign · Mx."""
    r = x.shape[1]
    for i in range(len(ptr) - 1):
        row = out[i]
        for u in range(ptr[i], ptr[i + 1]):
            other = x[col[u]]
            v = val[u] if sign > 0 else -val[u]
            for k in range(r):
                row[k] += v * other[k]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _differences(ptr: Ints, col: Ints, val: Singles, x: Floats, out: Floats) -> None:
    """out += Σ_j κ_ij (x_i − x_j): in this form constants are mapped to 0 exactly."""
    r = x.shape[1]
    for i in range(len(ptr) - 1):
        row, mine = out[i], x[i]
        for u in range(ptr[i] + 1, ptr[i + 1]):
            other, v = x[col[u]], val[u]
            for k in range(r):
                row[k] -= v * (mine[k] - other[k])


@dataclass(frozen=True, slots=True)
class Step:
    """One level: matrix with its diagonal, prolongation from the next one and its transpose."""

    A: Matrix
    diag: Singles
    P: Matrix | None = None
    R: Matrix | None = None


def _product(A: Matrix, B: Matrix, columns: int) -> Matrix:
    work = int((B[0][1:] - B[0][:-1])[A[1]].sum())  # an upper bound of the entries
    ptr = np.zeros(len(A[0]), np.int32)
    col, val = np.empty(work, np.int32), np.empty(work, np.float32)
    size = _multiply(*A, *B, np.full(columns, -1, np.int32), ptr, col, val)
    return ptr, col[:size].copy(), val[:size].copy()


def _diagonal_first(A: Matrix) -> Singles:
    """Swap the diagonal to the front of every row, in place, and return it."""
    ptr, col, val = A
    rows = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    at, first = np.flatnonzero(col == rows), ptr[:-1]
    diag = val[at].copy()
    col[at], val[at] = col[first], val[first]
    col[first], val[first] = np.arange(len(first)), diag
    return diag


def hierarchy(n: int, ei: Ints, ej: Ints, kappa: Floats, ground: Floats) -> list[Step]:
    """Aggregate, smooth and coarsen until COARSEST nodes are left."""
    degree = np.bincount(ei, minlength=n) + np.bincount(ej, minlength=n) + 1
    ptr = np.concatenate([[0], np.cumsum(degree)]).astype(np.int32)
    col, val = np.empty(ptr[-1], np.int32), np.empty(ptr[-1], np.float32)
    total = ground + np.bincount(ei, kappa, n) + np.bincount(ej, kappa, n)
    _laplacian(ei, ej, kappa, ptr, col, val, total)
    A, diag, steps = (ptr, col, val), total.astype(np.float32), []
    while len(diag) > COARSEST:
        ptr, col, val = A
        strongest = -np.minimum.reduceat(val, ptr[:-1])
        group = np.full(len(diag), -1, np.int32)
        count = _aggregate(ptr, col, val, group, np.float32(STRONG) * np.maximum(strongest, 0))
        if count > 0.9 * len(diag):
            break
        safe = np.where(diag > 0, diag, np.float32(1))
        jacobi = -np.float32(OMEGA) * val / np.repeat(safe, np.diff(ptr))
        jacobi[ptr[:-1]] += 1
        T = np.arange(len(diag) + 1, dtype=np.int32), group, np.ones(len(diag), np.float32)
        P = _product((ptr, col, jacobi), T, count)
        rows = np.concatenate([[0], np.cumsum(np.bincount(P[1], minlength=count))])
        R = rows.astype(np.int32), np.empty(len(P[1]), np.int32), np.empty(len(P[1]), np.float32)
        _transpose(*P, R[0], R[0][:-1].copy(), R[1], R[2])
        steps.append(Step(A, diag, P, R))
        A = _product(R, _product(A, P, count), count)
        diag = _diagonal_first(A)
    steps.append(Step(A, diag))
    return steps


def _cycle(steps: list[Step], b: Singles) -> Singles:
    """One V-cycle from 0."""
    x = np.zeros_like(b)
    rights, points = [b], [x]
    for step in steps[:-1]:
        assert step.R is not None
        _relax(*step.A, step.diag, rights[-1], points[-1], True)
        rest = rights[-1].copy()
        _add_product(*step.A, -1, points[-1], rest)
        coarse = np.zeros((len(step.R[0]) - 1, b.shape[1]), np.float32)
        _add_product(*step.R, 1, rest, coarse)
        rights.append(coarse)
        points.append(np.zeros_like(coarse))
    for turn in range(COARSEST_SWEEPS):
        _relax(*steps[-1].A, steps[-1].diag, rights[-1], points[-1], turn % 2 == 0)
    for q in range(len(steps) - 2, -1, -1):
        step = steps[q]
        assert step.P is not None
        _add_product(*step.P, 1, points[q + 1], points[q])
        _relax(*step.A, step.diag, rights[q], points[q], False)
    return x


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
    y = np.zeros_like(rhs)
    if unit == 0 or strongest == 0:
        return y
    # single precision has a narrow range: the sizes of rhs and κ are taken out
    extra = np.zeros(n) if ground is None else ground / strongest
    steps = hierarchy(n, ei, ej, kappa / strongest, extra)
    rest = rhs / unit
    goal = reduction * float((rest**2).sum())
    p, before = np.zeros_like(rest), 1.0
    for it in range(max_iter):
        if float((rest**2).sum()) <= goal:
            break
        x = _cycle(steps, rest.astype(np.float32))
        slope = float(np.einsum("ik,ik->", rest, x, dtype=np.float64))
        p *= slope / before if it else 0.0
        p += x
        before = slope
        w = extra[:, None] * p
        _differences(*steps[0].A, p, w)
        curvature = float(np.einsum("ik,ik->", p, w))
        if curvature <= 0:
            break
        y += (slope / curvature) * p
        rest -= (slope / curvature) * w
    return y * (unit / strongest)
