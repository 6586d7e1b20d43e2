"""Compiled loops of ℓ1 convex clustering with uniform weights: fusions of sorted values."""

from __future__ import annotations

import numpy as np

from ...loops.compile import njit
from ...problem import Floats, Ints


@njit(cache=True, nogil=True)
def chain_fusions(y: Floats, heights: Floats) -> None:
    """Fusion γ of each gap between sorted values y, all pairs weighing 1 (ℓ1, one coordinate).

    A cluster a … b of positions moves as mean(y) − γ(a + b − n + 1), so two neighbours a … b and
    b + 1 … c meet at γ = (mean₂ − mean₁)/(c − a + 1). Clusters never part again, which makes the
    fusions an agglomeration of neighbours; it is run with a binary heap, O(n log n).
    """
    n = len(y)
    total = y.copy()
    left = np.arange(n) - 1  # neighbours of a cluster, which is named by its first position
    right = np.arange(n) + 1
    last = np.arange(n)
    stamp = np.zeros(n, dtype=np.int64)  # meetings of an outdated cluster are skipped
    size = 0
    heap_gamma = np.empty(3 * n)
    heap_name = np.empty(3 * n, dtype=np.int64)
    heap_stamp = np.empty(3 * n, dtype=np.int64)
    for a in range(n - 1):
        size = _heap_push(heap_gamma, heap_name, heap_stamp, size, (y[a + 1] - y[a]) / 2.0, a, 0)
    floor = 0.0
    while size > 0:
        gamma, a, when = heap_gamma[0], heap_name[0], heap_stamp[0]
        size = _heap_pop(heap_gamma, heap_name, heap_stamp, size)
        if stamp[a] != when:
            continue
        b = right[a]
        floor = max(floor, gamma)  # monotone in exact arithmetic
        heights[last[a]] = floor
        total[a] += total[b]
        last[a] = last[b]
        right[a] = right[b]
        stamp[b] = -1
        stamp[a] += 1
        if right[a] < n:
            left[right[a]] = a
            size = _heap_push(
                heap_gamma, heap_name, heap_stamp, size, _meeting(total, last, a, right[a]), a,
                stamp[a],
            )  # fmt: skip
        before = left[a]
        if before >= 0:
            stamp[before] += 1
            size = _heap_push(
                heap_gamma, heap_name, heap_stamp, size, _meeting(total, last, before, a), before,
                stamp[before],
            )  # fmt: skip


@njit(cache=True, nogil=True)
def pair_fusions(heights: Floats, order: Ints, out: Floats) -> None:
    """Raise out[i, j] to the γ at which samples i and j are fused in this coordinate too.

    Two positions of the order are one cluster once every gap between them has fused.
    """
    n = len(order)
    for a in range(n):
        highest = 0.0
        i = order[a]
        for b in range(a + 1, n):
            highest = max(highest, heights[b - 1])
            j = order[b]
            if highest > out[i, j]:
                out[i, j] = highest
                out[j, i] = highest


@njit(cache=True, nogil=True)
def _meeting(total: Floats, last: Ints, a: int, b: int) -> float:
    """γ at which the neighbouring clusters named a and b meet."""
    mean_a = total[a] / (last[a] - a + 1)
    mean_b = total[b] / (last[b] - b + 1)
    return (mean_b - mean_a) / (last[b] - a + 1)


@njit(cache=True, nogil=True)
def _heap_push(
    gamma: Floats, name: Ints, stamp: Ints, size: int, g: float, a: int, when: int
) -> int:
    """Add a meeting; return the heap's new size."""
    i = size
    while i > 0 and gamma[(i - 1) // 2] > g:
        up = (i - 1) // 2
        gamma[i], name[i], stamp[i] = gamma[up], name[up], stamp[up]
        i = up
    gamma[i], name[i], stamp[i] = g, a, when
    return size + 1


@njit(cache=True, nogil=True)
def _heap_pop(gamma: Floats, name: Ints, stamp: Ints, size: int) -> int:
    """Take the least meeting off; return the heap's new size."""
    size -= 1
    g, a, when = gamma[size], name[size], stamp[size]
    i = 0
    while 2 * i + 1 < size:
        down = 2 * i + 1
        if down + 1 < size and gamma[down + 1] < gamma[down]:
            down += 1
        if gamma[down] >= g:
            break
        gamma[i], name[i], stamp[i] = gamma[down], name[down], stamp[down]
        i = down
    gamma[i], name[i], stamp[i] = g, a, when
    return size
