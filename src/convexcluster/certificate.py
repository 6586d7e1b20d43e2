"""Duality: the referee of every solution.

    dual:  max ⟨Λ, DZ⟩ − ½‖M^{-1/2}DᵀΛ‖²   subject to ‖λ_l‖ ≤ c_l = γ w_l

With A_Λ = Z − M⁻¹DᵀΛ, the gap between any A and any feasible Λ is

    G = ½‖A − A_Λ‖²_M + Σ_l (c_l‖(DA)_l‖ − ⟨λ_l, (DA)_l⟩) ≥ 0,

a sum of non-negative terms, so nothing cancels; and ½‖A − A*‖²_M + ½‖A_Λ − A*‖²_M ≤ G.
"""

from __future__ import annotations

import numpy as np

from .graph import incidence
from .problem import Floats, Problem


def project(Lam: Floats, c: Floats) -> Floats:
    """Project every row λ_l on the ball of radius c_l: any dual becomes feasible."""
    norms = np.linalg.norm(Lam, axis=1)
    shrink = np.where(norms > c, c / np.where(norms > 0, norms, 1.0), 1.0)
    return Lam * shrink[:, None]


def dual_point(problem: Problem, Lam: Floats) -> Floats:
    """A_Λ = Z − M⁻¹DᵀΛ."""
    D = incidence(problem.edges, problem.n)
    return problem.Z - (D.T @ Lam) / problem.masses[:, None]


def duality_gap(problem: Problem, A: Floats, Lam: Floats) -> float:
    """G(A, Λ) for a feasible Λ, from its definition."""
    i, j = problem.edges.T
    DA = A[i] - A[j]
    fit = 0.5 * float(problem.masses @ ((A - dual_point(problem, Lam)) ** 2).sum(axis=1))
    slack = problem.c * np.linalg.norm(DA, axis=1) - np.einsum("lk,lk->l", Lam, DA)
    return fit + float(np.maximum(slack, 0.0).sum())  # a negative slack is round-off
