"""Fewer dimensions: rotate to the span of the means of what has fused, and freeze the rest.

Once clusters have fused, their centroids lie (almost) in the span of the cluster means, which has
at most k dimensions. Let Q be an orthonormal basis of it and N of its complement. Duals inside
clusters are split into λQ, which goes on, and the frozen λN, which has to carry what the samples
differ by across N; the capacity that is left is c_eff = √(c² − ‖λN‖²). The residual across N stays
in the gap:

    G = G_Q(c_eff) + ½ Σ ‖(Σ m z − DᵀΛ) N‖²/m.

Before anything has fused the same formula with λN = 0 truncates Z to its principal axes.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from ..loops.sweeps import dual_loss
from ..numerics.axes import gram_axes, leading_axes
from ..problem import Floats, Ints
from .halves import in_ranges
from .levels import ROWS, Level
from .route import correct
from .top import WIDE, measure

# The share of the dimensions that may be left for a rotation to pay, which costs a pass over all
# duals. Half: sweeps run in twice the dimensions that they need. At 0.9: many rotations that save
# little.
WORTH = 0.65

# Up to this many dimensions nothing is rotated: a sweep is bound by memory access there. Half: a
# rotation saves nothing. Twice: sweeps in eight dimensions take a third longer than in four.
LOW = 4

# Share of the allowed gap that a truncation of Z may cost. Half: a few more axes. Twice: routing
# has a tenth less room.
TRUNCATE = 0.1

# Share of the allowed gap that the means may hold across the axes that are dropped. Half: axes of
# noise are kept. Twice: the centroids of the top bear an error that routing has to make good.
EMPTY = 0.03

# Share of the allowed gap that all frozen residuals together may cost. Half: rotations are refused
# that would pay. Twice: clusters are opened for want of room.
FROZEN = 0.2


@dataclass(frozen=True, slots=True)
class Frozen:
    """What a rotation leaves behind: basis Q (r, s), ‖λN‖² per edge, and the residual across N."""

    Q: Floats
    used: Floats
    residual: float


def principal(MZ: Floats, masses: Floats, drop: float) -> tuple[Floats, float]:
    """Basis (r, s) of the principal axes of Z; the part left out is ≤ ``drop``.

    Returns the basis and ½ Σ m‖z − Pz‖².
    """
    half = MZ / np.sqrt(masses)[:, None]
    found = leading_axes(half, 2.0 * drop)
    return found.Q, 0.5 * max(float((half**2).sum()) - float(found.values[::-1].sum()), 0.0)


def span(top: Level) -> Floats | None:
    """Orthonormal basis (r, s) of the nodes' means, or None if it would be hardly fewer columns.

    Centroids of the top, and the best duals, lie in it: nothing is lost above the clusters.
    """
    k, r = top.MZ.shape
    if k <= WIDE or k > WORTH * r:  # of fewer clusters sweeps cost nothing in any dimension
        return None
    return np.ascontiguousarray(np.linalg.qr(top.MZ.T)[0])


def freeze(
    base: Level,
    top: Level,
    node: Ints,
    inside: np.ndarray,
    c: Floats,
    allowed: float,
    pool: Executor | None = None,
) -> Frozen | None:
    """Find the span of the means of ``top`` and route what samples differ by across its complement.

    ``node`` is the node of ``top`` that holds each sample, and ``inside`` marks the edges of
    ``base`` within nodes. Returns None if a rotation does not pay or would cost too much of the
    allowed gap.
    """
    r = base.MZ.shape[1]
    if r <= LOW:
        return None
    means = gram_axes(top.MZ.T @ (top.MZ * top.inv_mass[:, None]), 2.0 * EMPTY * allowed)
    Q, N = means.Q, means.N
    if Q.shape[1] > WORTH * r:
        return None
    edges = np.flatnonzero(inside)
    frozen = base.duals.spare.array("copy", (len(edges), N.shape[1]), np.float64)
    along = np.empty(len(edges))

    def split(start: int, stop: int) -> None:
        for s in range(start, stop, ROWS):
            few = slice(s, min(s + ROWS, stop))
            Lam = base.Lam[edges[few]]
            np.matmul(Lam, N, out=frozen[few])
            along[few] = ((Lam @ Q) ** 2).sum(axis=1)

    in_ranges(pool, split, len(edges), len(edges) * r)
    ends = base.tail[edges], base.head[edges]
    across = Level.of(*ends, base.w[edges], base.masses, base.MZ @ N, frozen)
    across.spaces = base.spaces  # nothing is worked on inside the clusters of ``base`` meanwhile
    across.refresh(pool)
    room = np.sqrt(np.maximum(c[edges] ** 2 - along, 0.0))
    none = np.zeros((top.n, N.shape[1]))  # the means have nothing across N
    found = measure(across, room, node, none)
    found = correct(across, room, found, FROZEN * allowed, pool)
    if found.fit > FROZEN * allowed:
        return None
    used = np.zeros(len(base.tail))
    for s in range(0, len(edges), ROWS):
        used[edges[s : s + ROWS]] = (across.Lam[s : s + ROWS] ** 2).sum(axis=1)
    return Frozen(Q, used, dual_loss(across.masses, across.A))
