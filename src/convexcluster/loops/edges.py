"""Compiled passes over the edges of a graph: the inner loops of the single-γ solvers.

Arrays are contiguous; ``tail[l] = i`` and ``head[l] = j`` are the ends of edge l, ``inv_mass`` is
1/m. Every loop writes into buffers that its caller owns and validates nothing.
"""

from __future__ import annotations

import numpy as np

from .cells import SIMD
from .compile import njit


@njit(cache=True, nogil=True, fastmath=SIMD)
def residual(tail, head, c, sigma, mass, Z, Lam, A, T, P, scale, grad):  # type: ignore[no-untyped-def]
    """T = Λ + σDA, P = Proj_c(T), ∇φ = M(A − Z) + DᵀP, and φ(A) as the return value.

    φ(A) = ½‖A − Z‖²_M + Σ_l (huber_{c_l}(T_l) − ½‖λ_l‖²)/σ_l, the augmented Lagrangian with V
    minimised out. ``scale[l]`` is 1 on edges inside their ball and c_l/‖T_l‖ elsewhere.
    """
    n, r = A.shape
    value = 0.0
    for i in range(n):
        total = 0.0
        for k in range(r):
            d = A[i, k] - Z[i, k]
            total += d * d
        for k in range(r):
            grad[i, k] = mass[i] * (A[i, k] - Z[i, k])
        value += 0.5 * mass[i] * total
    for e in range(tail.shape[0]):
        i = tail[e]
        j = head[e]
        norm = 0.0
        old = 0.0
        for k in range(r):
            t = Lam[e, k] + sigma[e] * (A[i, k] - A[j, k])
            norm += t * t
            old += Lam[e, k] * Lam[e, k]
        norm = np.sqrt(norm)
        shrink = 1.0
        if norm > c[e]:
            shrink = c[e] / norm
            value += (c[e] * norm - 0.5 * c[e] * c[e] - 0.5 * old) / sigma[e]
        else:
            value += 0.5 * (norm * norm - old) / sigma[e]
        scale[e] = shrink
        for k in range(r):
            t = Lam[e, k] + sigma[e] * (A[i, k] - A[j, k])
            T[e, k] = t
            p = shrink * t
            P[e, k] = p
            grad[i, k] += p
            grad[j, k] -= p
    return value


@njit(cache=True, nogil=True, fastmath=SIMD)
def hessian(tail, head, sigma, mass, T, scale, X, out):  # type: ignore[no-untyped-def]
    """(M + DᵀSD)X: S_l = σ_l inside the ball, σ_l s_l (I − uuᵀ) with u = T_l/‖T_l‖ elsewhere."""
    n, r = X.shape
    for i in range(n):
        for k in range(r):
            out[i, k] = mass[i] * X[i, k]
    for e in range(tail.shape[0]):
        i = tail[e]
        j = head[e]
        along = 0.0
        if scale[e] < 1.0:
            norm = 0.0
            for k in range(r):
                along += T[e, k] * (X[i, k] - X[j, k])
                norm += T[e, k] * T[e, k]
            along /= norm
        q = sigma[e] * scale[e]
        for k in range(r):
            y = q * (X[i, k] - X[j, k] - along * T[e, k])
            out[i, k] += y
            out[j, k] -= y


@njit(cache=True, nogil=True)
def equal_ends(tail, head, A, out):  # type: ignore[no-untyped-def]
    """Whether the rows of A at the two ends of every edge are equal to the last bit."""
    for e in range(tail.shape[0]):
        i = tail[e]
        j = head[e]
        same = True
        for k in range(A.shape[1]):
            if A[i, k] != A[j, k]:
                same = False
                break
        out[e] = same


@njit(cache=True, nogil=True)
def means(labels, count, mass, A):  # type: ignore[no-untyped-def]
    """Mass means of the rows of A over every label, written back to all their rows."""
    n, r = A.shape
    C = np.zeros((count, r))
    total = np.zeros(count)
    for i in range(n):
        t = labels[i]
        total[t] += mass[i]
        for k in range(r):
            C[t, k] += mass[i] * A[i, k]
    out = np.empty_like(A)
    for i in range(n):
        t = labels[i]
        for k in range(r):
            out[i, k] = C[t, k] / total[t]
    return out
