"""Embeddings without approximation: eigenvectors of the centred Gram matrix, or X itself.

With masses m, H centring at the weighted mean and S = M^½ H K Hᵀ M^½ = U Λ Uᵀ, the rows of
Z = M^{-½} U Λ^½ have Z Zᵀ = H K Hᵀ. Centring first makes conditionally positive definite kernels
exact; what is negative after it is clipped and its share reported.

Reference: Schölkopf, Smola and Müller, Neural Computation 10, 1998.
"""

from __future__ import annotations

import numpy as np

from ..kernels import Kernel, Samples, is_sparse
from ..numerics.axes import principal_axes
from ..numerics.memory import check_memory
from ..problem import Floats
from .result import Embedding

# K, the eigenvectors and the workspace of the divide-and-conquer eigensolver (2 n² numbers)
EXACT_MATRICES = 4


def exact(
    X: Samples, kernel: Kernel, *, rank: int | None = None, masses: Floats, **unused: object
) -> Embedding:
    """Eigendecomposition of the centred Gram matrix; only round-off is dropped, or past ``rank``.

    Needs 32 n² bytes and O(n³) operations; ``tol`` and ``random_state`` have no effect.
    """
    n = X.shape[0]
    check_memory(
        EXACT_MATRICES * 8.0 * n**2,
        f"an exact embedding of {n:,} samples",
        'use embedding="pivoted" with rank=…, which never forms the kernel matrix',
    )
    K = np.array(kernel(X), dtype=np.float64)
    total = masses.sum()
    mean = masses @ K / total
    K -= mean
    K -= mean[:, None] - mean @ masses / total
    root = np.sqrt(masses)
    K *= root
    K *= root[:, None]
    eigenvalues, U = np.linalg.eigh(K)
    eigenvalues, U = eigenvalues[::-1], U[:, ::-1]
    # centring rounds a few times more, which would be a negative part of three samples
    cutoff = (n + 8) * np.finfo(float).eps * float(np.abs(eigenvalues).max())
    negative = -float(eigenvalues[eigenvalues < -cutoff].sum())
    keep = eigenvalues > cutoff
    share = negative / (negative + float(eigenvalues[keep].sum())) if negative else 0.0
    if not keep.any():  # all samples are equal in the kernel's eyes
        eigenvalues, U, keep = np.ones(1), np.zeros((n, 1)), np.ones(1, dtype=bool)
    scales, U = eigenvalues[keep], U[:, keep]
    Z = U * np.sqrt(scales) / root[:, None]
    # Σ_j B_j = 0 in exact arithmetic, since M^½1 is in the null space of S; made so to round-off
    B = root[:, None] * U / np.sqrt(scales)
    B -= np.outer(masses / total, B.sum(axis=0))
    variances = scales * (U**2).sum(axis=0)
    r = min(len(variances), rank or n)
    return Embedding(
        Z=np.ascontiguousarray(Z[:, :r]),
        trace_error=float(variances[r:].sum()),
        is_bound=True,
        clipped_share=share,
        method="exact",
        variances=variances[:r],
        kernel=kernel,
        n_features=X.shape[1],
        basis=None if kernel.is_precomputed else X,
        index=np.arange(n),
        shift=mean,
        B=np.ascontiguousarray(B[:, :r]),
    )


def identity(
    X: Samples, kernel: Kernel, *, rank: int | None = None, masses: Floats, **unused: object
) -> Embedding:
    """Z = X for the linear kernel; more features than samples are rotated to at most n columns.

    With ``rank`` the columns are the leading principal components. ``tol`` and ``random_state``
    have no effect.
    """
    if kernel.name != "linear":
        raise ValueError(
            f'embedding="identity" is for the linear kernel, not {kernel.name!r}: '
            'use embedding="auto"'
        )
    n, d = X.shape
    if is_sparse(X):
        check_memory(
            16.0 * n * d,
            f"a dense copy of X ({n:,} × {d:,})",
            'use embedding="pivoted" with rank=…',
        )
        X = X.toarray()
    total = masses.sum()
    mean = masses @ X / total
    common = {
        "is_bound": True,
        "clipped_share": 0.0,
        "method": "identity",
        "kernel": kernel,
        "n_features": d,
    }
    if d <= n and (rank is None or rank >= d):
        variances = masses @ (X - mean) ** 2
        return Embedding(Z=X.copy(), trace_error=0.0, variances=variances, **common)
    centred = X - mean
    if d > n:
        # (X − x̄)ᵀ = Q R: the columns of Q span the samples, and n × n numbers are left
        Q, _ = np.linalg.qr(centred.T)
        _, axes, variances = principal_axes(centred @ Q, masses)
        axes = Q @ axes
    else:
        _, axes, variances = principal_axes(centred, masses)
    r = min(axes.shape[1], rank or d)
    return Embedding(
        Z=centred @ axes[:, :r],
        trace_error=float(variances[r:].sum()),
        variances=variances[:r],
        shift=mean,
        B=np.ascontiguousarray(axes[:, :r]),
        **common,
    )
