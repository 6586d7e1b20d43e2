"""What an embedding is: Z with Z Zᵀ ≈ K (centred), its error, and the map for new samples.

Every method ends in one affine form: features f(x) — kernel values at landmarks, Fourier features
or x itself — and z = (f(x) − shift) B. The axes of B are principal: columns of Z are uncorrelated
and ordered by variance, so that trailing ones may be dropped at a known cost in trace.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..kernels import Kernel, Samples, is_sparse
from ..numerics.axes import ROWS
from ..problem import Floats, Ints


@dataclass(frozen=True)
class Embedding:
    """Samples as rows of Z, and everything needed to place new ones beside them.

    Attributes
    ----------
    Z : ndarray of shape (n, r)
        (Z Zᵀ) is the Gram matrix centred at the mean sample, up to ``trace_error``; of the method
        ``identity`` Z is X itself and is not centred. Centring does not change the clustering.
    trace_error : float
        τ² = Σ mᵢ‖φ(xᵢ) − zᵢ‖² in the RKHS, up to a rotation: the centroids of all samples
        together move by at most τ. The duality gap of the full problem is that of Z plus τ²/2.
    is_bound : bool
        Whether ``trace_error`` is proven; otherwise it is an estimate from a sample.
    clipped_share : float
        Σ|λ₋|/Σ|λ| of the centred Gram matrix: 0 for a positive semi-definite kernel.
    method : str
        A key of ``EMBEDDINGS``.
    variances : ndarray of shape (r,)
        Σ mᵢ z_ik² about the mean, per column, descending.
    kernel : Kernel
        What was embedded.
    n_features : int
        Columns that :meth:`transform` expects.
    basis : ndarray, sparse array or None
        Landmarks (rows of X), or Fourier frequencies (frequencies × features).
    index : ndarray or None
        Landmarks as positions among the training samples; ``None`` if they are not among them.
    shift, B : ndarray or None
        z = (f(x) − shift) B; ``B=None`` is the identity.
    """

    Z: Floats
    trace_error: float
    is_bound: bool
    clipped_share: float
    method: str
    variances: Floats
    kernel: Kernel
    n_features: int
    basis: Samples = None
    index: Ints | None = None
    shift: Floats | None = None
    B: Floats | None = None

    @property
    def rank(self) -> int:
        """Number of columns r."""
        return self.Z.shape[1]

    def transform(self, X: Samples) -> Floats:
        """Rows of new samples in the coordinates of ``Z``; training samples get their own rows.

        Parameters
        ----------
        X : (m, d) array or sparse matrix; for a precomputed kernel (m, n) with k(new, training)

        Returns
        -------
        ndarray of shape (m, r)
        """
        X = self.kernel.check(X, n_train=self.n_features if self.kernel.is_precomputed else None)
        if X.shape[1] != self.n_features:
            raise ValueError(
                f"X has {X.shape[1]} features, the embedding was made from {self.n_features}"
            )
        if self.B is None:
            return X.toarray() if is_sparse(X) else X.copy()
        return (self._features(X) - self.shift) @ self.B

    def _features(self, X: Samples) -> Samples:
        if self.method == "rff":
            return fourier_features(X, self.basis)
        if self.method == "identity":
            return X
        index = np.arange(0) if self.index is None else self.index
        return self.kernel.columns(X, index, self.basis)

    def truncate(self, budget: float) -> Embedding:
        """Drop trailing columns as long as their variances sum to at most ``budget``.

        The dropped part is orthogonal to what was lost before, so τ² grows by exactly its sum.
        """
        return self.leading(columns_kept(self.variances, budget))

    def leading(self, r: int) -> Embedding:
        """The first r columns alone; τ² grows by the variances of the others."""
        if r >= self.rank or self.B is None:
            return self
        return replace(
            self,
            Z=np.ascontiguousarray(self.Z[:, :r]),
            B=np.ascontiguousarray(self.B[:, :r]),
            variances=self.variances[:r],
            trace_error=self.trace_error + float(self.variances[r:].sum()),
        )


def fourier_features(X: Samples, frequencies: Floats) -> Floats:
    """[cos ωᵀx, sin ωᵀx]/√D for D frequencies ω, so that ‖f(x)‖ = 1."""
    phase = np.asarray(X @ frequencies.T)
    return np.hstack([np.cos(phase), np.sin(phase)]) / np.sqrt(len(frequencies))


def coordinates(L: Floats, mean: Floats, Q: Floats) -> Floats:
    """(L − mean) Q, a block of rows at a time."""
    Z = np.empty((len(L), Q.shape[1]))
    for s in range(0, len(L), ROWS):
        np.matmul(L[s : s + ROWS] - mean, Q, out=Z[s : s + ROWS])
    return Z


def columns_kept(variances: Floats, budget: float) -> int:
    """How many leading columns leave trailing ones with at most ``budget`` of variance."""
    tail = np.cumsum(variances[::-1])[::-1]  # tail[k]: variance lost by keeping k columns
    return max(1, int(np.count_nonzero(tail > budget)))
