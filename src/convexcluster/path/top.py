"""The reduced problem of one γ: which of its nodes fuse, and where the centroids are.

Input is a level with duals to start from; output the clusters, their centroids and the duality gap
of that level. Edges with ‖λ‖ < c(1 − MARGIN) are fused; a centroid is the mass mean of a over its
cluster, so that the demand of each cluster balances exactly.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..graph import components
from ..loops.clusters import cluster_means, fuse, gap_parts
from ..loops.sweeps import DAMPED, clip_into, dual_loss, momentum, sweep
from ..partition import canonical, first
from ..problem import Floats, Ints, Problem
from ..solvers import ssnal
from ..solvers.driver import drive
from .halves import over_halves
from .levels import Level

# The share of its capacity that an edge must leave unused to count as fused. Sweeps project
# saturated duals on the sphere exactly, so that anything above round-off separates the two; 1e-3
# leaves out edges that are about to saturate and would have to be split at the next γ.
# Where that leaves too large a gap, LAST_MARGIN counts them too.
MARGIN, LAST_MARGIN = 1e-3, 1e-7

# Sweeps between two steps of momentum: one sweep forward and back twice, so that the point from
# which the momentum is taken does not depend on the direction of the last pass.
BLOCK = 4

# Passes after which Newton's method takes over, which costs some tens of them per step. A small
# level may go on for as long as that costs nothing: SMALL_WORK numbers of Λ touched.
MAX_PASSES = 400
SMALL_WORK = 4e6

# Newton's steps: as many as touch NEWTON_WORK numbers of Λ, some seconds at most, within limits.
# NEWTON_SHARE of the gap is left to them: reading the clusters off afterwards costs some of it.
# A larger level is left to its sweeps: each of Newton's systems would cost seconds.
NEWTON_WORK, LEAST_STEPS, MOST_STEPS = 2e7, 30, 500
NEWTON_SIZE = 500_000
NEWTON_SHARE = 0.3

# A level that sweeps brought this close to its target is left at that: routing has room for it.
NEAR_ENOUGH = 2.0

# Gain per block below which sweeps on a residual are given up: a hundred more would not help.
SLOW = 0.02

# Above this many dimensions single precision halves the time of a pass, which is bound by memory.
WIDE = 8


@dataclass(slots=True)
class Clusters:
    """Clusters of a level, their centroids and the two parts of the gap."""

    labels: Ints
    count: int
    center: Floats
    fit: float
    slack: float
    passes: int = 0
    work: float = 0.0  # numbers of Λ that were touched to find them

    @property
    def gap(self) -> float:
        """Duality gap of the level."""
        return self.fit + self.slack


def clusters_of(level: Level, c: Floats, Lam: Any = None, A: Any = None) -> Clusters:
    """Read the clusters off the duals: those of the level, or others with their own points."""
    Lam, A = (level.Lam, level.A) if Lam is None else (Lam, A)
    labels, count = fuse(level.tail, level.head, c, Lam, level.n, MARGIN)
    _, center = cluster_means(level.masses, A, labels, count)
    fit, slack = gap_parts(level.tail, level.head, c, level.masses, A, Lam, labels, center)
    return Clusters(labels, count, center, fit, slack)


def best_reading(level: Level, c: Floats, A: Floats | None = None) -> Clusters:
    """The reading of the duals that leaves the least gap: either margin, means of a or of ``A``.

    At a point A of Newton's method the means of a, which multiply the errors of the duals by 1/m,
    can be far worse than those of A; these leave each cluster a little out of balance instead.
    """
    readings = []
    for margin in (MARGIN, LAST_MARGIN):
        labels, count = fuse(level.tail, level.head, c, level.Lam, level.n, margin)
        for points in (level.A,) if A is None else (level.A, A):
            _, center = cluster_means(level.masses, points, labels, count)
            given = level.masses, level.A, level.Lam, labels, center
            fit, slack = gap_parts(level.tail, level.head, c, *given)
            readings.append(Clusters(labels, count, center, fit, slack))
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
    _, center = cluster_means(base.masses, base.A, labels, count)
    fit, slack = gap_parts(base.tail, base.head, c, base.masses, base.A, base.Lam, labels, center)
    if fit + slack > room:
        return clusters
    return replace(clusters, labels=labels, count=count, center=center, fit=fit, slack=slack)


def solve_top(level: Level, c: Floats, target: float, pool: Executor | None = None) -> Clusters:
    """Sweep with momentum until the gap of the level is below ``target``.

    Nesterov's momentum over blocks of sweeps, started again whenever the dual falls. In many
    dimensions the sweeps run in single precision, which also tells when to take the gap in double.
    """
    found = clusters_of(level, c)
    if found.gap <= target or len(c) == 0:
        return found
    single = level.MZ.shape[1] > WIDE
    kind: Any = np.float32 if single else np.float64
    Lam: Any = level.Lam.astype(kind, copy=False)
    A: Any = level.A.astype(kind, copy=False)
    inv_mass: Any = level.inv_mass.astype(kind, copy=False)
    room: Any = c.astype(kind, copy=False)
    damp = kind(DAMPED)
    last = Lam.copy()
    weight, loss, passes, check = 1.0, np.inf, 0, BLOCK
    limit = max(MAX_PASSES, int(SMALL_WORK / (1 + level.Lam.size)))
    while passes < limit:
        over_halves(level, sweep, pool, room, inv_mass, A, Lam, after=(BLOCK, damp))
        passes += BLOCK
        if passes >= check:
            found = clusters_of(level, c, Lam, A)
            if single and found.gap <= target:
                found = _in_double(level, c, Lam, A)
            if found.gap <= target:
                break
            check = passes + max(BLOCK, passes // 4 // BLOCK * BLOCK)
        now = dual_loss(level.masses, A)
        if now > loss:
            weight = 1.0
        loss = now
        following = 0.5 * (1 + np.sqrt(1 + 4 * weight * weight))
        beta = kind((weight - 1) / following)
        over_halves(level, momentum, pool, room, inv_mass, A, Lam, last, after=(beta,))
        weight = following
    if single and passes >= limit:
        found = _in_double(level, c, Lam, A)
    if found.gap > target:
        found = best_reading(level, c)
    if found.gap > NEAR_ENOUGH * target and level.Lam.size <= NEWTON_SIZE:
        found = _newton(level, c, target, found)
    found.passes, found.work = passes, float(passes) * level.Lam.size
    return found


def _newton(level: Level, c: Floats, target: float, found: Clusters) -> Clusters:
    """Semismooth Newton where sweeps are slow: long chains of clusters, or masses far apart."""
    edges = np.stack([level.tail, level.head], axis=1)
    problem = Problem(level.MZ * level.inv_mass[:, None], edges, c, 1.0, level.masses)
    kept = level.Lam.copy()
    steps = int(np.clip(NEWTON_WORK / level.Lam.size, LEAST_STEPS, MOST_STEPS))
    solution = drive(ssnal.METHOD, problem, NEWTON_SHARE * target, steps, warm=level.Lam)
    level.Lam[:] = solution.Lam
    level.refresh()
    better = best_reading(level, c, np.ascontiguousarray(solution.A))
    if better.gap < found.gap:
        return better
    level.Lam[:] = kept
    level.refresh()
    return found


def _in_double(level: Level, c: Floats, Lam: Any, A: Any) -> Clusters:
    """Take over duals of single precision, feasible in double; ``a`` is set to their points."""
    clip_into(Lam, c, level.Lam)
    level.refresh()
    A[:] = level.A
    return clusters_of(level, c)


def accelerate(level: Level, c: Floats, stop: float, passes: int) -> float:
    """Sweeps with momentum until the dual's loss ½ Σ m‖a‖² is at most ``stop``.

    Gives up when a block gains less than SLOW; returns the loss.
    """
    last, damp = level.Lam.copy(), np.float64(DAMPED)
    weight, loss = 1.0, dual_loss(level.masses, level.A)
    for _ in range(0, passes, BLOCK):
        sweep(
            level.tail, level.head, c, level.inv_mass, level.A, level.Lam, level.every, BLOCK, damp
        )
        now = dual_loss(level.masses, level.A)
        if now <= stop or now > (1 - SLOW) * loss:
            return now
        loss = now
        following = 0.5 * (1 + np.sqrt(1 + 4 * weight * weight))
        beta = np.float64((weight - 1) / following)
        momentum(
            level.tail, level.head, c, level.inv_mass, level.A, level.Lam, last, level.every, beta
        )
        weight = following
    return dual_loss(level.masses, level.A)
