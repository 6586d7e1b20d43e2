"""Ward's tree of weighted points by nearest-neighbour chains, in O(k) memory beside the points."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem import Floats, Ints


@njit(cache=True, nogil=True)
def ward_chain(points: Floats, masses: Floats, left: Ints, right: Ints, cost: Floats) -> None:
    """Merge k weighted points; writes k − 1 merges (any order) and their increase of the SSE.

    Merging s and t raises the SSE by m_s m_t/(m_s + m_t) ‖c_s − c_t‖². Ward is reducible, so that
    any pair of mutual nearest neighbours may be merged at once (Murtagh 1983). A merged cluster
    keeps the slot of its second member; ``left`` and ``right`` are slots, not tree nodes.
    """
    k, r = points.shape
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
                low = 0.0
                for q in range(r):
                    low += (points[s, q] - points[best, q]) ** 2
                low *= masses[s] * masses[best] / (masses[s] + masses[best])
            for position in range(n_active):
                t = active[position]
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
        for q in range(r):
            points[t, q] = (masses[s] * points[s, q] + masses[t] * points[t, q]) / total
        masses[t] = total
        n_active -= 1
        last = active[n_active]
        active[place[s]] = last
        place[last] = place[s]
