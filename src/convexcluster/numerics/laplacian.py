"""Systems of a weighted graph, (M + L_w) X = B and L_w Y = B, all columns of B at once.

Input is ``edges`` (m, 2), ``weights`` (m,) and positive ``masses`` (n,); L_w = Dᵀ diag(w) D. A
sparse factor solves them where its fill is foreseen to be small, gradients elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from ..problem import Floats, Ints


def laplacian(edges: Ints, weights: Floats, n: int) -> sparse.csr_array:
    """L_w = Dᵀ diag(w) D."""
    i, j = edges.T
    degree = np.bincount(i, weights, n) + np.bincount(j, weights, n)
    rows = np.concatenate([i, j, np.arange(n)])
    columns = np.concatenate([j, i, np.arange(n)])
    values = np.concatenate([-weights, -weights, degree])
    return sparse.csr_array((values, (rows, columns)), shape=(n, n))


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


# Weaker ties to the ground than this, relative to the weights of a sample, are lost in rounding.
GROUNDED = 1e-14


def solve_laplacian(
    edges: Ints, weights: Floats, b: Floats, labels: Ints, *, rough: bool = False
) -> Floats:
    """Solve L_w y = b, b balanced in each of the components ``labels``; one sample of each is 0.

    Weights that vanish beside their neighbours make L_w singular in floats: a RuntimeError, or, if
    ``rough``, as flows that are checked and corrected can bear, the solution of a matrix near L_w.
    """
    n = len(labels)
    _, ground = np.unique(labels, return_index=True)
    free = np.setdiff1d(np.arange(n), ground)
    Y = np.zeros_like(b)
    inner = sparse.csr_array(laplacian(edges, weights, n)[free][:, free])
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
