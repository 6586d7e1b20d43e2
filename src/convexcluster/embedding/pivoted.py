"""Pivoted Cholesky: K ≈ L Lᵀ from a few columns of K, which is never formed.

After the pivots P, d_i = K_ii − ‖L_i‖² ≥ 0 is the squared distance of φ(x_i) from the span of
φ(x_P), so τ² = Σ m_i d_i is known at every step. Pivots are taken in blocks: candidates are
proposed, a small Cholesky among them rejects those that an earlier one of the block has made
redundant, and the columns of the rest are computed with matrix products.

- random: candidates are drawn with probability ∝ m_i d_i and kept with the probability by which
  their residual has shrunk meanwhile, which gives exactly the law of one-at-a-time drawing.
- greedy: candidates have m_i d_i of at least half the greatest, and are kept while they have.

O(n r) memory, O(n r (r + d)) operations.

References: Chen, Epperly, Tropp and Webber, Comm. Pure Appl. Math. 2025 (randomly pivoted
Cholesky); Epperly, Tropp and Webber 2024 (blocks by rejection); DeVore, Petrova and Wojtaszczyk,
Constr. Approx. 37, 2013 (greedy up to a factor).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..kernels import STATIONARY, Kernel, Samples
from ..numerics.axes import ROWS, principal_axes
from ..numerics.memory import check_memory
from ..problem import Floats, Ints
from .projector import Projector
from .result import Embedding, columns_kept, coordinates

# Without a rank from the user: columns beyond a thousand cost the solver more than they tell, and
# half a gigabyte of them is what a laptop gives without being asked.
DEFAULT_RANK = 1_000
DEFAULT_BYTES = 5e8
# Candidates per block: wide enough for matrix products, small beside the ranks that matter.
BLOCK_SIZE = 64
# A residual diagonal below −1e-8 of the largest K_ii is no round-off: K has a negative eigenvalue.
INDEFINITE = 1e-8


class IndefiniteKernel(ValueError):
    """The kernel is not positive semi-definite, so it has no Cholesky factor."""

    def __init__(self, kernel: Kernel) -> None:
        super().__init__(
            f'kernel {kernel.name!r} is not positive semi-definite: use embedding="exact", which '
            "centres and clips it and reports the share that was clipped"
        )


def pivoted(
    X: Samples,
    kernel: Kernel,
    *,
    rank: int | None = None,
    tol: float = 1e-6,
    random_state: int | np.random.Generator | None = None,
    masses: Floats,
    pivoting: str = "random",
    axes: int | None = None,
) -> Embedding:
    """Pivoted Cholesky until τ² ≤ tol · tr(HKH) or ``rank`` columns, rotated to principal axes.

    Of these the first ``axes`` are kept if that is fewer. Half of ``tol`` goes to the factor, the
    rest to trailing principal axes that are dropped: this is near the least number of columns for
    the error.
    """
    if pivoting not in PIVOTING:
        raise ValueError(f"pivoting must be one of {', '.join(PIVOTING)}, got {pivoting!r}")
    n = X.shape[0]
    cap = rank or int(min(n, DEFAULT_RANK, max(1, DEFAULT_BYTES // (8 * n))))
    check_memory(
        16.0 * n * min(cap, n), f"an embedding of {n:,} samples in {cap} columns", "lower rank"
    )
    rng = np.random.default_rng(0 if random_state is None else random_state)
    L, pivots, residual = _factor(X, kernel, masses, cap, tol / 2, pivoting, rng)
    lost = float(masses @ residual)
    mean, Q, variances = principal_axes(L, masses)
    r = columns_kept(variances, tol * float(variances.sum()) - lost)
    r = r if axes is None else min(r, axes)
    Q = np.ascontiguousarray(Q[:, :r])
    triangle = L[pivots]
    return Embedding(
        Z=coordinates(L, mean, Q),
        trace_error=lost + float(variances[r:].sum()),
        is_bound=True,
        clipped_share=0.0,
        method="pivoted" if pivoting == "random" else pivoting,
        variances=variances[:r],
        kernel=kernel,
        n_features=X.shape[1],
        basis=None if kernel.is_precomputed else X[pivots],
        index=pivots,
        shift=triangle @ mean,  # mean of k(x, x_P), since k(x_i, x_P) = L_i L_Pᵀ
        B=solve_triangular(triangle.T, Q, lower=False) if len(pivots) else np.zeros((0, 1)),
    )


def greedy(X: Samples, kernel: Kernel, **given: Any) -> Embedding:
    """:func:`pivoted` with ``pivoting="greedy"``; draws nothing at random."""
    return pivoted(X, kernel, pivoting="greedy", **given)


def leading(
    X: Samples,
    kernel: Kernel,
    *,
    axes: int,
    sample: int | None = None,
    masses: Floats,
    **given: Any,
) -> Embedding:
    """The first ``axes`` columns of :func:`pivoted`, whose pivots are among ``sample`` samples.

    Those are evenly spaced in X. All others are projected on the axes of theirs, and what each of
    them loses is measured (:class:`~convexcluster.embedding.projector.Projector`), so that the
    error stays proven; only the choice of axes is that of a sample. A precomputed kernel, and one
    that may turn out to be indefinite, is factored on all samples.
    """
    n = X.shape[0]
    if sample is None or n <= sample or kernel.name not in STATIONARY:
        return pivoted(X, kernel, masses=masses, axes=axes, **given)
    taken = np.linspace(0, n - 1, sample).astype(np.int64)
    found = pivoted(X[taken], kernel, masses=masses[taken], axes=axes, **given)
    assert found.index is not None
    assert found.B is not None
    projector = Projector.of(found)
    Z, lost = np.empty((n, found.rank)), 0.0
    for s in range(0, n, ROWS):
        rows = slice(s, s + ROWS)
        Z[rows], missing = projector(X[rows])
        lost += float(masses[rows] @ missing)
    mean = masses @ Z / masses.sum()
    Z -= mean
    # BᵀK_PP B = I, so that this step of the origin moves coordinates by the mean
    step = kernel(found.basis) @ (found.B @ mean)
    return replace(
        found,
        Z=Z,
        trace_error=lost,
        variances=masses @ Z**2,
        index=taken[found.index],
        shift=np.asarray(projector.embedding.shift) + step,
    )


def _factor(
    X: Samples,
    kernel: Kernel,
    masses: Floats,
    cap: int,
    tol: float,
    pivoting: str,
    rng: np.random.Generator,
) -> tuple[Floats, Ints, Floats]:
    """L (n × r), the pivots in order, and the residual diagonal d."""
    n = X.shape[0]
    residual = kernel.diag(X)
    largest = float(np.abs(residual).max())
    if residual.min() < -INDEFINITE * largest:
        raise IndefiniteKernel(kernel)
    residual = np.maximum(residual, 0.0)
    noise = 4 * np.finfo(float).eps * float(masses @ residual)
    L = np.empty((n, cap), order="F")  # memory is taken as columns are written
    pivots = np.empty(0, dtype=np.int64)
    spread = 0.0  # tr(H L Lᵀ H) ≤ tr(HKH), so that stopping by it is on the safe side
    while len(pivots) < cap and masses @ residual > max(tol * spread, noise):
        r = len(pivots)
        candidates, bar = PIVOTING[pivoting](masses * residual, BLOCK_SIZE, rng)
        rows = L[candidates, :r]
        G = kernel.columns(X[candidates], candidates, X[candidates]) - rows @ rows.T
        chosen = candidates[_accept(G, bar / masses[candidates])][: cap - r]
        if len(chosen) == 0:  # only round-off is left
            break
        columns = kernel.columns(X, chosen)
        columns -= L[:, :r] @ L[chosen, :r].T
        try:
            corner = np.linalg.cholesky(columns[chosen])
        except np.linalg.LinAlgError:
            raise IndefiniteKernel(kernel) from None
        block = solve_triangular(corner, columns.T, lower=True, check_finite=False).T
        block[chosen] = corner
        block[pivots] = 0.0  # exact: earlier pivots have nothing left
        residual -= np.einsum("ik,ik->i", block, block)
        if residual.min() < -INDEFINITE * largest:
            raise IndefiniteKernel(kernel)
        residual = np.maximum(residual, 0.0)
        residual[chosen] = 0.0
        spread += float((masses @ (block - masses @ block / masses.sum()) ** 2).sum())
        L[:, r : r + len(chosen)] = block
        pivots = np.concatenate([pivots, chosen])
    return (L[:, : len(pivots)] if len(pivots) else np.zeros((n, 1))), pivots, residual


def _draw(trace: Floats, size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Candidates ∝ their share of the trace, and the bar that each residual must clear."""
    candidates = rng.choice(len(trace), size=size, p=trace / trace.sum())
    return candidates, rng.random(size) * trace[candidates]


def _largest(trace: Floats, size: int, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """Candidates with at least half the greatest share, spread evenly, the greatest first."""
    bar = trace.max() / 2
    near = np.flatnonzero(trace >= bar)
    near = near[np.unique(np.linspace(0, len(near) - 1, size).astype(np.int64))]
    top = int(np.argmax(trace))
    candidates = np.concatenate([[top], near[near != top]])
    return candidates, np.full(len(candidates), bar)


PIVOTING = {"random": _draw, "greedy": _largest}


def _accept(G: Floats, bar: Floats) -> Ints:
    """Positions of candidates whose residual still clears its bar, in order.

    G is the residual Gram matrix of the candidates; each one kept is eliminated from the others.
    """
    G = G.copy()
    start = np.diagonal(G).copy()
    kept = []
    for a in range(len(G)):
        # a copy of a candidate has exactly nothing left; 1e-12 is above the round-off of that
        if G[a, a] > max(bar[a], 1e-12 * start[a]) and start[a] > 0:
            kept.append(a)
            column = G[:, a] / np.sqrt(G[a, a])
            G -= np.outer(column, column)
    return np.array(kept, dtype=np.int64)
