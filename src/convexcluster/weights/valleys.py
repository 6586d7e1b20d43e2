"""Valleys of the density: modes of the k-nearest-neighbour density over many scales.

Input are points of at most three features with masses; output is a tree of boundaries. With r the
distance within which a point has K neighbours, the density is ρ ∝ r^(−D), D the local dimension.
log ρ is known to 1/√K, and among n/K places chance makes peaks of √(2 log(n/K)/K): the unit u of

    depth = D·log(r_saddle/r_mode)/u,

how far the lower of two modes stands above the saddle between them. A valley stands if

    depth > 1·(2/δ) + 0.7·(the deepest valley that failed on either side),

δ the dimension between K and 8K neighbours of the saddle, from 1 to 2: in the plane a thin place
can be walked round, on a curve it cannot, so that curves need twice the depth, and a density that
falls to a half, however many samples there are. The scale K runs from 8 up by √2; between parts
that can be seen at the next two scales a valley must stand there too. The finest scale that shows
most clusters about as clearly as any is taken.

In d dimensions chance makes about m = n/((d + 1)K) modes, and the b-th highest of these is
√(1 − log b/log m) as high as the highest. So b valleys stand together above

    max(½, √(1 − log b/log m)):

nine touching groups are seen by eight valleys none of which would be believed alone.
``benchmarks/levels.py`` measures what structureless data reach.

References: Chazal, Guibas, Oudot and Skraba, J. ACM 2013 (prominence of modes); Hill, Ann. Stat.
1975 (the dimension).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..graph import Graph
from ..numerics.boundaries import Boundaries
from ..numerics.linkage import join
from ..numerics.threads import each
from ..partition import canonical, ranks, roots
from ..problem import Floats, Ints
from .landscape import FEWEST, Landscape

# Least mass of a cluster: as many rows as the finest scale has neighbours. A smaller group has no
# row whose neighbours are all inside.
LEAST = 8

# Scales at which a valley must stand too, a factor 2 together. One more changes little.
CONFIRM = 2

# The finest scale is taken whose faintest kept boundary is at least this share of the best scale's:
# the coarser a scale is, the more samples at a border climb to the wrong side.
# Beyond CLEAR all scales are clear.
FINE_ENOUGH, CLEAR = 0.7, 2.0

# A part can be seen at a scale of K neighbours if it has this many times K samples. At half of it
# touching groups are lost; at twice, more chance pieces of curves are left.
VISIBLE = 4.0

# Weight of an edge across a valley that stands, as a share of its own; the path then fuses all of
# a cluster long before it fuses two of them. At a tenth of this share the path has to span one
# decade of γ more; at ten times touching groups meet before their outermost samples have fused.
ACROSS = 1e-3

# Least weight of the edge by which a point climbs to its mode, in median weights: an outlying point
# has no other, and joins its cluster with it. At a tenth of it, it does so after ten times the γ.
CLIMB = 0.1

# Level of a valley in the plane, and share of the deepest failed valley that is added to it.
LEVEL, INNER = 1.0, 0.7

# Beside a valley that stands, others need this share of the level. At half, chance pieces of curves
# are clusters; at 0.85 groups that touch are missed beside groups that do not.
BESIDE = 0.7

# Least level of many valleys together, which chance does not reach at any scale. They count if this
# share of the samples is on the right side of the valleys that stand alone: at a scale so coarse
# that the arms of a spiral are one, it has modes that are no clusters.
MANY, SIDE = 0.5, 0.75

# Least dimension around several valleys, in the mean, as a share of 2 (on a line, of 1). At ½,
# which is no rule, curves of 1,500 samples come in up to 19 pieces; at ¾ two of 31 groups that
# touch on all sides are lost. Asked of each valley instead of their mean, groups of 30 are lost.
ROOM = 2.0 / 3.0

# Along a curve of the plane the density must fall to a half too, which is this in log density, and
# less in proportion to the room beside it: a curve is denser where it was drawn slowly, and is one
# curve. At 0, which is no rule, a few more curves come in pieces; at 1 fewer do, but of twenty
# groups that touch one is lost when their number is told.
DROP = 0.7

# Share of the level from which a valley could stand, so that the dimension around it is measured.
FAINT = 0.5


def valleys(
    land: Landscape,
    n_clusters: int | None = None,
    least: float = LEAST,
    checked: bool = False,
) -> Boundaries | None:
    """The tree of the scale that shows most clusters, or the given number most clearly.

    Parameters
    ----------
    land : Landscape
        Of distinct points.
    n_clusters : int, optional
    least : float
        Least mass of a cluster.
    checked : bool
        Whether the path is asked too, and decides where it shows clusters as clearly.

    Returns
    -------
    Boundaries or None
        None if the points are too few to have a density, or no scale has so many modes.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2)) + np.repeat([[0, 0], [9, 0]], 100, axis=0)
    >>> valleys(Landscape.of(X, np.ones(200))).count
    2
    """
    if len(land.near) < FEWEST:
        return None
    scales = each(lambda size: at_scale(land, size, least), land.scales[::-1], land.jobs)[::-1]
    for t in range(len(scales) - 1):
        for coarser in scales[t + 1 : t + 1 + CONFIRM]:
            scales[t] = scales[t].confirmed(coarser)
    found, crowd = clearest(scales), clearest([scale.together() for scale in scales])
    if found and crowd and several(crowd, found, checked):
        found = replace(crowd, together=found.count == 1)
    if n_clusters is None or (found and found.count == n_clusters):
        return found
    return clearest(scales, n_clusters)


def clearest(scales: list[Scale], n_clusters: int | None = None) -> Boundaries | None:
    """The finest scale that shows most clusters, or the given number, about as clearly as any."""
    shown = []
    for scale in scales:
        tree = Boundaries(scale.linkage, "valleys", BESIDE)
        k = tree.sure if n_clusters is None else n_clusters
        shown.append((n_clusters is None or tree.count == k, k, min(tree.height(k), CLEAR)))
    best = max(shown)
    if best[2] <= 0.0:
        return None
    enough = (*best[:2], FINE_ENOUGH * best[2])
    return next(scale for scale, show in zip(scales, shown) if show >= enough).boundaries


def several(crowd: Boundaries, alone: Boundaries, checked: bool = False) -> bool:
    """Whether the clusters of many valleys together are taken, and not those of valleys alone.

    One more is not several, and would have to stand alone. Where some stand alone, the several must
    stand out further above what is below them: a curve has ever more valleys, each hardly fainter
    than the one before, while groups that touch have so many and then none. If the path is asked
    too (``checked``), how far they stand out is compared with what it shows.
    """
    if crowd.count <= alone.count + 1 or not agree(crowd, alone):
        return False
    clear = crowd.clarity(crowd.count) > alone.clarity(alone.count)
    return checked or alone.count == 1 or clear


def agree(crowd: Boundaries, alone: Boundaries) -> bool:
    """Whether the clusters of one lie on one side each of the boundaries of the other."""
    labels, sides = crowd.labels(), alone.labels()
    shares = np.zeros((crowd.count, alone.count))
    np.add.at(shares, (labels, sides), 1.0)
    return bool(shares.max(axis=1).sum() >= SIDE * len(labels))


@dataclass(frozen=True)
class Scale:
    """Basins of the modes at one scale, and the boundaries between them, the faintest first."""

    size: int  # neighbours
    places: float  # of modes of chance
    masses: Floats  # (n,): of mean one
    uphill: Ints  # (n,): nearest denser neighbour, the point itself at a mode
    basin: Ints  # (n,): mode of every point, 0 … m − 1 in the order of the points
    rank: Ints  # (m,): place of every mode by falling density
    ends: Ints  # (m − 1, 2): neighbours over which two basins meet
    heights: Floats  # (m − 1,): 1 and more stands
    room: Floats  # (m − 1,): dimension around each saddle, as a share of what it can be

    def confirmed(self, coarser: Scale) -> Scale:
        """The boundaries as faint as at the next scale, where both sides can be seen there."""
        from ..loops.valleys import between, sides

        pairs = self.basin[self.ends]
        tops, least = np.empty_like(pairs), np.empty(len(pairs))
        mass = np.bincount(self.basin, self.masses).astype(np.float64)
        points = len(self.uphill)
        sides(pairs, self.rank, mass, tops, least, points)
        modes = np.flatnonzero(self.uphill == np.arange(points))
        ends = coarser.basin[modes[tops]]
        there = np.empty(len(pairs))
        first, second = (np.ascontiguousarray(end) for end in ends.T)
        between(coarser.basin[coarser.ends], coarser.heights, first, second, there, points)
        seen = least >= VISIBLE * coarser.size
        heights = np.where(seen, np.minimum(self.heights, there), self.heights)
        order = np.argsort(heights, kind="stable")
        room = self.room[order]
        return replace(self, ends=self.ends[order], heights=heights[order], room=room)

    def together(self) -> Scale:
        """Heights in units of the level of several, for as many as are most above it.

        Valleys that stand alone are none of chance, and do not count among the several. Along a
        curve of the plane there is no way round thin places, and chance makes deeper ones than the
        law says.
        """
        faint = np.flatnonzero(self.heights <= 1.0)[::-1]
        b = np.arange(1, len(faint) + 1)
        places = np.log(max(self.places, 2.0))
        levels = np.sqrt(np.maximum(1.0 - np.log(b) / places, MANY**2))
        above = self.heights[faint] / levels
        if above.max(initial=0.0) <= 1.0:
            return self
        last = int(np.argmax(above))
        if self.room[faint[: last + 1]].mean() < ROOM:
            return self
        return replace(self, heights=self.heights / float(levels[last]))

    @property
    def linkage(self) -> Floats:
        """Tree of the modes."""
        return join(self.basin[self.ends], self.heights, len(self.rank))

    @property
    def boundaries(self) -> Boundaries:
        """Tree of the points: each climbs to its mode, at height 0."""
        n = len(self.uphill)
        climbs = np.flatnonzero(self.uphill != np.arange(n))
        edges = np.vstack([np.column_stack([climbs, self.uphill[climbs]]), self.ends])
        heights = np.concatenate([np.zeros(len(climbs)), self.heights])
        return Boundaries(join(edges, heights, n), "valleys", BESIDE, edges)


def at_scale(land: Landscape, size: int, least: float = LEAST) -> Scale:
    """Boundaries at one scale: points climb to their modes, modes meet at saddles."""
    from ..loops.valleys import bridge, climb, judge, reach, smooth

    n = len(land.near)
    radius, slope, flat = np.empty(n), np.empty(n), np.empty(n)
    count, uphill, basin, lower = (np.empty(n, dtype=np.int64) for _ in range(4))
    ends = np.empty((n, 2), dtype=np.int64)
    reach(land.near, land.lengths, land.masses, float(size), radius, slope, count)
    smooth(land.near, count, slope, flat)
    # two points that are each other's farthest neighbour have one radius: who is nearer to the rest
    order = np.lexsort((-slope, radius))
    rank, parent, highest = ranks(order), np.arange(n), np.arange(n)
    met = climb(
        land.near, land.lengths, count, order, rank, uphill, basin, parent, highest, lower, ends
    )
    modes = np.flatnonzero(uphill == np.arange(n))
    bridges = np.empty((0, 2), dtype=np.int64)
    if met < len(modes) - 1:
        bridges = land.bridges(canonical(roots(parent)))
        bridge(bridges, rank, parent, highest, lower, ends, met)
    lower, ends = lower[: len(modes) - 1], ends[: len(modes) - 1]
    saddle = radius[ends].max(axis=1)
    saddle[met:] = np.maximum(saddle[met:], land.log_lengths(bridges))
    # of the size − 1 inner distances Hill's estimate of 1/D is too large by (size − 1)/(size − 2)
    dimension = (size - 2) / (size - 1) / np.maximum(flat, 1e-3)
    unit = np.sqrt(2 * np.log(max(n / size, 2.0)) / size)
    depth = dimension[ends[:, 0]] * (saddle - radius[lower]) / unit
    walk = land.walkable(size, radius, count, ends[:, 0], depth >= FAINT)
    room = walk / min(2.0, max(1.0, land.dimension))
    level = np.maximum(LEVEL * 2.0 / walk, DROP * 2.0 * (1.0 - room) / unit)
    heights = np.empty(len(lower))
    least = max(float(least), 0.5 * size * float(land.weight.mean()))
    judge(basin, lower, ends, depth, level, INNER, least, land.weight, heights)
    faint = np.argsort(heights, kind="stable")
    numbers = np.searchsorted(modes, basin)
    places = n / size / (land.dimension + 1)
    rank, ends, heights, room = rank[modes], ends[faint], heights[faint], room[faint]
    return Scale(size, places, land.masses, uphill, numbers, rank, ends, heights, room)


def with_valleys(graph: Graph, boundaries: Boundaries, labels: Ints, places: Ints) -> Graph:
    """The graph with edges across valleys weakened, and clusters held together inside.

    Every point is joined to the neighbour by which it climbs to its mode, so that clusters are
    connected. ``labels`` are the clusters of the graph's samples, ``places`` the samples that the
    points of the boundaries are in the graph.
    """
    n, median = len(labels), float(np.median(graph.weights)) if len(graph.weights) else 1.0
    steps = np.sort(places[boundaries.edges], axis=1)
    edges = np.vstack([graph.edges, steps])
    weights = np.concatenate([graph.weights, np.full(len(steps), CLIMB * median)])
    keys, place = np.unique(edges[:, 0] * n + edges[:, 1], return_inverse=True)
    strongest = np.zeros(len(keys))
    np.maximum.at(strongest, place.ravel(), weights)
    edges = np.column_stack(np.divmod(keys, n))
    across = labels[edges[:, 0]] != labels[edges[:, 1]]
    return Graph(edges, np.where(across, ACROSS * strongest, strongest))
