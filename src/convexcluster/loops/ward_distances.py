"""Squared distances that saturate, and Ward's tree of weighted points known by such distances."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem import Floats, Ints


@njit(cache=True, nogil=True)
def ward_matrix(D: Floats, masses: Floats, left: Ints, right: Ints, cost: Floats) -> None:
    """Merge k weighted points; writes k − 1 merges (any order) and their increase of the SSE.

    ``D`` holds squared distances and is overwritten, ``masses`` too. Lance and Williams: the
    squared distance from the mean of s and t to q is

        (m_s D_sq + m_t D_tq)/(m_s + m_t) − m_s m_t D_st/(m_s + m_t)².

    Nearest-neighbour chains; a merged cluster keeps the slot of its second member, and ``left`` and
    ``right`` are slots, not tree nodes.
    """
    k = len(masses)
    active = np.arange(k)
    place = np.arange(k)
    n_active = k
    chain = np.empty(k, dtype=np.int64)
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
            low = np.inf
            if best >= 0:
                low = D[s, best] * (masses[s] * masses[best] / (masses[s] + masses[best]))
            for position in range(n_active):
                t = active[position]
                if t != s:
                    # equal to the last bit from either end: ties would cycle otherwise
                    value = D[s, t] * (masses[s] * masses[t] / (masses[s] + masses[t]))
                    if value < low:
                        low = value
                        best = t
            if length > 1 and best == chain[length - 2]:
                break
            if length == n_active:  # round-off made the chain cycle: merge its end, begin anew
                stuck = True
                break
            chain[length] = best
            length += 1
        s, t = chain[length - 1], chain[length - 2]
        length = 0 if stuck else length - 2
        left[step], right[step], cost[step] = s, t, low
        total = masses[s] + masses[t]
        share = masses[s] / total
        between = share * (1 - share) * D[s, t]
        for position in range(n_active):
            q = active[position]
            if q not in (s, t):
                value = max(share * D[s, q] + (1 - share) * D[t, q] - between, 0.0)
                D[t, q] = value
                D[q, t] = value
        masses[t] = total
        n_active -= 1
        last = active[n_active]
        active[place[s]] = last
        place[last] = place[s]


@njit(cache=True, nogil=True)
def add_saturated(gram: Floats, share: float, width: float, out: Floats) -> None:
    """out += share·(1 − exp(−d²/width)), d² = G_ii + G_jj − 2G_ij at least 0."""
    n = len(gram)
    for i in range(n):
        for j in range(i):
            d = max(gram[i, i] + gram[j, j] - 2 * gram[i, j], 0.0)
            d = -share * np.expm1(-d / width)
            out[i, j] += d
            out[j, i] += d
