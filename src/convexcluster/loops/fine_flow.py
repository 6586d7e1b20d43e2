"""Loops of flows on the edges of many rows: cut off what exceeds capacity, sweep what is left."""

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


@njit(cache=True, nogil=True)
def sweep_flows(
    v: Floats, masses: Floats, edges: Ints, c: Floats, Lam: Floats, sweeps: int
) -> None:
    """Sweep flows over the edges, forwards and backwards, to carry off what they can of v.

    Dual coordinate descent for min ½‖v − M⁻¹DᵀΛ‖²_M subject to ‖λ_l‖ ≤ c_l, v being what ``Lam``
    leaves: λ_l ← Proj(λ_l + (v_i − v_j)/(1/m_i + 1/m_j)). Both are changed in place; each step
    lowers ‖v‖_M.
    """
    r = v.shape[1]
    for sweep in range(sweeps):
        for q in range(len(edges)):
            e = q if sweep % 2 == 0 else len(edges) - 1 - q
            i, j = edges[e, 0], edges[e, 1]
            h = 1.0 / (1.0 / masses[i] + 1.0 / masses[j])
            s = 0.0
            for k in range(r):
                t = Lam[e, k] + h * (v[i, k] - v[j, k])
                s += t * t
            s = np.sqrt(s)
            shrink = 1.0 if s <= c[e] else c[e] / s
            for k in range(r):
                t = shrink * (Lam[e, k] + h * (v[i, k] - v[j, k]))
                step = t - Lam[e, k]
                Lam[e, k] = t
                v[i, k] -= step / masses[i]
                v[j, k] += step / masses[j]
