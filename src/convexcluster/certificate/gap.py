"""The gap between any primal and any feasible dual point.

    dual:  max ⟨Λ, DZ⟩ − ½‖M^{-1/2}DᵀΛ‖²   subject to ‖λ_l‖ ≤ c_l = γ w_l

With A_Λ = Z − M⁻¹DᵀΛ,

    G = ½‖A − A_Λ‖²_M + Σ_l (c_l‖(DA)_l‖ − ⟨λ_l, (DA)_l⟩) ≥ 0,

a sum of non-negative terms, so nothing cancels; and ½‖A − A*‖²_M + ½‖A_Λ − A*‖²_M ≤ G. What
computing G in floats can hide is bounded in :mod:`~convexcluster.certificate.rounding`.
"""

from __future__ import annotations

import numpy as np

from ..graph import incidence
from ..problem import Floats, Problem

# Edges, or samples, per block of the gap: the differences of a block stay in cache, and a large
# graph in a large embedding needs no second array of the size of Λ.
BLOCK = 4_096


def lengths(X: Floats) -> Floats:
    """Euclidean norm of every row."""
    return np.sqrt(np.einsum("lk,lk->l", X, X))


def project(Lam: Floats, c: Floats, out: Floats | None = None) -> Floats:
    """Project every row λ_l on the ball of radius c_l, into ``out``: any dual becomes feasible."""
    norms = lengths(Lam)
    shrink = np.where(norms > c, c / np.where(norms > 0, norms, 1.0), 1.0)
    return np.multiply(Lam, shrink[:, None], out=out)


def dual_point(problem: Problem, Lam: Floats) -> Floats:
    """A_Λ = Z − M⁻¹DᵀΛ."""
    D = incidence(problem.edges, problem.n)
    flow: Floats = D.T @ Lam
    flow /= problem.masses[:, None]
    return np.subtract(problem.Z, flow, out=flow)


def duality_gap(problem: Problem, A: Floats, Lam: Floats, A_dual: Floats | None = None) -> float:
    """G(A, Λ) for a feasible Λ, from its definition; ``A_dual`` is A_Λ where it is at hand.

    As computed: :func:`~convexcluster.certificate.gap_rounding` bounds what rounding hides.
    """
    i, j = problem.edges.T
    A_dual = dual_point(problem, Lam) if A_dual is None else A_dual
    squares = np.empty(len(A))
    for start in range(0, len(A), BLOCK):
        block = slice(start, start + BLOCK)
        rest = A[block] - A_dual[block]
        np.einsum("ik,ik->i", rest, rest, out=squares[block])
    gap = 0.5 * float(problem.masses @ squares)
    del A_dual
    for start in range(0, len(i), BLOCK):
        block = slice(start, start + BLOCK)
        DA = A[i[block]]
        DA -= A[j[block]]
        slack = problem.c[block] * lengths(DA) - np.einsum("lk,lk->l", Lam[block], DA)
        gap += float(np.maximum(slack, 0.0).sum())  # a negative slack is round-off
    return gap
