"""Nyström: K ≈ C W⁺ Cᵀ with C = k(X, landmarks) and W = k(landmarks, landmarks).

With W = V S Vᵀ the rows of L = C V S^{-½} are the projections of φ(x_i) on the landmarks' span, so
τ² = Σ m_i (K_ii − ‖L_i‖²).

Reference: Williams and Seeger, NIPS 2000.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import Kernel, Samples, is_sparse
from ..numerics.axes import principal_axes
from ..numerics.memory import check_memory
from ..problem import Floats, Ints
from .result import Embedding

# Without a rank from the user.
DEFAULT_LANDMARKS = 500


def nystroem(
    X: Samples,
    kernel: Kernel,
    *,
    rank: int | None = None,
    tol: float = 0.0,
    random_state: int | np.random.Generator | None = None,
    masses: Floats,
    landmarks: Samples | None = None,
) -> Embedding:
    """Project on the span of landmarks: positions in X, points, or ``rank`` samples at random.

    ``landmarks`` is a 1-D array of positions or a 2-D array of points. Columns that ``tol`` times
    the variance allows are dropped. A kernel that is not positive semi-definite is clipped on the
    landmarks; its ``trace_error`` is then an estimate.
    """
    n = X.shape[0]
    index, points = _landmarks(X, kernel, rank, random_state, landmarks)
    size = points.shape[0]
    check_memory(
        24.0 * n * size, f"an embedding of {n:,} samples by {size} landmarks", "take fewer"
    )
    if kernel.is_precomputed:
        W = kernel.columns(points, np.arange(0) if index is None else index)
    else:
        W = kernel(points)
    eigenvalues, V = np.linalg.eigh((W + W.T) / 2)
    # V S^{-½} amplifies round-off of C by S^{-½}; dropping below this keeps half the digits
    cutoff = size * np.finfo(float).eps * float(np.abs(eigenvalues).max())
    negative = -float(eigenvalues[eigenvalues < -cutoff].sum())
    keep = eigenvalues > cutoff
    share = negative / (negative + float(eigenvalues[keep].sum())) if negative else 0.0
    whiten = V[:, keep] / np.sqrt(eigenvalues[keep]) if keep.any() else np.zeros((size, 1))
    basis = None if kernel.is_precomputed else points
    C = kernel.columns(X, index if index is not None else np.arange(size), basis)
    L = C @ whiten
    residual = kernel.diag(X) - np.einsum("ik,ik->i", L, L)
    lost = float(masses @ (np.maximum(residual, 0.0) if share == 0 else np.abs(residual)))
    mean, Q, variances = principal_axes(L, masses)
    r = min(len(variances), rank or len(variances))
    B = whiten @ Q
    embedding = Embedding(
        Z=np.ascontiguousarray(((L - mean) @ Q)[:, :r]),
        trace_error=lost + float(variances[r:].sum()),
        is_bound=share == 0,
        clipped_share=share,
        method="nystroem",
        variances=variances[:r],
        kernel=kernel,
        n_features=X.shape[1],
        basis=basis,
        index=index,
        shift=masses @ C / masses.sum(),
        B=np.ascontiguousarray(B[:, :r]),
    )
    return embedding.truncate(tol * float(variances.sum()) / 2)


def _landmarks(
    X: Samples,
    kernel: Kernel,
    rank: int | None,
    random_state: int | np.random.Generator | None,
    landmarks: Samples | None,
) -> tuple[Ints | None, Samples]:
    """Positions (``None`` for points that are given) and rows."""
    n = X.shape[0]
    if landmarks is None:
        rng = np.random.default_rng(0 if random_state is None else random_state)
        index = np.sort(rng.choice(n, size=min(n, rank or DEFAULT_LANDMARKS), replace=False))
        return index, X[index]
    if not is_sparse(landmarks) and np.ndim(landmarks) == 1:
        index = check_positions(landmarks, n)
        return index, X[index]
    if kernel.is_precomputed:
        raise ValueError("landmarks of a precomputed kernel are positions: pass a 1-D array")
    points = kernel.check(landmarks, name="landmarks")
    if points.shape[1] != X.shape[1]:
        raise ValueError(f"landmarks have {points.shape[1]} features, X has {X.shape[1]}")
    return None, points


def check_positions(landmarks: ArrayLike, n: int) -> Ints:
    """Return landmarks as distinct positions below n, or say what is wrong."""
    index = np.asarray(landmarks)
    if not np.issubdtype(index.dtype, np.integer) or len(index) == 0:
        raise ValueError("landmarks must be positions of samples (integers) or points (2-D)")
    if index.min() < 0 or index.max() >= n or len(np.unique(index)) < len(index):
        raise ValueError(f"landmarks must be distinct positions below {n}")
    return index.astype(np.int64)
