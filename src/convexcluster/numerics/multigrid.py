"""Laplacian systems by conjugate gradients with a multigrid.

    (diag(ground) + Dᵀ diag(κ) D) y = b,   b (n, r); every column shares the matrix.

One V-cycle over the levels of ``aggregation``, with a Gauss–Seidel pass on either side, in single
precision, preconditions conjugate gradients in double precision.

pyamg has the same method for one right-hand side at a time, in double precision: here r columns
share the levels and every pass over the matrix, and single precision halves what a cycle reads.
Tests compare the two.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np
from numba import njit

from ..problem import Floats
from .aggregation import Ints, Rows, Singles, Step, hierarchy

# Gauss–Seidel passes that solve the coarsest level.
COARSEST_PASSES = 12
# Columns that each of two halves must have to be solved apart.
COLUMNS = 2


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _relax(
    start: Ints,
    stop: Ints,
    col: Ints,
    val: Singles,
    diag: Singles,
    b: Singles,
    x: Singles,
    forward: bool,
) -> None:
    """One Gauss–Seidel pass: x_i = (b_i − Σ_{j≠i} A_ij x_j)/A_ii.

    Row i has the entries ``start[i]`` … ``stop[i]`` − 1.
    """
    n, r = x.shape
    for q in range(n):
        i = q if forward else n - 1 - q
        if diag[i] <= 0:
            continue
        scale = np.float32(1) / diag[i]
        if r == 2:
            s0, s1 = b[i, 0], b[i, 1]
            for u in range(start[i], stop[i]):
                j, v = col[u], val[u]
                s0 += v * x[j, 0]
                s1 += v * x[j, 1]
            x[i, 0] = s0 * scale
            x[i, 1] = s1 * scale
            continue
        row = x[i]
        for k in range(r):
            row[k] = b[i, k]
        for u in range(start[i], stop[i]):
            other, v = x[col[u]], val[u]
            for k in range(r):
                row[k] += v * other[k]
        for k in range(r):
            row[k] *= scale


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _add_product(
    start: Ints, stop: Ints, col: Ints, val: Singles, x: Singles, out: Singles
) -> None:
    """out += Mx, rows as in ``_relax``."""
    n, r = out.shape
    for i in range(n):
        if r == 2:
            s0, s1 = out[i, 0], out[i, 1]
            for u in range(start[i], stop[i]):
                j, v = col[u], val[u]
                s0 += v * x[j, 0]
                s1 += v * x[j, 1]
            out[i, 0] = s0
            out[i, 1] = s1
            continue
        row = out[i]
        for u in range(start[i], stop[i]):
            other, v = x[col[u]], val[u]
            for k in range(r):
                row[k] += v * other[k]


@njit(cache=True, nogil=True, fastmath=True, error_model="numpy")
def _differences(
    ptr: Ints, col: Ints, val: Singles, ground: Floats, x: Floats, out: Floats
) -> float:
    """out = ground·x + Σ_j κ_ij (x_i − x_j), and ⟨x, out⟩: constants are mapped to 0 exactly."""
    r = x.shape[1]
    total = 0.0
    for i in range(len(ptr) - 1):
        g = ground[i]
        if r == 2:
            x0, x1 = x[i, 0], x[i, 1]
            s0, s1 = g * x0, g * x1
            for u in range(ptr[i], ptr[i + 1]):
                j, v = col[u], np.float64(val[u])
                s0 += v * (x0 - x[j, 0])
                s1 += v * (x1 - x[j, 1])
            out[i, 0] = s0
            out[i, 1] = s1
            total += s0 * x0 + s1 * x1
            continue
        row, mine = out[i], x[i]
        for k in range(r):
            row[k] = g * mine[k]
        for u in range(ptr[i], ptr[i + 1]):
            other, v = x[col[u]], np.float64(val[u])
            for k in range(r):
                row[k] += v * (mine[k] - other[k])
        for k in range(r):
            total += row[k] * mine[k]
    return total


def _rows(of: Rows | Step) -> tuple[Ints, Ints]:
    """Where the rows of a matrix start and stop."""
    return of.ptr[:-1], of.ptr[1:]


def _cycle(steps: list[Step], last: Rows, b: Singles) -> Singles:
    """One V-cycle from 0."""
    rights, points = [b], []
    for step in steps:
        A, b = step.A, rights[-1]
        x, rest = np.zeros_like(b), np.zeros_like(b)
        # upwards from 0 a row meets what lies above it still 0, and only that part is left of b
        _relax(A.ptr[:-1], A.mid, A.col, A.val, A.diag, b, x, True)
        _add_product(A.mid, A.ptr[1:], A.col, A.val, x, rest)
        coarse = np.zeros((len(step.tptr) - 1, b.shape[1]), np.float32)
        _add_product(step.tptr[:-1], step.tptr[1:], step.tcol, step.tval, rest, coarse)
        points.append(x)
        rights.append(coarse)
    x = np.zeros_like(rights[-1])
    for turn in range(COARSEST_PASSES):
        _relax(*_rows(last), last.col, last.val, last.diag, rights[-1], x, turn % 2 == 0)
    for step, b, finer in zip(steps[::-1], rights[-2::-1], points[::-1]):
        A = step.A
        _add_product(*_rows(step), step.col, step.val, x, finer)
        _relax(*_rows(A), A.col, A.val, A.diag, b, finer, False)
        x = finer
    return x


def solve(
    n: int,
    tail: Ints,
    head: Ints,
    kappa: Floats,
    rhs: Floats,
    *,
    ground: Floats | None = None,
    reduction: float,
    max_iter: int = 30,
    pool: Executor | None = None,
) -> Floats:
    """Solve until ‖residual‖² ≤ reduction · ‖rhs‖² or for ``max_iter`` iterations.

    Many columns are solved in two halves, one of them in ``pool`` if there is one.
    """
    unit, strongest = float(np.abs(rhs).max(initial=0.0)), float(kappa.max(initial=0.0))
    if unit == 0 or strongest == 0:
        return np.zeros_like(rhs)
    # single precision has a narrow range: the sizes of rhs and κ are taken out
    extra = np.zeros(n) if ground is None else ground / strongest
    steps, last = hierarchy(n, tail, head, kappa / strongest, extra)
    rest, half = rhs / unit, rhs.shape[1] // 2
    if half < COLUMNS:
        y = _conjugate_gradients(steps, last, extra, rest, reduction, max_iter)
    else:
        given = reduction, max_iter
        parts = (np.ascontiguousarray(part) for part in (rest[:, :half], rest[:, half:]))
        jobs = [(steps, last, extra, part, *given) for part in parts]
        other = pool.submit(_conjugate_gradients, *jobs[1]) if pool else None
        first = _conjugate_gradients(*jobs[0])
        second = other.result() if other else _conjugate_gradients(*jobs[1])
        y = np.concatenate([first, second], axis=1)
    return y * (unit / strongest)


def _conjugate_gradients(
    steps: list[Step], last: Rows, ground: Floats, rest: Floats, reduction: float, max_iter: int
) -> Floats:
    """Solve for ``rest``, which is used up."""
    A = steps[0].A if steps else last
    square = np.vdot(rest, rest)
    goal = reduction * square
    p, w, y, before = np.zeros_like(rest), np.empty_like(rest), np.zeros_like(rest), 1.0
    for it in range(max_iter):
        if square <= goal:
            break
        x = _cycle(steps, last, rest.astype(np.float32))
        slope = float(np.einsum("ik,ik->", rest, x, dtype=np.float64))
        p *= slope / before if it else 0.0
        p += x
        before = slope
        curvature = _differences(A.ptr, A.col, A.val, ground, p, w)
        if curvature <= 0:
            break
        y += (slope / curvature) * p
        rest -= (slope / curvature) * w
        square = np.vdot(rest, rest)
    return y
