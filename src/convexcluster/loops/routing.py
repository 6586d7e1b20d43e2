"""Loops of flows inside clusters: residuals, subgraphs, conductances, steps, what is cut off."""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .compile import njit
from .sweeps import SUMS, Reals


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def residuals(masses: Floats, A: Floats, labels: Ints, center: Floats) -> Floats:
    """½ Σ m‖a − C‖² of each cluster."""
    out = np.zeros(len(center))
    r = A.shape[1]
    for i in range(len(masses)):
        t = labels[i]
        s = 0.0
        for k in range(r):
            d = A[i, k] - center[t, k]
            s += d * d
        out[t] += 0.5 * masses[i] * s
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def subgraph(
    tail: Ints, head: Ints, labels: Ints, wanted: np.ndarray
) -> tuple[Ints, Ints, Ints, Ints]:
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
    for e in range(len(tail)):
        t = labels[tail[e]]
        if t == labels[head[e]] and wanted[t]:
            size += 1
    inside = np.empty(size, np.int64)
    own_tail, own_head = np.empty_like(inside), np.empty_like(inside)
    size = 0
    for e in range(len(tail)):
        t = labels[tail[e]]
        if t == labels[head[e]] and wanted[t]:
            inside[size], own_tail[size], own_head[size] = e, number[tail[e]], number[head[e]]
            size += 1
    return nodes[:count].copy(), inside, own_tail, own_head


@njit(cache=True, nogil=True, error_model="numpy")
def take_out(
    A: Floats,
    center: Floats,
    labels: Ints,
    nodes: Ints,
    edges: Ints,
    tail: Ints,
    head: Ints,
    masses: Floats,
    Lam: Floats,
    shifted: Floats,
    points: Floats,
    rough: Reals,
) -> None:
    """m(a − C) + DᵀΛ, a − C = M⁻¹(… − DᵀΛ) and Λ of ``nodes`` and ``edges``, in the last three.

    ``tail`` and ``head`` number the nodes of the part; Λ takes the precision of ``rough``.
    """
    r = A.shape[1]
    for q in range(len(nodes)):
        row, mean, to = A[nodes[q]], center[labels[nodes[q]]], shifted[q]
        for k in range(r):
            to[k] = masses[q] * (row[k] - mean[k])
    for q in range(len(edges)):
        row, to, out = Lam[edges[q]], shifted[tail[q]], rough[q]
        for k in range(r):
            to[k] += row[k]
            out[k] = row[k]
    for q in range(len(edges)):
        row, to = Lam[edges[q]], shifted[head[q]]
        for k in range(r):
            to[k] -= row[k]
    for q in range(len(nodes)):
        for k in range(r):
            points[q, k] = shifted[q, k]
    for q in range(len(edges)):
        row, ai, aj = Lam[edges[q]], points[tail[q]], points[head[q]]
        for k in range(r):
            ai[k] -= row[k]
            aj[k] += row[k]
    for q in range(len(nodes)):
        inverse = 1 / masses[q]
        for k in range(r):
            points[q, k] *= inverse


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def shortenings(rough: Reals, c: Floats, edges: Ints) -> Floats:
    """The factor that brings each λ within the c of its edge, in double precision."""
    out = np.empty(len(edges))
    for q in range(len(edges)):
        row, bound = rough[q], c[edges[q]]
        s = 0.0
        for k in range(len(row)):
            v = np.float64(row[k])
            s += v * v
        out[q] = bound / np.sqrt(s) if s > bound * bound else 1.0
    return out


@njit(cache=True, nogil=True, error_model="numpy")
def settle_points(
    tail: Ints, head: Ints, masses: Floats, shifted: Floats, rough: Reals, f: Floats, A: Floats
) -> None:
    """A = M⁻¹(MZ − DᵀΛ) with λ_l = f_l rough_l, and MZ as :func:`take_out` gave it."""
    r = A.shape[1]
    for i in range(len(A)):
        for k in range(r):
            A[i, k] = shifted[i, k]
    for q in range(len(tail)):
        row, ai, aj = rough[q], A[tail[q]], A[head[q]]
        for k in range(r):
            v = f[q] * np.float64(row[k])
            ai[k] -= v
            aj[k] += v
    for i in range(len(A)):
        inverse = 1 / masses[i]
        for k in range(r):
            A[i, k] *= inverse


@njit(cache=True, nogil=True, error_model="numpy")
def put_back(
    nodes: Ints,
    edges: Ints,
    center: Floats,
    labels: Ints,
    points: Floats,
    rough: Reals,
    f: Floats,
    A: Floats,
    Lam: Floats,
) -> None:
    """λ = f_l rough_l and a = point + C of the ``edges`` and ``nodes``."""
    r = A.shape[1]
    for q in range(len(edges)):
        row, to = rough[q], Lam[edges[q]]
        for k in range(r):
            to[k] = f[q] * np.float64(row[k])
    for q in range(len(nodes)):
        row, mean, to = points[q], center[labels[nodes[q]]], A[nodes[q]]
        for k in range(r):
            to[k] = row[k] + mean[k]


@njit(cache=True, nogil=True, error_model="numpy")
def pull_back(A: Floats, mean: Floats, labels: Ints, masses: Floats, out: Reals) -> None:
    """out = m(a − mean of its cluster)."""
    for i in range(len(A)):
        row, own, to = A[i], mean[labels[i]], out[i]
        for k in range(len(row)):
            to[k] = masses[i] * (row[k] - own[k])


