"""From the clusters of a path to a solution with a gap, and on to a proof of the partition.

A path knows the clusters of a γ but not the dual inside them. Input is a problem, a partition and
its centroids; output a feasible dual and its duality gap. With c the optimum of the reduced problem
(:mod:`convexcluster.certificate.reduced`) let λ_l = c_l u_l between clusters, and inside a flow
that meets as much as it can of what is left of every sample,

    b_i = m_i(z_i − c_t) − γ Σ_{j∉C_t} w_ij u_{t,s(j)}.

All terms of the gap vanish but one: G = ½ Σ ‖b_i − (DᵀΛ)_i‖²/m_i. Electrical corrections take
orders of magnitude off it, each for the price of a few of the sweeps that carry demand one edge at
a time and alone would need hundreds; what the capacities hold up is left to sweeps.

The exact test of a partition needs more digits than the centroids do: at the tolerance of a solve,
neighbours nearer to each other than the radius cannot be told from fused ones. Solves to smaller
tolerances follow until it succeeds (:func:`prove`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ..certificate import Certificate, certify, dual_point, duality_gap, on_rows, project
from ..certificate.flows import correction, electrical
from ..certificate.reduced import gradient, meeting, newton, reduce
from ..graph import incidence
from ..numerics.axes import gram_axes
from ..problem import Floats, Ints, Problem, Solution, Status
from . import auto
from .sweeps import iterates

# Unknowns of the reduced problem (clusters × dimensions) above which Newton is not tried. Twice as
# many: a step may take seconds. Half: more solves go on from the path's centroids, at a larger gap.
NEWTON_UNKNOWNS = 300_000

# Unknowns up to which Newton runs to rounding. Twice as many: its last steps, which do not show in
# the gap, begin to cost. Half: proofs of small partitions start with fewer digits.
FEW_UNKNOWNS = 10_000

# The share of the target that Newton may leave beyond FEW_UNKNOWNS. Half of it can cost one more
# step, the dearest one; twice as much is taken from what the flow may miss.
NEWTON_SHARE = 1e-2

# Beyond FEW_UNKNOWNS Newton sets out if the gap is within this factor of the target. Twice: steps
# are wasted at kinks of F, where clusters are about to fuse. Half: sweeps do what a step would.
NEWTON_REACH = 10.0

# The share of the target that the flow may miss. Half: corrections that the gap does not need. Near
# 1: with round-off and what Newton left the sum may exceed the target.
FLOW_SHARE = 0.8

# Electrical corrections at most; each leaves at most the share STALLED of the gap or is the last,
# so that eight gain five digits. Half as many end flows that still gain.
CORRECTIONS = 8

# A correction that leaves more than this share of the gap has not paid: the rest sits at saturated
# edges, where sweeps are faster. Half of it leaves to sweeps what corrections do better.
STALLED = 0.2

# The share of its capacity that a saturated edge keeps as conductance. More pushes flow through
# edges that cannot take it (0.005: three corrections, not two); less is worse conditioned.
LEAST_SLACK = 0.001

# What a flow misses sits at the saturated edges: this share of its energy lies in a quarter of the
# dimensions. At 0.98 a correction gains a factor of 50 at most; at 0.995 it has more columns.
ENERGY = 0.99

# Sweeps between two looks at the gap. Half: rates of so few are noisy, and solves are given up that
# would succeed. Twice: up to nine sweeps are done in vain.
SWEEPS = 5

# Blocks of sweeps that may still lie ahead at the rate of the last one. Twice: solves that no
# number of sweeps would finish cost twice as much. Half: solves end that would succeed.
BLOCKS_AHEAD = 6

# The share of the target to which sweeps go on for a proof, while that is cheap. More: proofs are
# left to further solves. Less: sweeps for partitions that are proved already.
SHARP = 1e-4

# Beyond the target a block of sweeps must leave at most this share of the gap. A larger share
# goes on where a further solve is faster; a smaller one stops although four blocks would do.
CHEAP = 0.1

# Relative tolerances at which a proof is tried again; floating point ends near 1e-17. Finer steps
# test more often, coarser ones solve further than the proof needs.
TOLERANCES = (1e-9, 1e-12, 1e-15)

# Numbers of a dual times iterations that all solves of a proof may take, about 7 ns each: five
# seconds. Twice: a γ that fuses hardly anything of 1,000 samples takes a quarter of a minute. Half:
# the clusters of digits at some γ are not told apart.
PROOF_WORK = 7.5e8


def routed(
    problem: Problem, labels: Ints, centers: Floats, target: float, sharp: bool = False
) -> Solution:
    """Find a dual of the partition ``labels`` whose gap is at most ``target``, if routing can.

    ``labels`` are connected clusters, ``centers`` (k, r) their centroids near the optimum of the
    reduced problem. ``sharp`` goes on where that is cheap, as a proof of the partition needs more
    digits. A solution that has not converged is a start for a solver.
    """
    small = reduce(problem, labels)
    C = centers
    if small.Z.size <= FEW_UNKNOWNS or (
        small.Z.size <= NEWTON_UNKNOWNS and _near(small, centers, target)
    ):
        enough = NEWTON_SHARE * target if small.Z.size > FEW_UNKNOWNS else 0.0
        best = newton(small, centers, enough=enough)
        C = centers if best is None else best
    i, j = problem.edges.T
    inside = labels[i] == labels[j]
    apart = C[labels[i[~inside]]]
    apart -= C[labels[j[~inside]]]
    length = np.maximum(np.linalg.norm(apart, axis=1), np.finfo(float).tiny)
    apart *= (problem.c[~inside] / length)[:, None]
    flow = np.zeros((int(inside.sum()), problem.Z.shape[1]))
    if inside.any() and problem.gamma > 0:
        between = replace(problem, edges=problem.edges[~inside], weights=problem.weights[~inside])
        demand = problem.masses[:, None] * (dual_point(between, apart) - C[labels])
        flow = _flow(problem, inside, demand, labels, target, sharp)
        del demand
    Lam = np.empty((len(i), problem.Z.shape[1]))
    Lam[inside], Lam[~inside] = flow, apart
    del flow, apart
    project(Lam, problem.c, out=Lam)
    gap = duality_gap(problem, C[labels], Lam)
    status = Status.CONVERGED if gap <= target else Status.STALLED
    return Solution(C[labels], Lam, gap, problem.relative(gap), status, 1)


def _near(small: Problem, C: Floats, target: float) -> bool:
    """Whether Newton is likely to get from C to ``target`` in a step or two."""
    if meeting(small, C):
        return False
    G = gradient(small, C)
    return 0.5 * float(np.einsum("ik,ik,i->", G, G, 1.0 / small.masses)) <= NEWTON_REACH * target


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
    Lam = electrical(edges, c, demand, labels, masses)
    project(Lam, c, out=Lam)
    best, least, goal = np.zeros(Lam.shape), np.inf, FLOW_SHARE * target
    for _ in range(CORRECTIONS):
        missing = demand - D.T @ Lam
        gap = 0.5 * float(np.sum(missing**2 / masses[:, None]))
        stalled = not gap <= STALLED * least  # nan where capacities differ by more than floats hold
        if gap < least:
            best, least = Lam, gap
        if stalled or gap <= goal:
            break
        gram = missing.T @ missing
        axes = gram_axes(gram, (1.0 - ENERGY) * float(np.trace(gram))).Q
        along = correction(edges, c, Lam, missing @ axes, labels, masses, LEAST_SLACK)
        corrected = along @ axes.T
        corrected += Lam
        Lam = project(corrected, c, out=corrected)
    del Lam, D, missing  # room for sweeps
    floor = SHARP * target if sharp else goal
    return best if least <= floor else _swept(edges, c, demand, masses, best, goal, floor)


def _swept(
    edges: Ints, c: Floats, demand: Floats, masses: Floats, flow: Floats, goal: float, floor: float
) -> Floats:
    """Sweeps with momentum from ``flow`` to ``goal``, and on to ``floor`` while that is cheap.

    What a flow misses is the point A_Λ of the problem whose samples are demand/m. ``flow`` is
    written over.
    """
    inner = Problem(demand / masses[:, None], edges, c, 1.0, masses)
    before = np.inf
    for step, point in enumerate(iterates(inner, project(flow, c, out=flow), goal), start=1):
        if step % SWEEPS:
            continue
        gap = 0.5 * float(masses @ np.einsum("ik,ik->i", point.A, point.A))
        rate = gap / before
        if gap <= floor or not (rate <= CHEAP if gap <= goal else gap * rate**BLOCKS_AHEAD <= goal):
            break
        before = gap
    return point.Lam


def prove(
    problem: Problem,
    solution: Solution,
    *,
    embedding_error: float = 0.0,
    coarsening_error: float = 0.0,
    clipped_share: float = 0.0,
    max_iter: int | None = None,
) -> tuple[Solution, Certificate]:
    """Tighten ``solution`` until its partition is certified, or as far as floating point goes.

    The errors are those of :func:`convexcluster.certificate.certify`; ``max_iter`` limits each
    further solve, and ``PROOF_WORK`` all of them. Returns the last solution and what is proved
    about it.
    """
    proved = partial(certify, problem, embedding_error=embedding_error, clipped_share=clipped_share)
    found = proved(solution)
    left = int(PROOF_WORK / max(solution.Lam.size, 1))
    for tol in TOLERANCES:
        hopeless = "embedding error" in found.partition  # more digits do not help against τ
        if found.partition == "certified" or hopeless:
            break
        if solution.relative_gap > tol:
            most = left if max_iter is None else min(left, max_iter)
            if most < 1:
                break
            closer = auto.solve(problem, tol * problem.scale, most, solution.Lam)
            if closer.gap > solution.gap:
                break
            solution = closer
            found, left = proved(solution), left - solution.n_iter
        if solution.status is not Status.CONVERGED:
            break
    return solution, on_rows(found, coarsening_error)
