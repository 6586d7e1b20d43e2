"""The reduced problem of one γ: which of its nodes fuse, and where the centroids are.

Input is a level with duals to start from; output the clusters, their centroids and the duality gap
of that level. Edges with ‖λ‖ < c(1 − MARGIN) are fused; a centroid is the mass mean of a over its
cluster, so that the demand of each cluster balances exactly.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..loops.partition import fuse, gap_parts, means
from ..loops.sweeps import DAMPED, clip_into, dual_loss, momentum, sweep
from ..problem import Floats, Ints
from .levels import Level
from .pair import over_halves

# The share of its capacity that an edge must leave unused to count as fused. Sweeps project
# saturated duals on the sphere exactly, so that anything above round-off separates the two; 1e-3
# leaves out edges that are about to saturate and would have to be split at the next γ.
MARGIN = 1e-3

# Sweeps between two steps of momentum: one sweep forward and back twice, so that the point from
# which the momentum is taken does not depend on the direction of the last pass.
BLOCK = 4

# Passes after which a level is given up: what is left goes to the corrections or into the gap.
# A small level may go on for as long as that costs nothing: SMALL_WORK numbers of Λ touched.
MAX_PASSES = 400
SMALL_WORK = 4e6

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
    found.passes = passes
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
