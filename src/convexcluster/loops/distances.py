"""Manhattan distances: the nearest of every row, and the lengths of given pairs.

Input are contiguous rows X (n × d). A pair is computed once, from the differences of its rows, so
that both ends have the same distance to the last bit.
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .compile import njit
from .sweeps import SUMS

# Rows of a tile: two tiles of 784 features fill a third of a processor's second cache.
TILE = 32


@njit(cache=True, nogil=True, error_model="numpy")
def _insert(s: float, j: int, i: int, index: Ints, length: Floats) -> None:
    """Put (s, j) into row i of lists that are sorted by length, then by index."""
    place = index.shape[1] - 1
    while place > 0 and (
        s < length[i, place - 1] or (s == length[i, place - 1] and j < index[i, place - 1])
    ):
        index[i, place] = index[i, place - 1]
        length[i, place] = length[i, place - 1]
        place -= 1
    index[i, place] = j
    length[i, place] = s


# Share by which a bound on the distances between two tiles must exceed what it is compared with.
# Sums over thousands of features are off by a hundredth of it.
SLACK = 1e-10


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def nearest_rows(
    X: Floats, number: Ints, index: Ints, length: Floats, part: int, parts: int
) -> None:
    """The k nearest other rows of every row and their distances, both (n, k), nearest first.

    Rows have a ``number`` each, by which they are listed; ties go to the smaller one. The lists
    come filled with n, and with lengths that k rows at least do not exceed, or infinity. Pairs are
    looked at in tiles of rows, of which this is every one of ``parts`` from the one of number
    ``part`` on; with no parts, each tile by itself. Tiles further apart than the last of any of
    their lists are left out.
    """
    n, last = len(X), index.shape[1] - 1
    count = (n + TILE - 1) // TILE
    low, high, worst = np.empty((count, X.shape[1])), np.empty((count, X.shape[1])), np.empty(count)
    for t in range(count):
        low[t], high[t] = X[t * TILE], X[t * TILE]
        worst[t] = length[t * TILE, last]
        for i in range(t * TILE + 1, min(t * TILE + TILE, n)):
            low[t], high[t] = np.minimum(low[t], X[i]), np.maximum(high[t], X[i])
            worst[t] = max(worst[t], length[i, last])
    for a in range(part, count, max(parts, 1)):
        for b in range(a, count if parts else a + 1):
            s = 0.0
            for q in range(X.shape[1]):
                s += max(low[a, q] - high[b, q], low[b, q] - high[a, q], 0.0)
            if s * (1.0 - SLACK) > max(worst[a], worst[b]):
                continue
            for i in range(a * TILE, min(a * TILE + TILE, n)):
                x, own = X[i], number[i]
                for j in range(max(b * TILE, i + 1), min(b * TILE + TILE, n)):
                    y, s = X[j], 0.0
                    for q in range(len(x)):
                        s += abs(x[q] - y[q])
                    other = number[j]
                    if s < length[i, last] or (s == length[i, last] and other < index[i, last]):
                        _insert(s, other, i, index, length)
                    if s < length[j, last] or (s == length[j, last] and own < index[j, last]):
                        _insert(s, own, j, index, length)
            for t in (a, b):
                worst[t] = 0.0
                for i in range(t * TILE, min(t * TILE + TILE, n)):
                    worst[t] = max(worst[t], length[i, last])


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def pair_lengths(X: Floats, first: Ints, second: Ints) -> Floats:
    """Distances of the pairs of rows (first, second)."""
    out = np.empty(len(first))
    for e in range(len(first)):
        x, y, s = X[first[e]], X[second[e]], 0.0
        for q in range(len(x)):
            s += abs(x[q] - y[q])
        out[e] = s
    return out
