"""A path knows the clusters of a γ but not the dual inside them: route it, with a gap.

Input is a problem, a partition and its centroids; output a feasible dual and its duality gap. With
c the optimum of the reduced problem (:mod:`convexcluster.certificate.reduced`) let λ_l = c_l u_l
between clusters, and inside a flow that meets as much as it can of what is left of every sample,

    b_i = m_i(z_i − c_t) − γ Σ_{j∉C_t} w_ij u_{t,s(j)}.

All terms of the gap vanish but one: G = ½ Σ ‖b_i − (DᵀΛ)_i‖²/m_i. Electrical corrections take
orders of magnitude off it, each for the price of a few of the sweeps that carry demand one edge at
a time and alone would need hundreds; what the capacities hold up is left to sweeps.
"""

from __future__ import annotations

import numpy as np

from ..certificate import dual_point, duality_gap, project
from ..certificate.flows import electrical
from ..certificate.reduced import gradient, meeting, newton, reduce
from ..graph import incidence
from ..problem import Floats, Ints, Problem, Solution, Status
from .sweeps import iterates

# Unknowns of the reduced problem up to which Newton takes a fraction of a second; with more
# clusters there is little to route, and sweeps go on from the path's centroids.
NEWTON = 300_000

# The share of the gap that Newton may leave if there are more unknowns than this: its last steps,
# which would not show, cost the most. With fewer they cost nothing.
UNSEEN, FEW = 1e-2, 10_000

# With that many, Newton sets out where the gap of the centroids is within this factor of the
# target. Further away clusters are about to fuse, F has kinks nearby, and sweeps do better.
NEAR = 10.0

# The share of the target that the flow may miss: the rest is for round-off and what Newton left.
ENOUGH = 0.8

# Corrections at most, and the share of the gap above which one of them has not paid: what is left
# then sits at single saturated edges, where sweeps are faster.
CORRECTIONS = 8
STALLED = 0.2

# The share of its capacity that a saturated edge keeps as conductance. On graphs of 10,000 samples
# 0.001 needs two corrections where 0.005 needs three and 0.02 four.
LEAST_SHARE = 0.001

# What is missing has few directions, as it sits at the saturated edges: this share of its energy is
# in a quarter of the dimensions, and the rest follows in the next correction.
ENERGY = 0.99


# Sweeps between two looks at the gap, and how many times as many may still lie ahead at the rate of
# the last: either the clusters are those of the optimum, and a few dozen do, or more would not.
BLOCK, AHEAD = 5, 6

# Past the target, for a proof of the partition: how far, and the gain of a block that is cheap.
SHARP, CHEAP = 1e-4, 0.1


def routed(
    problem: Problem, labels: Ints, centers: Floats, target: float, sharp: bool = False
) -> Solution:
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
    sharp : bool
        Whether to go on where that is cheap: a proof of the partition needs more digits.

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
    C = centers
    if small.Z.size <= FEW or (small.Z.size <= NEWTON and _near(small, centers, target)):
        enough = UNSEEN * target if small.Z.size > FEW else 0.0
        best = newton(small, centers, enough=enough)
        C = centers if best is None else best
    i, j = problem.edges.T
    inside = labels[i] == labels[j]
    Lam = np.zeros((len(i), problem.Z.shape[1]))
    apart = C[labels[i[~inside]]] - C[labels[j[~inside]]]
    length = np.maximum(np.linalg.norm(apart, axis=1), np.finfo(float).tiny)
    Lam[~inside] = (problem.c[~inside] / length)[:, None] * apart
    if inside.any() and problem.gamma > 0:
        demand = problem.masses[:, None] * (dual_point(problem, Lam) - C[labels])
        Lam[inside] = _flow(problem, inside, demand, labels, target, sharp)
    Lam = project(Lam, problem.c)
    gap = duality_gap(problem, C[labels], Lam)
    status = Status.CONVERGED if gap <= target else Status.STALLED
    return Solution(C[labels], Lam, gap, problem.relative(gap), status, 1)


def _near(small: Problem, C: Floats, target: float) -> bool:
    """Whether Newton is likely to get from C to ``target`` in a step or two."""
    if meeting(small, C):
        return False
    G = gradient(small, C)
    return 0.5 * float(np.einsum("ik,ik,i->", G, G, 1.0 / small.masses)) <= NEAR * target


def _flow(
    problem: Problem,
    inside: np.ndarray,
    demand: Floats,
    labels: Ints,
    target: float,
    sharp: bool,
) -> Floats:
    """The flow within capacity that misses least, by its share of the gap, of ``demand``."""
    edges, c, masses = problem.edges[inside], problem.c[inside], problem.masses
    D = incidence(edges, problem.n)
    Lam = project(electrical(edges, c, demand, labels, masses), c)
    best, least, goal = np.zeros_like(Lam), np.inf, ENOUGH * target
    for _ in range(CORRECTIONS):
        missing = demand - D.T @ Lam
        gap = 0.5 * float(np.sum(missing**2 / masses[:, None]))
        stalled = not gap <= STALLED * least  # nan where capacities differ by more than floats hold
        if gap < least:
            best, least = Lam, gap
        if stalled or gap <= goal:
            break
        axes = _main_axes(missing)
        room = np.maximum(c - np.linalg.norm(Lam, axis=1), LEAST_SHARE * c)
        Lam = project(Lam + electrical(edges, room, missing @ axes, labels, masses) @ axes.T, c)
    floor = SHARP * target if sharp else goal
    return best if least <= floor else _swept(edges, c, demand, masses, best, goal, floor)


def _swept(
    edges: Ints, c: Floats, demand: Floats, masses: Floats, flow: Floats, goal: float, floor: float
) -> Floats:
    """Sweeps with momentum from ``flow`` to ``goal``, and on to ``floor`` while that is cheap.

    What a flow misses is the point A_Λ of the problem whose samples are demand/m.
    """
    inner = Problem(demand / masses[:, None], edges, c, 1.0, masses)
    before = np.inf
    for step, point in enumerate(iterates(inner, flow, goal), start=1):
        if step % BLOCK:
            continue
        gap = 0.5 * float(masses @ np.einsum("ik,ik->i", point.A, point.A))
        rate = gap / before
        if gap <= floor or not (rate <= CHEAP if gap <= goal else gap * rate**AHEAD <= goal):
            break
        before = gap
    return point.Lam


def _main_axes(X: Floats) -> Floats:
    """Orthonormal columns with the share ``ENERGY`` of ‖X‖²."""
    values, vectors = np.linalg.eigh(X.T @ X)
    energy = np.cumsum(values[::-1])
    count = int(np.searchsorted(energy, ENERGY * energy[-1])) + 1
    return np.ascontiguousarray(vectors[:, ::-1][:, :count])
