"""The weighted graph: incidence, components, quotient, and the γ at which everything has fused.

Input is ``edges`` (m, 2) with i < j and ``weights`` (m,); D is the m × n incidence matrix with
(DA)_l = a_i − a_j and L_w = Dᵀ diag(w) D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree

from .numerics.laplacian import laplacian_solver, rough_potentials
from .partition import means
from .problem import Floats, Ints


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges i < j, once each, with positive weights."""

    edges: Ints
    weights: Floats


def incidence(edges: Ints, n: int) -> sparse.csr_array:
    """D, with (DA)_l = a_i − a_j."""
    m = len(edges)
    data = np.tile([1.0, -1.0], m)
    return sparse.csr_array((data, edges.ravel(), np.arange(0, 2 * m + 1, 2)), shape=(m, n))


def components(edges: Ints, n: int) -> Ints:
    """Connected component of every sample, numbered in order of first appearance."""
    from .loops.clusters import join  # late: it loads numba

    i, j = np.array(edges.T, dtype=np.int64, order="C")  # a copy: the loop is compiled for no view
    labels = np.empty(n, dtype=np.int64)
    join(i, j, np.ones(len(edges), dtype=np.bool_), labels)
    return labels


def spanning_tree(edges: Ints, lengths: Floats, n: int) -> sparse.csr_array:
    """The spanning forest of least total length, lengths > 0, each edge once."""
    i, j = edges.T.astype(np.int32)  # older versions of SciPy take no others here
    return minimum_spanning_tree(sparse.csr_array((lengths, (i, j)), shape=(n, n)))


# Numbers held at a time for differences of rows: a megabyte stays in the cache. All differences at
# once took most of the time of the grid of γ.
DIFFERENCES = 2**17


