"""Dual block-coordinate ascent: sweeps over the edges, for the path and the single-γ solvers.

For one edge e = (i, j) with the others fixed, the dual is maximised by

    λ_l ← Proj_{c_l}(λ_l + h (a_i − a_j)),   h = 1/(1/m_i + 1/m_j),   A = M⁻¹(MZ − DᵀΛ),

and A follows: a_i −= Δλ/m_i, a_j += Δλ/m_j. Forward and backward passes alternate. ``tail[l] = i``
and ``head[l] = j`` are the ends of edge l, ``inv_mass`` is 1/m and ``part`` holds the edges to work
on, so that two halves of a graph can go side by side. All loops change Λ and A in place.

A loop that sums over the dimensions stores nothing. If it did, it would be compiled twice, with and
without vector units, and where the arrays happen to lie would decide which of the two runs and how
its sum rounds: the same path would come out differently now and then.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem import Floats, Ints
from .compile import njit

Reals = NDArray[np.floating]

# Sums over the dimensions may be reordered, so that they use vector units; NaN, infinities and
# exact zeros keep their meaning (the full fastmath would drop them).
SUMS = {"contract", "reassoc", "nsz", "arcp"}

# An edge whose dual sits on its sphere is moved by this share of a step: the full step overshoots
# along the sphere while its neighbours turn as well. Half or twice: a fifth more passes.
DAMPED = 0.5

# ‖λ‖² above this share of c² counts as on the sphere. Round-off of one projection is 1e-16; half of
# the distance to 1 changes nothing, but 1 itself would miss the edges that were just projected.
ON_SPHERE = 1 - 1e-6


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def sweep(
    tail: Ints,
    head: Ints,
    c: Reals,
    inv_mass: Reals,
    A: Reals,
    Lam: Reals,
    part: Ints,
    passes: int,
    damp: float | np.floating,
) -> None:
    """Run ``passes`` sweeps over the edges ``part``, forward and backward in turn.

    All reals, ``damp`` too, have one precision: single is enough where the gap is taken in double.
    """
    size, r = len(part), A.shape[1]
    one = damp / damp  # of the right precision, which a literal is not
    if r == 2:
        for p in range(passes):
            for q in range(size):
                e = np.uintp(part[q] if p % 2 == 0 else part[size - 1 - q])
                i, j = np.uintp(tail[e]), np.uintp(head[e])  # unsigned: no test for negative ones
                x, y = inv_mass[i], inv_mass[j]
                bound = c[e] * c[e]
                l0, l1 = Lam[e, 0], Lam[e, 1]
                h = one / (x + y)
                if l0 * l0 + l1 * l1 > ON_SPHERE * bound:
                    h *= damp
                t0 = l0 + h * (A[i, 0] - A[j, 0])
                t1 = l1 + h * (A[i, 1] - A[j, 1])
                s = t0 * t0 + t1 * t1
                if s > bound:
                    f = np.sqrt(bound / s)
                    t0 *= f
                    t1 *= f
                Lam[e, 0] = t0
                Lam[e, 1] = t1
                t0 -= l0
                t1 -= l1
                A[i, 0] -= t0 * x
                A[i, 1] -= t1 * x
                A[j, 0] += t0 * y
                A[j, 1] += t1 * y
        return
    for p in range(passes):
        for q in range(size):
            e = part[q] if p % 2 == 0 else part[size - 1 - q]
            i, j = tail[e], head[e]
            ai, aj, row = A[i], A[j], Lam[e]
            x, y = inv_mass[i], inv_mass[j]
            bound = c[e] * c[e]
            s = one - one
            for k in range(r):
                s += row[k] * row[k]
            h = one / (x + y)
            if s > ON_SPHERE * bound:
                h *= damp
            s = one - one
            for k in range(r):
                v = row[k] + h * (ai[k] - aj[k])
                s += v * v
            f = one
            if s > bound:
                f = np.sqrt(bound / s)
            for k in range(r):
                v = f * (row[k] + h * (ai[k] - aj[k]))
                d = v - row[k]
                row[k] = v
                ai[k] -= d * x
                aj[k] += d * y


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def set_points(
    tail: Ints,
    head: Ints,
    MZ: Floats,
    inv_mass: Floats,
    Lam: Floats,
    A: Floats,
    part: Ints,
    start: int,
    stop: int,
) -> None:
    """A = M⁻¹(MZ − DᵀΛ) of the nodes from ``start`` up to ``stop``; ``part`` are their edges."""
    r = A.shape[1]
    for i in range(start, stop):
        for k in range(r):
            A[i, k] = MZ[i, k]
    whole = stop - start == len(A)  # with the tests below, two columns take ten times as long
    for e in range(len(tail) if whole else 0):
        ai, aj, row = A[tail[e]], A[head[e]], Lam[e]
        for k in range(r):
            ai[k] -= row[k]
            aj[k] += row[k]
    for e in part[: 0 if whole else len(part)]:
        i, j = tail[e], head[e]
        ai, aj, row = A[i], A[j], Lam[e]
        if start <= i and j < stop:
            for k in range(r):
                ai[k] -= row[k]
                aj[k] += row[k]
        elif start <= i:
            for k in range(r):
                ai[k] -= row[k]
        else:
            for k in range(r):
                aj[k] += row[k]
    for i in range(start, stop):
        for k in range(r):
            A[i, k] *= inv_mass[i]


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def momentum(
    tail: Ints,
    head: Ints,
    c: Reals,
    inv_mass: Reals,
    A: Reals,
    Lam: Reals,
    last: Reals,
    part: Ints,
    beta: float | np.floating,
) -> None:
    """λ ← Proj(λ + β(λ − last)) on the edges ``part``; ``last`` becomes the old λ.

    Infinite c leaves the projection out: the next sweep projects every edge in any case.
    """
    r = A.shape[1]
    zero = beta - beta
    one = np.exp(zero)  # both of the right precision, which a literal is not
    for e in part:
        row, old, ai, aj = Lam[e], last[e], A[tail[e]], A[head[e]]
        x, y = inv_mass[tail[e]], inv_mass[head[e]]
        bound, f = c[e] * c[e], one
        if bound < np.inf:
            s = zero
            for k in range(r):
                v = row[k] + beta * (row[k] - old[k])
                s += v * v
            if s > bound:
                f = np.sqrt(bound / s)
        for k in range(r):
            v = row[k]
            new = f * (v + beta * (v - old[k]))
            d = new - v
            old[k] = v
            row[k] = new
            ai[k] -= d * x
            aj[k] += d * y


def dual_loss(masses: Floats, A: Reals) -> float:
    """½ Σ m‖a‖², which falls as the dual rises."""
    return 0.5 * float(masses @ np.einsum("ik,ik->i", A, A))


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def clip_into(rough: Reals, c: Floats, Lam: Floats) -> None:
    """λ = Proj_c(rough) in double precision: feasible whatever the precision of ``rough``."""
    for e in range(len(c)):
        s = 0.0
        for k in range(Lam.shape[1]):
            v = np.float64(rough[e, k])
            s += v * v
        f = c[e] / np.sqrt(s) if s > c[e] * c[e] else 1.0
        for k in range(Lam.shape[1]):
            Lam[e, k] = f * np.float64(rough[e, k])
