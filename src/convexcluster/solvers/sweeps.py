"""Accelerated sweeps: dual block-coordinate ascent, one edge at a time, with momentum.

A block is a forward and a backward pass of λ_l ← Proj_c(λ_l + h(a_i − a_j)) over all edges
(:func:`convexcluster.loops.sweeps.sweep`); between blocks Λ is extrapolated as by Nesterov, and
the momentum restarts when the dual value falls. Every edge is projected in every pass, so Λ is
feasible after each block even though the extrapolated point is not.

Reference: Beck and Tetruashvili, *On the convergence of block coordinate descent*, 2013; the
restart is the function rule of O'Donoghue and Candès, 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from ..certificate import project
from ..graph import incidence
from ..loops.sweeps import DAMPED, momentum, sweep
from ..numerics.gradients import nesterov
from ..problem import Floats, Problem
from .driver import Method, Point


def iterates(problem: Problem, warm: Floats | None, target: float) -> Iterator[Point]:
    """Yield (A_Λ, Λ) after each forward and backward pass."""
    tail, head = (np.ascontiguousarray(end) for end in problem.edges.T)
    back = (-incidence(problem.edges, problem.n).T / problem.masses[:, None]).tocsr()
    c, inv_mass, every = problem.c, 1.0 / problem.masses, np.arange(len(problem.edges))
    unbounded = np.full_like(c, np.inf)
    Lam = first_dual(problem) if warm is None else warm
    A = back @ Lam
    A += problem.Z
    old, value, t = Lam.copy(), np.inf, 1.0
    for step in count(1):
        sweep(tail, head, c, inv_mass, A, Lam, every, 2, DAMPED)
        yield Point(A, Lam)
        fresh = float(problem.masses @ np.einsum("ik,ik->i", A, A))  # dual: ½‖Z‖²_M − ½‖A_Λ‖²_M
        if fresh > value:
            t = 1.0
        value = fresh
        t, beta = nesterov(t)
        momentum(tail, head, unbounded, inv_mass, A, Lam, old, every, np.float64(beta))
        if step % 20 == 0:
            A = back @ Lam  # what rounding has added up is taken off
            A += problem.Z


def first_dual(problem: Problem) -> Floats:
    """One exact dual step from Λ = 0, edge by edge: λ_l = Proj_c((z_i − z_j)/(1/m_i + 1/m_j)).

    For small γ it is c_l u_l, the optimum while nothing has moved; for large γ it stays bounded.
    """
    i, j = problem.edges.T
    h = 1.0 / (1.0 / problem.masses[i] + 1.0 / problem.masses[j])
    return project(h[:, None] * (problem.Z[i] - problem.Z[j]), problem.c)


METHOD = Method(iterates, max_iter=3_000, every=10, patience=30)
