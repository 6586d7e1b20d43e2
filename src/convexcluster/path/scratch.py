"""Flows from scratch for large clusters that stand.

While a cluster and its neighbours stand, its demand is b(γ) = p + γ q with p = m(z − z̄), and so is
the flow λ(γ) = w D(y_p + γ y_q) with L_w y_p = p, L_w y_q = q: affine in γ, so that the
extrapolation to the next γ is exact. It fits the capacities from some γ on.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from ..loops.levels import add_rows
from ..loops.multigrid import solve_laplacian
from ..loops.partition import means
from ..loops.routing import flows, residuals, subgraph
from ..problem import Floats, Ints
from .levels import Level
from .route import heavy
from .top import Clusters

# Clusters with at least this share of the samples are routed from scratch once they stand: the cost
# is that of two electrical steps, and is saved at every later γ. Small ones are cheap to correct.
LARGE = 0.25

# A large cluster whose flow from scratch was of no use is tried again at this many times the γ.
AGAIN = 3.0


class Scratch:
    """Which clusters stand, and from which γ on their flow from scratch may fit."""

    def __init__(self, n: int) -> None:
        self.labels = np.arange(n)
        self.fits = np.zeros(n)  # γ below which a cluster need not be tried

    def remember(self, clusters: Clusters) -> None:
        """Keep the partition of this γ; a cluster that changed may be tried at once."""
        same, before = self._standing(clusters)
        self.fits = np.where(same, self.fits[before], 0.0)
        self.labels = clusters.labels

    def _standing(self, clusters: Clusters) -> tuple[np.ndarray, Ints]:
        """Which clusters are unchanged since the last γ, and their labels there."""
        labels, count = clusters.labels, clusters.count
        before = np.zeros(count, dtype=np.int64)
        before[labels] = self.labels
        sizes, old = np.bincount(labels, minlength=count), np.bincount(self.labels)
        moved = np.bincount(labels[self.labels != before[labels]], minlength=count)
        return (moved == 0) & (sizes == old[before]), before

    def route(
        self,
        level: Level,
        c: Floats,
        gamma: float,
        gamma_before: float,
        clusters: Clusters,
        goal: float,
        last: Floats,
        pool: Executor | None = None,
    ) -> None:
        """Replace the duals of standing clusters with residual wherever the new flow fits.

        ``last`` gets the flow of the γ before, so that the two extrapolate exactly.
        """
        labels, center = clusters.labels, clusters.center
        same, before = self._standing(clusters)
        by_cluster = residuals(level.m, level.a, labels, center)
        tried = heavy(by_cluster, 0.2 * goal) & same & (self.fits[before] <= gamma)
        tried &= np.bincount(labels, minlength=clusters.count) >= LARGE * len(labels)
        if not tried.any():
            return
        nodes, inside, si, sj = subgraph(level.ei, level.ej, labels, tried)
        r = level.sums.shape[1]
        _, balanced = means(level.m, level.a, labels, clusters.count)
        demand = level.m[nodes, None] * (level.a[nodes] - balanced[labels[nodes]])
        add_rows(demand, si, level.lam[inside])
        add_rows(demand, sj, -level.lam[inside])
        total = np.bincount(labels, level.m, clusters.count)
        mean = np.zeros((clusters.count, r))
        add_rows(mean, labels[nodes], level.sums[nodes])
        p = level.sums[nodes] - level.m[nodes, None] * (mean / total[:, None])[labels[nodes]]
        rhs = np.concatenate([p, demand - p], axis=1)
        reduction = 0.1 * goal / max(float((rhs**2 * level.im[nodes, None]).sum()), goal)
        y = solve_laplacian(
            len(nodes), si, sj, level.W[inside], rhs, reduction=reduction, pool=pool
        )
        kept, old = level.lam[inside], last[inside]
        ratio = flows(inside, si, sj, c, level.W, y, gamma_before / gamma, level.lam, last)
        worst = np.zeros(clusters.count)
        where = labels[level.ei[inside]]
        np.maximum.at(worst, where, ratio)
        back = worst[where] > 1
        level.lam[inside[back]], last[inside[back]] = kept[back], old[back]
        level.refresh()
        after = residuals(level.m, level.a, labels, center)
        worse = (after > by_cluster)[where] & ~back
        if worse.any():
            level.lam[inside[worse]], last[inside[worse]] = kept[worse], old[worse]
            level.refresh()
        # a flow that was of no use may fit later, but not soon
        kept_flow = tried & (worst <= 1) & (after <= by_cluster)
        again = np.where(kept_flow, gamma, np.maximum(gamma * worst, AGAIN * gamma))
        self.fits[before[tried]] = again[tried]
        clusters.fit = float(np.minimum(after, by_cluster).sum())
