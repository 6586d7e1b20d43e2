"""Rows → weighted points, by two passes over their blocks: cells first, then sums in every cell.

    scan     block → at most ``budget`` weighted points and a uniform sample; united in a tree
    measure  block → per cell Σm, mean and scatter of z, farthest row from the centre, and τ²

Input: :class:`~convexcluster.rows.Rows`. Output: :class:`~convexcluster.points.Points`, the cells
with mass, mean and scatter of each in the embedding, and what the embedding loses over all rows.

Each step is a pure function of its block and of constants, and random choices are seeded by the
number of the block, so that a step that is run again on another machine gives the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise

import numpy as np

from ..embedding import Embedding
from ..embedding.projector import Projector
from ..kernels import Kernel
from ..problem import Floats, Ints
from ..rows import Rows
from .cells import Cells, Summary, add, cells_of, condense, summarise, unite
from .error import CoarseningError
from .points import Points

# Rows from which landmarks are taken: pivots are drawn where the kernel is not yet covered, and
# twenty times as many rows as landmarks leave nothing of note uncovered.
SAMPLE_ROWS = 10_000

# Rows whose neighbour distances give the automatic bandwidth. Neighbour distances shrink as rows
# are added; between a fixed number of rows they do not depend on n.
BANDWIDTH_ROWS = 2_000

# A cell that is cut finer becomes up to this many; its scatter falls by about this factor in 2-D.
PIECES = 4

# Sets our random numbers apart from those of a user who made the data from the same seed: with
# equal streams the rows of least key would all be of the same cluster.
STREAM = 0x636F6172


@dataclass(frozen=True, slots=True)
class Scan:
    """What the first pass leaves: weighted points in the input space, and some rows as they are.

    Attributes
    ----------
    cells : Summary
        In the input space.
    sample : ndarray of shape (s, d)
        Rows drawn without replacement, each with equal probability.
    keys : ndarray of shape (s,)
        Their random keys: the sample holds the rows with the least keys.
    """

    cells: Summary
    sample: Floats
    keys: Floats


def scan_block(X: Floats, masses: Floats, b: int, *, budget: int, sample: int, seed: int) -> Scan:
    """First pass over one block."""
    if len(X) == 0:
        nothing = Summary(np.empty(0), np.empty((0, X.shape[1])), np.empty(0))
        return Scan(nothing, X, np.empty(0))
    keys = np.random.default_rng([STREAM, seed, b]).random(len(X))
    least = np.argsort(keys, kind="stable")[:sample]
    return Scan(condense(X, budget, masses)[1], X[least], keys[least])


def join_scans(parts: Sequence[Scan], *, budget: int, sample: int) -> Scan:
    """Unite the cells, and keep the rows with the least keys."""
    keys = np.concatenate([p.keys for p in parts])
    rows = np.concatenate([p.sample for p in parts])
    least = np.argsort(keys, kind="stable")[:sample]
    return Scan(unite([p.cells for p in parts], budget), rows[least], keys[least])


@dataclass(frozen=True, slots=True)
class Measure:
    """What the second pass leaves.

    Attributes
    ----------
    cells : Summary
        In the embedding.
    means : ndarray of shape (G, d)
        Of the rows of each cell, in the input space.
    reach : ndarray of shape (G,)
        Greatest distance of a row's z from that of the cell's centre.
    lost : float
        τ².
    """

    cells: Summary
    means: Floats
    reach: Floats
    lost: float


# Rows embedded at a time: features and Z of 2¹³ rows with 500 landmarks are 64 MB.
EMBED_ROWS = 8_192


def measure_block(
    X: Floats, masses: Floats, b: int, *, cells: Cells, projector: Projector
) -> Measure:
    """Second pass over one block."""
    from ..loops.cells import add_rows, farthest

    labels = cells.assign(X)
    anchors = projector(cells.centres)[0]
    sums = Summary(np.zeros(cells.count), np.zeros_like(anchors), np.zeros(cells.count))
    reach = np.zeros(cells.count)
    lost = 0.0
    for s in range(0, len(X), EMBED_ROWS):
        Z, missing = projector(X[s : s + EMBED_ROWS])
        here, m = labels[s : s + EMBED_ROWS], masses[s : s + EMBED_ROWS]
        add_rows(Z, m, here, sums.masses, sums.means, sums.scatter)
        farthest(Z, here, anchors, reach)
        lost += float(m @ missing)
    return Measure(sums, summarise(X, labels, cells.count, masses).means, reach, lost)


def join_measures(parts: Sequence[Measure]) -> Measure:
    """Sums of sums, greatest of greatest."""
    cells = add([p.cells for p in parts])
    safe = np.where(cells.masses > 0, cells.masses, 1.0)
    means = sum(p.cells.masses[:, None] * p.means for p in parts) / safe[:, None]
    reach = np.max([p.reach for p in parts], axis=0)
    return Measure(cells, np.asarray(means), reach, sum(p.lost for p in parts))


def refine_block(
    X: Floats, masses: Floats, b: int, *, cells: Cells, bad: Ints, pieces: int
) -> list[Summary]:
    """Weighted points of the rows in each of the cells ``bad``, at most ``pieces`` from a block."""
    labels = cells.assign(X)
    rank = np.full(cells.count, -1, dtype=np.int64)
    rank[bad] = np.arange(len(bad))
    mine = rank[labels]
    order = np.argsort(mine, kind="stable")
    bounds = np.searchsorted(mine[order], np.arange(len(bad) + 1))
    empty = Summary(np.empty(0), np.empty((0, X.shape[1])), np.empty(0))
    return [
        condense(X[order[start:end]], pieces, masses[order[start:end]])[1] if end > start else empty
        for start, end in pairwise(bounds)
    ]


def join_refinements(parts: Sequence[list[Summary]], *, pieces: int) -> list[Summary]:
    """Unite the weighted points cell by cell."""
    return [unite(group, pieces) for group in zip(*parts)]


def make_cells(
    rows: Rows,
    budget: int,
    kernel_of: Callable[[Floats], Kernel],
    embed: Callable[[Floats, Kernel], Embedding],
    *,
    seed: int = 0,
) -> tuple[Points, Floats]:
    """Two passes over the rows: at most ``budget`` cells, and their sums in the embedding.

    Parameters
    ----------
    rows : Rows
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
    Points
    sample : ndarray of shape (s, d)
        Rows drawn with equal probability, in random order.
    """
    scan = rows.reduce(
        partial(scan_block, budget=budget, sample=SAMPLE_ROWS, seed=seed),
        partial(join_scans, budget=budget, sample=SAMPLE_ROWS),
    )
    kernel = kernel_of(scan.sample[:BANDWIDTH_ROWS])  # the sample is in random order
    embedding = embed(scan.sample, kernel)
    cells = cells_of(scan.cells.means, scan.cells.masses)
    per_mass = embedding.trace_error / len(embedding.Z)
    return _measured(rows, cells, embedding, per_mass), scan.sample


def placed(projector: Projector, sums: Summary, lost: float, per_mass: float) -> Embedding:
    """The embedding of the groups of rows that are summed up; ``lost`` is τ² of all rows.

    Where the projector does not measure it, ``per_mass`` of the sample is scaled up to all rows.
    """
    whole = float(sums.masses.sum())
    mean = sums.masses @ sums.means / whole
    return replace(
        projector.embedding,
        Z=sums.means,
        trace_error=lost if projector.measures else per_mass * whole,
        variances=sums.masses @ (sums.means - mean) ** 2,
        index=None,
    )


def cut_finer(rows: Rows, points: Points, error: CoarseningError, budget: int) -> Points:
    """Cut the worst cells in up to four, as many as ``budget`` more cells allow.

    The worst are those with the largest ‖V_g‖, and no more of them than carry nine tenths of ‖V‖².
    """
    assert points.cells is not None
    assert points.position is not None
    order = np.argsort(-error.per_cell, kind="stable")
    carried = np.cumsum(error.per_cell[order] ** 2)
    most = min(int(np.searchsorted(carried, 0.9 * carried[-1])) + 1, budget // (PIECES - 1))
    worst = order[: max(most, 0)]
    if len(worst) == 0 or error.total == 0:
        return points
    bad = np.flatnonzero(np.isin(points.position, worst))
    pieces = rows.reduce(
        partial(refine_block, cells=points.cells, bad=bad, pieces=PIECES),
        partial(join_refinements, pieces=PIECES),
    )
    keep = np.setdiff1d(np.arange(points.cells.count), bad)
    centres = np.concatenate([points.cells.centres[keep], *(p.means for p in pieces)])
    per_mass = points.embedding.trace_error / float(points.masses.sum())
    return _measured(rows, cells_of(centres), points.embedding, per_mass)


def _measured(rows: Rows, cells: Cells, embedding: Embedding, per_mass: float) -> Points:
    """Second pass; ``per_mass`` is the trace lost per unit of mass where it is not measured."""
    projector = Projector.of(embedding)
    measure: Measure = rows.reduce(
        partial(measure_block, cells=cells, projector=projector), join_measures
    )
    full = np.flatnonzero(measure.cells.masses > 0)
    position = np.full(cells.count, -1, dtype=np.int64)
    position[full] = np.arange(len(full))
    if len(full) < cells.count:
        stand_in = cells_of(np.ascontiguousarray(cells.centres[full]))
        empty = position < 0
        position[empty] = stand_in.assign(cells.centres[empty])
    sums = measure.cells.occupied()
    points = Points(
        X=measure.means[full],
        masses=sums.masses,
        embedding=placed(projector, sums, measure.lost, per_mass),
        cells=cells,
        position=position,
        scatter=sums.scatter,
        diameters=2.0 * measure.reach[full],
    )
    if rows.X is None:
        return points
    return replace(points, index=np.concatenate(list(rows.map(points.assign))))
