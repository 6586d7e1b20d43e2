"""Gaps: parts of the points that are apart however their density varies.

Input is a landscape; output are the parts and the boundaries between them. The rank of a boundary
is the least K such that a point of one side is among the K nearest of a point of the other. It
compares a gap with what lies on either side of it, and needs no density: thin curves beside each
other, a small group far from a large one and groups of unlike density are alike to it.

Chance makes gaps where points are thrown at random on a curve: one that is wider than the way to
the K-th point on both of its sides comes n·2^(−K) times at most, so that ranks reach log₂ n. On a
surface a gap can be walked round, and ranks reach about half of that. So with δ the dimension
around the gap, from 1 to 2,

    height = K δ / (1.5 log₂ n),

and a gap stands above 1. ``benchmarks/levels.py`` measures what structureless data reach.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..graph import components
from ..numerics.boundaries import Boundaries
from ..numerics.linkage import intervals, join
from ..partition import first
from ..problem import Floats, Ints
from .landscape import Landscape

# Ranks that are looked at: beyond, all gaps are as high as can be.
RANKS = 64

# Level of a gap on a curve, in log₂ n. At 1, 3 of 20 segments of 150 points have one by chance; at
# 2, scenes told k are no better than without gaps (ARI .882 for .881; .894 here).
LEVEL = 1.5


@dataclass(frozen=True)
class Gaps:
    """Parts of n points that are apart, and the boundaries between them, the faintest first."""

    parts: Ints  # (n,)
    ends: Ints  # (p − 1, 2): points over which two parts meet
    heights: Floats  # (p − 1,): above 1
    near: Ints  # (m, 2): neighbours, the nearest ones of all points first

    def contracted(self, samples: Ints) -> Gaps:
        """The gaps between samples, of which ``samples`` (n,) is that of every point."""
        from ..loops.clusters import forest  # late: it loads numba

        one = np.column_stack([self.parts, self.parts[first(samples)][samples]])
        parts = components(one, len(self.heights) + 1)[self.parts]
        keep = forest(parts[self.ends], len(parts))
        ends, near = samples[self.ends[keep]], samples[self.near]
        return Gaps(parts[first(samples)], ends, self.heights[keep], near)

    def beside(self, boundaries: Boundaries) -> Boundaries:
        """The boundaries inside the parts, and between parts at least as high as the gaps.

        Sides that meet in another part only are not apart in this one: neighbours join them.
        """
        if not len(self.heights):
            return boundaries
        n, tree, edges = len(self.parts), boundaries.linkage, boundaries.edges
        low, _ = intervals(tree)  # leaves lie on a line
        met = np.zeros(n + 1)  # height at which a leaf and the one before it on the line meet
        met[low[tree[:, 1].astype(np.int64)]] = tree[:, 2]

        def meet(pairs: Ints) -> Floats:
            return np.maximum.reduceat(met, (np.sort(low[pairs], axis=1) + 1).ravel())[::2]

        own = self.parts
        if len(edges) == n - 1:  # and not those of points that are linked
            own = components(edges[self.parts[edges[:, 0]] == self.parts[edges[:, 1]]], n)
        line = np.lexsort((low[:n], own))
        inside = np.column_stack([line[:-1], line[1:]])
        inside = inside[own[inside[:, 0]] == own[inside[:, 1]]]
        joins = self._joins(own)
        pairs = np.concatenate([joins, inside, self.ends])
        between = np.maximum(self.heights, meet(self.ends))
        heights = np.concatenate([np.zeros(len(joins)), meet(inside), between])
        order = np.argsort(heights, kind="stable")
        return replace(boundaries, linkage=join(pairs[order], heights[order], n))

    def _joins(self, pieces: Ints) -> Ints:
        """Neighbours that make the pieces of every part one."""
        from ..loops.clusters import forest  # late: it loads numba

        same = self.parts[self.near[:, 0]] == self.parts[self.near[:, 1]]
        near = self.near[same]
        near = near[pieces[near[:, 0]] != pieces[near[:, 1]]]
        return near[forest(pieces[near], len(pieces))]


def find_gaps(land: Landscape, least: float) -> Gaps:
    """The parts between which gaps stand, each of the mass ``least`` in rows or more.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(300, 2)) * [10, 1] + np.repeat([[0, 0], [0, 2.5]], 150, axis=0)
    >>> np.bincount(find_gaps(Landscape.of(X, np.ones(300)), 8).parts)
    array([150, 150])
    """
    from ..loops.boundaries import in_levels

    n = len(land.near)
    level = LEVEL * np.log2(n)
    near = min(int(level / 2), land.near.shape[1])  # what meets earlier is not apart on a surface
    close = np.column_stack([np.tile(np.arange(n), near), land.near[:, :near].T.ravel()])
    parts = components(close, n)
    count = int(parts.max()) + 1
    ends, ranks = meetings(land, parts, near)
    pull = ranks * _walkable(land, ends, ranks)
    order = np.argsort(pull, kind="stable")
    ends, heights = ends[order], np.empty(count - 1)
    mass = np.bincount(parts, land.weight, count).astype(np.float64)
    in_levels(parts[ends], pull[order], mass, least, level, 0.0, 0.0, heights)
    stands = heights > 1.0
    label = components(parts[ends[~stands]], count)
    joined = ends[~stands]  # parts that no gap keeps apart are one by these
    close = np.concatenate([close, joined])
    return Gaps(label[parts], ends[stands], heights[stands], close)


def meetings(land: Landscape, parts: Ints, near: int) -> tuple[Ints, Floats]:
    """Edges (p − 1, 2) over which parts meet, and their ranks; of equal rank the shortest first.

    No edge of rank up to ``near`` joins two parts.
    """
    from ..loops.clusters import forest  # late: it loads numba

    ends, ranks = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    last = min(RANKS, land.near.shape[1])
    for column in range(near, last):
        if parts.max() == 0:
            break
        far = land.near[:, column]
        across = np.flatnonzero(parts != parts[far])
        across = across[np.argsort(land.lengths[across, column], kind="stable")]
        edges = np.column_stack([across, far[across]])
        edges = edges[forest(parts[edges], len(parts))]
        ends.append(edges)
        ranks.append(np.full(len(edges), column + 1.0))
        parts = components(parts[edges], int(parts.max()) + 1)[parts]
    if parts.max() > 0:
        ends.append(land.bridges(parts))
        ranks.append(np.full(len(ends[-1]), last + 1.0))
    return np.concatenate(ends), np.concatenate(ranks)


def _walkable(land: Landscape, ends: Ints, ranks: Floats) -> Floats:
    """Dimension around every gap, from 1 to 2: the mean of its two ends."""
    found = np.empty((len(ends), 2))
    for rank in np.unique(ranks):
        size = min(int(rank), land.near.shape[1])
        count = np.full(len(land.near), size)
        some, asked = ranks == rank, np.ones(int((ranks == rank).sum()), dtype=bool)
        for side in range(2):
            places = ends[some, side]
            found[some, side] = land.walkable(size, land.lengths[:, size - 1], count, places, asked)
    return found.mean(axis=1)
