"""Boundaries: how far apart their edges are, the tree that joins them, and which of them stand.

A boundary is the set of edges between two clusters, its height the mean tension of these edges,
weighted by w. The mean over two boundaries is not below the lower one, so that heights rise.
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .clusters import find
from .compile import njit, run
from .sweeps import SUMS

# Tensions of no more than so much between them are equal: sums of a million edges round to 1e-12 of
# what they are, and at a tenth of it the order of equal ones is chance; at 1e3 times of it, some
# that differ would count as equal.
TIE = 2.0**-36


def join_boundaries(
    tail: Ints, head: Ints, w: Floats, tension: Floats, pairs: Ints, heights: Floats
) -> int:
    """Write the merges with their heights; returns how many there are.

    ``pairs`` are the ends of the heaviest edge across each boundary.

    Edges name a pair of nodes once. The cluster with fewer boundaries hands them over to the other
    one, so that an edge moves at most log₂ times. The lowest boundary is joined first, among equals
    the heavier one, and among these the one that stands first.
    """
    m, n = len(tail), len(pairs) + 1
    key = np.rint(tension / TIE)
    sums = key, w.copy(), w * tension, np.arange(m)
    # boundaries of a cluster: a chain of ends; end 2e is the tail of e, end 2e + 1 its head
    chains = np.arange(n), np.zeros(n, np.int64), np.full(n, -1), np.full(2 * m, -1)
    heap = np.lexsort((-w, key))  # what is sorted is a heap
    return int(
        run(_join, m, tail, head, w, *sums, *chains, heap, np.argsort(heap), pairs, heights, out=2)
    )


# Its own heap and chains: numba compiles dictionaries and its heapq for two seconds.
@njit(cache=True, nogil=True, error_model="numpy")
def _join(  # type: ignore[no-untyped-def]
    tail,
    head,
    w,
    key,
    weight,
    total,
    heaviest,
    root,
    degree,
    begin,
    following,
    heap,
    place,
    pairs,
    heights,
):
    """The merges of :func:`join_boundaries`; ``key`` are heights in units of ``TIE``."""
    size, n = len(tail), len(root)
    for f in range(size):
        for end in (2 * f, 2 * f + 1):
            x = tail[f] if end % 2 == 0 else head[f]
            following[end] = begin[x]
            begin[x] = end
            degree[x] += 1
    count = 0
    while size > 0 and count < n - 1:
        e = heap[0]
        i, j = find(root, tail[e]), find(root, head[e])
        if degree[i] < degree[j]:
            i, j = j, i
        pairs[count][0], pairs[count][1] = tail[heaviest[e]], head[heaviest[e]]
        heights[count] = max(total[e] / weight[e], heights[count - 1] if count else 0.0)
        count += 1
        weight[e] = -1.0
        size = _take_out(heap, place, key, weight, e, size)
        end = begin[j]
        while end >= 0:
            after = following[end]
            f = end // 2
            if weight[f] > 0:
                x = find(root, head[f] if end % 2 == 0 else tail[f])
                if degree[i] < degree[x]:
                    g = _between(tail, head, weight, root, begin, following, i, x)
                else:
                    g = _between(tail, head, weight, root, begin, following, x, i)
                if g >= 0:
                    if w[heaviest[f]] > w[heaviest[g]]:
                        heaviest[g] = heaviest[f]
                    weight[g] += weight[f]
                    total[g] += total[f]
                    key[g] = np.rint(total[g] / weight[g] / TIE)
                    _settle(heap, place, key, weight, place[g], size)
                    weight[f] = -1.0
                    size = _take_out(heap, place, key, weight, f, size)
                else:
                    following[end] = begin[i]
                    begin[i] = end
                    degree[i] += 1
            end = after
        root[j] = i
    return count


@njit(cache=True, nogil=True, error_model="numpy")
def _between(tail, head, weight, root, begin, following, x, y):  # type: ignore[no-untyped-def]
    """The boundary of clusters x and y by the chain of x, −1 if none; takes off what is gone."""
    before, end = -1, begin[x]
    while end >= 0:
        f = end // 2
        if weight[f] > 0:
            if find(root, head[f] if end % 2 == 0 else tail[f]) == y:
                return f
            before = end
        elif before >= 0:
            following[before] = following[end]
        else:
            begin[x] = following[end]
        end = following[end]
    return -1


@njit(cache=True, nogil=True, error_model="numpy")
def _take_out(heap, place, key, weight, e, size):  # type: ignore[no-untyped-def]
    """Take e out of the heap; returns how many are left."""
    size -= 1
    at, last = place[e], heap[size]
    if at < size:
        heap[at], place[last] = last, at
        _settle(heap, place, key, weight, at, size)
    return size


@njit(cache=True, nogil=True, error_model="numpy")
def _settle(heap, place, key, weight, at, size):  # type: ignore[no-untyped-def]
    """Move what is at a place of the heap up or down to where it belongs."""
    e = heap[at]
    while at > 0 and _first(key, weight, e, heap[(at - 1) // 2]):
        up = (at - 1) // 2
        heap[at] = heap[up]
        place[heap[at]] = at
        at = up
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and _first(key, weight, heap[child + 1], heap[child]):
            child += 1
        if _first(key, weight, e, heap[child]):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at], place[e] = e, at


@njit(cache=True, nogil=True, error_model="numpy")
def _first(key, weight, e, f):  # type: ignore[no-untyped-def]
    """Whether boundary e is joined before f."""
    if key[e] != key[f]:
        return key[e] < key[f]
    return weight[e] > weight[f] or (weight[e] == weight[f] and e < f)


@njit(cache=True, nogil=True, fastmath=SUMS)
def add_unlike(tail: Ints, head: Ints, up: Ints, A: Floats, width: float, total: Floats) -> None:
    """Add width · min(1, 1 − cos(a_i, a_j)) to ``total`` of every edge below the edges (i, j).

    ``up`` names the edge above, −1 if its ends are together. Centroids A (k, r) have norm 1 or 0.
    """
    value = np.empty(len(tail))
    for e in range(len(tail)):
        x, y = A[tail[e]], A[head[e]]
        cosine = 0.0
        for k in range(A.shape[1]):
            cosine += x[k] * y[k]
        value[e] = width * min(1.0, max(0.0, 1.0 - cosine))
    for e in range(len(up)):
        if up[e] >= 0:
            total[e] += value[up[e]]


def in_levels(
    pairs: Ints,
    heights: Floats,
    masses: Floats,
    least: float,
    level: float,
    small: float,
    inside: float,
    share: Floats,
) -> None:
    """Heights in units of what it takes to stand: 1 and more stands.

    A merge of height h, bottom up, stands if for each of its sides

        h > level + small/m + inside·h_in,

    m the mass of the side and h_in the greatest height inside it that does not stand. A merge with
    a side below ``least`` has ``share`` 0.
    """
    n = len(masses)
    parts = np.arange(n), masses.copy(), np.zeros(n)
    run(_levels, n, pairs, heights, *parts, least, level, small, inside, share)


@njit(cache=True, nogil=True, error_model="numpy")
def _levels(pairs, heights, root, mass, inner, least, level, small, inside, share):  # type: ignore[no-untyped-def]
    """The shares of :func:`in_levels`."""
    for row in range(len(pairs)):
        a, b = find(root, pairs[row][0]), find(root, pairs[row][1])
        large = mass[a] >= least and mass[b] >= least
        share[row] = 0.0
        if large:
            need = level + small / min(mass[a], mass[b]) + inside * max(inner[a], inner[b])
            share[row] = heights[row] / need if need > 0 else 0.0
        inner[a] = max(inner[a], inner[b])
        if large and share[row] <= 1.0:
            inner[a] = max(inner[a], heights[row])
        root[b] = a
        mass[a] += mass[b]


def lesser_sides(pairs: Ints, masses: Floats, least: Floats) -> None:
    """Mass of the lesser side of every merge."""
    run(_lesser, len(masses), pairs, np.arange(len(masses)), masses.copy(), least)


@njit(cache=True, nogil=True, error_model="numpy")
def _lesser(pairs, root, mass, least):  # type: ignore[no-untyped-def]
    """The masses of :func:`lesser_sides`."""
    for row in range(len(pairs)):
        a, b = find(root, pairs[row][0]), find(root, pairs[row][1])
        least[row] = min(mass[a], mass[b])
        root[b] = a
        mass[a] += mass[b]
