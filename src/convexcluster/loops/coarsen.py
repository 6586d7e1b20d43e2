"""Loops of the coarsening: bisect rows into cells, walk to the nearest centre, sum up cells.

Rows come as contiguous float32, already centred: which cell a row falls in is free to choose (the
certificate holds for any assignment), so half the memory costs nothing. Every sum that enters a
certificate is float64.
"""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit

# Sums may be reordered for SIMD; NaN and infinity keep their meaning (no "nnan", no "ninf").
SIMD = {"reassoc", "contract"}


@njit(cache=True, nogil=True, fastmath=SIMD)
def _spread(X, masses, order, start, end, mean, spread):
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
def bisect(X, masses, budget):
    """Cut the heaviest cell at its mean, across its widest coordinate, until ``budget`` cells.

    A cell weighs mass × rms radius = √(mass · Σ m‖x − x̄‖²); one whose rows are all equal weighs 0
    and is never cut. Returns the cell of every row and the tree of cuts: node p sends x to
    ``left[p]`` if x[axis[p]] ≤ cut[p], otherwise to ``right[p]``; a leaf has axis −1 and its
    cell in ``left[p]``.
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

    ends[0] = n
    nodes = 1
    heap = [(0.0, 0)]
    heap.pop()
    fresh = np.zeros(2, np.int64)
    n_fresh = 1
    cells = 1
    while True:
        for f in range(n_fresh):
            p = fresh[f]
            mass = _spread(X, masses, order, starts[p], ends[p], mean, spread)
            widest[p] = np.argmax(spread)
            middle[p] = mean[widest[p]]
            weight = np.sqrt(mass * spread.sum())
            if weight > 0.0:
                heapq.heappush(heap, (-weight, p))
        if cells == budget or len(heap) == 0:
            break
        p = heapq.heappop(heap)[1]
        a, t = widest[p], middle[p]
        low, high = starts[p], ends[p] - 1
        while low <= high:
            if X[order[low], a] <= t:
                low += 1
            else:
                order[low], order[high] = order[high], order[low]
                high -= 1
        if low == starts[p] or low == ends[p]:
            n_fresh = 0  # round-off put the mean outside the rows: nothing left to cut here
            continue
        axis[p], cut[p] = a, t
        left[p], right[p] = nodes, nodes + 1
        starts[nodes], ends[nodes] = starts[p], low
        starts[nodes + 1], ends[nodes + 1] = low, ends[p]
        fresh[0], fresh[1] = nodes, nodes + 1
        n_fresh = 2
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
    return labels, axis[:nodes].copy(), cut[:nodes].copy(), left[:nodes].copy(), right[:nodes].copy()


@njit(cache=True, nogil=True)
def descend(X, axis, cut, left, right):
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
def walk(X, centres, neighbours, labels):
    """Move each row to the nearest of its cell's neighbours until none is nearer; in place.

    ``neighbours[g]`` lists cells near cell g. The distance falls with every move, so the walk ends.
    """
    n, d = X.shape
    moved = 0
    for i in range(n):
        here = labels[i]
        best = np.float32(0.0)
        for k in range(d):
            t = X[i, k] - centres[here, k]
            best += t * t
        while True:
            nearest = here
            for q in range(neighbours.shape[1]):
                g = neighbours[here, q]
                s = np.float32(0.0)
                for k in range(d):
                    t = X[i, k] - centres[g, k]
                    s += t * t
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
def add_rows(Z, masses, labels, mass, mean, scatter):
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
def farthest(Z, labels, anchors, reach):
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


@njit(cache=True, nogil=True)
def flow_inside(v, masses, edges, c, starts, sweeps):
    """Sweep flows over the edges inside each cell until they carry off what they can of v.

    Per cell, dual coordinate descent for min ½‖v − M⁻¹DᵀΛ‖²_M subject to ‖λ_l‖ ≤ c_l:
    λ_l ← Proj(λ_l + (v_i − v_j)/(1/m_i + 1/m_j)). ``edges`` are sorted by cell, cell g has
    edges[starts[g]:starts[g + 1]]; v is what is left, in place. Each step lowers ‖v‖_M.
    """
    r = v.shape[1]
    most = 0
    for g in range(len(starts) - 1):
        most = max(most, starts[g + 1] - starts[g])
    Lam = np.empty((most, r))
    for g in range(len(starts) - 1):
        begin, end = starts[g], starts[g + 1]
        Lam[: end - begin] = 0.0
        for sweep in range(sweeps):
            for q in range(end - begin):
                e = q if sweep % 2 == 0 else end - begin - 1 - q
                i, j = edges[begin + e, 0], edges[begin + e, 1]
                h = 1.0 / (1.0 / masses[i] + 1.0 / masses[j])
                s = 0.0
                for k in range(r):
                    t = Lam[e, k] + h * (v[i, k] - v[j, k])
                    s += t * t
                s = np.sqrt(s)
                shrink = 1.0 if s <= c[begin + e] else c[begin + e] / s
                for k in range(r):
                    t = shrink * (Lam[e, k] + h * (v[i, k] - v[j, k]))
                    step = t - Lam[e, k]
                    Lam[e, k] = t
                    v[i, k] -= step / masses[i]
                    v[j, k] += step / masses[j]
