"""The nested levels of contracted graphs.

Level 0 is the problem itself; each further level contracts the clusters that had fused when it was
made. A level knows its nodes (masses m, sums Σ m z), its edges (ΣW), its duals λ with the dual
point a = (Σ m z − DᵀΛ)/m, and the link that carries its nodes and edges to the level above.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from ..loops.levels import add_rows, contract_edges, lift_duals
from ..loops.sweeps import set_points
from ..partition import first
from ..problem import Floats, Ints

# Numbers of Λ below which sweeps over a level are not halved: waking a thread costs a twentieth of
# a millisecond, as much as sweeping once over as many.
WORTH_HALVING = 50_000

# The least share of the nodes on one side of the cut.
LEAST_HALF = 0.4


@dataclass(frozen=True, slots=True)
class Link:
    """How a level maps to the one above: nodes by ``parent``, edges by ``up`` and ``share``."""

    parent: Ints
    up: Ints
    share: Floats


@dataclass(slots=True)
class Level:
    """One graph of the hierarchy.

    ``before`` holds the duals as they came from the level below, so that only the change that was
    made above has to be brought down.
    """

    tail: Ints
    head: Ints
    w: Floats
    masses: Floats
    MZ: Floats
    Lam: Floats
    inv_mass: Floats = field(init=False)
    A: Floats = field(init=False)
    every: Ints = field(init=False)
    before: Floats = field(init=False)
    link: Link | None = None
    _halves: list[Ints] | None = None

    def __post_init__(self) -> None:
        self.inv_mass = 1 / self.masses
        self.A = np.empty_like(self.MZ)
        self.every = np.arange(len(self.tail))
        self.before = self.Lam  # a copy of its own as soon as something is lifted to it

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.masses)

    @property
    def above(self) -> Link:
        """The link to the next level, which must exist."""
        assert self.link is not None
        return self.link

    def halves(self) -> list[Ints]:
        """Edges on either side of a cut through the nodes, and those across it; kept once found.

        Nodes are numbered along the graph, so that few edges cross the best cut near the middle.
        A level that is too small to be halved has one part.
        """
        if self._halves is None:
            self._halves = [self.every]
            if self.Lam.size >= WORTH_HALVING:
                ends = np.bincount(self.tail, minlength=self.n) - np.bincount(
                    self.head, minlength=self.n
                )
                crossing = np.cumsum(ends)  # edges from nodes up to i to later ones
                first, last = int(LEAST_HALF * self.n), int((1 - LEAST_HALF) * self.n)
                cut = first + int(np.argmin(crossing[first : last + 1]))
                below, above = self.head <= cut, self.tail > cut
                parts = below, above, ~(below | above)
                self._halves = [np.flatnonzero(part) for part in parts]
        return self._halves

    def refresh(self) -> None:
        """Recompute a from λ."""
        set_points(self.tail, self.head, self.MZ, self.inv_mass, self.Lam, self.A)

    def contracted(
        self, labels: Ints, count: int, weights: Floats | None = None
    ) -> tuple[Level, Link]:
        """Return the level whose nodes are the ``labels``, and the link to it."""
        w = self.w if weights is None else weights
        new_tail, new_head, new_w, up, share = contract_edges(
            self.tail, self.head, w, labels, count
        )
        r = self.MZ.shape[1]
        MZ, Lam = np.zeros((count, r)), np.empty((len(new_tail), r))
        add_rows(MZ, labels, self.MZ)
        lift_duals(up, share, self.Lam, Lam)
        masses = np.bincount(labels, self.masses, count).astype(np.float64)
        level = Level(new_tail, new_head, new_w, masses, MZ, Lam)
        level.before = Lam.copy()
        return level, Link(labels, up, share)

    def forget(self) -> None:
        """Drop what only a way back down from the levels above would need."""
        self.MZ = self.Lam = self.before = self.A = np.empty((0, 0))

    def rotated(self, Q: Floats) -> None:
        """Express sums and duals in the coordinates of the columns of Q."""
        self.MZ = np.ascontiguousarray(self.MZ @ Q)
        self.Lam = np.ascontiguousarray(self.Lam @ Q)
        self.before = self.Lam
        self.A = np.empty_like(self.MZ)
        self.refresh()


def labels_below(levels: list[Level], labels: Ints) -> list[Ints]:
    """Labels of the nodes of every level, given those of the last one."""
    found = [labels]
    for level in levels[-2::-1]:
        found.append(found[-1][level.above.parent])
    return found[::-1]


def lift_all(levels: list[Level]) -> None:
    """Set the duals of every level but the first to the sums of those below."""
    for below, level in pairwise(levels):
        if level.before is level.Lam:
            level.before = np.empty_like(level.Lam)
        lift_duals(below.above.up, below.above.share, below.Lam, level.before)
        level.Lam[:] = level.before


def split_levels(levels: list[Level], pieces: Ints, count: int) -> list[Level]:
    """Rebuild the levels so that no node of any of them straddles two ``pieces`` (of level 0)."""
    rebuilt = [levels[0]]
    old = np.arange(levels[0].n)  # node of the old level, per sample
    new = np.arange(levels[0].n)  # node of the rebuilt level, per sample
    for below in levels[:-1]:
        old = below.above.parent[old]
        _, labels = np.unique(old * count + pieces, return_inverse=True)
        labels = labels.ravel().astype(np.int64)
        parent = np.empty(rebuilt[-1].n, dtype=np.int64)
        parent[new] = labels
        level, rebuilt[-1].link = rebuilt[-1].contracted(parent, int(labels.max()) + 1)
        rebuilt.append(level)
        new = labels
    return rebuilt


def fused_pairs(level: Level, node: Ints, labels: Ints, before: Ints) -> tuple[Ints, Floats]:
    """Pairs of samples that carry a fusion since the γ before, with γ* = ‖λ‖/W.

    Two clusters that have fused pull at each other with λ; had it been the same below, they would
    have fused where γW = ‖λ‖. ``node`` is the node of the top level that holds each sample.
    """
    sample = first(node) if level.n < len(node) else np.arange(level.n)
    labels, before = labels[sample], before[sample]
    tail, head = level.tail, level.head
    carry = np.flatnonzero((labels[tail] == labels[head]) & (before[tail] != before[head]))
    pairs = np.stack([sample[tail[carry]], sample[head[carry]]], axis=1)
    return pairs, np.sqrt((level.Lam[carry] ** 2).sum(axis=1)) / level.w[carry]


def simple_bound(base: Level, gamma: float) -> float:
    """The dual value of the best multiple of Λ = w DZ within capacity.

    With Λ = s · w DZ, ⟨Λ, DZ⟩ = s Σ w‖Dz‖² and ‖λ‖ ≤ γw as long as s ≤ γ / max‖Dz‖.
    """
    z = base.MZ * base.inv_mass[:, None]
    D = z[base.tail] - z[base.head]
    longest = float(np.sqrt((D**2).sum(axis=1).max()))
    flow = np.zeros_like(z)
    np.add.at(flow, base.tail, base.w[:, None] * D)
    np.subtract.at(flow, base.head, base.w[:, None] * D)
    linear = float((flow * z).sum())
    square = float((flow**2 * base.inv_mass[:, None]).sum())
    if longest == 0 or square == 0:
        return 0.0
    s = min(gamma / longest, linear / square)
    return s * linear - 0.5 * s * s * square
