"""The grid of γ: geometric, from where almost nothing has fused to where everything has.

Where more than half of the clusters merge within one step, it is refined.

Its upper end is the capacity that the electrical flow needs (graph.widest), which is at or above
the γ of full fusion; its lower end lies where the strongest edges cannot have fused yet.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..graph import edge_lengths, widest
from ..problem import Floats, Ints, Problem

# Decades from the upper end down to the first γ. Half: merges of dense clusters fall below the grid
# and come in one step. Twice: half of the grid lies where nothing happens.
DECADES = 6.0

# A step is halved if fewer than this share of the clusters are left after it. Half: merges by the
# hundred stay in one step. Near 1: every step is halved.
RUSH = 0.5

# Steps of a smaller ratio are not halved. Half as far from 1: in dense graphs, where nearly all
# samples fuse within a few per cent of γ, the γ there take most of the time, at tens of times that
# of others. Twice as far: merges by the hundred stay in one step.
FINEST = 1.05

# Share of the grid's length that halving may add. Half or twice: so is the time that it costs.
EXTRA = 0.25


# γ to a decade of a grid for cells: steps of 1.4, as in a path on rows. Half as many merge several
# clusters in a step; twice as many take twice the time.
PER_DECADE = 6.5

# Fewest γ of a grid for cells: fewer do not tell the order of the merges.
LEAST_GAMMAS = 20


def automatic(Z: Floats, edges: Ints, weights: Floats, masses: Floats, count: int) -> Floats:
    """Geometric grid of ``count`` γ up to full fusion.

    The first γ is the greater of two bounds: DECADES below the last one, and half of the least γ
    at which any edge can be fused (:func:`earliest`).
    """
    top = widest(Z, edges, weights, masses)
    if top == 0:
        return np.array([1.0])
    first = max(0.5 * float(earliest(Z, edges, weights, masses).min()), top * 10**-DECADES)
    return np.geomspace(min(first, 0.5 * top), top, count)


def grid_of_cells(problem: Problem) -> Floats:
    """γ of the path on cells: from half the γ before which half of the edges cannot fuse.

    Clusters far apart fuse many decades after the points inside them, so a grid that is fixed
    decades long may set in when all that is of interest has fused; and the few points that are
    nearly equal say nothing about its start.
    """
    parts = problem.Z, problem.edges, problem.weights, problem.masses
    top = widest(*parts)
    if top == 0:
        return np.array([1.0])
    first = 0.5 * min(float(np.median(earliest(*parts))), top) or 1e-6 * top
    return np.geomspace(first, top, max(int(PER_DECADE * np.log10(top / first)), LEAST_GAMMAS))


def earliest(Z: Floats, edges: Ints, weights: Floats, masses: Floats) -> Floats:
    """γ before which each edge cannot fuse.

    Two samples meet only after each has moved, and a sample moves by at most γ Σ w / m, so that
    edge l does not fuse before ‖z_i − z_j‖ / (s_i + s_j), s = Σ w / m.
    """
    i, j = edges.T
    speed = (np.bincount(i, weights, len(Z)) + np.bincount(j, weights, len(Z))) / masses
    return edge_lengths(Z, edges) / (speed[i] + speed[j])


def halfway(before: float, gamma: float, k_before: int, k: int) -> float | None:
    """A γ between two steps if clusters merged in a rush between them; None if none is needed."""
    if k >= RUSH * k_before or gamma <= FINEST * before:
        return None
    return float(np.sqrt(before * gamma))


def check_gammas(gammas: ArrayLike) -> Floats:
    """The user's grid: finite, positive, ascending, without repeats."""
    try:
        grid = np.asarray(gammas, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"gammas must be numbers, got {gammas!r}") from None
    if grid.ndim != 1 or len(grid) == 0:
        raise ValueError("gammas must be a sequence of at least one γ")
    if not np.isfinite(grid).all() or (grid < 0).any():
        raise ValueError("gammas must be finite and ≥ 0")
    return np.unique(grid)
