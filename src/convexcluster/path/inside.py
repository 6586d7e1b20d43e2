"""The clusters that carry the residual: a graph of their own, in which their flows are worked on.

In the points a − C the residual R = ½ Σ m‖a − C‖² is the dual's own loss, so that the sweeps of the
top level serve inside clusters as well. Of many numbers the work is done in single precision; what
it leaves is known in double before anything is written back:

    λ = Proj_c(λ_rough),   a − C = M⁻¹(MZ − DᵀΛ).

Its arrays are those of the workspaces of the level: at 100,000 samples in a hundred dimensions new
memory took as long as the sweeps on it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..loops.clusters import cluster_means
from ..loops.routing import pull_back, put_back, settle_points, shortenings, subgraph, take_out
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
    MZ: Floats  # m(a − C) + DᵀΛ
    points: Floats  # a − C in double, as they were taken or settled
    inv_mass: Reals
    Lam: Reals
    A: Reals  # a − C as the work moves it
    every: Ints  # 0, 1, …: for loops over some of the edges
    space: Workspace
    factors: Floats | None = None  # which bring Λ within capacity, once settled

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
        MZ, points = (space.array(x, (len(nodes), r), np.float64) for x in ("MZ", "points"))
        masses = level.masses[nodes]
        ends = nodes, edges, tail, head
        take_out(level.A, center, labels, *ends, masses, level.Lam, MZ, points, Lam)
        A = points
        if kind is np.float32:
            A = space.array("A", points.shape, kind)
            A[:] = points
        inv_mass = (1 / masses).astype(kind)
        return cls(
            *(level, c, labels, center, nodes, edges, tail, head, canonical(labels[nodes])),
            *(c[edges].astype(kind), masses, MZ, points, inv_mass),
            *(Lam, A, np.arange(len(edges)), space),
        )

    def demands(self) -> Reals:
        """m(a − C) without the mean of each cluster, which is beyond the reach of flows."""
        mean = cluster_means(self.masses, self.points, self.labels, int(self.labels.max()) + 1)
        rhs: Reals = self.space.array("demands", self.A.shape, self.A.dtype)
        pull_back(self.points, mean, self.labels, self.masses, rhs)
        return rhs

    def sweep(self, passes: int) -> None:
        """Sweeps over all edges, forward and backward in turn."""
        given = self.tail, self.head, self.c, self.inv_mass, self.A, self.Lam, self.every
        sweep(*given, passes, self.A.dtype.type(DAMPED))

    def accelerate(self, stop: float, passes: int) -> None:
        """Sweeps with momentum until the loss is at most ``stop``, or gains less than SLOW."""
        last, t, loss = self.space.array("copy", self.Lam.shape, self.Lam.dtype), 1.0, self.loss()
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
        if self.A is self.points:
            self.factors = np.ones(len(self.edges))
        else:
            self.factors = shortenings(self.Lam, self.full, self.edges)
            given = self.tail, self.head, self.masses, self.MZ, self.Lam
            settle_points(*given, self.factors, self.points)
        return dual_loss(self.masses, self.points)

    def put(self) -> None:
        """Write duals and points back to the level, once they are settled."""
        assert self.factors is not None, "not settled"
        found = self.points, self.Lam, self.factors
        given = self.nodes, self.edges, self.center, self.clusters
        put_back(*given, *found, self.level.A, self.level.Lam)
