"""One loop for every method: take iterates, measure the gap, keep the best, say how it ended.

A method is a generator. Its local variables are its state, the lines before the loop are its
``init``, the body up to ``yield`` is its ``step``; it never measures, prints or stops by itself.
:func:`drive` asks for the next :class:`Point`, polishes it, takes the duality gap and terminates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from ..certificate import dual_point, duality_gap, project
from ..loops.clusters import join
from ..loops.edges import means
from ..numerics.progress import reports
from ..numerics.threads import stop_if_asked
from ..problem import Floats, Problem, Solution, Status


@dataclass(frozen=True, slots=True)
class Point:
    """An iterate: a primal point and a feasible dual, ‖λ_l‖ ≤ c_l."""

    A: Floats
    Lam: Floats


@dataclass(frozen=True, slots=True)
class Method:
    """A generator of iterates and how to watch it."""

    # (problem, feasible dual that may be written over or None, target gap) → iterates
    iterates: Callable[[Problem, Floats | None, float], Iterator[Point]]
    max_iter: int  # limit when the user gives none
    every: int = 1  # iterations per measurement, which costs about as much as a first-order step
    patience: int = 1_000  # measurements without a gain of 10 % that tell of a stall


def drive(
    method: Method,
    problem: Problem,
    target: float,
    max_iter: int | None = None,
    warm: Floats | None = None,
    own: bool = False,
) -> Solution:
    """Run ``method`` until the gap is at most ``target``; the best point found is returned.

    A warm dual is a point too: where it is good enough nothing is run. It may be the ``own`` of
    the run, to be written over and not to come back to: in many dimensions a dual is the largest
    array of a fit. For the same reason the first iterate is looked at only to end a run that is
    done, and kept if it is the last that is allowed.
    """
    limit = method.max_iter if max_iter is None else max_iter
    best, least, seen = problem.Z, np.inf, np.inf
    kept, start = np.zeros((len(problem.edges), problem.Z.shape[1])), None  # no memory yet
    if warm is not None:
        start = project(warm, problem.c, out=warm if own else None)
        A, seen = polish(problem, Point(dual_point(problem, start), start), target)
        if seen <= target:
            return Solution(A, start, seen, problem.relative(seen), Status.CONVERGED, 0)
        if not own:
            best, least = A, seen
            kept[:] = start
        del A
    status, n_iter, milestone, idle = Status.STALLED, 0, np.inf, 0
    told = reports("solution")
    points = method.iterates(problem, start, target)
    del start, warm
    for n_iter, point in enumerate(points, start=1):
        stop_if_asked()
        regular = n_iter % method.every == 0 or n_iter >= limit
        if not regular and n_iter != 1:
            continue
        A, gap = polish(problem, point, target)
        seen = min(seen, gap)
        if gap <= target:
            best, kept, least, status = A, point.Lam, gap, Status.CONVERGED
            break
        if regular and gap < least:
            best, least = A.copy() if A is point.A else A, gap  # a method may go on in place
            kept[:] = point.Lam
        told(float(np.sqrt(target / seen)))  # after k accelerated steps the gap is O(1/k²)
        if n_iter >= limit:
            status = Status.MAX_ITER
            break
        milestone, idle = (seen, 0) if seen < 0.9 * milestone else (milestone, idle + 1)
        if idle >= method.patience:
            break
    return Solution(best, kept, least, problem.relative(least), status, n_iter)


# An edge whose dual is inside its ball is fused in the optimum. Projections leave the others on
# the sphere up to rounding, so the first share of the radius tells them apart; the second helps
# while edges still drift inwards or outwards. The gap decides between them.
SLACKS = (1e-7, 1e-3)

# ‖λ‖ of an edge with less capacity is 0 for any λ, since its square underflows: it fuses nothing.
LEAST_CAPACITY = float(np.sqrt(np.finfo(np.float64).tiny))


def polish(problem: Problem, point: Point, target: float = 0.0) -> tuple[Floats, float]:
    """Return the best of the fused centroids of the point's dual and its own A, and the gap.

    The fused centroids are the mass means of A_Λ over the clusters of the edges with dual inside
    the ball: rows of a cluster are then equal to the last bit, and first-order errors of the duals
    inside clusters, which cancel in the mean, no longer enter the gap. The first candidate whose
    gap is at most ``target`` is taken.
    """
    tail, head = (np.ascontiguousarray(end) for end in problem.edges.T)
    A_dual = dual_point(problem, point.Lam)
    norms = np.sqrt(np.einsum("lk,lk->l", point.Lam, point.Lam))
    labels = np.empty(problem.n, dtype=np.int64)
    A, gap = point.A, np.inf
    for slack in SLACKS:
        fused = (norms < (1.0 - slack) * problem.c) & (problem.c > LEAST_CAPACITY)
        count = join(tail, head, fused, labels)
        C = means(labels, count, problem.masses, A_dual)
        fused_gap = duality_gap(problem, C, point.Lam, A_dual)
        if fused_gap < gap:
            A, gap = C, fused_gap
        if gap <= target:
            return A, gap
    own = duality_gap(problem, point.A, point.Lam, A_dual)
    return (A, gap) if gap <= own else (point.A, own)


# Ratio of the residuals beyond which ρ of an ADMM moves. Half of it renews factors for little gain;
# twice the ratio lets one residual lag behind the other.
IMBALANCE = 5.0


def rebalances(step: int) -> bool:
    """Whether ρ may change: at 10, 20, 40, …, so that it settles, as the convergence proof asks."""
    tens, rest = divmod(step, 10)
    return rest == 0 and tens & (tens - 1) == 0


def balanced(rho: float, primal: float, dual: float) -> float:
    """ρ moved by the root of the ratio of the residuals, where they are out of balance."""
    if max(primal, dual) <= IMBALANCE * min(primal, dual):
        return rho
    return rho * float(np.clip(np.sqrt(primal / max(dual, 1e-300)), 0.1, 10.0))
