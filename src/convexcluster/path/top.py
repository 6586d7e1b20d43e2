"""The reduced problem of one γ: which of its nodes fuse, and where the centroids are.

Input is a level with duals to start from; output the clusters, their centroids and the duality gap
of that level. Edges with ‖λ‖ < c(1 − MARGIN) are fused; a centroid is the mass mean of A over its
cluster, so that the demand of each cluster balances exactly.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..graph import components
from ..loops.clusters import cluster_means, fuse, gap_parts
from ..loops.sweeps import DAMPED, dual_loss, momentum, sweep
from ..numerics.gradients import nesterov
from ..partition import canonical, first
from ..problem import Floats, Ints, Problem
from ..solvers import ssnal
from ..solvers.driver import drive
from .halves import in_ranges, over_halves
from .levels import CALLS, Duals, Level

Bools = NDArray[np.bool_]

# The share of its capacity that an edge must leave unused to count as fused. Sweeps project
# saturated duals on the sphere exactly, so that anything above round-off separates the two. Half:
# edges that are about to saturate count as fused, and a fourth more graphs have to be opened. Ten
# times: clusters fall into pieces that the certificate does not ask for.
MARGIN = 1e-3

# The same where MARGIN leaves too large a gap. Half or twice: no difference; at 1e-14 it would read
# off round-off.
LAST_MARGIN = 1e-7

# Passes between two steps of momentum: forward and back twice. Half: a fourth fewer passes, but a
# tenth more graphs to open. Twice: a third more passes, as momentum comes half as often.
TURN = 4

# Passes after which Newton's method takes over; a level so small that calls cost more than a pass
# may go on for as many passes over CALLS numbers. Half: Newton's method, at some tens of passes per
# step, starts where sweeps were about to end, and paths take a third longer. Twice: hopeless levels
# cost twice as much before they are given up. Sweeps that would end within twice as many go on.
MAX_PASSES = 400

# Numbers of Λ that Newton's method may touch, once per step: some seconds. A level that allows
# fewer than LEAST_STEPS is left to its sweeps. Half: levels of a quarter of a million numbers may
# keep a gap above their target. Twice: one γ may take twice as long.
NEWTON_WORK = 2e7

# Half: Newton's method is also tried where it is stopped before it converges. Twice: levels of half
# a million numbers are left to their sweeps.
LEAST_STEPS = 40

# Steps on a level of any size. Half or twice: no difference, as Newton's method takes some tens or
# does not converge in floating point.
MOST_STEPS = 500

# The share of the target that Newton's method aims at: reading the clusters off its point costs
# some of the gap. Half: a step more. Above 1: the reading misses the target.
NEWTON_SHARE = 0.3

# A level that sweeps brought this close to its target is left at that: routing has room for it.
# At 1, Newton's method starts for the last per cent; at 4 routing is left too little room.
NEAR_ENOUGH = 2.0

# Dimensions, or clusters, up to which neither Newton's method nor a rotation to the span of the
# means is worth its start: sweeps cost next to nothing there.
WIDE = 8

# Numbers of Λ above which sweeps run in single precision, which is for passes bound by memory. At
# a tenth of it and less, paths of defaults gain between nothing and a sixth by it, and a first fit
# waits while loops are compiled for both precisions; above it nothing was measured.
SINGLE = 2e7


@dataclass(frozen=True, slots=True)
class Clusters:
    """Clusters of a level, their centroids and the two parts of the gap."""

    labels: Ints  # (n,): cluster of each node
    center: Floats  # (k, r): centroids C
    fit: float  # ½ Σ m‖a − C‖²
    slack: float  # Σ_l (c‖DC‖ − ⟨λ, DC⟩) between clusters
    passes: int = 0  # passes over the level that found the clusters
    work: float = 0.0  # numbers of Λ that these passes touched

    @property
    def count(self) -> int:
        """Number of clusters."""
        return len(self.center)

    @property
    def gap(self) -> float:
        """Duality gap of the level."""
        return self.fit + self.slack


def measure(
    level: Level,
    c: Floats,
    labels: Ints,
    center: Floats,
    duals: Duals | None = None,
    pool: Executor | None = None,
) -> Clusters:
    """The clusters ``labels`` with what their centroids leave of the gap.

    The duals are those of the level if no others are given.
    """
    own = level.duals if duals is None else duals

    def task(start: int, stop: int) -> tuple[float, float]:
        edges = (x[start:stop] for x in (level.tail, level.head, c))
        nodes = slice(0 if start else level.n)  # all of them beside the first edges
        points = level.masses[nodes], own.A[nodes]
        return gap_parts(*edges, *points, own.Lam[start:stop], labels, center)

    parts = in_ranges(pool, task, len(c), level.cost)
    return Clusters(labels, center, sum(fit for fit, _ in parts), sum(slack for _, slack in parts))


def clusters_of(
    level: Level,
    c: Floats,
    duals: Duals | None = None,
    apart: Bools | None = None,
    pool: Executor | None = None,
) -> Clusters:
    """Read the clusters off the duals: those of the level, or others with their own points.

    Edges that are kept ``apart`` (m,) do not fuse, whatever their duals are.
    """
    own = level.duals if duals is None else duals
    holding = c if apart is None else np.where(apart, 0.0, c)
    labels, count = fuse(level.tail, level.head, holding, own.Lam, level.n, MARGIN)
    center = cluster_means(level.masses, own.A, labels, count)
    return measure(level, c, labels, center, own, pool)


def best_reading(level: Level, c: Floats, A: Floats | None = None) -> Clusters:
    """The reading of the duals that leaves the least gap: either margin, means of two points.

    At a point ``A`` of Newton's method the means of the level's points, which multiply the errors
    of the duals by 1/m, can be far worse than those of ``A``; the means of ``A`` leave each cluster
    a little out of balance instead.
    """
    readings = []
    for margin in (MARGIN, LAST_MARGIN):
        labels, count = fuse(level.tail, level.head, c, level.Lam, level.n, margin)
        for points in (level.A,) if A is None else (level.A, A):
            center = cluster_means(level.masses, points, labels, count)
            readings.append(measure(level, c, labels, center))
    return min(readings, key=lambda reading: reading.gap)


def keep_together(
    base: Level, c: Floats, clusters: Clusters, before: Ints, room: float
) -> Clusters:
    """Split a cluster of the γ before only if the certificate asks for it.

    Edges close to their capacity flicker within the tolerance. If the gap of the clusters that are
    put together again is at most ``room``, they stay together. ``before`` are the labels there.
    """
    if (clusters.labels[first(before)][before] == clusters.labels).all():
        return clusters
    pairs = np.stack([clusters.count + before, clusters.labels], axis=1)
    joined = canonical(components(pairs, clusters.count + int(before.max()) + 1)[: clusters.count])
    labels, count = joined[clusters.labels], int(joined.max()) + 1
    base.refresh()
    whole = measure(base, c, labels, cluster_means(base.masses, base.A, labels, count))
    if whole.gap > room:
        return clusters
    return replace(whole, passes=clusters.passes, work=clusters.work)


def solve_top(
    level: Level,
    c: Floats,
    target: float,
    pool: Executor | None = None,
    apart: Bools | None = None,
    most: int | None = None,
    least: int = 0,
) -> Clusters:
    """Sweep with momentum until the gap of the level is below ``target``.

    Nesterov's momentum over turns of sweeps, started again whenever the dual falls. On large levels
    the sweeps run in single precision, which also tells when to take the gap in double. Edges that
    are ``apart`` do not fuse; after ``most`` passes the gap is left as it is; ``least`` passes are
    made before sweeps are given up.
    """
    found = clusters_of(level, c, apart=apart, pool=pool)
    if found.gap <= target or len(c) == 0:
        return found
    rough, *tight = level.rough(c, SINGLE)
    single, kind = rough is not level.duals, rough.A.dtype.type
    given, last = (*tight, rough.A, rough.Lam), rough.copied()
    t, loss, passes, check = 1.0, np.inf, 0, TURN
    limit = most or max(MAX_PASSES, least, int(MAX_PASSES * CALLS / (1 + level.cost)))
    halfway, extended = np.inf, most is not None
    while passes < limit:
        over_halves(level, sweep, pool, *given, after=(TURN, kind(DAMPED)))
        passes += TURN
        if passes >= check:
            found = clusters_of(level, c, rough, apart, pool)
            if single and found.gap <= target:
                found = _in_double(level, c, rough, apart, pool)
            if found.gap <= target:
                break
            halfway = found.gap if passes <= limit // 2 else halfway
            check = min(passes + max(TURN, passes // 4 // TURN * TURN), limit)
            slow = found.gap > NEAR_ENOUGH * target
            # gaps fall as a power of the passes: by twice as many as much as since half of them
            if passes >= limit and slow and not extended and found.gap**2 <= target * halfway:
                limit, extended = 2 * limit, True
        now = dual_loss(level.masses, rough.A)
        t, beta = nesterov(1.0 if now > loss else t)
        loss = now
        over_halves(level, momentum, pool, *given, last, after=(kind(beta),))
    if single and passes >= limit:
        found = _in_double(level, c, rough, apart, pool)
    if apart is not None or most is not None:
        return replace(found, passes=passes, work=float(passes) * level.cost)
    if found.gap > target:
        found = best_reading(level, c)
    steps = min(int(NEWTON_WORK / level.cost), MOST_STEPS)
    if found.gap > NEAR_ENOUGH * target and steps >= LEAST_STEPS:
        found = _newton(level, c, target, steps, found)
    return replace(found, passes=passes, work=float(passes) * level.cost)


def _newton(level: Level, c: Floats, target: float, steps: int, found: Clusters) -> Clusters:
    """Semismooth Newton where sweeps are slow: long chains of clusters, or masses far apart."""
    edges = np.stack([level.tail, level.head], axis=1)
    problem = Problem(level.MZ * level.inv_mass[:, None], edges, c, 1.0, level.masses)
    kept = level.Lam.copy()
    solution = drive(ssnal.METHOD, problem, NEWTON_SHARE * target, steps, level.Lam)
    level.Lam[:] = solution.Lam
    level.refresh()
    better = best_reading(level, c, np.ascontiguousarray(solution.A))
    if better.gap < found.gap:
        return better
    level.Lam[:] = kept
    level.refresh()
    return found


def _in_double(
    level: Level, c: Floats, rough: Duals, apart: Bools | None, pool: Executor | None
) -> Clusters:
    """Take over duals of single precision, feasible in double; ``rough.A`` becomes their points."""
    level.take(rough, c, pool)
    rough.A[:] = level.A
    return clusters_of(level, c, apart=apart, pool=pool)
