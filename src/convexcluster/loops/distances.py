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


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def nearest_rows(X: Floats, index: Ints, length: Floats, part: int, parts: int) -> None:
    """The k nearest other rows of every row and their distances, both (n, k), nearest first.

    Ties go to the smaller index. The lists come filled with n and infinity. Pairs are looked at in
    tiles of rows, of which this is every one of ``parts`` from the one of number ``part`` on.
    """
    n, last = len(X), index.shape[1] - 1
    for first in range(part * TILE, n, parts * TILE):
        for second in range(first, n, TILE):
            for i in range(first, min(first + TILE, n)):
                x = X[i]
                for j in range(max(second, i + 1), min(second + TILE, n)):
                    y, s = X[j], 0.0
                    for q in range(len(x)):
                        s += abs(x[q] - y[q])
                    if s < length[i, last] or (s == length[i, last] and j < index[i, last]):
                        _insert(s, j, i, index, length)
                    if s < length[j, last] or (s == length[j, last] and i < index[j, last]):
                        _insert(s, i, j, index, length)


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
