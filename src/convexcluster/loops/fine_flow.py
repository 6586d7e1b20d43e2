"""Loop of flows on the edges of many rows: cut off what exceeds capacity."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem import Floats, Ints


@njit(cache=True, nogil=True)
def cut_off(
    Y: Floats, conductance: Floats, c: Floats, edges: Ints, left: Floats, ratio: Floats
) -> None:
    """Take the flow κ_l(y_i − y_j), shortened to c_l where it is longer, off ``left``; in place.

    ``ratio`` becomes the length of the flow before, over c_l.
    """
    r = Y.shape[1]
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        s = 0.0
        for k in range(r):
            t = Y[i, k] - Y[j, k]
            s += t * t
        ratio[e] = conductance[e] * np.sqrt(s) / c[e]
        share = conductance[e] / max(ratio[e], 1.0)
        for k in range(r):
            t = share * (Y[i, k] - Y[j, k])
            left[i, k] -= t
            left[j, k] += t
