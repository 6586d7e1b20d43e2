"""Kernel to embedding: rows Z (n × r) with Z Zᵀ ≈ K, and how far from it.

Convex clustering sees K only through Z, and moves by at most τ when Z does, τ² = ``trace_error``:
the proximal map is non-expansive. So each method reports τ², and the certificate adds τ²/2.
Methods are listed in ``EMBEDDINGS``; :func:`embed` checks, merges exact duplicates and dispatches.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..kernels import Kernel, Samples, is_sparse
from ..partition import distinct_rows
from ..problem import Floats, check_masses
from .exact import exact, identity
from .fourier import rff
from .landmarks import check_positions, nystroem
from .pivoted import IndefiniteKernel, greedy, leading, pivoted
from .result import Embedding

__all__ = ["EMBEDDINGS", "Embedding", "IndefiniteKernel", "embed"]

# Up to this many distinct samples an eigendecomposition takes less than a second, and gives the
# fewest columns for the error.
AUTO_EXACT = 1_000
# A sparse X may become a dense one of this many bytes without being asked.
AUTO_DENSE = 5e8
# Negative eigenvalues of less than this share are round-off of a matrix computed elsewhere.
CLIP_WARNING = 1e-6


def auto(
    X: Samples,
    kernel: Kernel,
    *,
    rank: int | None = None,
    tol: float = 1e-6,
    random_state: int | np.random.Generator | None = None,
    masses: Floats,
    axes: int | None = None,
    sample: int | None = None,
) -> Embedding:
    """Choose: ``identity`` if linear, ``exact`` cut at ``tol`` up to 1,000 samples, ``pivoted``.

    A kernel that turns out not to be positive semi-definite goes to ``exact`` at any size. With
    ``axes`` only so many leading principal axes are kept, of pivots among ``sample`` samples
    (:func:`~convexcluster.embedding.pivoted.leading`).
    """
    n, d = X.shape
    features = not kernel.is_precomputed
    if kernel.name == "linear" and features and not (is_sparse(X) and 8.0 * n * d > AUTO_DENSE):
        return identity(X, kernel, rank=rank, masses=masses)
    pivots = kernel.name != "sigmoid" and (features or kernel.name != "linear")
    if (n > AUTO_EXACT or axes is not None) and pivots:
        how: dict[str, Any] = {"rank": rank, "tol": tol, "random_state": random_state}
        try:
            if axes is None:
                return pivoted(X, kernel, masses=masses, **how)
            return leading(X, kernel, masses=masses, axes=axes, sample=sample, **how)
        except IndefiniteKernel:
            pass
    found = exact(X, kernel, rank=rank, masses=masses)
    spread = float(found.variances.sum()) + found.trace_error
    found = found.truncate(tol * spread - found.trace_error)
    return found if axes is None else found.leading(axes)


EMBEDDINGS: dict[str, Callable[..., Embedding]] = {
    "auto": auto,
    "exact": exact,
    "pivoted": pivoted,
    "greedy": greedy,
    "nystroem": nystroem,
    "rff": rff,
    "identity": identity,
}


def embed(
    X: Samples,
    kernel: Kernel,
    *,
    method: str | Callable[..., Embedding] = "auto",
    rank: int | None = None,
    tol: float = 1e-6,
    random_state: int | np.random.Generator | np.random.RandomState | None = None,
    masses: ArrayLike | None = None,
    distinct: bool = False,
    **options: Any,
) -> Embedding:
    """Embed samples so that the clustering of Z is that of the kernel, up to a known error.

    Parameters
    ----------
    X : (n, d) array or sparse matrix, or the (n, n) Gram matrix of a precomputed kernel
    kernel : Kernel
        From :func:`convexcluster.kernels.resolve_kernel`.
    method : key of ``EMBEDDINGS``, or a callable of the same signature
    rank : int, optional
        Greatest number of columns.
    tol : float
        Trace that may be lost, relative to tr(HKH), by the methods that choose their rank.
    random_state : int or Generator, optional
        ``None`` means 0: an embedding is reproducible unless you ask for another seed.
    masses : (n,) array, optional
        Errors and axes are weighted by them.
    distinct : bool
        Whether X is checked and no two of its rows are equal: then neither is looked at again.
    **options
        ``landmarks`` of nystroem, ``orthogonal`` of rff, ``pivoting`` of pivoted, ``axes`` and
        ``sample`` of auto.

    Returns
    -------
    Embedding

    Warns
    -----
    UserWarning
        If the kernel is not positive semi-definite and was clipped.

    Examples
    --------
    >>> from convexcluster.kernels import resolve_kernel
    >>> X = np.array([[0.0], [1.0], [1.0], [5.0]])
    >>> E = embed(X, resolve_kernel("rbf", 1.0))
    >>> E.Z.shape, bool((E.Z[1] == E.Z[2]).all())
    ((4, 2), True)
    >>> bool(np.allclose(E.transform(X), E.Z))
    True
    """
    X = X if distinct else kernel.check(X)
    n = X.shape[0]
    m = check_masses(masses, n)
    function = _method(method)
    # Fourier features approach the kernel as their number grows, past n as well
    if rank is not None and not 1 <= rank <= (n if function is not rff else np.inf):
        raise ValueError(f"rank must be between 1 and the number of samples, {n}, got {rank}")
    if not 0 <= tol < 1:
        raise ValueError(f"tol of an embedding must be in [0, 1), got {tol}")
    unknown = sorted(set(options) - set(signature(function).parameters))
    if unknown:
        raise ValueError(f"embedding {method!r} has no option {unknown[0]!r}")
    arguments = {"rank": rank, "tol": tol, "random_state": _generator(random_state), **options}
    if distinct or (kernel.name == "linear" and function in (auto, identity)):
        found = function(X, kernel, masses=m, **arguments)
    else:
        found = _embed_distinct(X, kernel, function, m, arguments)
    if found.clipped_share > CLIP_WARNING:
        warnings.warn(
            f"kernel {kernel.name!r} is not positive semi-definite: {found.clipped_share:.2%} of "
            "its spectrum is negative and was clipped",
            UserWarning,
            stacklevel=2,
        )
    return found


def _embed_distinct(
    X: Samples,
    kernel: Kernel,
    function: Callable[..., Embedding],
    masses: Floats,
    arguments: dict[str, Any],
) -> Embedding:
    """Embed the distinct rows once; copies get the same row of Z, to the last bit."""
    n = X.shape[0]
    first, inverse = distinct_rows(X)
    if len(first) == n:
        return function(X, kernel, masses=masses, **arguments)
    # equal rows of a symmetric K have equal columns
    distinct = X[np.ix_(first, first)] if kernel.is_precomputed else X[first]
    if arguments["rank"] is not None and function is not rff:
        arguments["rank"] = min(int(arguments["rank"]), len(first))
    landmarks = arguments.get("landmarks")
    if landmarks is not None and np.ndim(landmarks) == 1:
        arguments["landmarks"] = np.unique(inverse[check_positions(landmarks, n)])
    found = function(distinct, kernel, masses=np.bincount(inverse, masses), **arguments)
    return replace(
        found,
        Z=found.Z[inverse],
        index=None if found.index is None else first[found.index],
        n_features=X.shape[1],
    )


def _method(method: str | Callable[..., Embedding]) -> Callable[..., Embedding]:
    if callable(method):
        return method
    if method not in EMBEDDINGS:
        raise ValueError(f"embedding {method!r} is unknown: use one of {', '.join(EMBEDDINGS)}")
    return EMBEDDINGS[method]


def _generator(
    random_state: int | np.random.Generator | np.random.RandomState | None,
) -> np.random.Generator:
    if random_state is None:
        return np.random.default_rng(0)
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31))
    return np.random.default_rng(random_state)
