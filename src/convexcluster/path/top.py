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

from ..graph import canonical, components
from ..loops.partition import fuse, gap_parts, means
from ..loops.sweeps import DAMPED, clip_into, dual_loss, momentum, sweep
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


def clusters_of(level: Level, c: Floats, lam: Any = None, a: Any = None) -> Clusters:
    """Read the clusters off the duals: those of the level, or others with their own points."""
    lam, a = (level.lam, level.a) if lam is None else (lam, a)
    labels, count = fuse(level.ei, level.ej, c, lam, level.n, MARGIN)
    _, center = means(level.m, a, labels, count)
    fit, slack = gap_parts(level.ei, level.ej, c, level.m, a, lam, labels, center)
    return Clusters(labels, count, center, fit, slack)


def best_reading(level: Level, c: Floats, A: Floats | None = None) -> Clusters:
    """The reading of the duals that leaves the least gap: either margin, means of a or of ``A``.

    At a point A of Newton's method the means of a, which multiply the errors of the duals by 1/m,
    can be far worse than those of A; these leave each cluster a little out of balance instead.
    """
    readings = []
    for margin in (MARGIN, LAST_MARGIN):
        labels, count = fuse(level.ei, level.ej, c, level.lam, level.n, margin)
        for points in (level.a,) if A is None else (level.a, A):
            _, center = means(level.m, points, labels, count)
            given = level.m, level.a, level.lam, labels, center
            fit, slack = gap_parts(level.ei, level.ej, c, *given)
            readings.append(Clusters(labels, count, center, fit, slack))
    return min(readings, key=lambda reading: reading.gap)


def keep_together(
    base: Level, c: Floats, clusters: Clusters, before: Ints, room: float
) -> Clusters:
    """Split a cluster of the γ before only if the certificate asks for it.

    Edges close to their capacity flicker within the tolerance. If the gap of the clusters that are
    put together again is at most ``room``, they stay together. ``before`` are the labels there.
    """
    first = np.empty(int(before.max()) + 1, dtype=np.int64)
    first[before] = clusters.labels
    if (first[before] == clusters.labels).all():
        return clusters
    pairs = np.stack([clusters.count + before, clusters.labels], axis=1)
    joined = canonical(components(pairs, clusters.count + len(first))[: clusters.count])
    labels, count = joined[clusters.labels], int(joined.max()) + 1
    base.refresh()
    _, center = means(base.m, base.a, labels, count)
    fit, slack = gap_parts(base.ei, base.ej, c, base.m, base.a, base.lam, labels, center)
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
    single = level.sums.shape[1] > WIDE
    kind: Any = np.float32 if single else np.float64
    lam: Any = level.lam.astype(kind, copy=False)
    a: Any = level.a.astype(kind, copy=False)
    im: Any = level.im.astype(kind, copy=False)
    room: Any = c.astype(kind, copy=False)
    damp = kind(DAMPED)
    last = lam.copy()
    weight, loss, passes, check = 1.0, np.inf, 0, BLOCK
    limit = max(MAX_PASSES, int(SMALL_WORK / (1 + level.lam.size)))
    while passes < limit:
        over_halves(level, sweep, pool, room, im, a, lam, after=(BLOCK, damp))
        passes += BLOCK
        if passes >= check:
            found = clusters_of(level, c, lam, a)
            if single and found.gap <= target:
                found = _in_double(level, c, lam, a)
            if found.gap <= target:
                break
            check = passes + max(BLOCK, passes // 4 // BLOCK * BLOCK)
        now = dual_loss(level.m, a)
        if now > loss:
            weight = 1.0
        loss = now
        following = 0.5 * (1 + np.sqrt(1 + 4 * weight * weight))
        beta = kind((weight - 1) / following)
        over_halves(level, momentum, pool, room, im, a, lam, last, after=(beta,))
        weight = following
    if single and passes >= limit:
        found = _in_double(level, c, lam, a)
    if found.gap > target:
        found = best_reading(level, c)
    if found.gap > NEAR_ENOUGH * target and level.lam.size <= NEWTON_SIZE:
        found = _newton(level, c, target, found)
    found.passes, found.work = passes, float(passes) * level.lam.size
    return found


def _newton(level: Level, c: Floats, target: float, found: Clusters) -> Clusters:
    """Semismooth Newton where sweeps are slow: long chains of clusters, or masses far apart."""
    edges = np.stack([level.ei, level.ej], axis=1)
    problem = Problem(level.sums * level.im[:, None], edges, c, 1.0, level.m)
    kept = level.lam.copy()
    steps = int(np.clip(NEWTON_WORK / level.lam.size, LEAST_STEPS, MOST_STEPS))
    solution = drive(ssnal.METHOD, problem, NEWTON_SHARE * target, steps, warm=level.lam)
    level.lam[:] = solution.Lam
    level.refresh()
    better = best_reading(level, c, np.ascontiguousarray(solution.A))
    if better.gap < found.gap:
        return better
    level.lam[:] = kept
    level.refresh()
    return found


def _in_double(level: Level, c: Floats, lam: Any, a: Any) -> Clusters:
    """Take over duals of single precision, feasible in double; ``a`` is set to their points."""
    clip_into(lam, c, level.lam)
    level.refresh()
    a[:] = level.a
    return clusters_of(level, c)


def accelerate(level: Level, c: Floats, stop: float, passes: int) -> float:
    """Sweeps with momentum until the dual's loss ½ Σ m‖a‖² is at most ``stop``.

    Gives up when a block gains less than SLOW; returns the loss.
    """
    last, damp = level.lam.copy(), np.float64(DAMPED)
    weight, loss = 1.0, dual_loss(level.m, level.a)
    for _ in range(0, passes, BLOCK):
        sweep(level.ei, level.ej, c, level.im, level.a, level.lam, level.every, BLOCK, damp)
        now = dual_loss(level.m, level.a)
        if now <= stop or now > (1 - SLOW) * loss:
            return now
        loss = now
        following = 0.5 * (1 + np.sqrt(1 + 4 * weight * weight))
        beta = np.float64((weight - 1) / following)
        momentum(level.ei, level.ej, c, level.im, level.a, level.lam, last, level.every, beta)
        weight = following
    return dual_loss(level.m, level.a)
