"""Dual block-coordinate ascent: sweeps over the edges.

For one edge e = (i, j) with the others fixed, the dual is maximised by

    λ_l ← Proj_{c_l}(λ_l + h (a_i − a_j)),   h = 1/(1/m_i + 1/m_j),   a = M⁻¹(Σz − DᵀΛ),

and a follows: a_i −= Δλ/m_i, a_j += Δλ/m_j. Forward and backward passes alternate.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..problem import Floats, Ints

Reals = NDArray[np.floating]

# Sums over the dimensions may be reordered, so that they use vector units.
SUMS = {"contract", "reassoc", "nsz", "arcp"}

# An edge whose dual sits on its sphere is moved by half a step: the full step overshoots along the
# sphere while its neighbours turn as well. Measured, it halves the number of passes.
DAMPED = 0.5

# ‖λ‖² above this share of c² counts as on the sphere (round-off of one projection is 1e-16).
ON_SPHERE = 1 - 1e-6


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def sweep(
    ei: Ints,
    ej: Ints,
    c: Reals,
    im: Reals,
    a: Reals,
    lam: Reals,
    idx: Ints,
    passes: int,
    damp: np.floating,
) -> None:
    """Run ``passes`` sweeps over the edges ``idx``; λ and a change in place.

    All reals, ``damp`` too, have one precision: single is enough where the gap is taken in double.
    """
    size, r = len(idx), a.shape[1]
    one = damp / damp  # of the right precision, which a literal is not
    if r == 2:
        for p in range(passes):
            for q in range(size):
                e = np.uintp(idx[q] if p % 2 == 0 else idx[size - 1 - q])
                i, j = np.uintp(ei[e]), np.uintp(ej[e])  # unsigned: no test for negative ones
                x, y = im[i], im[j]
                bound = c[e] * c[e]
                l0, l1 = lam[e, 0], lam[e, 1]
                h = one / (x + y)
                if l0 * l0 + l1 * l1 > ON_SPHERE * bound:
                    h *= damp
                t0 = l0 + h * (a[i, 0] - a[j, 0])
                t1 = l1 + h * (a[i, 1] - a[j, 1])
                s = t0 * t0 + t1 * t1
                if s > bound:
                    f = np.sqrt(bound / s)
                    t0 *= f
                    t1 *= f
                lam[e, 0] = t0
                lam[e, 1] = t1
                t0 -= l0
                t1 -= l1
                a[i, 0] -= t0 * x
                a[i, 1] -= t1 * x
                a[j, 0] += t0 * y
                a[j, 1] += t1 * y
        return
    t = np.empty(r, a.dtype)
    for p in range(passes):
        for q in range(size):
            e = idx[q] if p % 2 == 0 else idx[size - 1 - q]
            i, j = ei[e], ej[e]
            ai, aj, row = a[i], a[j], lam[e]
            x, y = im[i], im[j]
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
                t[k] = v
                s += v * v
            f = one
            if s > bound:
                f = np.sqrt(bound / s)
            for k in range(r):
                v = t[k] * f
                d = v - row[k]
                row[k] = v
                ai[k] -= d * x
                aj[k] += d * y


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def set_points(ei: Ints, ej: Ints, sums: Floats, im: Floats, lam: Floats, a: Floats) -> None:
    """a = M⁻¹(Σz − DᵀΛ), in place."""
    n, r = a.shape
    for i in range(n):
        for k in range(r):
            a[i, k] = sums[i, k]
    for e in range(len(ei)):
        ai, aj, row = a[ei[e]], a[ej[e]], lam[e]
        for k in range(r):
            ai[k] -= row[k]
            aj[k] += row[k]
    for i in range(n):
        for k in range(r):
            a[i, k] *= im[i]


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def momentum(
    ei: Ints,
    ej: Ints,
    c: Reals,
    im: Reals,
    a: Reals,
    lam: Reals,
    last: Reals,
    idx: Ints,
    beta: np.floating,
) -> None:
    """λ ← Proj(λ + β(λ − last)) on the edges ``idx``, a with it; ``last`` becomes the old λ."""
    r = a.shape[1]
    zero = beta - beta
    for e in idx:
        row, old, ai, aj = lam[e], last[e], a[ei[e]], a[ej[e]]
        x, y = im[ei[e]], im[ej[e]]
        s = zero
        for k in range(r):
            v = row[k] + beta * (row[k] - old[k])
            s += v * v
        bound = c[e] * c[e]
        f = np.exp(zero)  # 1 in the right precision
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


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def dual_loss(m: Floats, a: Reals) -> float:
    """½ Σ m‖a‖², which falls as the dual rises."""
    total = 0.0
    for i in range(len(m)):
        s = a[i, 0] - a[i, 0]
        for k in range(a.shape[1]):
            s += a[i, k] * a[i, k]
        total += 0.5 * m[i] * s
    return total


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def clip_into(rough: Reals, c: Floats, lam: Floats) -> None:
    """λ = Proj_c(rough) in double precision: feasible whatever the precision of ``rough``."""
    for e in range(len(c)):
        s = 0.0
        for k in range(lam.shape[1]):
            v = np.float64(rough[e, k])
            lam[e, k] = v
            s += v * v
        if s > c[e] * c[e]:
            f = c[e] / np.sqrt(s)
            for k in range(lam.shape[1]):
                lam[e, k] *= f
