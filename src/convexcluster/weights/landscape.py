"""Neighbours of all points of few dimensions, from which their density is read at every scale.

Input are points, or their distances, with masses; output is a :class:`Landscape`. Valleys of the
density and gaps between points are found in it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..problem import Floats, Ints
from .bridges import joining_edges
from .search import TINY, Around, Search

# Scales: neighbours of the finest, and of the coarsest, which is also a quarter of the points at
# most. With fewer than 8 chance rules; beyond 128 nothing more was found, and time grows with it.
FINEST, COARSEST = 8, 128

# Points that have a density at all: a quarter of them are the neighbours of the finest scale.
FEWEST = 4 * FINEST

# Neighbours of all points together, beyond which the coarsest scale is finer, down to FINE.
WORK, FINE = 1_500_000, 64

# Points from which scales use a second thread. Half: starting it takes as long as it saves.
THREADED = 1_000

# The dimension beyond a scale is measured up to this many times its neighbours, at as many of the
# neighbours of a saddle.
BEYOND, PLACES = 8, 8


def n_around(n: int) -> int:
    """Neighbours of each of n points that the coarsest scale has."""
    return min(max(FINE, min(COARSEST, WORK // n)), n // 4)


@dataclass(frozen=True)
class Landscape:
    """Neighbours of every point, nearest first, for all scales."""

    search: Search  # beyond the neighbours
    dimension: float
    masses: Floats  # (n,): of mean one
    weight: Floats  # (n,): the masses in rows
    near: Ints  # (n, columns)
    lengths: Floats  # (n, columns): logarithms
    jobs: int
    known: dict[bytes, Ints] = field(default_factory=dict)  # bridges of parts: scales share them

    @classmethod
    def of(
        cls,
        X: Floats,
        masses: Floats,
        jobs: int = 1,
        metric: str = "euclidean",
        dimension: float | None = None,
        around: Around | None = None,
    ) -> Landscape:
        """Find the neighbours, as many as :func:`n_around` says, unless they are known."""
        X, masses = np.asarray(X, dtype=np.float64), np.asarray(masses, dtype=np.float64)
        if around is None:
            around = Around.of(X, n_around(len(X)), metric=metric, jobs=jobs)
        lengths = np.maximum(around.length, TINY)
        lengths = np.log(lengths, out=lengths)
        jobs = jobs if len(X) >= THREADED else 1
        dimension = float(X.shape[1]) if dimension is None else dimension
        weight = masses / masses.mean()
        return cls(around.search, dimension, weight, masses, around.index, lengths, jobs)

    def bridges(self, parts: Ints) -> Ints:
        """The shortest edges that join the parts, shortest first."""
        key, given = parts.tobytes(), self.search.metric == "precomputed"
        if key not in self.known:
            edges = joining_edges(self.search.X, parts, precomputed=given)
            self.known[key] = edges[np.argsort(self.log_lengths(edges), kind="stable")]
        return self.known[key]

    def log_lengths(self, edges: Ints) -> Floats:
        """Logarithms of the lengths of edges."""
        return np.log(np.maximum(self.search.lengths(edges), TINY))

    def walkable(
        self, size: int, radius: Floats, count: Ints, saddles: Ints, asked: np.ndarray
    ) -> Floats:
        """Dimension, from 1 to 2, between the scale and ``BEYOND`` times it around saddles.

        Where nothing is ``asked`` it is 2.
        """
        found = np.full(len(saddles), 2.0)
        beyond = min(BEYOND * size, len(self.near) // 2)
        if beyond < 2 * size or not asked.any():
            return found
        places = saddles[asked]
        steps = np.arange(PLACES + 1)
        column = np.maximum(count[places, None] * steps // PLACES - 1, 0)
        around = np.take_along_axis(self.near[places], column, axis=1)
        around[:, 0] = places
        at = around.ravel()
        if beyond <= self.near.shape[1]:
            last = self.lengths[at, beyond - 1]
            mass = self.masses[at] + self.masses[self.near[at, :beyond]].sum(axis=1) - 1.0
        else:
            lengths, near = self.search.nearest(at, beyond + 1)
            last = np.log(np.maximum(lengths[:, -1], TINY))
            mass = self.masses[near].sum(axis=1) - 1.0
        grown = (last - radius[at]) / np.log(mass / size)
        grown = grown.reshape(around.shape).mean(axis=1)
        found[asked] = np.clip(1.0 / np.maximum(grown, 1e-3), 1.0, 2.0)
        return found

    @property
    def scales(self) -> list[int]:
        """Numbers of neighbours, a factor √2 apart."""
        top = self.near.shape[1]
        count = int(np.floor(2 * np.log2(top / FINEST) + 1e-9)) + 1
        return [round(FINEST * 2 ** (t / 2)) for t in range(count)]
