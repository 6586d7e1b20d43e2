"""The clusters that carry the residual: a graph of their own, in which their flows are worked on.

In the points a − C the residual R = ½ Σ m‖a − C‖² is the dual's own loss, so that the sweeps of the
top level serve inside clusters as well. Of many numbers the work is done in single precision; what
it leaves is known in double before anything is written back:

    λ' = Proj_c(λ_rough),   a' = a − M⁻¹Dᵀ(λ' − λ).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..loops.clusters import cluster_means
from ..loops.routing import (
    put_duals,
    put_points,
    settle_points,
    subgraph,
    take_duals,
    take_points,
)
from ..loops.sweeps import DAMPED, Reals, dual_loss, momentum, sweep
from ..numerics.gradients import nesterov
from ..numerics.workspace import Workspace
from ..partition import canonical
from ..problem import Floats, Ints
from .levels import Level
from .top import TURN

# Numbers of Λ above which flows inside clusters are worked on in single precision: the gap is taken
# in double, and passes over so many are bound by memory. A graph that is opened is solved in
# double, to be safe: with it in single precision one γ of 100,000 samples ended above its
# tolerance, and other things had changed too.
MANY = 4e6

# Gain per turn below which sweeps on a residual are given up. Half: passes for the last fifth of
# the residual. Twice: no difference but for residuals that fall slowly, which are opened instead.
SLOW = 0.02


@dataclass(slots=True)
class Inside:
    """Some clusters with the edges inside them; Λ and A move, the level stays until they are put.

    Reals have the precision in which the work is done.
    """

    level: Level
    full: Floats  # (m,): c of the level's edges
    clusters: Ints  # (n,): cluster of each of its samples
    center: Floats  # (k, r): their centroids C
    nodes: Ints  # samples of the level
    edges: Ints  # edges of the level
    tail: Ints  # ends of the edges, in numbers of the nodes
    head: Ints
    labels: Ints  # cluster of each node, numbered here
    c: Reals
    masses: Floats
    inv_mass: Reals
    Lam: Reals
    A: Reals  # a − C
    every: Ints  # 0, 1, …: for loops over some of the edges
    space: Workspace

    @classmethod
    def of(
        cls,
        level: Level,
        c: Floats,
        labels: Ints,
        center: Floats,
        wanted: np.ndarray,
        space: Workspace,
    ) -> Inside:
        """The ``wanted`` clusters of a level whose points are those of its duals."""
        nodes, edges, tail, head = subgraph(level.tail, level.head, labels, wanted)
        r = center.shape[1]
        kind = np.float32 if len(edges) * r > MANY else np.float64
        Lam = space.array("Λ", (len(edges), r), kind)
        A = space.array("A", (len(nodes), r), kind)
        take_duals(level.Lam, edges, Lam)
        take_points(level.A, center, labels, nodes, A)
        masses, inv_mass = level.masses[nodes], level.inv_mass[nodes].astype(kind)
        return cls(
            *(level, c, labels, center, nodes, edges, tail, head, canonical(labels[nodes])),
            *(c[edges].astype(kind), masses, inv_mass, Lam, A, np.arange(len(edges)), space),
        )

    def demands(self) -> Reals:
        """m(a − C) without the mean of each cluster, which is beyond the reach of flows."""
        mean = cluster_means(self.masses, self.A, self.labels, int(self.labels.max()) + 1)
        rhs = self.space.array("demands", self.A.shape, self.A.dtype)
        take_points(self.A, mean, self.labels, np.arange(len(rhs)), rhs)
        rhs *= self.masses.astype(rhs.dtype)[:, None]
        return rhs

    def sweep(self, passes: int) -> None:
        """Sweeps over all edges, forward and backward in turn."""
        given = self.tail, self.head, self.c, self.inv_mass, self.A, self.Lam, self.every
        sweep(*given, passes, self.A.dtype.type(DAMPED))

    def accelerate(self, stop: float, passes: int) -> None:
        """Sweeps with momentum until the loss is at most ``stop``, or gains less than SLOW."""
        last, t, loss = self.space.array("last", self.Lam.shape, self.Lam.dtype), 1.0, self.loss()
        last[:] = self.Lam
        given = self.tail, self.head, self.c, self.inv_mass, self.A, self.Lam, last, self.every
        for _ in range(0, passes, TURN):
            self.sweep(TURN)
            now = self.loss()
            if now <= stop or now > (1 - SLOW) * loss:
                break
            loss = now
            t, beta = nesterov(t)
            momentum(*given, self.A.dtype.type(beta))

    def loss(self) -> float:
        """½ Σ m‖a − C‖² in the precision of the work."""
        return dual_loss(self.masses, self.A)

    def settle(self) -> float:
        """Points of the duals within capacity, in double; returns their loss, puts nothing."""
        if self.A.dtype == np.float64:
            return self.loss()
        level, rough = self.level, self.Lam
        points = self.space.array("points", self.A.shape, np.float64)
        take_points(level.A, self.center, self.clusters, self.nodes, points)
        inv_mass = level.inv_mass[self.nodes]
        settle_points(
            self.tail, self.head, self.edges, self.full, inv_mass, level.Lam, rough, points
        )
        self.A = points
        return self.loss()

    def put(self) -> None:
        """Write duals and points back to the level, once they are settled."""
        put_duals(self.Lam, self.full, self.edges, self.level.Lam)
        put_points(self.A, self.center, self.clusters, self.nodes, self.level.A)
