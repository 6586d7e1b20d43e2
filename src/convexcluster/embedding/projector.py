"""Rows → coordinates in a given embedding, and what each row loses on the way."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import lstsq

from ..problem import Floats
from .result import Embedding


@dataclass(frozen=True)
class Projector:
    """Rows → coordinates z, and the squared distance of φ(x) from what z stands for.

    For features f(x) = k(x, landmarks) and any origin o = Σ a_p φ(x_p), z = (f(x) − K_PP a) B is
    the projection of φ(x) − o on the orthonormal axes φ_P B, and

        lost(x) = k(x, x) − 2 f(x)·a + aᵀK_PP a − ‖z‖²,    τ² = Σ m_i lost(x_i).

    The origin is near the mean, so that what is lost is a share of the variance.
    """

    embedding: Embedding
    origin: Floats | None = None
    constant: float = 0.0

    @classmethod
    def of(cls, embedding: Embedding) -> Projector:
        """Find the origin for ``embedding``; its rows Z stay behind, as tasks carry a projector."""
        embedding = replace(embedding, Z=embedding.Z[:0])
        if embedding.method in {"rff", "identity"} or embedding.B is None:
            return cls(embedding)
        K = embedding.kernel(embedding.basis)
        # A cut at 1e-10 keeps a small: it costs nothing, since any origin is as good.
        a: Floats = lstsq(K, np.asarray(embedding.shift), cond=1e-10, lapack_driver="gelsy")[0]
        shift = K @ a
        return cls(replace(embedding, shift=shift), a, float(a @ shift))

    @property
    def measures(self) -> bool:
        """Whether ``lost`` comes from the rows; of Fourier features only an estimate is known."""
        return self.embedding.method != "rff"

    def __call__(self, X: Floats) -> tuple[Floats, Floats]:
        """Coordinates (n, r) and what they lose, (n,)."""
        embedding = self.embedding
        if embedding.B is None or not self.measures:
            return embedding.transform(X), np.zeros(len(X))
        shift, B = np.asarray(embedding.shift), embedding.B
        if self.origin is None:  # principal components of the rows themselves
            centred = X - shift
            Z = centred @ B
            whole = np.einsum("ik,ik->i", centred, centred)
        else:
            features = embedding.kernel.columns(X, np.arange(0), embedding.basis)
            Z = features @ B - shift @ B  # no second array of the size of the features
            whole = embedding.kernel.diag(X) - 2.0 * (features @ self.origin) + self.constant
        return Z, np.maximum(whole - np.einsum("ik,ik->i", Z, Z), 0.0)
