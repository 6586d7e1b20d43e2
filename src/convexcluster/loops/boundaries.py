"""Boundaries: how far apart their edges are, the tree that joins them, and which of them stand.

A boundary is the set of edges between two clusters, its height the mean tension of these edges,
weighted by w. The mean over two boundaries is not below the lower one, so that heights rise.
"""

from __future__ import annotations

import heapq
from typing import Any

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
    one, so that an edge moves at most log₂ times: O(|E| log |E|). The lowest boundary is joined
    first, among equals the heavier one, and among these the one that stands first.
    """
    m, n = len(tail), len(pairs) + 1
    sums = w.copy(), w * tension, np.arange(m)
    # boundaries of a cluster: a chain of ends; end 2e is the tail of e, end 2e + 1 its head
    chains = np.arange(n), np.zeros(n, np.int64), np.full(n, -1), np.full(2 * m, -1)
    return int(run(_join, m, tail, head, w, tension, *sums, *chains, pairs, heights, out=2))


@njit(cache=True, nogil=True, error_model="numpy")
def _join(  # type: ignore[no-untyped-def]
    tail, head, w, tension, weight, total, heaviest, root, degree, begin, following, pairs, heights
):
    """The merges of :func:`join_boundaries`."""
    m, n = len(tail), len(root)
    known: dict[Any, Any] = {np.int64(-1): np.int64(-1)}  # n · cluster + neighbour → boundary
    queue = [(0.0, 0.0, np.int64(0), 0.0) for _ in range(0)]
    for f in range(m):
        for side, (x, y) in enumerate(((tail[f], head[f]), (head[f], tail[f]))):
            following[2 * f + side] = begin[x]
            begin[x] = 2 * f + side
            degree[x] += 1
            known[x * n + y] = f
        queue.append((np.rint(tension[f] / TIE), -w[f], np.int64(f), w[f]))
    heapq.heapify(queue)
    count = 0
    while queue and count < n - 1:
        _, _, e, size = heapq.heappop(queue)
        if weight[e] != size:  # handed over, or wider by now
            continue
        i, j = find(root, tail[e]), find(root, head[e])
        if degree[i] < degree[j]:
            i, j = j, i
        pairs[count][0], pairs[count][1] = tail[heaviest[e]], head[heaviest[e]]
        heights[count] = max(total[e] / weight[e], heights[count - 1] if count else 0.0)
        count += 1
        root[j] = i
        weight[e] = -1.0
        known.pop(i * n + j)
        known.pop(j * n + i)
        end = begin[j]
        while end >= 0:
            after = following[end]
            f = end // 2
            if weight[f] > 0:
                x = find(root, head[f] if end % 2 == 0 else tail[f])
                known.pop(j * n + x)
                known.pop(x * n + j)
                if i * n + x in known:
                    g = known[i * n + x]
                    if w[heaviest[f]] > w[heaviest[g]]:
                        heaviest[g] = heaviest[f]
                    weight[g] += weight[f]
                    total[g] += total[f]
                    weight[f] = -1.0
                    key = np.rint(total[g] / weight[g] / TIE)
                    heapq.heappush(queue, (key, -weight[g], g, weight[g]))
                else:
                    known[i * n + x] = f
                    known[x * n + i] = f
                    following[end] = begin[i]
                    begin[i] = end
                    degree[i] += 1
            end = after
    return count


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
