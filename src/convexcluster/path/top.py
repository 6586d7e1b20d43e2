"""The reduced problem of one γ: which of its nodes fuse, and where the centroids are.

Input is a level with duals to start from; output the clusters, their centroids and the duality gap
of that level. Edges with ‖λ‖ < c(1 − MARGIN) are fused; a centroid is the mass mean of a over its
cluster, so that the demand of each cluster balances exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..loops.partition import fuse, gap_parts, means
from ..loops.sweeps import DAMPED, dual_loss, momentum, sweep
from ..problem import Floats, Ints
from .levels import Level

# The share of its capacity that an edge must leave unused to count as fused. Sweeps project
# saturated duals on the sphere exactly, so that anything above round-off separates the two; 1e-3
# leaves out edges that are about to saturate and would have to be split at the next γ.
MARGIN = 1e-3

# Sweeps between two steps of momentum: one sweep forward and back twice, so that the point from
# which the momentum is taken does not depend on the direction of the last pass.
BLOCK = 4

# Passes after which a level is given up: what is left goes to the corrections or into the gap.
MAX_PASSES = 400


@dataclass(slots=True)
class Clusters:
    """Clusters of a level, their centroids and the two parts of the gap."""

    labels: Ints
    count: int
    center: Floats
    fit: float
    slack: float

    @property
    def gap(self) -> float:
        """Duality gap of the level."""
        return self.fit + self.slack


def clusters_of(level: Level, c: Floats) -> Clusters:
    """Read the clusters off the duals."""
    labels, count = fuse(level.ei, level.ej, c, level.lam, level.n, MARGIN)
    _, center = means(level.m, level.a, labels, count)
    fit, slack = gap_parts(level.ei, level.ej, c, level.m, level.a, level.lam, labels, center)
    return Clusters(labels, count, center, fit, slack)


def solve_top(level: Level, c: Floats, target: float) -> Clusters:
    """Sweep with momentum until the gap of the level is below ``target``."""
    found = clusters_of(level, c)
    if found.gap <= target or len(c) == 0:
        return found
    last = level.lam.copy()
    weight, loss, passes, check = 1.0, np.inf, 0, BLOCK
    while passes < MAX_PASSES:
        sweep(level.ei, level.ej, c, level.im, level.a, level.lam, level.every, BLOCK, DAMPED)
        passes += BLOCK
        if passes >= check:
            found = clusters_of(level, c)
            if found.gap <= target:
                break
            check = passes + max(BLOCK, passes // 4 // BLOCK * BLOCK)
        now = dual_loss(level.m, level.a)
        if now > loss:
            weight = 1.0
        loss = now
        following = 0.5 * (1 + np.sqrt(1 + 4 * weight * weight))
        momentum(
            level.ei, level.ej, c, level.im, level.a, level.lam, last, (weight - 1) / following
        )
        weight = following
    return found
