"""The nested levels of contracted graphs.

Level 0 is the problem itself; each further level contracts the clusters that had fused when it was
made. A level knows its nodes (masses, and MZ with the rows Σ m z), its edges (w = Σ w of the edges
below), its duals, and the link that carries nodes and edges to the level above. A node moves to

    A = M⁻¹(MZ − DᵀΛ).
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from ..graph import components
from ..loops.levels import add_rows, by_edge_above, contract_edges, lift_duals, lower_duals
from ..loops.sweeps import Reals, clip_into, set_points
from ..numerics.workspace import Workspace
from ..partition import first
from ..problem import Floats, Ints
from .halves import HALVED_PASS, in_ranges, side_by_side

Spaces = tuple[Workspace, Workspace]

# Work is counted in numbers of Λ touched. The Python calls around one pass over a level take as
# long as touching this many (a tenth of a millisecond). Half or twice: no difference shows; at a
# tenth, small levels are left by their sweeps for Newton's method too early.
CALLS = 10_000

# A level is halved for two threads if a pass touches this many numbers. Half: waking the second
# thread takes longer than it saves. Twice: levels that take half a millisecond use one thread.
HALVED_NUMBERS = 5 * CALLS

# Edges whose squares are summed at a time: copies stay in the cache. Half or twice: no difference.
ROWS = 1_024

# The least share of the nodes on one side of the cut. Half: one thread waits for the other. Near
# one half: the cut cannot avoid the thick of the graph, and one thread sweeps what crosses it.
LEAST_HALF = 0.4


@dataclass(frozen=True, slots=True)
class Link:
    """How a level maps to the one above: nodes by ``parent``, edges by ``up`` and ``share``."""

    parent: Ints
    up: Ints
    share: Floats
    order: Ints = field(init=False)  # edges below, by the edge above: those of t are
    start: Ints = field(init=False)  # order[start[t]], …

    def __post_init__(self) -> None:
        order, start = by_edge_above(self.up)
        object.__setattr__(self, "order", order)
        object.__setattr__(self, "start", start)


@dataclass(slots=True)
class Duals:
    """Duals of a level and the points that they give; all loops change them in place."""

    Lam: Floats  # (m, r): Λ as it is now
    A: Floats  # (n, r): M⁻¹(MZ − DᵀΛ) as of the last :meth:`Level.refresh` or sweep
    spare: Workspace = field(default_factory=Workspace)  # where a copy of Λ has its place

    def copied(self) -> Floats:
        """A copy of Λ, in the place of the one before."""
        copy: Floats = self.spare.array("copy", self.Lam.shape, self.Lam.dtype)
        copy[:] = self.Lam
        return copy

    def drop_copy(self) -> None:
        """Let go of the memory of :meth:`copied`."""
        self.spare.held.pop("copy", None)


def sum_duals(link: Link, below: Floats, above: Floats, pool: Executor | None = None) -> None:
    """Sum the duals of the level below into ``above``."""

    def task(start: int, stop: int) -> None:
        given = link.order, link.start[start : stop + 1], link.share
        lift_duals(*given, below, above[start:stop])

    in_ranges(pool, task, len(above), below.size)


def _two_spaces() -> Spaces:
    return Workspace(), Workspace()


@dataclass(slots=True)
class Level:
    """One graph of the hierarchy; its duals move, its nodes and edges stay."""

    tail: Ints  # (m,): ends of the edges
    head: Ints
    w: Floats  # (m,): their weights
    masses: Floats  # (n,): m of the nodes
    MZ: Floats  # (n, r): Σ m z of the samples in each node
    duals: Duals  # Λ and what follows from it
    inv_mass: Floats = field(init=False)  # (n,): 1/m
    every: Ints = field(init=False)  # 0, 1, …: for loops over some of the edges
    link: Link | None = None  # to the level above
    spaces: Spaces = field(default_factory=_two_spaces)  # for work on either half of the clusters
    _halves: list[Ints] | None = None
    _cut: int | None = None

    def __post_init__(self) -> None:
        self.inv_mass = 1 / self.masses
        self.every = np.arange(len(self.tail))

    @classmethod
    def of(
        cls, tail: Ints, head: Ints, w: Floats, masses: Floats, MZ: Floats, Lam: Floats
    ) -> Level:
        """A level with the duals Λ, whose points are still to be computed."""
        return cls(tail, head, w, masses, MZ, Duals(Lam, np.empty_like(MZ)))

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.masses)

    @property
    def cost(self) -> int:
        """Numbers of Λ: what one pass over the edges touches."""
        return self.duals.Lam.size

    @property
    def Lam(self) -> Floats:
        """Λ of the duals."""
        return self.duals.Lam

    @property
    def A(self) -> Floats:
        """The points of the duals."""
        return self.duals.A

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
            if self.cost >= HALVED_NUMBERS:
                cut = self.cut()
                below, above = self.head < cut, self.tail >= cut
                parts = below, above, ~(below | above)
                self._halves = [np.flatnonzero(part) for part in parts]
        return self._halves

    def cut(self) -> int:
        """The node near the middle before which the fewest edges cross; kept once found."""
        if self._cut is None:
            starts, ends = (np.bincount(e, minlength=self.n) for e in (self.tail, self.head))
            crossing = np.cumsum(starts - ends)  # edges from nodes up to i to later ones
            first, last = int(LEAST_HALF * self.n), int((1 - LEAST_HALF) * self.n)
            self._cut = 1 + first + int(np.argmin(crossing[first : last + 1]))
        return self._cut

    def refresh(self, pool: Executor | None = None) -> None:
        """A = M⁻¹(MZ − DᵀΛ)."""
        given = self.tail, self.head, self.MZ, self.inv_mass, self.Lam, self.A
        jobs = [(*given, self.every, 0, self.n)]
        if self.cost >= HALVED_PASS:
            cut = self.cut()
            jobs = [
                (*given, np.flatnonzero(self.tail < cut), 0, cut),
                (*given, np.flatnonzero(self.head >= cut), cut, self.n),
            ]
        side_by_side(pool, set_points, jobs)

    def rough(self, c: Floats, many: float) -> tuple[Duals, Reals, Reals]:
        """Duals to work on, c and 1/m in their precision: single if there are ``many`` numbers."""
        if self.cost <= many:
            return self.duals, c, self.inv_mass
        single: Any = (x.astype(np.float32) for x in (self.A, c, self.inv_mass))
        A, own_c, inv_mass = single
        # both Λ and its copy in the place of a copy in double
        Lam = self.duals.spare.array("copy", (2, *self.Lam.shape), np.float32)
        Lam[0] = self.Lam
        spare = Workspace()
        spare.held["copy"] = Lam[1].view(np.uint8).ravel()
        return Duals(Lam[0], A, spare=spare), own_c, inv_mass

    def take(self, duals: Duals, c: Floats, pool: Executor | None = None) -> None:
        """Take over duals of :meth:`rough`, feasible in double precision."""
        if duals is not self.duals:
            clip_into(duals.Lam, c, self.Lam)
            self.refresh(pool)

    def contract(
        self,
        labels: Ints,
        count: int,
        back: bool = True,
        spare: Workspace | None = None,
        pool: Executor | None = None,
    ) -> Level:
        """Return the level whose nodes are the ``labels``, and link this one to it.

        ``back`` says whether its duals will be brought down here at every γ; ``spare`` is the
        memory of a level that is no more, which the new one takes over.
        """
        tail, head, w, up, share = contract_edges(self.tail, self.head, self.w, labels, count)
        self.link = Link(labels, up, share)
        if not back:
            self.duals.drop_copy()  # its room is that of the duals above
        r = self.MZ.shape[1]
        spare = spare or Workspace()
        Lam = spare.array("Λ", (len(tail), r), np.float64)
        MZ, A = (spare.array(name, (count, r), np.float64) for name in ("MZ", "points"))
        MZ[:] = 0.0
        add_rows(MZ, labels, self.MZ)
        masses = np.bincount(labels, self.masses, count).astype(np.float64)
        level = Level(tail, head, w, masses, MZ, Duals(Lam, A, spare=spare))
        sum_duals(self.link, self.Lam, Lam, pool)
        return level

    def lower(
        self,
        c: Floats,
        labels: Ints,
        above: Floats,
        space: Workspace,
        pool: Executor | None = None,
    ) -> Ints:
        """Bring the duals of the level above down to this one; return the edges inside clusters.

        ``labels`` are the clusters of the nodes. Points are not brought up to date.
        """
        link, before = self.above, space.array("copy", above.shape, np.float64)
        # as it came up: this level has not moved since, and sums cost less than the memory of all
        sum_duals(link, self.Lam, before, pool)

        def task(start: int, stop: int) -> Ints:
            tail, head, own_c, up, share, Lam = (
                x[start:stop] for x in (self.tail, self.head, c, link.up, link.share, self.Lam)
            )
            return start + lower_duals(tail, head, own_c, up, share, labels, Lam, above, before)

        parts = in_ranges(pool, task, len(self.tail), self.cost)
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def forget(self) -> None:
        """Drop what only a way back down from the levels above would need."""
        self.MZ = np.empty((0, 0))
        self.duals = Duals(self.MZ, self.MZ)

    def rotate(self, Q: Floats) -> None:
        """Express MZ and the duals in the coordinates of the columns of Q."""
        self.MZ = np.ascontiguousarray(self.MZ @ Q)
        self.duals = Duals(np.ascontiguousarray(self.Lam @ Q), np.empty_like(self.MZ))
        self.refresh()


def labels_below(levels: list[Level], labels: Ints) -> list[Ints]:
    """Labels of the nodes of every level, given those of the last one."""
    found = [labels]
    for level in levels[-2::-1]:
        found.append(found[-1][level.above.parent])
    return found[::-1]


def lift_all(levels: list[Level], pool: Executor | None = None) -> None:
    """Set the duals of every level but the first to the sums of those below."""
    for below, level in pairwise(levels):
        sum_duals(below.above, below.Lam, level.Lam, pool)


def split_levels(
    levels: list[Level], pieces: Ints, count: int, pool: Executor | None = None
) -> list[Level]:
    """Rebuild the levels so that no node of any of them straddles two ``pieces`` (of level 0)."""
    rebuilt = [levels[0]]
    old = np.arange(levels[0].n)  # node of the old level, per sample
    new = np.arange(levels[0].n)  # node of the rebuilt level, per sample
    above = [(below.above.parent, level.duals.spare) for below, level in pairwise(levels)]
    for parent, spare in above:
        old = parent[old]
        _, labels = np.unique(old * count + pieces, return_inverse=True)
        labels = labels.ravel().astype(np.int64)
        node = np.empty(rebuilt[-1].n, dtype=np.int64)
        node[new] = labels
        size = int(labels.max()) + 1
        rebuilt.append(rebuilt[-1].contract(node, size, spare=spare, pool=pool))
        new = labels
    return rebuilt


def fused_pairs(level: Level, node: Ints, labels: Ints, before: Ints) -> tuple[Ints, Floats]:
    """Pairs of samples that carry a fusion since the γ before, with γ* = ‖λ‖/w.

    Two clusters that have fused pull at each other with λ; had λ been the same below, they would
    have fused where γw = ‖λ‖. ``node`` is the node of the top level that holds each sample.
    """
    sample = first(node) if level.n < len(node) else np.arange(level.n)
    labels, before = labels[sample], before[sample]
    tail, head = level.tail, level.head
    carry = np.flatnonzero((labels[tail] == labels[head]) & (before[tail] != before[head]))
    pairs = np.stack([sample[tail[carry]], sample[head[carry]]], axis=1)
    square = np.empty(len(carry))
    for s in range(0, len(carry), ROWS):
        few = slice(s, s + ROWS)
        square[few] = (level.Lam[carry[few]] ** 2).sum(axis=1)
    return pairs, np.sqrt(square) / level.w[carry]


def strong_parts(base: Level, share: float) -> Ints:
    """Part of each node: components of the edges with ``share`` of the strongest at either end."""
    strongest = np.zeros(base.n)
    np.maximum.at(strongest, base.tail, base.w)
    np.maximum.at(strongest, base.head, base.w)
    strong = base.w >= share * np.minimum(strongest[base.tail], strongest[base.head])
    return components(np.stack([base.tail[strong], base.head[strong]], axis=1), base.n)


def simple_bound(base: Level, gamma: float) -> float:
    """The dual value of the best multiple of Λ = w DZ within capacity.

    With Λ = s · w DZ, ⟨Λ, DZ⟩ = s Σ w‖Dz‖² and ‖λ‖ ≤ γw as long as s ≤ γ / max‖Dz‖.
    """
    Z = base.MZ * base.inv_mass[:, None]
    DZ = Z[base.tail] - Z[base.head]
    longest = float(np.sqrt((DZ**2).sum(axis=1).max()))
    flow = np.zeros_like(Z)
    np.add.at(flow, base.tail, base.w[:, None] * DZ)
    np.subtract.at(flow, base.head, base.w[:, None] * DZ)
    linear = float((flow * Z).sum())
    square = float((flow**2 * base.inv_mass[:, None]).sum())
    if longest == 0 or square == 0:
        return 0.0
    s = min(gamma / longest, linear / square)
    return s * linear - 0.5 * s * s * square
