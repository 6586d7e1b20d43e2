"""The grid of γ: geometric, from where almost nothing has fused to where everything has.

Where more than half of the clusters merge within one step, it is refined.

Its upper end is the capacity that the electrical flow needs (graph.gamma_range), which is at or
above the γ of full fusion; its lower end lies where the strongest edges cannot have fused yet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..graph import gamma_range
from ..problem import Floats, Ints

# Below this share of the upper end nothing is worth a γ of its own: the peers' paths start here.
DECADES = 6.0

# An automatic step across which fewer than this share of the clusters are left is halved, down to a
# ratio of FINEST; a quarter of the grid's length may be added so.
RUSH, FINEST, EXTRA = 0.5, 1.01, 0.25


def automatic(Z: Floats, edges: Ints, weights: Floats, masses: Floats, count: int) -> Floats:
    """Geometric grid of ``count`` γ up to full fusion.

    The first γ is the greater of two bounds: DECADES below the last one, and half of the least γ
    at which any edge can be fused. Two samples meet only after each has moved, and a sample moves
    by at most γ Σ w / m, so no edge fuses before min_l ‖z_i − z_j‖ / (s_i + s_j), s = Σ w / m.
    """
    _, top = gamma_range(Z, edges, weights, masses)
    if top == 0:
        return np.array([1.0])
    i, j = edges.T
    speed = (np.bincount(i, weights, len(Z)) + np.bincount(j, weights, len(Z))) / masses
    meet = np.linalg.norm(Z[i] - Z[j], axis=1) / (speed[i] + speed[j])
    first = max(0.5 * float(meet.min()), top * 10**-DECADES)
    return np.geomspace(min(first, 0.5 * top), top, count)


def halfway(before: float, gamma: float, k_before: int, k: int) -> float | None:
    """A γ between two steps if clusters merged in a rush between them; None if none is needed."""
    if k >= RUSH * k_before or gamma <= FINEST * before:
        return None
    return float(np.sqrt(before * gamma))


def check_gammas(gammas: ArrayLike) -> Floats:
    """The user's grid: finite, positive, ascending, without repeats."""
    grid = np.asarray(gammas, dtype=np.float64)
    if grid.ndim != 1 or len(grid) == 0:
        raise ValueError("gammas must be a sequence of at least one γ")
    if not np.isfinite(grid).all() or (grid < 0).any():
        raise ValueError("gammas must be finite and ≥ 0")
    return np.unique(grid)
