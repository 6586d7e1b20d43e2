"""Accelerated AMA: Nesterov's method on the dual with adaptive restart.

    Λ⁺ = Proj_c(Y + H D A_Y),  A_Y = Z − M⁻¹DᵀY,  Y = Λ⁺ + β(Λ⁺ − Λ)

Steps are per edge, h_l = 1/(deg_i/m_i + deg_j/m_j): D M⁻¹Dᵀ ≼ H⁻¹ by Cauchy–Schwarz at every
sample, so no global Lipschitz constant is needed and weakly connected edges take long steps.

References: Chi and Lange, *Splitting methods for convex clustering*, 2015 (AMA is proximal
gradient on the dual); O'Donoghue and Candès, *Adaptive restart*, 2015 (the gradient rule).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..certificate import project
from ..graph import incidence
from ..numerics.gradients import nesterov
from ..problem import Floats, Problem
from .driver import Method, Point


def iterates(problem: Problem, warm: Floats | None, target: float) -> Iterator[Point]:
    """Yield (A_Λ, Λ) of the accelerated dual method."""
    D = incidence(problem.edges, problem.n)
    back = (-D.T / problem.masses[:, None]).tocsr()
    i, j = problem.edges.T
    pull = np.bincount(problem.edges.ravel(), minlength=problem.n) / problem.masses
    h = (1.0 / (pull[i] + pull[j]))[:, None]
    c = problem.c
    Lam = np.zeros((len(c), problem.Z.shape[1])) if warm is None else warm
    A = problem.Z + back @ Lam
    Y, A_Y, t = Lam, A, 1.0
    while True:
        Lam_old, A_old = Lam, A
        Lam = project(Y + h * (A_Y[i] - A_Y[j]), c)
        A = problem.Z + back @ Lam
        step = Lam - Lam_old
        # the momentum points downhill once ⟨Y − Λ⁺, Λ⁺ − Λ⟩ > 0 in the metric of the steps
        if float(np.einsum("lk,lk,l->", Y - Lam, step, 1.0 / h[:, 0])) > 0:
            t = 1.0
        t, beta = nesterov(t)
        Y, A_Y = Lam + beta * step, A + beta * (A - A_old)  # A_Y is affine in Y
        yield Point(A, Lam)


METHOD = Method(iterates, max_iter=50_000, every=10)
