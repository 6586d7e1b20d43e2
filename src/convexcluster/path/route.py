"""Routing: duals inside the clusters, so that the gap of the full problem is known.

Given the clusters of the top level and their centroids C, every sample i of cluster t must have
a_i = C_t: a flow inside the cluster with ‖λ_l‖ ≤ c_l. The duals come down level by level, sweeps
remove what is local, and electrical steps what is not:

    κ_l = w_l · max(1 − ‖λ_l‖/c_l, FLOOR),   L_κ y = m(a − C),   λ_l ← Proj(λ_l + κ_l (y_i − y_j)).

What is left, R = ½ Σ m‖a − C‖², is a part of the gap.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from ..loops.clusters import cluster_means
from ..loops.levels import add_rows, lower_duals
from ..loops.routing import (
    best_steps,
    conductances,
    edges_inside,
    push,
    residuals,
    stretch,
    subgraph,
)
from ..loops.sweeps import DAMPED, sweep
from ..numerics import multigrid
from ..problem import Floats, Ints
from .halves import WORTH_HALVING, second_half, side_by_side
from .levels import Level
from .top import Clusters, accelerate

# Sweeps per level on the way down; level 0, where the residual counts, gets twice as many.
SWEEPS = 2

# Sweeps after an electrical step, which leaves behind what is local and what was clipped.
AFTER = 10

# How much further than predicted the duals of a cluster may go, and what is not worth a pass.
FURTHER, NO_STEP = 0.5, 0.02

# Conductance left to a saturated edge: it can still turn, and carry flow back.
FLOOR = 0.02

# An electrical step is solved to this share of ‖rhs‖²: clipping spoils more than the last digit.
ROUGH = 0.01

# A step that leaves more than this share of the residual has met the capacities: stop.
STALLED = 0.4

# Sweeps with momentum that polish a residual, and how many times too large it may be for them to
# be tried first: together they cost as much as one electrical step on the same clusters.
POLISH, NEAR = 48, 10

# Rounds of polishing at the end, each of which must leave at most this share: what they cannot do,
# opening clusters must, at many times the cost.
ROUNDS, GAIN = 4, 0.8

# Electrical steps in a row; each costs as much as some fifty sweeps.
STEPS = 6


def bring_down(
    levels: list[Level],
    c: list[Floats],
    labels: list[Ints],
    center: Floats,
    goal: float,
    last: Floats,
    pool: Executor | None = None,
) -> float:
    """Bring the duals of the top down to level 0; return the residual R there.

    ``last`` are the duals of level 0 at the γ before.
    """
    left = np.inf
    for q in range(len(levels) - 2, -1, -1):
        level, above, link = levels[q], levels[q + 1], levels[q].above
        inside = lower_duals(
            level.tail,
            level.head,
            c[q],
            link.up,
            link.share,
            labels[q],
            level.Lam,
            above.Lam,
            above.before,
        )
        level.refresh()
        if q == 0:
            rescale(level, c[0], labels[0], center, inside, last)
        passes = SWEEPS if q else 2 * SWEEPS
        parts = two_parts(level, labels[q], len(center), inside)
        left = smooth(level, c[q], labels[q], center, parts, goal, passes, pool)
    return left


def rescale(
    level: Level, c: Floats, labels: Ints, center: Floats, inside: Ints, last: Floats
) -> None:
    """Go as far from the duals of the γ before as suits each cluster best.

    The extrapolation is exact where a flow is affine in γ and overshoots where capacities bend it;
    which of them holds is known once the centroids are.
    """
    given = level.tail, level.head, level.masses, level.A, level.Lam, last, inside, labels, center
    steps = np.clip(best_steps(*given), -1.0, FURTHER)
    steps[np.abs(steps) < NO_STEP] = 0.0
    if steps.any():
        stretch(level.tail, c, level.Lam, last, inside, labels, steps)
        level.refresh()


def two_parts(level: Level, labels: Ints, count: int, inside: Ints) -> list[Ints]:
    """Edges inside clusters, halved where that pays."""
    if len(inside) < WORTH_HALVING:
        return [inside]
    where = labels[level.tail[inside]]
    second = second_half(np.bincount(where, minlength=count))[where]
    return [part for part in (inside[~second], inside[second]) if len(part)]


def smooth(
    level: Level,
    c: Floats,
    labels: Ints,
    center: Floats,
    parts: list[Ints],
    goal: float,
    passes: int,
    pool: Executor | None = None,
) -> float:
    """Sweep over the edges inside clusters until R ≤ goal, two passes at a time."""
    left = float(residuals(level.masses, level.A, labels, center).sum())
    damp = np.float64(DAMPED)
    jobs = [
        (level.tail, level.head, c, level.inv_mass, level.A, level.Lam, part, 2, damp)
        for part in parts
    ]
    while left > goal and passes > 0:
        side_by_side(pool, sweep, jobs)
        passes -= 2
        left = float(residuals(level.masses, level.A, labels, center).sum())
    return left


def correct(
    level: Level, c: Floats, clusters: Clusters, goal: float, pool: Executor | None = None
) -> None:
    """Make the residual small on the clusters that carry it, by the cheapest means that works.

    Sweeps with momentum if little is missing, electrical steps while they pay, and sweeps again
    for what the capacities held up.
    """
    if goal < clusters.fit <= NEAR * goal:
        polish_inside(level, c, clusters, goal, pool)
    for _ in range(STEPS):
        if clusters.fit <= goal:
            return
        before = clusters.fit
        clusters.fit = electrical_step(level, c, clusters.labels, clusters.center, goal, pool)
        if clusters.fit > STALLED * before:
            break
    for _ in range(ROUNDS):
        before = clusters.fit
        if clusters.fit > goal > 0:
            polish_inside(level, c, clusters, goal, pool)
        if clusters.fit <= goal or clusters.fit > GAIN * before:
            return


def marked_halves(level: Level, labels: Ints, marked: np.ndarray) -> list[np.ndarray]:
    """The marked clusters in two halves of about equally many edges, or in one if they are few."""
    sizes = edges_inside(level.tail, level.head, labels, len(marked))
    second = second_half(np.where(marked, sizes, 0))
    return [half for half in (marked & ~second, marked & second) if half.any()]


def polish_inside(
    level: Level, c: Floats, clusters: Clusters, goal: float, pool: Executor | None = None
) -> None:
    """Sweeps with momentum inside the clusters that carry the residual.

    In the points a − C the residual is the dual's own loss ½ Σ m‖a − C‖², so that the loop of the
    top level serves here as well.
    """
    labels, center = clusters.labels, clusters.center
    by_cluster = residuals(level.masses, level.A, labels, center)
    marked = heavy(by_cluster, 0.2 * goal)
    rest = float(by_cluster[~marked].sum())
    carried = float(by_cluster[marked].sum())

    def one(half: np.ndarray) -> tuple[Ints, Ints, Level, float]:
        nodes, inside, si, sj = subgraph(level.tail, level.head, labels, half)
        shifted = level.masses[nodes, None] * (level.A[nodes] - center[labels[nodes]])
        Lam = level.Lam[inside]
        add_rows(shifted, si, Lam)
        add_rows(shifted, sj, -Lam)
        part = Level(si, sj, level.w[inside], level.masses[nodes], shifted, Lam)
        part.refresh()
        share = float(by_cluster[half].sum()) / carried
        return nodes, inside, part, accelerate(part, c[inside], share * (goal - rest), POLISH)

    jobs = [(half,) for half in marked_halves(level, labels, marked)]
    found = side_by_side(pool, one, jobs)
    left = rest + sum(loss for *_, loss in found)
    if left < clusters.fit:
        for nodes, inside, part, _ in found:
            level.Lam[inside] = part.Lam
            level.A[nodes] = part.A + center[labels[nodes]]
        clusters.fit = left


def electrical_step(
    level: Level,
    c: Floats,
    labels: Ints,
    center: Floats,
    goal: float,
    pool: Executor | None = None,
) -> float:
    """One electrical step with the sweeps that follow it; undone if it did harm."""
    by_cluster = residuals(level.masses, level.A, labels, center)
    marked = heavy(by_cluster, 0.2 * goal)
    _, balanced = cluster_means(
        level.masses, level.A, labels, len(center)
    )  # what flows inside can reach

    def one(half: np.ndarray) -> tuple[Ints, Ints, Floats, Floats]:
        nodes, inside, si, sj = subgraph(level.tail, level.head, labels, half)
        kappa = conductances(c, level.w, inside, level.Lam, FLOOR)
        rhs = level.masses[nodes, None] * (level.A[nodes] - balanced[labels[nodes]])
        y = multigrid.solve(len(nodes), si, sj, kappa, rhs, reduction=ROUGH)
        kept = nodes, inside, level.Lam[inside], level.A[nodes]
        push(
            level.tail, level.head, c, level.inv_mass, inside, si, sj, kappa, y, level.Lam, level.A
        )
        return kept

    jobs = [(half,) for half in marked_halves(level, labels, marked)]
    kept = side_by_side(pool, one, jobs)
    parts = [inside for _, inside, _, _ in kept]
    left = smooth(level, c, labels, center, parts, goal, AFTER, pool)
    before = float(by_cluster.sum())
    if left > before:
        for nodes, inside, Lam, A in kept:
            level.Lam[inside], level.A[nodes] = Lam, A
        return before
    return left


def heavy(by_cluster: Floats, keep: float) -> np.ndarray:
    """Mark the clusters with the largest residuals, so that the others sum to at most ``keep``."""
    order = np.argsort(by_cluster)
    light = np.cumsum(by_cluster[order]) <= keep
    marked = np.ones(len(order), dtype=bool)
    marked[order[light]] = False
    return marked
