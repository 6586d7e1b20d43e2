"""Rows → at most ``budget`` weighted points in the embedding, by two passes over their blocks.

Input: an :class:`~convexcluster.streaming.Engine` over blocks of rows. Output: :class:`Coarse`, the
cells, mass, mean and scatter of each in the embedding, and what the embedding loses over all rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from .coarse_error import CoarseningError
from .coarsen import Cells, Summary, cells_of
from .embedding import Embedding
from .kernels import Kernel
from .problem import Floats, Ints
from .streaming import (
    Engine,
    Measure,
    Projector,
    join_measures,
    join_refinements,
    join_scans,
    measure_block,
    refine_block,
    scan_block,
)

# Rows from which landmarks are taken: pivots are drawn where the kernel is not yet covered, and
# twenty times as many rows as landmarks leave nothing of note uncovered.
SAMPLE = 10_000

# The automatic bandwidth is a neighbour distance, which shrinks as rows are added. It is taken
# between this many rows, so that it does not depend on n.
BANDWIDTH_ROWS = 2_000

# A refined cell becomes up to this many; its scatter falls by about this factor in 2-D.
PIECES = 4


@dataclass(frozen=True)
class Coarse:
    """Cells, their embedding, and how rows get to them.

    Attributes
    ----------
    cells : Cells
        Row → cell.
    position : ndarray of shape (G,)
        Cell → weighted point: cells in which no row fell share the point of the nearest one.
    points : Summary
        Masses, means in the embedding, and scatter of the weighted points.
    X : ndarray of shape (g, d)
        Means of the rows of each weighted point.
    diameters : ndarray of shape (g,)
        Upper bound on the distance between two rows of a point, in the embedding.
    embedding : Embedding
        With Z the means, and τ² of all rows as ``trace_error``.
    kernel : Kernel
    """

    cells: Cells
    position: Ints
    points: Summary
    X: Floats
    diameters: Floats
    embedding: Embedding
    kernel: Kernel

    def assign(self, X: Floats) -> Ints:
        """Weighted point of every row."""
        return self.position[self.cells.assign(X)]

    @property
    def spread(self) -> float:
        """Σ m‖z − z̄‖² over all rows: between the weighted points, and inside them."""
        points = self.points
        mean = points.masses @ points.means / points.masses.sum()
        between = float(points.masses @ ((points.means - mean) ** 2).sum(axis=1))
        return between + float(points.scatter.sum())


def coarsen_rows(
    engine: Engine,
    budget: int,
    kernel_of: Callable[[Floats], Kernel],
    embed: Callable[[Floats, Kernel], Embedding],
    *,
    seed: int = 0,
) -> tuple[Coarse, Floats]:
    """Two passes over the rows.

    Parameters
    ----------
    engine : Engine
    budget : int
        Most cells.
    kernel_of : callable
        The kernel, given some rows (for an automatic bandwidth).
    embed : callable
        ``embed(rows, kernel)`` on a sample of rows; the rest is placed by ``transform``.
    seed : int
        Of the sample.

    Returns
    -------
    Coarse
    sample : ndarray of shape (s, d)
        Rows drawn with equal probability, in random order.
    """
    scan = engine.reduce(
        partial(scan_block, budget=budget, sample=SAMPLE, seed=seed),
        partial(join_scans, budget=budget, sample=SAMPLE),
    )
    kernel = kernel_of(scan.sample[:BANDWIDTH_ROWS])  # the sample is in random order
    embedding = embed(scan.sample, kernel)
    cells = cells_of(scan.cells.means, scan.cells.masses)
    per_mass = embedding.trace_error / len(embedding.Z)
    return _measured(engine, cells, embedding, kernel, per_mass), scan.sample


def refine(engine: Engine, coarse: Coarse, error: CoarseningError, budget: int) -> Coarse:
    """Cut the worst cells in up to four, as many as ``budget`` more cells allow.

    The worst are those with the largest ‖V_g‖, and no more of them than carry nine tenths of ‖V‖².
    """
    order = np.argsort(-error.per_cell, kind="stable")
    carried = np.cumsum(error.per_cell[order] ** 2)
    most = min(int(np.searchsorted(carried, 0.9 * carried[-1])) + 1, budget // (PIECES - 1))
    worst = order[: max(most, 0)]
    if len(worst) == 0 or error.total == 0:
        return coarse
    bad = np.flatnonzero(np.isin(coarse.position, worst))
    pieces = engine.reduce(
        partial(refine_block, cells=coarse.cells, bad=bad, pieces=PIECES),
        partial(join_refinements, pieces=PIECES),
    )
    keep = np.setdiff1d(np.arange(coarse.cells.count), bad)
    centres = np.concatenate([coarse.cells.centres[keep], *(p.means for p in pieces)])
    per_mass = coarse.embedding.trace_error / float(coarse.points.masses.sum())
    return _measured(engine, cells_of(centres), coarse.embedding, coarse.kernel, per_mass)


def _measured(
    engine: Engine, cells: Cells, embedding: Embedding, kernel: Kernel, per_mass: float
) -> Coarse:
    """Second pass; ``per_mass`` is the trace lost per unit of mass where it is not measured."""
    projector = Projector.of(embedding)
    measure: Measure = engine.reduce(
        partial(measure_block, cells=cells, projector=projector), join_measures
    )
    full = np.flatnonzero(measure.cells.masses > 0)
    position = np.full(cells.count, -1, dtype=np.int64)
    position[full] = np.arange(len(full))
    if len(full) < cells.count:
        stand_in = cells_of(np.ascontiguousarray(cells.centres[full]))
        empty = position < 0
        position[empty] = stand_in.assign(cells.centres[empty])
    points = measure.cells.occupied()
    mean = points.masses @ points.means / points.masses.sum()
    if projector.measures:
        lost = measure.lost
    else:  # known from the sample alone: scale it up to all rows
        lost = per_mass * float(points.masses.sum())
    placed = replace(
        projector.embedding,
        Z=points.means,
        trace_error=lost,
        variances=points.masses @ (points.means - mean) ** 2,
        index=None,
    )
    return Coarse(
        cells, position, points, measure.means[full], 2.0 * measure.reach[full], placed, kernel
    )
