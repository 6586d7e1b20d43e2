"""The weighted graph: incidence, Laplacian, components, and the γ at which everything has fused.

Input is ``edges`` (m, 2) with i < j and ``weights`` (m,); D is the m × n incidence matrix with
(DA)_l = a_i − a_j and L_w = Dᵀ diag(w) D.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from .problem import Floats, Ints


@dataclass(frozen=True, slots=True)
class Graph:
    """Edges i < j, once each, with positive weights."""

    edges: Ints
    weights: Floats


def incidence(edges: Ints, n: int) -> sparse.csr_array:
    """D, with (DA)_l = a_i − a_j.

    Examples
    --------
    >>> incidence(np.array([[0, 2]]), 3).toarray()
    array([[ 1.,  0., -1.]])
    """
    m = len(edges)
    data = np.tile([1.0, -1.0], m)
    return sparse.csr_array((data, edges.ravel(), np.arange(0, 2 * m + 1, 2)), shape=(m, n))


def laplacian(edges: Ints, weights: Floats, n: int) -> sparse.csr_array:
    """L_w = Dᵀ diag(w) D."""
    i, j = edges.T
    degree = np.bincount(i, weights, n) + np.bincount(j, weights, n)
    rows = np.concatenate([i, j, np.arange(n)])
    columns = np.concatenate([j, i, np.arange(n)])
    values = np.concatenate([-weights, -weights, degree])
    return sparse.csr_array((values, (rows, columns)), shape=(n, n))


def components(edges: Ints, n: int) -> Ints:
    """Connected component of every sample, numbered in order of first appearance.

    Examples
    --------
    >>> components(np.array([[0, 2]]), 4)
    array([0, 1, 0, 2])
    """
    i, j = edges.T
    adjacency = sparse.coo_array((np.ones(len(edges), dtype=np.int8), (i, j)), shape=(n, n))
    _, labels = connected_components(adjacency, directed=False)
    return canonical(labels)


def canonical(labels: np.ndarray) -> Ints:
    """Renumber labels 0, 1, … in order of first appearance.

    Examples
    --------
    >>> canonical(np.array([7, 7, 3, 7, 5]))
    array([0, 0, 1, 0, 2])
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()]


