"""Ward's tree of weighted points.

Merging clusters s and t raises the sum of squares by m_s m_t/(m_s + m_t) ‖c_s − c_t‖². Ward is
reducible, so that any pair of mutual nearest neighbours may be merged at once, and chains of
nearest neighbours find such pairs (Murtagh 1983). No library's Ward takes masses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..loops.compile import njit
from ..problem import Floats, Ints


@dataclass(frozen=True, slots=True)
class Merges:
    """The k − 1 merges of k points in ascending order of ``cost``, the rise of the sum of squares.

    ``pairs`` (k − 1, 2) names a point of each of the two clusters.
    """

    pairs: Ints
    cost: Floats

    @property
    def heights(self) -> Floats:
        """√(2 cost): for unit masses the heights of SciPy's Ward."""
        return np.sqrt(2.0 * self.cost)


def ward_points(points: Floats, masses: ArrayLike) -> Merges:
    """Merge points (k, r) with ``masses`` (k,), in O(k) memory beside the points."""
    k = len(points)
    pairs, cost = np.empty((k - 1, 2), dtype=np.int64), np.empty(k - 1)
    means, weights = np.array(points, np.float64, order="C"), np.array(masses, np.float64)
    _chain(means, weights, np.arange(k), np.arange(k), np.empty(k, np.int64), pairs, cost)
    order = np.argsort(cost, kind="stable")
    return Merges(pairs[order], cost[order])


@njit(cache=True, nogil=True)
def _chain(
    points: Floats,
    masses: Floats,
    active: Ints,
    place: Ints,
    chain: Ints,
    pairs: Ints,
    cost: Floats,
) -> None:
    """Write the merges in the order in which chains find them; points and masses are overwritten.

    A merged cluster keeps the slot of its second member, so that slots name points of clusters.
    ``active`` and ``place`` are 0, 1, … at first.
    """
    k = n_active = len(masses)
    length = 0
    for step in range(k - 1):
        if length == 0:
            chain[0] = active[0]
            length = 1
        stuck = False
        while True:
            s = chain[length - 1]
            # the predecessor wins ties, which keeps the chain from cycling
            best = chain[length - 2] if length > 1 else -1
            best, low = _nearest(points, masses, active[:n_active], s, best)
            if length > 1 and best == chain[length - 2]:
                break
            if length == n_active:  # round-off made the chain cycle: merge its end, begin anew
                stuck = True
                break
            chain[length] = best
            length += 1
        s, t = chain[length - 1], chain[length - 2]
        length = 0 if stuck else length - 2
        pairs[step, 0], pairs[step, 1], cost[step] = s, t, low
        _merge(points, masses, s, t)
        masses[t] += masses[s]
        n_active -= 1
        last = active[n_active]
        active[place[s]] = last
        place[last] = place[s]


@njit(cache=True, nogil=True)
def _nearest(points: Floats, masses: Floats, active: Ints, s: int, best: int) -> tuple[int, float]:
    """Nearest cluster to s, ``best`` among equals, and the cost of merging the two."""
    r = points.shape[1]
    low = np.inf
    if best >= 0:
        low = 0.0
        for q in range(r):
            low += (points[s, q] - points[best, q]) ** 2
        low *= masses[s] * masses[best] / (masses[s] + masses[best])
    for t in active:
        if t in (s, best):
            continue
        share = masses[s] * masses[t] / (masses[s] + masses[t])
        limit = low / share
        d = 0.0
        for q in range(r):
            d += (points[s, q] - points[t, q]) ** 2
            if d >= limit:
                break
        if d < limit:
            low = d * share
            best = t
    return best, low


@njit(cache=True, nogil=True)
def _merge(points: Floats, masses: Floats, s: int, t: int) -> None:
    """Put the mean of s and t in place of t."""
    total = masses[s] + masses[t]
    for q in range(points.shape[1]):
        points[t, q] = (masses[s] * points[s, q] + masses[t] * points[t, q]) / total
