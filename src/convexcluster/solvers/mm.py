"""Majorise–minimise with merging: a weighted Laplacian system per step.

At the current distances d_l the norm is majorised by the quadratic that touches it (smoothed by
ε, which shrinks step by step):

    c‖x‖ ≤ c‖x‖²/(2√(d² + ε²)) + const
    (M + Dᵀdiag(q)D) A⁺ = MZ,   q_l = c_l/√(d_l² + ε²)

Then A⁺ = Z − M⁻¹Dᵀ(q·DA⁺) identically, so Λ = Proj_c(q·DA⁺) is the dual that belongs to it, and
it needs no clipping at a fixed point. Pairs with d ≤ ε have collapsed: between two full steps the
iteration runs on the graph in which they are merged, which is small once clusters form; the next
full step, in which every edge is free again, confirms or undoes the merges and gives the dual.

References: Lange, *MM optimization algorithms*, 2016; Touw, Groenen and Terada, *Convex clustering
through MM*, 2022 (merging; there without a dual).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..certificate import dual_point, duality_gap, project
from ..certificate.reduced import reduce
from ..graph import components
from ..numerics.laplacian import factor
from ..partition import means
from ..problem import Floats, Problem
from .driver import Method, Point

INNER = 10  # merged steps per full step: they are cheap once clusters have formed
COOLING = 0.3  # ε from one smoothed problem to the next
STIFFEST = 1e15  # c/ε over the least mass: beyond it M is lost in M + Dᵀdiag(q)D
SETTLED = 0.05  # share of clipping in the gap; cooling earlier freezes edges that should part


def iterates(problem: Problem, warm: Floats | None, target: float) -> Iterator[Point]:
    """Yield (A, Λ) after every full step."""
    c = problem.c
    A = problem.Z if warm is None else dual_point(problem, warm)
    d = _lengths(problem, A)
    # smoothing costs at most Σ c ε in the objective: a floor at a share of the target is enough
    floor = 0.3 * target / float(c.sum())
    floor = max(floor, float(c.max()) / (STIFFEST * float(problem.masses.min())))
    eps = max(float(d.mean()), floor)
    if warm is not None:
        # at a smoothed optimum ‖λ‖/c = d/√(d² + ε²): give inner edges the length that says so
        eps = max(1e-3 * eps, floor)
        share = np.minimum(np.linalg.norm(warm, axis=1) / c, 0.999)
        d = np.maximum(d, eps * share / np.sqrt(1.0 - share**2))
    i, j = problem.edges.T
    while True:
        q = c / (np.sqrt(d**2 + eps**2) if eps < 1e150 else np.hypot(d, eps))
        A = _step(problem, q)
        Lam = project(q[:, None] * (A[i] - A[j]), c)
        yield Point(A, Lam)
        d = _lengths(problem, A)
        # cool once the smoothed problem is solved: clipping is then a small part of the gap
        gap = duality_gap(problem, A, Lam)
        clipped = 0.5 * float(problem.masses @ ((A - dual_point(problem, Lam)) ** 2).sum(axis=1))
        if clipped <= SETTLED * gap:
            eps = max(COOLING * eps, floor)
        d = _merged_steps(problem, A, d, eps)


def _merged_steps(problem: Problem, A: Floats, d: Floats, eps: float) -> Floats:
    """Distances after a few steps on the graph whose collapsed pairs are merged.

    The displacement of every cluster is carried back to its samples, and kept only if it lowers the
    smoothed objective: full steps lower it too, so the whole iteration descends.
    """
    inside = d <= eps
    labels = components(problem.edges[inside], problem.n)
    small = reduce(problem, labels)
    if len(small.edges) == 0 or not inside.any():
        return d
    start = means(A, problem.masses, labels)
    C = start
    for _ in range(INNER):
        C = _step(small, small.c / np.sqrt(_lengths(small, C) ** 2 + eps**2))
    moved = A + (C - start)[labels]
    better = _smoothed(problem, moved, eps) < _smoothed(problem, A, eps)
    return _lengths(problem, moved) if better else d


def _smoothed(problem: Problem, A: Floats, eps: float) -> float:
    """½‖Z − A‖²_M + Σ c √(d² + ε²)."""
    fit = 0.5 * float(problem.masses @ ((problem.Z - A) ** 2).sum(axis=1))
    return fit + float(problem.c @ np.sqrt(_lengths(problem, A) ** 2 + eps**2))


def _step(problem: Problem, q: Floats) -> Floats:
    """Solve (M + Dᵀdiag(q)D) A = MZ."""
    return factor(problem.edges, q, problem.masses)(problem.masses[:, None] * problem.Z)


def _lengths(problem: Problem, A: Floats) -> Floats:
    """‖a_i − a_j‖ of every edge."""
    i, j = problem.edges.T
    return np.linalg.norm(A[i] - A[j], axis=1)


METHOD = Method(iterates, max_iter=2_000)