def component_means(Z: Floats, masses: Floats, labels: Ints) -> Floats:
    """Mass-weighted mean of the rows of every label, shape (n_labels, r)."""
    k = int(labels.max()) + 1
    member = sparse.csr_array((masses, (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    return (member @ Z) / np.asarray(member.sum(axis=1))[:, None]


def factor(edges: Ints, weights: Floats, masses: Floats) -> Callable[[Floats], Floats]:
    """Solver of (M + L_w) X = B: a sparse factor, or conjugate gradients where it would fill up.

    Examples
    --------
    >>> factor(np.array([[0, 1]]), np.array([1.0]), np.ones(2))(np.array([[3.0], [0.0]]))
    array([[2.], [1.]])
    """
    system = sparse.csr_array(laplacian(edges, weights, len(masses)) + sparse.diags_array(masses))
    if factors_cheaply(system):
        return _factored(system)
    return partial(conjugate_gradients, system, rtol=1e-10)


def preconditioner(edges: Ints, weights: Floats, masses: Floats) -> Callable[[Floats], Floats]:
    """Like :func:`factor`, but only the diagonal where a factor would fill up or is singular."""
    system = sparse.csr_array(laplacian(edges, weights, len(masses)) + sparse.diags_array(masses))
    if factors_cheaply(system):
        try:
            return _factored(system)
        except RuntimeError:
            pass  # masses vanish beside the weights; as a preconditioner the diagonal will do
    diagonal = system.diagonal()[:, None]
    return lambda X: X / diagonal


def _factored(system: sparse.csr_array) -> Callable[[Floats], Floats]:
    """Solve by a sparse factor; ordering and pivoting suit symmetric positive definite matrices."""
    return splu(
        sparse.csc_array(system),
        permc_spec="MMD_AT_PLUS_A",
        options={"SymmetricMode": True},
        diag_pivot_thresh=0.0,
    ).solve


# Any graph of this size factors within about a second.
SMALL = 5_000
# n b² bounds the operations of a factor of bandwidth b; minimum degree needs far fewer, but grows
# alike. Graphs of points in two or three dimensions stay below for n in the tens of thousands,
# graphs of points in many dimensions, whose factors fill up, do not; on these gradients are fast.
BAND_WORK = 3e11


def factors_cheaply(system: sparse.csr_array) -> bool:
    """Whether a sparse factor of a matrix with this pattern costs seconds at most."""
    n = system.shape[0]
    if n <= SMALL:
        return True
    place = np.argsort(reverse_cuthill_mckee(system, symmetric_mode=True))
    entries = system.tocoo()
    rows, columns = entries.coords
    band = np.zeros(n, dtype=np.int64)
    np.maximum.at(band, rows, np.abs(place[rows] - place[columns]))
    return float(n) * float(np.mean(band.astype(np.float64) ** 2)) <= BAND_WORK


def conjugate_gradients(
    A: sparse.csr_array, B: Floats, rtol: float, max_iter: int = 2_000
) -> Floats:
    """Solve A X = B for all columns side by side, preconditioned by the diagonal."""
    diagonal = A.diagonal()[:, None]
    X, R = np.zeros_like(B), B.copy()
    Y = R / diagonal
    P, rho = Y.copy(), np.einsum("ik,ik->k", R, Y)
    stop = rtol**2 * rho
    for _ in range(max_iter):
        if (rho <= stop).all():
            break
        Q = A @ P
        curvature = np.einsum("ik,ik->k", P, Q)
        alpha = np.divide(rho, curvature, out=np.zeros_like(rho), where=curvature > 0)
        X += alpha * P
        R -= alpha * Q
        Y = R / diagonal
        rho_old, rho = rho, np.einsum("ik,ik->k", R, Y)
        P *= np.divide(rho, rho_old, out=np.zeros_like(rho), where=rho_old > 0)
        P += Y
    return X


def quotient(edges: Ints, weights: Floats, labels: Ints) -> Graph:
    """Contract every label to one sample: edges between labels, with the sum of their weights.

    Examples
    --------
    >>> graph = quotient(np.array([[0, 1], [0, 2], [1, 2]]), np.ones(3), np.array([0, 0, 1]))
    >>> graph.edges.tolist(), graph.weights.tolist()
    ([[0, 1]], [2.0])
    """
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
    b = masses[:, None] * (Z - component_means(Z, masses, labels)[labels])
    if not b.any():
        return 0.0, 0.0
    try:
        Y = solve_laplacian(laplacian(edges, weights, n), b, labels)
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


# Weaker ties to the ground than this, relative to the weights of a sample, are lost in rounding.
GROUNDED = 1e-14


def solve_laplacian(L: sparse.csr_array, b: Floats, labels: Ints, *, rough: bool = False) -> Floats:
    """Solve L y = b, b balanced in each component, by grounding one sample of each.

    Weights that vanish beside their neighbours make L singular in floats: a RuntimeError, or where
    ``rough`` will do, for flows that are checked and corrected, the solution of a matrix near L.
    """
    n = len(labels)
    _, ground = np.unique(labels, return_index=True)
    free = np.setdiff1d(np.arange(n), ground)
    Y = np.zeros_like(b)
    inner = sparse.csr_array(L[free][:, free])
    if not factors_cheaply(inner):  # close enough to bound γ_max, and for flows corrected again
        Y[free] = conjugate_gradients(inner, b[free], rtol=1e-6)
        return Y
    try:
        Y[free] = _factored(inner)(b[free])
    except RuntimeError:
        if not rough:
            raise
        grounded = inner + sparse.diags_array(GROUNDED * inner.diagonal())
        Y[free] = _factored(sparse.csr_array(grounded))(b[free])
    return Y