@njit(cache=True, nogil=True, error_model="numpy")
def edges_inside(tail: Ints, head: Ints, labels: Ints, count: int) -> Ints:
    """Number of edges inside each cluster."""
    out = np.zeros(count, np.int64)
    for e in range(len(tail)):
        t = labels[tail[e]]
        if t == labels[head[e]]:
            out[t] += 1
    return out


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def conductances(c: Reals, w: Floats, inside: Ints, Lam: Reals, floor: float) -> Floats:
    """κ = W · max(1 − ‖λ‖/c, floor)."""
    out = np.empty(len(inside))
    for q in range(len(inside)):
        e = inside[q]
        s = 0.0
        for k in range(Lam.shape[1]):
            s += Lam[e, k] * Lam[e, k]
        out[q] = w[e] * max(1 - np.sqrt(s) / c[e], floor)
    return out


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def push(
    tail: Ints,
    head: Ints,
    c: Reals,
    inv_mass: Reals,
    kappa: Reals,
    y: Reals,
    Lam: Reals,
    A: Reals,
) -> None:
    """λ ← Proj(λ + κ(y_i − y_j)) on all edges, and A with it; all reals have one precision."""
    r = y.shape[1]
    for e in range(len(tail)):
        i, j = tail[e], head[e]
        row, ai, aj, yi, yj = Lam[e], A[i], A[j], y[i], y[j]
        x, z, bound = inv_mass[i], inv_mass[j], c[e] * c[e]
        s = bound - bound  # of the right precision, which a literal is not
        for k in range(r):
            v = row[k] + kappa[e] * (yi[k] - yj[k])
            s += v * v
        f = np.sqrt(bound / max(s, bound)) if bound > 0 else bound
        for k in range(r):
            v = row[k]
            new = f * (v + kappa[e] * (yi[k] - yj[k]))
            row[k] = new
            ai[k] -= (new - v) * x
            aj[k] += (new - v) * z


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def changes(tail: Ints, head: Ints, Lam: Floats, last: Floats, v: Floats, inside: Ints) -> None:
    """v += Dᵀ(λ − last) over the edges inside."""
    r = v.shape[1]
    for e in inside:
        row, old, vi, vj = Lam[e], last[e], v[tail[e]], v[head[e]]
        for k in range(r):
            d = row[k] - old[k]
            vi[k] += d
            vj[k] -= d


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def best_steps(masses: Floats, A: Floats, v: Floats, labels: Ints, center: Floats) -> Floats:
    """Per cluster, the s at which λ + s(λ − last) leaves the least residual ½ Σ m‖a − C‖².

    With v of :func:`changes` a moves by −s v/m, so s = ⟨a − C, v⟩ / ⟨v, v/m⟩.
    """
    n, r = A.shape
    up, down = np.zeros(len(center)), np.zeros(len(center))
    for i in range(n):
        t = labels[i]
        along, square = 0.0, 0.0
        for k in range(r):
            along += (A[i, k] - center[t, k]) * v[i, k]
            square += v[i, k] * v[i, k]
        up[t] += along
        down[t] += square / masses[i]
    for t in range(len(center)):
        up[t] = up[t] / down[t] if down[t] > 0 else 0.0
    return up


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def stretch(
    tail: Ints, c: Floats, Lam: Floats, last: Floats, inside: Ints, labels: Ints, steps: Floats
) -> None:
    """λ ← Proj(λ + s(λ − last)) on the edges inside, s that of their cluster."""
    r = Lam.shape[1]
    for e in inside:
        f = steps[labels[tail[e]]]
        if f == 0:
            continue
        row, old = Lam[e], last[e]
        s = 0.0
        for k in range(r):
            v = row[k] + f * (row[k] - old[k])
            s += v * v
        g = c[e] / np.sqrt(s) if s > c[e] * c[e] else 1.0
        for k in range(r):
            row[k] = g * (row[k] + f * (row[k] - old[k]))


@njit(cache=True, nogil=True)
def cut_off(
    Y: Floats, conductance: Floats, c: Floats, edges: Ints, left: Floats, ratio: Floats
) -> None:
    """Take the flow κ_l(y_i − y_j), shortened to c_l where it is longer, off ``left``; in place.

    ``ratio`` becomes the length of the flow before, over c_l.
    """
    r = Y.shape[1]
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        s = 0.0
        for k in range(r):
            t = Y[i, k] - Y[j, k]
            s += t * t
        ratio[e] = conductance[e] * np.sqrt(s) / c[e]
        share = conductance[e] / max(ratio[e], 1.0)
        for k in range(r):
            t = share * (Y[i, k] - Y[j, k])
            left[i, k] -= t
            left[j, k] += t


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def inner_products(
    tail: Ints, head: Ints, kappa: Floats, A: Floats, B: Floats, out: Floats
) -> None:
    """out_l = κ_l² ⟨a_i − a_j, b_i − b_j⟩ of every edge, in place."""
    r = A.shape[1]
    for e in range(len(tail)):
        ai, aj, bi, bj = A[tail[e]], A[head[e]], B[tail[e]], B[head[e]]
        s = 0.0
        for k in range(r):
            s += (ai[k] - aj[k]) * (bi[k] - bj[k])
        out[e] = kappa[e] * kappa[e] * s


@njit(cache=True, nogil=True, fastmath=SUMS, error_model="numpy")
def take_off(
    tail: Ints, head: Ints, kappa: Floats, Y: Floats, price: Floats, left: Floats, out: Floats
) -> None:
    """Take the flow κ_l(y_i − y_j) off ``left``; out_l = Σ_k κ_l|y_ik − y_jk| price_k; in place."""
    r = Y.shape[1]
    for e in range(len(tail)):
        yi, yj, li, lj = Y[tail[e]], Y[head[e]], left[tail[e]], left[head[e]]
        s = 0.0
        for k in range(r):
            s += abs(yi[k] - yj[k]) * price[k]
        out[e] = kappa[e] * s
        for k in range(r):
            t = kappa[e] * (yi[k] - yj[k])
            li[k] -= t
            lj[k] += t
