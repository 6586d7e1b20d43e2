"""Loops of the coarsening: bisect rows into cells, walk to the nearest centre, sum up cells.

Rows come as contiguous float32, already centred: which cell a row falls in is free to choose (the
certificate holds for any assignment), so half the memory costs nothing. Every sum that enters a
certificate is float64.
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .compile import njit

Rows = np.ndarray  # (n, d), float32, C-contiguous

# Sums may be reordered for SIMD; NaN and infinity keep their meaning (no "nnan", no "ninf").
SIMD = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=SIMD)
def _spread(
    X: Rows, masses: Floats, order: Ints, start: int, end: int, mean: Floats, spread: Floats
) -> float:
    """Mass, mean and mass-weighted squared spread per coordinate of the rows order[start:end]."""
    d = X.shape[1]
    mean[:] = 0.0
    spread[:] = 0.0
    mass = 0.0
    for p in range(start, end):
        i = order[p]
        m = masses[i]
        mass += m
        for k in range(d):
            mean[k] += m * X[i, k]
    for k in range(d):
        mean[k] /= mass
    for p in range(start, end):
        i = order[p]
        m = masses[i]
        for k in range(d):
            t = X[i, k] - mean[k]
            spread[k] += m * t * t
    return mass


@njit(cache=True, nogil=True)
def _push(heap: Ints, size: int, weight: Floats, p: int) -> int:
    """Put node p on a heap of nodes with the heaviest first; the new size."""
    k = size
    while k > 0 and weight[heap[(k - 1) // 2]] < weight[p]:
        heap[k] = heap[(k - 1) // 2]
        k = (k - 1) // 2
    heap[k] = p
    return size + 1


@njit(cache=True, nogil=True)
def _pop(heap: Ints, size: int, weight: Floats) -> int:
    """Take the heaviest node off; the heap has one node less."""
    top = heap[0]
    last = heap[size - 1]
    k = 0
    while True:
        child = 2 * k + 1
        if child >= size - 1:
            break
        if child + 1 < size - 1 and weight[heap[child + 1]] > weight[heap[child]]:
            child += 1
        if weight[heap[child]] <= weight[last]:
            break
        heap[k] = heap[child]
        k = child
    heap[k] = last
    return top


@njit(cache=True, nogil=True)
def bisect(X: Rows, masses: Floats, budget: int) -> tuple[Ints, Ints, Rows, Ints, Ints]:
    """Cut the heaviest cell at its mean, across its widest coordinate, until ``budget`` cells.

    A cell weighs mass × √(rms radius), between equal masses, which leave sparse regions to few wide
    cells, and mass × radius, which leaves too few cells to tell small dense clusters apart; one
    whose rows are all equal weighs 0 and is never cut. Returns the cell of every row and the tree
    of cuts: node p sends x to ``left[p]`` if x[axis[p]] ≤ cut[p], otherwise to ``right[p]``; a leaf
    has axis −1 and its cell in ``left[p]``.
    """
    n, d = X.shape
    size = 2 * budget - 1
    axis = np.full(size, -1, np.int64)
    cut = np.zeros(size, np.float32)
    left = np.zeros(size, np.int64)
    right = np.zeros(size, np.int64)
    starts = np.zeros(size, np.int64)
    ends = np.zeros(size, np.int64)
    order = np.arange(n)
    mean = np.empty(d)
    spread = np.empty(d)
    widest = np.zeros(size, np.int64)
    middle = np.zeros(size, np.float32)

    weight = np.zeros(size)
    heap = np.zeros(size, np.int64)
    waiting = 0  # nodes on the heap

    ends[0] = n
    nodes = 1
    cells = 1
    measured = 0  # nodes below have their weight
    while True:
        for p in range(measured, nodes):
            mass = _spread(X, masses, order, starts[p], ends[p], mean, spread)
            total = 0.0
            for k in range(d):
                total += spread[k]
                if spread[k] > spread[widest[p]]:
                    widest[p] = k
            middle[p] = mean[widest[p]]
            weight[p] = mass * (total / mass) ** 0.25
            if weight[p] > 0.0:
                waiting = _push(heap, waiting, weight, p)
        measured = nodes
        if cells == budget or waiting == 0:
            break
        p = _pop(heap, waiting, weight)
        waiting -= 1
        a, t = widest[p], middle[p]
        low, high = starts[p], ends[p] - 1
        while low <= high:
            if X[order[low], a] <= t:
                low += 1
            else:
                order[low], order[high] = order[high], order[low]
                high -= 1
        if low == starts[p] or low == ends[p]:
            continue  # round-off put the mean outside the rows: nothing left to cut here
        axis[p], cut[p] = a, t
        left[p], right[p] = nodes, nodes + 1
        starts[nodes], ends[nodes] = starts[p], low
        starts[nodes + 1], ends[nodes + 1] = low, ends[p]
        nodes += 2
        cells += 1

    labels = np.empty(n, np.int64)
    cell = 0
    for p in range(nodes):
        if axis[p] < 0:
            left[p] = cell
            for q in range(starts[p], ends[p]):
                labels[order[q]] = cell
            cell += 1
    return (
        labels,
        axis[:nodes].copy(),
        cut[:nodes].copy(),
        left[:nodes].copy(),
        right[:nodes].copy(),
    )


@njit(cache=True, nogil=True)
def descend(X: Rows, axis: Ints, cut: Rows, left: Ints, right: Ints) -> Ints:
    """Leaf cell of every row in the tree of cuts of :func:`bisect`."""
    n = X.shape[0]
    labels = np.empty(n, np.int64)
    for i in range(n):
        p = 0
        while axis[p] >= 0:
            p = left[p] if X[i, axis[p]] <= cut[p] else right[p]
        labels[i] = left[p]
    return labels


@njit(cache=True, nogil=True, fastmath=SIMD)
def _apart(x: Rows, y: Rows) -> np.float32:
    """Squared distance."""
    s = np.float32(0.0)
    for k in range(len(x)):
        t = x[k] - y[k]
        s += t * t
    return s


@njit(cache=True, nogil=True, fastmath=SIMD)
def walk(X: Rows, centres: Rows, neighbours: Ints, hubs: Ints, labels: Ints) -> int:
    """Move each row to the nearest of its cell's neighbours until none is nearer; in place.

    ``neighbours[g]`` lists cells near cell g. A row sets out from its own cell or from the nearest
    of the cells ``hubs``, whichever is nearer: in many dimensions the cells near a wrong one may
    all be wrong. The distance falls with every move, so the walk ends.
    """
    moved = 0
    for i in range(len(X)):
        here = labels[i]
        best = _apart(X[i], centres[here])
        for g in hubs:
            s = _apart(X[i], centres[g])
            if s < best:
                best = s
                here = g
        while True:
            nearest = here
            for g in neighbours[here]:
                s = _apart(X[i], centres[g])
                if s < best:
                    best = s
                    nearest = g
            if nearest == here:
                break
            here = nearest
        if here != labels[i]:
            labels[i] = here
            moved += 1
    return moved


@njit(cache=True, nogil=True)
def add_rows(
    Z: Floats, masses: Floats, labels: Ints, mass: Floats, mean: Floats, scatter: Floats
) -> None:
    """Add rows to the mass, mean and scatter Σ m‖z − z̄‖² of their cells; in place, stable.

    Welford's update, so that no large numbers cancel: δ = z − z̄, z̄ += (m/M)δ, S += m‖δ‖²(1 − m/M).
    """
    n, r = Z.shape
    for i in range(n):
        g = labels[i]
        m = masses[i]
        mass[g] += m
        share = m / mass[g]
        s = 0.0
        for k in range(r):
            t = Z[i, k] - mean[g, k]
            s += t * t
            mean[g, k] += share * t
        scatter[g] += m * (1.0 - share) * s


@njit(cache=True, nogil=True)
def farthest(Z: Floats, labels: Ints, anchors: Floats, reach: Floats) -> None:
    """Raise ``reach[g]`` to the greatest ‖z_i − anchors[g]‖ over the rows of cell g; in place."""
    n, r = Z.shape
    for i in range(n):
        g = labels[i]
        s = 0.0
        for k in range(r):
            t = Z[i, k] - anchors[g, k]
            s += t * t
        s = np.sqrt(s)
        if s > reach[g]:
            reach[g] = s
