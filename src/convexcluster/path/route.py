"""Routing: duals inside the clusters, so that the gap of the full problem is known.

Given the clusters of the top level and their centroids C, every sample i of cluster t must have
a_i = C_t: a flow inside the cluster with ‖λ_l‖ ≤ c_l. The duals come down level by level, sweeps
remove what is local, and electrical steps what is not:

    κ_l = w_l · max(1 − ‖λ_l‖/c_l, LEAST_CONDUCTANCE),   L_κ y = m(a − C),
    λ_l ← Proj(λ_l + κ_l (y_i − y_j)).

What is left, R = ½ Σ m‖a − C‖², is the part ``fit`` of the gap. Each step returns the clusters with
what it leaves.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np

from ..loops.routing import (
    best_steps,
    changes,
    conductances,
    edges_inside,
    push,
    residuals,
    stretch,
)
from ..loops.sweeps import DAMPED, sweep
from ..numerics import multigrid
from ..numerics.workspace import Workspace
from ..problem import Floats, Ints
from .halves import HALVED_EDGES, second_half, side_by_side
from .inside import Inside
from .levels import Level
from .top import Clusters

# Passes per level on the way down; level 0, where the residual counts, gets twice as many. Half is
# one direction only: twice as many clusters have to be opened. Twice: an eighth more passes for a
# fifth fewer electrical steps, which is no gain.
DOWN_PASSES = 2

# Passes after an electrical step, which leaves behind what is local and what was clipped. Half:
# more electrical steps, at fifty passes each. Twice: hardly fewer.
AFTER_PASSES = 10

# How much further than the extrapolation the duals of a cluster may go, as a share of the last
# change. Half or twice: no difference; without a limit, flows that capacities bend overshoot.
FURTHER = 0.5

# Steps along the last change that are too short to be worth a pass. Half or twice: no difference,
# for the residual changes by the square of the step.
NO_STEP = 0.02

# Conductance left to a saturated edge, as a share of w: the edge can still turn, and carry flow
# back. Half or twice: no difference; at 0 the system may be singular.
LEAST_CONDUCTANCE = 0.02

# An electrical step is solved to this share of ‖rhs‖². Half or twice: no difference, as clipping
# spoils more than the last digit.
SYSTEM_TOL = 0.01

# Electrical steps in a row. Half or twice: no difference, as steps stall before.
ELECTRICAL_STEPS = 6

# An electrical step that leaves more than this share of the residual has met the capacities. Half:
# good steps end the row. Twice: more steps, which sweeps would beat.
STALLED_STEP = 0.4

# Passes with momentum that polish a residual, at the cost of one electrical step on the same
# clusters. Half: polishing ends before momentum has set in. Twice: a residual that polishing cannot
# remove costs twice as much.
POLISH_PASSES = 48

# How many times the goal a residual may be for polishing to be tried first. Half: more electrical
# steps for residuals that fifty passes would remove. Twice: polishing fails more often.
POLISH_REACH = 10

# Rounds of polishing at the end. What rounds cannot do, opening clusters must, at many times the
# cost. Half or twice: no difference, as rounds succeed or end by POLISH_GAIN before.
POLISH_ROUNDS = 4

# The share of the residual that a round may leave for another round to follow. Half: rounds are
# given up that would have saved an opening. Near 1: rounds that do not reach the goal.
POLISH_GAIN = 0.8

# Share of the goal that clusters may hold together and still be left alone. Half: more clusters
# are worked on for a residual that does not count. Twice: the others must do better than they can,
# and more clusters are opened.
LIGHT = 0.2


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
        level = levels[q]
        above, space = levels[q + 1].Lam, levels[0].spaces[1]
        inside = level.lower(c[q], labels[q], above, space, pool)
        level.refresh(pool)
        parts = two_parts(level, labels[q], len(center), inside)
        if q == 0:
            rescale(level, c[0], labels[0], center, parts, last, pool)
        passes = DOWN_PASSES if q else 2 * DOWN_PASSES
        left = sweep_inside(level, c[q], labels[q], center, parts, goal, passes, pool)
    return left


def rescale(
    level: Level,
    c: Floats,
    labels: Ints,
    center: Floats,
    parts: list[Ints],
    last: Floats,
    pool: Executor | None = None,
) -> None:
    """Go as far from the duals of the γ before as suits each cluster best.

    The extrapolation is exact where a flow is affine in γ and overshoots where capacities bend the
    flow; which of the two holds is known once the centroids are.
    """
    v = level.spaces[0].array("MZ", level.A.shape, np.float64)
    v[:] = 0.0
    given = level.tail, level.head, level.Lam, last, v
    side_by_side(pool, changes, [(*given, part) for part in parts])
    steps = np.clip(best_steps(level.masses, level.A, v, labels, center), -1.0, FURTHER)
    steps[np.abs(steps) < NO_STEP] = 0.0
    if steps.any():
        changed = level.tail, c, level.Lam, last
        side_by_side(pool, stretch, [(*changed, part, labels, steps) for part in parts])
        level.refresh(pool)


def two_parts(level: Level, labels: Ints, count: int, inside: Ints) -> list[Ints]:
    """Edges inside clusters, halved where that pays."""
    if len(inside) < HALVED_EDGES:
        return [inside]
    where = labels[level.tail[inside]]
    second = second_half(np.bincount(where, minlength=count))[where]
    return [part for part in (inside[~second], inside[second]) if len(part)]


def sweep_inside(
    level: Level,
    c: Floats,
    labels: Ints,
    center: Floats,
    parts: list[Ints],
    goal: float,
    passes: int,
    pool: Executor | None = None,
) -> float:
    """Sweep over the edges inside clusters until R ≤ goal, two passes at a time; return R."""
    left = float(residuals(level.masses, level.A, labels, center).sum())
    given = level.tail, level.head, c, level.inv_mass, level.A, level.Lam
    jobs = [(*given, part, 2, np.float64(DAMPED)) for part in parts]
    while left > goal and passes > 0:
        side_by_side(pool, sweep, jobs)
        passes -= 2
        left = float(residuals(level.masses, level.A, labels, center).sum())
    return left


def correct(
    level: Level, c: Floats, clusters: Clusters, goal: float, pool: Executor | None = None
) -> Clusters:
    """Make the residual small on the clusters that carry it, by the cheapest means that works.

    Sweeps with momentum if little is missing, electrical steps while they pay, and sweeps again
    for what the capacities held up.
    """
    if goal < clusters.fit <= POLISH_REACH * goal:
        clusters = polish_inside(level, c, clusters, goal, pool)
    for _ in range(ELECTRICAL_STEPS):
        if clusters.fit <= goal:
            return clusters
        before = clusters.fit
        clusters = electrical_step(level, c, clusters, goal, pool)
        if clusters.fit > STALLED_STEP * before:
            break
    for _ in range(POLISH_ROUNDS):
        before = clusters.fit
        if clusters.fit > goal > 0:
            clusters = polish_inside(level, c, clusters, goal, pool)
        if clusters.fit <= goal or clusters.fit > POLISH_GAIN * before:
            break
    return clusters


def marked_halves(level: Level, labels: Ints, marked: np.ndarray) -> list[np.ndarray]:
    """The marked clusters in two halves of about equally many edges, or in one if they are few."""
    sizes = edges_inside(level.tail, level.head, labels, len(marked))
    second = second_half(np.where(marked, sizes, 0))
    return [half for half in (marked & ~second, marked & second) if half.any()]


def polish_inside(
    level: Level, c: Floats, clusters: Clusters, goal: float, pool: Executor | None = None
) -> Clusters:
    """Sweeps with momentum inside the clusters that carry the residual."""

    def task(part: Inside, stop: float) -> None:
        part.accelerate(stop, POLISH_PASSES)

    return _apart(level, c, clusters, goal, task, pool)


def electrical_step(
    level: Level, c: Floats, clusters: Clusters, goal: float, pool: Executor | None = None
) -> Clusters:
    """One electrical step with the sweeps that follow it."""

    def task(part: Inside, stop: float) -> None:
        w, ends = level.w[part.edges], (part.tail, part.head)
        kappa = conductances(part.c, w, part.every, part.Lam, LEAST_CONDUCTANCE)
        rhs, size = part.demands(), len(part.nodes)
        y = multigrid.solve(size, *ends, kappa, rhs, reduction=SYSTEM_TOL, space=part.space)
        kappa = kappa.astype(y.dtype, copy=False)
        push(*ends, part.c, part.inv_mass, kappa, y, part.Lam, part.A)
        for _ in range(0, AFTER_PASSES, 2):
            if part.loss() <= stop:
                break
            part.sweep(2)

    return _apart(level, c, clusters, goal, task, pool)


def _apart(
    level: Level,
    c: Floats,
    clusters: Clusters,
    goal: float,
    task: Callable[[Inside, float], None],
    pool: Executor | None,
) -> Clusters:
    """Run ``task(part, stop)`` on both halves of the clusters that carry the residual; undo harm.

    Each task brings the loss of its half to ``stop`` if it can.
    """
    labels, center = clusters.labels, clusters.center
    by_cluster = residuals(level.masses, level.A, labels, center)
    marked = heavy(by_cluster, LIGHT * goal)
    rest, carried = float(by_cluster[~marked].sum()), float(by_cluster[marked].sum())

    def one(half: np.ndarray, space: Workspace) -> tuple[Inside, float]:
        part = Inside.of(level, c, labels, center, half, space)
        task(part, float(by_cluster[half].sum()) / carried * (goal - rest))
        return part, part.settle()

    found = side_by_side(pool, one, list(zip(marked_halves(level, labels, marked), level.spaces)))
    left = rest + sum(loss for _, loss in found)
    if left < clusters.fit:
        side_by_side(pool, Inside.put, [(part,) for part, _ in found])
        clusters = replace(clusters, fit=left)
    return clusters


def heavy(by_cluster: Floats, keep: float) -> np.ndarray:
    """Mark the clusters with the largest residuals, so that the others sum to at most ``keep``."""
    order = np.argsort(by_cluster)
    light = np.cumsum(by_cluster[order]) <= keep
    marked = np.ones(len(order), dtype=bool)
    marked[order[light]] = False
    return marked
