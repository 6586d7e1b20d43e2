"""Random Fourier features of shift-invariant kernels: k(x, y) = E cos ωᵀ(x − y).

ω follows the kernel's spectral measure: normal with deviation 1/σ for rbf, independent Cauchy of
scale 1/σ for laplacian, multivariate t with 2ν degrees of freedom for matern. Orthogonal
frequencies keep each ω's law and make those of a block of d perpendicular, which lowers the
variance; this needs an isotropic measure, so laplacian has none.

The features are no projection of φ. By the inequality of Powers and Størmer there is a rotation Q
with ‖Φ − Z Q‖² ≤ ‖K − Z Zᵀ‖_*, the nuclear norm, and that is the ``trace_error``.

References: Rahimi and Recht, NIPS 2007; Yu et al., NIPS 2016 (orthogonal).
"""

from __future__ import annotations

import numpy as np

from ..kernels import Kernel, Samples
from ..numerics.axes import principal_axes
from ..numerics.memory import check_memory
from ..problem import Floats
from .result import Embedding, coordinates, fourier_features

# Without a rank from the user: errors of the kernel near 1/√500.
DEFAULT_FEATURES = 1_000
# The nuclear norm is exact up to this many samples, and beyond estimated from this many.
NUCLEAR_SAMPLES = 1_000

ISOTROPIC = ("rbf", "matern")


def rff(
    X: Samples,
    kernel: Kernel,
    *,
    rank: int | None = None,
    tol: float = 0.0,
    random_state: int | np.random.Generator | None = None,
    masses: Floats,
    orthogonal: bool = True,
) -> Embedding:
    """Random Fourier features, ``rank`` of them (a cosine and a sine for each frequency).

    ``trace_error`` is ‖H(K − Z Zᵀ)H‖_*: exact up to 1,000 samples, and beyond scaled up from 1,000
    samples drawn at random, an estimate (``is_bound=False``). Columns that ``tol`` times the
    variance allows are dropped.
    """
    rng = np.random.default_rng(0 if random_state is None else random_state)
    n, d = X.shape
    pairs = max(1, (rank or DEFAULT_FEATURES) // 2)
    needed = 48.0 * n * pairs + 3 * 8.0 * (2 * pairs) ** 2  # features; covariance, axes, scratch
    check_memory(needed, f"{2 * pairs:,} Fourier features of {n:,} samples", "lower rank")
    W = frequencies(kernel, d, pairs, orthogonal, rng)
    F = fourier_features(X, W)
    mean, Q, variances = principal_axes(F, masses)
    error, is_bound = _nuclear_error(X, F, kernel, masses, rng)
    embedding = Embedding(
        Z=coordinates(F, mean, Q),
        trace_error=error,
        is_bound=is_bound,
        clipped_share=0.0,
        method="rff",
        variances=variances,
        kernel=kernel,
        n_features=d,
        basis=W,
        shift=mean,
        B=np.ascontiguousarray(Q),
    )
    return embedding.truncate(tol * float(variances.sum()) / 2)


def frequencies(
    kernel: Kernel, d: int, count: int, orthogonal: bool, rng: np.random.Generator
) -> Floats:
    """Draw ``count`` frequencies in d dimensions from the kernel's spectral measure."""
    if kernel.name not in (*ISOTROPIC, "laplacian") or kernel.metric != "auto":
        raise ValueError(
            f'embedding="rff" is for the kernels rbf, laplacian and matern, not {kernel.name!r}: '
            'use embedding="pivoted"'
        )
    sigma = kernel.params["bandwidth"]
    if kernel.name == "laplacian":
        return rng.standard_cauchy((count, d)) / sigma
    if orthogonal:
        blocks = [_orthogonal(d, rng) for _ in range(-(-count // d))]
        directions = np.vstack(blocks)[:count]
        W = directions * np.sqrt(rng.chisquare(d, (count, 1)))
    else:
        W = rng.standard_normal((count, d))
    nu = kernel.params.get("nu", 1.5)
    if kernel.name == "matern" and np.isfinite(nu):
        W *= np.sqrt(2 * nu / rng.chisquare(2 * nu, (count, 1)))
    return W / sigma


def _orthogonal(d: int, rng: np.random.Generator) -> Floats:
    """Uniformly random rotation: Q of a normal matrix with the signs of R made positive."""
    Q, R = np.linalg.qr(rng.standard_normal((d, d)))
    return (Q * np.where(np.diagonal(R) < 0, -1.0, 1.0)).T


def _nuclear_error(
    X: Samples, F: Floats, kernel: Kernel, masses: Floats, rng: np.random.Generator
) -> tuple[float, bool]:
    """‖M^½ H(K − FFᵀ)Hᵀ M^½‖_*, exactly or scaled up from a sample."""
    n = X.shape[0]
    some = np.arange(n)
    if n > NUCLEAR_SAMPLES:
        some = np.sort(rng.choice(n, NUCLEAR_SAMPLES, replace=False))
    m = masses[some]
    E = kernel(X[some]) - F[some] @ F[some].T
    mean = m @ E / m.sum()
    E = E - mean - mean[:, None] + mean @ m / m.sum()
    root = np.sqrt(m)
    eigenvalues = np.linalg.eigvalsh(root[:, None] * E * root)
    return float(np.abs(eigenvalues).sum() * masses.sum() / m.sum()), len(some) == n
