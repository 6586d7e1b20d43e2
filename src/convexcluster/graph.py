"""The weighted graph: incidence, components, quotient, and the γ at which everything has fused.

Input is ``edges`` (m, 2) with i < j and ``weights`` (m,); D is the m × n incidence matrix with
(DA)_l = a_i − a_j and L_w = Dᵀ diag(w) D.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from .numerics.laplacian import solve_laplacian
from .partition import canonical, means
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
    i, j = edges.T
    adjacency = sparse.coo_array((np.ones(len(edges), dtype=np.int8), (i, j)), shape=(n, n))
    _, labels = connected_components(adjacency, directed=False)
    return canonical(labels)


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
    n = len(Z)
    if len(edges) == 0:
        return 0.0, 0.0
    labels = components(edges, n)
    b = masses[:, None] * (Z - means(Z, masses, labels)[labels])
    if not b.any():
        return 0.0, 0.0
    try:
        Y = solve_laplacian(edges, weights, b, labels)
    except RuntimeError as error:  # weights vanish beside their neighbours, as in exp(−d²) far out
        raise ValueError(
            f"weights from {weights.min():.1e} to {weights.max():.1e} span more decades than "
            "arithmetic has: choose a larger weight bandwidth, drop the smallest weights, or pass "
            "your own gammas"
        ) from error
    i, j = edges.T
    delta = np.linalg.norm(Y[i] - Y[j], axis=1)
    top = float(delta.max())
    if top == 0:
        return 0.0, 0.0
    return float(weights @ delta**2 / (weights @ delta)), top
