"""Laplacian systems by conjugate gradients with a multigrid.

    (diag(ground) + Dᵀ diag(κ) D) y = b,   b (n, r); every column shares the matrix.

One V-cycle over the levels of ``aggregation``, with a Gauss–Seidel pass on either side, in single
precision, preconditions conjugate gradients in the precision of b.

pyamg has the same method for one right-hand side at a time, in double precision: here r columns
share the levels and every pass over the matrix, and single precision halves what a cycle reads.
Tests compare the two.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from typing import Any

import numpy as np

from ..loops.compile import njit
from ..loops.sweeps import Reals
from ..problem import Floats
from .aggregation import Ints, Rows, Singles, Step, hierarchy
from .gradients import conjugate_gradients
from .workspace import Workspace

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
def _differences(ptr: Ints, col: Ints, val: Singles, ground: Reals, x: Reals, out: Reals) -> None:
    """out = ground·x + Σ_j κ_ij (x_i − x_j): constants are mapped to 0 exactly."""
    r = x.shape[1]
    for i in range(len(ptr) - 1):
        g = ground[i]
        if r == 2:
            x0, x1 = x[i, 0], x[i, 1]
            s0, s1 = g * x0, g * x1
            for u in range(ptr[i], ptr[i + 1]):
                j, v = col[u], val[u]
                s0 += v * (x0 - x[j, 0])
                s1 += v * (x1 - x[j, 1])
            out[i, 0] = s0
            out[i, 1] = s1
            continue
        row, mine = out[i], x[i]
        for k in range(r):
            row[k] = g * mine[k]
        for u in range(ptr[i], ptr[i + 1]):
            other, v = x[col[u]], val[u]
            for k in range(r):
                row[k] += v * (mine[k] - other[k])


def _rows(of: Rows | Step) -> tuple[Ints, Ints]:
    """Where the rows of a matrix start and stop."""
    return of.ptr[:-1], of.ptr[1:]


def _cycle(steps: list[Step], last: Rows, b: Singles, space: Workspace) -> Singles:
    """One V-cycle from 0; the result lasts until the next one in the same ``space``."""

    def zeros(name: str, rows: int) -> Singles:
        array: Singles = space.array(name, (rows, b.shape[1]), np.float32)
        array[:] = 0
        return array

    rights, points = [b], []
    for q, step in enumerate(steps):
        A, b = step.A, rights[-1]
        x, rest = zeros(f"x {q}", len(b)), zeros("rest", len(b))
        # upwards from 0 a row meets what lies above it still 0, and only that part is left of b
        _relax(A.ptr[:-1], A.mid, A.col, A.val, A.diag, b, x, True)
        _add_product(A.mid, A.ptr[1:], A.col, A.val, x, rest)
        coarse = zeros(f"b {q}", len(step.tptr) - 1)
        _add_product(step.tptr[:-1], step.tptr[1:], step.tcol, step.tval, rest, coarse)
        points.append(x)
        rights.append(coarse)
    x = zeros("x", len(rights[-1]))
    for turn in range(COARSEST_PASSES):
        _relax(*_rows(last), last.col, last.val, last.diag, rights[-1], x, turn % 2 == 0)
    for step, b, finer in zip(steps[::-1], rights[-2::-1], points[::-1]):
        A = step.A
        _add_product(*_rows(step), step.col, step.val, x, finer)
        _relax(*_rows(A), A.col, A.val, A.diag, b, finer, False)
        x = finer
    return x


def _levels(
    n: int, tail: Ints, head: Ints, kappa: Floats, ground: Floats | None
) -> tuple[list[Step], Rows, Floats, float]:
    """Steps, last matrix and ground over the largest κ, and that κ.

    Single precision has a narrow range, out of which the size of κ is taken.
    """
    strongest = float(kappa.max(initial=0.0)) or 1.0
    extra = np.zeros(n) if ground is None else ground / strongest
    return *hierarchy(n, tail, head, kappa / strongest, extra), extra, strongest


def preconditioner(
    n: int, tail: Ints, head: Ints, kappa: Floats, ground: Floats
) -> Callable[[Floats], Floats]:
    """One V-cycle as a map R → Y, for gradients whose matrix is in double precision."""
    steps, last, _, strongest = _levels(n, tail, head, kappa, ground)
    space = Workspace()

    def cycle(R: Floats) -> Floats:
        unit = float(np.abs(R).max(initial=0.0)) or 1.0
        Y = _cycle(steps, last, (R / unit).astype(np.float32), space)
        return Y.astype(np.float64) * (unit / strongest)

    return cycle


def solve(
    n: int,
    tail: Ints,
    head: Ints,
    kappa: Floats,
    rhs: Reals,
    *,
    ground: Floats | None = None,
    reduction: float,
    max_iter: int = 30,
    pool: Executor | None = None,
    space: Workspace | None = None,
) -> Reals:
    """Solve until ‖residual‖² ≤ reduction · ‖rhs‖² or for ``max_iter`` iterations.

    Many columns are solved in two halves, one of them in ``pool`` if there is one. ``space`` is
    for what is needed meanwhile. κ is rounded to
    single precision: seven digits are all that a smaller ``reduction`` gives.
    """
    unit = float(np.abs(rhs).max(initial=0.0))
    if unit == 0 or not kappa.any():
        return np.zeros_like(rhs)
    steps, last, extra, strongest = _levels(n, tail, head, kappa, ground)
    A = steps[0].A if steps else last
    extra = extra.astype(rhs.dtype, copy=False)

    def part(B: Reals, space: Workspace) -> Any:
        return conjugate_gradients(
            lambda P, out: _differences(A.ptr, A.col, A.val, extra, P, out),
            lambda R: _cycle(steps, last, R.astype(np.float32, copy=False), space),
            B,
            lambda first: reduction * first,
            max_iter,
            plain=True,
        )[0]

    half = rhs.shape[1] // 2
    columns = [slice(None)] if half < COLUMNS else [slice(0, half), slice(half, None)]
    own, y = space or Workspace(), np.empty_like(rhs)

    def solve_columns(which: slice, space: Workspace) -> None:
        # (rhs / unit) is contiguous in memory, whichever columns it has
        np.multiply(part(rhs[:, which] / unit, space), unit / strongest, out=y[:, which])

    other = pool.submit(solve_columns, columns.pop(), Workspace()) if pool and columns[1:] else None
    for which in columns:
        solve_columns(which, own)
    if other:
        other.result()
    return y
