"""Passes over the edges while nothing has fused: F is smooth, and its gradient is the gap.

    F(A) = ½ Σ m‖z − a‖² + Σ_l c_l ‖a_i − a_j‖,   u_l = (a_i − a_j)/‖a_i − a_j‖,
    G = m(a − z) + Σ ± c_l u_l,                    ∇²F = m + Σ_l (c_l/‖a_i − a_j‖)(I − u_l u_lᵀ).

The loops run over the edges ``part`` alone, so that two halves of a graph can go side by side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..problem import Floats, Ints
from .compile import njit
from .sweeps import SUMS

Singles = NDArray[np.float32]


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def add_pulls(
    tail: Ints, head: Ints, c: Floats, A: Floats, u: Singles, stiff: Singles, G: Floats, part: Ints
) -> float:
    """u and c/‖a_i − a_j‖ of every edge, its pull added to G; returns min ‖a_i − a_j‖/c.

    The pulls themselves are in double precision; only what the Hessian needs is kept in single.
    """
    r = A.shape[1]
    least = np.inf
    for e in part:
        ai, aj, gi, gj, row = A[tail[e]], A[head[e]], G[tail[e]], G[head[e]], u[e]
        s = 0.0
        for k in range(r):
            x = ai[k] - aj[k]
            s += x * x
        s = np.sqrt(s)
        least = min(least, s / c[e])
        f = 1 / s
        pull = c[e] * f
        stiff[e] = pull
        for k in range(r):
            x = ai[k] - aj[k]
            row[k] = x * f
            gi[k] += pull * x
            gj[k] -= pull * x
    return least


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def full_pulls(tail: Ints, head: Ints, c: Floats, A: Floats, Lam: Floats) -> None:
    """Λ: λ = c u of every edge; 0 where its ends are equal."""
    for e in range(len(tail)):
        ai, aj, row = A[tail[e]], A[head[e]], Lam[e]
        s = 0.0
        for k in range(A.shape[1]):
            x = ai[k] - aj[k]
            s += x * x
        f = c[e] / np.sqrt(s) if s > 0 else 0.0
        for k in range(A.shape[1]):
            row[k] = f * (ai[k] - aj[k])


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def bend(
    tail: Ints, head: Ints, u: Singles, stiff: Singles, x: Singles, out: Singles, part: Ints
) -> None:
    """out += Σ_l (c_l/‖·‖)(I − uuᵀ)(x_i − x_j): the Hessian's part of the edges."""
    r = x.shape[1]
    for e in part:
        xi, xj, oi, oj, row = x[tail[e]], x[head[e]], out[tail[e]], out[head[e]], u[e]
        along = np.float32(0)
        for k in range(r):
            along += (xi[k] - xj[k]) * row[k]
        f = stiff[e]
        for k in range(r):
            v = f * (xi[k] - xj[k] - along * row[k])
            oi[k] += v
            oj[k] -= v
