"""Loops of the routing inside clusters: residuals, subgraphs, conductances, steps."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem import Floats, Ints
from .sweeps import SUMS


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def residuals(m: Floats, a: Floats, labels: Ints, center: Floats) -> Floats:
    """½ Σ m‖a − C‖² of each cluster."""
    out = np.zeros(len(center))
    r = a.shape[1]
    for i in range(len(m)):
        t = labels[i]
        s = 0.0
        for k in range(r):
            d = a[i, k] - center[t, k]
            s += d * d
        out[t] += 0.5 * m[i] * s
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def subgraph(ei: Ints, ej: Ints, labels: Ints, wanted: np.ndarray) -> tuple[Ints, Ints, Ints, Ints]:
    """Nodes and inner edges of the wanted clusters; edges also in the numbers of those nodes."""
    n = len(labels)
    number, nodes = np.empty(n, np.int64), np.empty(n, np.int64)
    count = 0
    for i in range(n):
        number[i] = count
        if wanted[labels[i]]:
            nodes[count] = i
            count += 1
    size = 0
    for e in range(len(ei)):
        t = labels[ei[e]]
        if t == labels[ej[e]] and wanted[t]:
            size += 1
    inside, si, sj = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    size = 0
    for e in range(len(ei)):
        t = labels[ei[e]]
        if t == labels[ej[e]] and wanted[t]:
            inside[size], si[size], sj[size] = e, number[ei[e]], number[ej[e]]
            size += 1
    return nodes[:count].copy(), inside, si, sj


@njit(cache=True, nogil=True, error_model="numpy")
def edges_inside(ei: Ints, ej: Ints, labels: Ints, count: int) -> Ints:
    """Number of edges inside each cluster."""
    out = np.zeros(count, np.int64)
    for e in range(len(ei)):
        t = labels[ei[e]]
        if t == labels[ej[e]]:
            out[t] += 1
    return out


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def conductances(c: Floats, W: Floats, inside: Ints, lam: Floats, floor: float) -> Floats:
    """κ = W · max(1 − ‖λ‖/c, floor)."""
    out = np.empty(len(inside))
    for q in range(len(inside)):
        e = inside[q]
        s = 0.0
        for k in range(lam.shape[1]):
            s += lam[e, k] * lam[e, k]
        out[q] = W[e] * max(1 - np.sqrt(s) / c[e], floor)
    return out


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def push(
    ei: Ints,
    ej: Ints,
    c: Floats,
    im: Floats,
    inside: Ints,
    si: Ints,
    sj: Ints,
    kappa: Floats,
    y: Floats,
    lam: Floats,
    a: Floats,
) -> None:
    """λ ← Proj(λ + κ(y_i − y_j)) on the inner edges, and a with it."""
    r = y.shape[1]
    for q in range(len(inside)):
        e = inside[q]
        row, ai, aj = lam[e], a[ei[e]], a[ej[e]]
        yi, yj = y[si[q]], y[sj[q]]
        x, z = im[ei[e]], im[ej[e]]
        s = 0.0
        for k in range(r):
            v = row[k] + kappa[q] * (yi[k] - yj[k])
            s += v * v
        f = 1.0
        if s > c[e] * c[e]:
            f = c[e] / np.sqrt(s)
        for k in range(r):
            v = row[k]
            new = f * (v + kappa[q] * (yi[k] - yj[k]))
            row[k] = new
            ai[k] -= (new - v) * x
            aj[k] += (new - v) * z


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def best_steps(
    ei: Ints,
    ej: Ints,
    m: Floats,
    a: Floats,
    lam: Floats,
    last: Floats,
    inside: Ints,
    labels: Ints,
    center: Floats,
) -> Floats:
    """Per cluster, the s at which λ + s(λ − last) leaves the least residual ½ Σ m‖a − C‖².

    With v = Dᵀ(λ − last) over the edges inside, a moves by −s v/m, so s = ⟨a − C, v⟩ / ⟨v, v/m⟩.
    """
    n, r = a.shape
    v = np.zeros((n, r))
    for e in inside:
        row, old, vi, vj = lam[e], last[e], v[ei[e]], v[ej[e]]
        for k in range(r):
            d = row[k] - old[k]
            vi[k] += d
            vj[k] -= d
    up, down = np.zeros(len(center)), np.zeros(len(center))
    for i in range(n):
        t = labels[i]
        for k in range(r):
            up[t] += (a[i, k] - center[t, k]) * v[i, k]
            down[t] += v[i, k] * v[i, k] / m[i]
    for t in range(len(center)):
        up[t] = up[t] / down[t] if down[t] > 0 else 0.0
    return up


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def stretch(
    ei: Ints, c: Floats, lam: Floats, last: Floats, inside: Ints, labels: Ints, steps: Floats
) -> None:
    """λ ← Proj(λ + s(λ − last)) on the edges inside, s that of their cluster."""
    r = lam.shape[1]
    for e in inside:
        f = steps[labels[ei[e]]]
        if f == 0:
            continue
        row, old = lam[e], last[e]
        s = 0.0
        for k in range(r):
            row[k] += f * (row[k] - old[k])
            s += row[k] * row[k]
        if s > c[e] * c[e]:
            g = c[e] / np.sqrt(s)
            for k in range(r):
                row[k] *= g
