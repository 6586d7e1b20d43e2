"""Sparse ADMM on the edges of the graph.

Splits V = DA. With multipliers Λ and penalty ρ,

    (M + ρL) A = MZ + Dᵀ(ρV − Λ),      L = DᵀD, one sparse factor for all columns
    T = Λ + ρ(αDA + (1 − α)V),         α = 1.6, over-relaxation
    Λ ← Proj_c(T),  V ← (T − Λ)/ρ      (Moreau: V is the shrunken T/ρ)

so Λ is feasible after every step. ρ follows the ratio of primal and dual residuals.

Reference: Boyd et al., *Distributed optimization and statistical learning via ADMM*, 2011, §3.4.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from ..certificate import dual_point, project
from ..graph import incidence
from ..numerics.laplacian import factor
from ..problem import Floats, Problem
from .driver import Method, Point, balanced, rebalances

RELAXATION = 1.6  # 1.5–1.8 is the range in which over-relaxation is known to pay (Boyd §3.4.3)


def iterates(problem: Problem, warm: Floats | None, target: float) -> Iterator[Point]:
    """Yield the ADMM iterates (A, Λ)."""
    D = incidence(problem.edges, problem.n)
    MZ = problem.masses[:, None] * problem.Z
    c = problem.c
    rho = float(np.mean(problem.masses))
    solve = factor(problem.edges, np.full(len(c), rho), problem.masses)
    Lam = np.zeros((len(c), problem.Z.shape[1])) if warm is None else warm
    V = D @ dual_point(problem, Lam)
    for step in count(1):
        A = solve(MZ + D.T @ (rho * V - Lam))
        DA = D @ A
        T = Lam + rho * (RELAXATION * DA + (1.0 - RELAXATION) * V)
        Lam = project(T, c)
        V_old, V = V, (T - Lam) / rho
        yield Point(A, Lam)
        if rebalances(step):
            primal = float(np.linalg.norm(DA - V))
            dual = rho * float(np.linalg.norm(D.T @ (V - V_old)))
            rho_old, rho = rho, balanced(rho, primal, dual)
            if rho != rho_old:
                solve = factor(problem.edges, np.full(len(c), rho), problem.masses)


# First-order steps converge linearly at best: at half the limit ill-conditioned graphs end early,
# at twice the limit a hopeless solve takes twice as long. A gap costs about as much as a step.
METHOD = Method(iterates, max_iter=20_000, every=10)
