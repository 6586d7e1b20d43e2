"""Compiled passes over neighbour lists: the k-NN density of weighted points, its modes and saddles.

A mode is a point that has no denser neighbour; every other point climbs to the nearest denser one
and so belongs to the basin of one mode. Points are visited by falling density: where a point
touches two parts that were apart until now, they meet, and the point is their saddle.
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .clusters import find
from .compile import njit, run


@njit(cache=True, nogil=True, error_model="numpy")
def reach(near, lengths, masses, size, radius, slope, count):  # type: ignore[no-untyped-def]
    """Log radius within which each point has the mass ``size``, beyond one unit of its own.

    ``slope`` is the mean of log(radius/distance) over the neighbours inside, by mass: the inverse
    of the dimension (Hill's estimate); ``count`` are the neighbours that it takes.
    """
    n, columns = near.shape
    for i in range(n):
        mass, last = masses[i] - 1.0, 0
        while last < columns and (mass < size or last == 0):
            mass += masses[near[i, last]]
            last += 1
        count[i] = last
        edge = lengths[i, last - 1]
        radius[i] = edge
        total, inner = 0.0, 0.0
        for c in range(last - 1):
            m = masses[near[i, c]]
            total += m
            inner += m * (edge - lengths[i, c])
        slope[i] = inner / total if total > 0.0 else 0.0


@njit(cache=True, nogil=True, error_model="numpy")
def smooth(near, count, values, out):  # type: ignore[no-untyped-def]
    """Mean of the values of each point and its neighbours."""
    for i in range(len(near)):
        total = values[i]
        for c in range(count[i]):
            total += values[near[i, c]]
        out[i] = total / (count[i] + 1)


def climb(
    near: Ints,
    lengths: Floats,
    count: Ints,
    order: Ints,
    rank: Ints,
    uphill: Ints,
    basin: Ints,
    parent: Ints,
    highest: Ints,
    lower: Ints,
    ends: Ints,
) -> int:
    """Basins of the modes, and the saddles at which parts meet; returns the number of saddles.

    ``order`` are the points by falling density, ``rank`` their places in it. ``uphill`` is the
    nearest denser neighbour of a point, of equally near ones the densest, and the point itself at a
    mode. A far one may lie across a gap, which is why it is not the densest. ``lower`` is the mode
    of the part whose highest mode is the lower one, ``ends`` the two neighbours, saddle first, over
    which the parts meet. ``parent`` and ``highest``, 0 … n − 1 at the beginning, are the parts at
    the end.
    """
    start = np.zeros(len(near) + 2, np.int64)
    back = point_back(near, lengths, count, order, rank, start)
    parts = uphill, basin, parent, highest, lower, ends
    return int(_climb(near, lengths, count, order, rank, start, back, *parts))


@njit(cache=True, nogil=True, error_model="numpy")
def point_back(near, lengths, count, order, rank, start):  # type: ignore[no-untyped-def]
    """Denser points that have i as a neighbour, and perhaps are none of its own.

    They are ``back`` from ``start[i]`` up to ``start[i + 1]``. The neighbours of j are those within
    r_j. If j is denser than i, r_j ≤ r_i, so that a neighbour i of j nearer than r_j has j as a
    neighbour too. Only at the distance r_j = r_i, where points are tied, it may not.
    """
    n = len(near)
    for t in range(
        2 * n
    ):  # first how many, then which; not in the order of the rows, it may change
        if t == n:
            for i in range(n):
                start[i + 2] += start[i + 1]
            back = np.empty(start[n + 1], np.int64)
        i = order[t % n]
        last = lengths[i, count[i] - 1]
        for c in range(count[i] - 1, -1, -1):
            j = near[i, c]
            if lengths[i, c] < last:
                break
            if rank[j] > rank[i] and lengths[j, count[j] - 1] == last:
                if t < n:
                    start[j + 2] += 1
                else:
                    back[start[j + 1]] = i
                    start[j + 1] += 1
    return back


@njit(cache=True, nogil=True, error_model="numpy")
def _climb(  # type: ignore[no-untyped-def]
    near, lengths, count, order, rank, start, back, uphill, basin, parent, highest, lower, ends
):
    """The basins and saddles of :func:`climb`."""
    n, met = len(near), 0
    for t in range(n):
        i = order[t]
        own = count[i]
        both = own + start[i + 1] - start[i]
        above, shortest = i, np.inf
        for c in range(own):
            j = near[i, c]
            if rank[j] < rank[above]:
                if above != i and lengths[i, c] > shortest:
                    break
                above, shortest = j, lengths[i, c]
        if above == i:  # denser only among those who have it as a neighbour
            for c in range(own, both):
                j = back[start[i] + c - own]
                if rank[j] < rank[above]:
                    above = j
        uphill[i] = above
        if above == i:
            basin[i] = i
            continue
        basin[i] = basin[above]
        parent[i] = find(parent, above)
        for c in range(both):
            j = near[i, c] if c < own else back[start[i] + c - own]
            if rank[j] < t and parent[j] != parent[i]:
                met = meet(i, j, rank, parent, highest, lower, ends, met)
    return met


@njit(cache=True, nogil=True, error_model="numpy")
def meet(i, j, rank, parent, highest, lower, ends, met):  # type: ignore[no-untyped-def]
    """Join the parts of i and j, unless they are one, and return the number of saddles."""
    a, b = find(parent, i), find(parent, j)
    if a == b:
        return met
    if rank[highest[a]] > rank[highest[b]]:
        a, b = b, a  # b has the lower mode
    lower[met] = highest[b]
    ends[met][0], ends[met][1] = i, j
    parent[b] = a
    return met + 1


def bridge(
    pairs: Ints, rank: Ints, parent: Ints, highest: Ints, lower: Ints, ends: Ints, met: int
) -> None:
    """Join the parts that never met over the given pairs, in their order; the saddle is the
    less dense end.
    """
    run(_bridge, len(parent), pairs, rank, parent, highest, met, lower, ends, out=2)


@njit(cache=True, nogil=True, error_model="numpy")
def _bridge(pairs, rank, parent, highest, met, lower, ends):  # type: ignore[no-untyped-def]
    """The joins of :func:`bridge`."""
    for t in range(len(pairs)):
        i, j = pairs[t][0], pairs[t][1]
        if rank[i] < rank[j]:
            i, j = j, i
        met = meet(i, j, rank, parent, highest, lower, ends, met)


def judge(
    basin: Ints,
    lower: Ints,
    ends: Ints,
    depth: Floats,
    level: Floats,
    inner: float,
    least: float,
    masses: Floats,
    share: Floats,
) -> None:
    """Depth of every valley in units of what it takes to stand: 1 and more stands.

    ``depth`` must exceed ``level`` + ``inner`` × the deepest valley that failed on either side. A
    valley beside a part of less mass than ``least`` has ``share`` 0.
    """
    n = len(basin)
    parts = np.arange(n), np.bincount(basin, masses, n), np.zeros(n)
    run(_judge, n, basin, lower, ends, depth, level, inner, least, *parts, share)


@njit(cache=True, nogil=True, error_model="numpy")
def _judge(basin, lower, ends, depth, level, inner, least, parent, mass, failed, share):  # type: ignore[no-untyped-def]
    """The shares of :func:`judge`."""
    for t in range(len(lower)):
        a = find(parent, lower[t])
        b = find(parent, basin[ends[t][0]])
        if a == b:
            b = find(parent, basin[ends[t][1]])
        enough = mass[a] >= least and mass[b] >= least
        share[t] = depth[t] / (level[t] + inner * max(failed[a], failed[b])) if enough else 0.0
        if share[t] > 1.0:
            continue
        parent[a] = b
        mass[b] += mass[a]
        failed[b] = max(failed[a], failed[b])
        if enough:
            failed[b] = max(failed[b], depth[t])


def sides(
    pairs: Ints, rank: Ints, mass: Floats, tops: Ints, least: Floats, points: int = 0
) -> None:
    """The densest mode of either side of each boundary, and the mass of the lesser side.

    ``pairs`` are modes, the faintest boundary first; ``mass`` is that of the basin of each mode. Of
    many ``points`` the loop is compiled, as all others are then.
    """
    parts = np.arange(len(mass)), np.arange(len(mass)), mass.copy()
    run(_sides, max(len(mass), points), pairs, rank, *parts, tops, least, out=2)


@njit(cache=True, nogil=True, error_model="numpy")
def _sides(pairs, rank, parent, highest, total, tops, least):  # type: ignore[no-untyped-def]
    """The sides of :func:`sides`."""
    for t in range(len(pairs)):
        a, b = find(parent, pairs[t][0]), find(parent, pairs[t][1])
        tops[t][0], tops[t][1] = highest[a], highest[b]
        least[t] = min(total[a], total[b])
        if rank[highest[a]] > rank[highest[b]]:
            a, b = b, a
        parent[b] = a
        total[a] += total[b]


def between(
    pairs: Ints, heights: Floats, first: Ints, second: Ints, out: Floats, points: int = 0
) -> None:
    """Height of the boundary between two modes each: the least that joins them.

    ``pairs`` with ``heights`` are the boundaries, the faintest first, over modes 0 … len(pairs).
    ``points`` as for :func:`sides`.
    """
    n = len(pairs) + 1
    parts = np.arange(n), np.arange(n), np.arange(2 * n - 1)
    run(_between, max(n, points), pairs, heights, first, second, *parts, out)


@njit(cache=True, nogil=True, error_model="numpy")
def _between(pairs, heights, first, second, parent, node, above, out):  # type: ignore[no-untyped-def]
    """The heights of :func:`between`."""
    n = len(pairs) + 1
    for t in range(n - 1):
        a, b = find(parent, pairs[t][0]), find(parent, pairs[t][1])
        above[node[a]] = above[node[b]] = n + t
        parent[b] = a
        node[a] = n + t
    for q in range(len(first)):
        a, b = first[q], second[q]
        while a != b:
            if a < b:
                a = above[a]
            else:
                b = above[b]
        out[q] = heights[a - n] if a >= n else 0.0
