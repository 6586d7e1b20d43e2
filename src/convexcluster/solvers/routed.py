"""A path knows the clusters of a γ but not the dual inside them: route it, with a gap.

Input is a problem, a partition and its centroids; output a feasible dual and its duality gap. With
c the optimum of the reduced problem (:mod:`convexcluster.certificate.reduced`) let λ_l = c_l u_l
between clusters, and inside a flow that meets as much as it can of what is left of every sample,

    b_i = m_i(z_i − c_t) − γ Σ_{j∉C_t} w_ij u_{t,s(j)}.

All terms of the gap vanish but one: G = ½ Σ ‖b_i − (DᵀΛ)_i‖²/m_i. Electrical corrections take
orders of magnitude off it, each for the price of a few of the sweeps that carry demand one edge at
a time and need hundreds.
"""

from __future__ import annotations

import numpy as np

from ..certificate import dual_point, duality_gap, project
from ..certificate.flows import electrical
from ..certificate.reduced import newton, reduce
from ..graph import incidence
from ..problem import Floats, Ints, Problem, Solution, Status

# Unknowns of the reduced problem up to which Newton takes a fraction of a second; with more
# clusters there is little to route, and sweeps go on from the path's centroids.
NEWTON = 300_000

# The share of the gap that Newton may leave if there are more unknowns than this: its last steps,
# which would not show, cost the most. With fewer they cost nothing.
UNSEEN, FEW = 1e-3, 10_000

# Corrections at most, and the share of the gap above which one of them has not paid: what is left
# then is due to clusters that are not those of the optimum, which only sweeps can mend.
CORRECTIONS = 8
STALLED = 0.5

# The share of its capacity that a saturated edge keeps as conductance. On graphs of 10,000 samples
# 0.001 needs two corrections where 0.005 needs three and 0.02 four.
LEAST_SHARE = 0.001

# What is missing has few directions, as it sits at the saturated edges: this share of its energy is
# in a quarter of the dimensions, and the rest follows in the next correction.
ENERGY = 0.99


def routed(problem: Problem, labels: Ints, centers: Floats, target: float) -> Solution:
    """Find a dual of the partition ``labels`` whose gap is at most ``target``, if routing can.

    Parameters
    ----------
    problem : Problem
    labels : ndarray of shape (n,)
        Connected clusters.
    centers : ndarray of shape (k, r)
        Their centroids, near the optimum of the reduced problem.
    target : float
        Gap at which to stop.

    Returns
    -------
    Solution
        Converged if the gap is at most ``target``; otherwise a start for a solver.

    Examples
    --------
    >>> problem = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], gamma=1.2)
    >>> found = routed(problem, np.array([0, 0, 1]), np.array([[1.0], [8.0]]), 1e-9)
    >>> found.A.ravel().round(9).tolist(), found.status.name
    ([1.1, 1.1, 7.8], 'CONVERGED')
    """
    small = reduce(problem, labels)
    enough = UNSEEN * target if small.Z.size > FEW else 0.0
    best = newton(small, centers, enough=enough) if small.Z.size <= NEWTON else None
    C = centers if best is None else best
    i, j = problem.edges.T
    inside = labels[i] == labels[j]
    Lam = np.zeros((len(i), problem.Z.shape[1]))
    apart = C[labels[i[~inside]]] - C[labels[j[~inside]]]
    length = np.maximum(np.linalg.norm(apart, axis=1), np.finfo(float).tiny)
    Lam[~inside] = (problem.c[~inside] / length)[:, None] * apart
    if inside.any() and problem.gamma > 0:
        demand = problem.masses[:, None] * (dual_point(problem, Lam) - C[labels])
        Lam[inside] = _flow(problem, inside, demand, labels, target)
    Lam = project(Lam, problem.c)
    gap = duality_gap(problem, C[labels], Lam)
    status = Status.CONVERGED if gap <= target else Status.STALLED
    return Solution(C[labels], Lam, gap, problem.relative(gap), status, 1)


def _flow(
    problem: Problem, inside: np.ndarray, demand: Floats, labels: Ints, target: float
) -> Floats:
    """The flow within capacity that misses least, by its share of the gap, of ``demand``."""
    edges, c, masses = problem.edges[inside], problem.c[inside], problem.masses
    D = incidence(edges, problem.n)
    Lam = project(electrical(edges, c, demand, labels, masses), c)
    best, least = np.zeros_like(Lam), np.inf
    for _ in range(CORRECTIONS):
        missing = demand - D.T @ Lam
        gap = 0.5 * float(np.sum(missing**2 / masses[:, None]))
        stalled = not gap <= STALLED * least  # nan where capacities differ by more than floats hold
        if gap < least:
            best, least = Lam, gap
        if stalled or gap <= 0.5 * target:  # half is left for round-off and what Newton left
            break
        axes = _main_axes(missing)
        room = np.maximum(c - np.linalg.norm(Lam, axis=1), LEAST_SHARE * c)
        Lam = project(Lam + electrical(edges, room, missing @ axes, labels, masses) @ axes.T, c)
    return best


def _main_axes(X: Floats) -> Floats:
    """Orthonormal columns with the share ``ENERGY`` of ‖X‖²."""
    values, vectors = np.linalg.eigh(X.T @ X)
    energy = np.cumsum(values[::-1])
    count = int(np.searchsorted(energy, ENERGY * energy[-1])) + 1
    return np.ascontiguousarray(vectors[:, ::-1][:, :count])