def edge_lengths(Z: Any, edges: Ints) -> Floats:
    """‖z_i − z_j‖ of every pair of rows, dense or sparse."""
    i, j = edges.T
    out = np.empty(len(edges))
    step = max(1, DIFFERENCES // max(1, Z.shape[1]))
    for s in range(0, len(edges), step):
        difference: Any = Z[i[s : s + step]] - Z[j[s : s + step]]
        if isinstance(difference, np.ndarray):
            out[s : s + step] = np.sqrt(np.einsum("ek,ek->e", difference, difference))
        else:
            out[s : s + step] = np.sqrt(difference.multiply(difference).sum(axis=1))
    return out


def quotient(edges: Ints, weights: Floats, labels: Ints) -> Graph:
    """Contract every label to one sample: edges between labels, with the sum of their weights."""
    k = int(labels.max()) + 1
    ends = np.sort(labels[edges], axis=1)
    between = ends[:, 0] < ends[:, 1]
    keys, inverse = np.unique(ends[between, 0] * k + ends[between, 1], return_inverse=True)
    summed = np.bincount(inverse.ravel(), weights[between], len(keys)).astype(np.float64)
    return Graph(np.column_stack([keys // k, keys % k]), summed)


def gamma_range(Z: Floats, edges: Ints, weights: Floats, masses: Floats) -> tuple[float, float]:
    """Bounds on γ_max, the least γ at which every component is one cluster.

    With L_w Y = M(Z − Z̄) per component and δ_l = ‖y_i − y_j‖,

        Σ w δ² / Σ w δ  ≤  γ_max  ≤  max_l δ_l.

    The lower end is ⟨Λ, DZ⟩-duality with Λ = w·DY; the upper end is the capacity that this flow
    needs. Both are 0 if nothing is left to fuse.
    """
    if len(edges) == 0:
        return 0.0, 0.0
    labels, b = _demand(Z, edges, masses)
    if not b.any():
        return 0.0, 0.0
    delta = edge_lengths(_potentials(edges, weights, labels)(b), edges)
    top = float(delta.max())
    if top == 0:
        return 0.0, 0.0
    if not np.isfinite(weights @ delta**2):
        raise ValueError(
            f"weights from {weights.min():.1g} to {weights.max():.1g} need a γ beyond the range "
            "of double precision: of weights by a bandwidth, choose it nearer to the distances of "
            'neighbours, or weight_bandwidth="auto"'
        )
    return float(weights @ delta**2 / (weights @ delta)), top


# Random combinations of the columns of Z by which edges are told apart, and edges whose δ is then
# computed. With half as many the widest edge is missed more often where many are nearly as wide;
# with twice as many the systems take twice the time, which is that of 64 columns then.
COMBINATIONS = 16


def widest(Z: Floats, edges: Ints, weights: Floats, masses: Floats) -> float:
    """max_l δ_l of :func:`gamma_range`, the upper bound on γ_max, from few systems.

    ``COMBINATIONS`` random combinations of the columns of L_w Y = M(Z − Z̄) tell which edges have
    the largest δ_l, within a fifth. For these, y_i − y_j = BᵀL_w⁺(e_i − e_j), B = M(Z − Z̄), is one
    system each. What is found is a δ_l in any case, and the maximum unless another edge is within
    that fifth of it.
    """
    labels, b = _demand(Z, edges, masses)
    if b.shape[1] <= 2 * COMBINATIONS or len(edges) == 0 or not b.any():
        return gamma_range(Z, edges, weights, masses)[1]
    # of a seed of its own; the sign of a column, which an eigendecomposition leaves open, would
    # change the combinations: it is that of the column's largest entry
    signs = np.sign(np.take_along_axis(b, np.abs(b).argmax(axis=0)[None], axis=0))
    mix = np.random.default_rng(0).normal(size=(b.shape[1], COMBINATIONS)) * signs.T
    over = _over_bridges(edges, weights, labels, b, mix)
    if over is not None:
        return over
    potentials = _potentials(edges, weights, labels)
    guessed = edge_lengths(potentials(b @ mix), edges)
    wide = edges[np.argsort(-guessed, kind="stable")[:COMBINATIONS]]
    ends = np.zeros((len(Z), len(wide)))
    ends[wide.T, np.arange(len(wide))] = [[1.0], [-1.0]]
    return float(np.linalg.norm(potentials(ends).T @ b, axis=1).max())


# Weights of bridges between clusters, as a share of the median: the floor of automatic graphs is a
# tenth of it. With all edges for bridges only a tree would have any.
WEAK = 1e-2

# Clusters that bridges may join: their flows are one dense system of so many unknowns.
JOINED = 300

# How much less than δ of the widest bridge that of all other edges must be for the bridge to be the
# widest edge: combinations tell a δ within a fifth, and rough gradients within a few per cent.
CLEARLY = 0.5


def _over_bridges(
    edges: Ints, weights: Floats, labels: Ints, b: Floats, mix: Floats
) -> float | None:
    """δ of the widest bridge, if weak edges that are bridges are clearly wider than others.

    The flow over an edge whose removal parts the graph is the demand on one side of it, so that no
    system is left but those inside clusters, for which few gradients are enough.
    """
    weak = weights < WEAK * np.median(weights)
    parts = components(edges[~weak], len(labels))
    count = int(parts.max()) + 1
    if not 0 < weak.sum() == count - 1 - int(labels.max()) <= JOINED:
        return None
    s, t = parts[edges[weak]].T
    D = np.zeros((len(s), count))
    D[np.arange(len(s)), s], D[np.arange(len(s)), t] = 1.0, -1.0
    sums = np.zeros((count, b.shape[1]))
    np.add.at(sums, parts, b)
    flow = np.linalg.lstsq(D.T, sums, rcond=None)[0]  # exact: bridges are a tree
    top = float((np.linalg.norm(flow, axis=1) / weights[weak]).max())
    inside = b @ mix
    np.subtract.at(inside, edges[weak, 0], flow @ mix)
    np.add.at(inside, edges[weak, 1], flow @ mix)
    Y = rough_potentials(edges[~weak], weights[~weak], inside, parts)
    if Y is None:
        return None
    others = float(edge_lengths(Y, edges[~weak]).max()) / np.sqrt(COMBINATIONS)
    return top if others <= CLEARLY * top else None


def _demand(Z: Floats, edges: Ints, masses: Floats) -> tuple[Ints, Floats]:
    """Components, and M(Z − Z̄) about their means."""
    labels = components(edges, len(Z))
    return labels, masses[:, None] * (Z - means(Z, masses, labels)[labels])


def _potentials(edges: Ints, weights: Floats, labels: Ints) -> Callable[[Floats], Floats]:
    """Solver of L_w Y = b; or a sentence if no arithmetic can tell."""
    try:
        return laplacian_solver(edges, weights, labels)
    except RuntimeError as error:  # weights vanish beside their neighbours, as in exp(−d²) far out
        raise ValueError(
            f"weights from {weights.min():.1e} to {weights.max():.1e} span more decades than "
            "arithmetic has: choose a larger weight bandwidth, drop the smallest weights, or pass "
            "your own gammas"
        ) from error
