"""Several kernels, or several views of the same samples, as one kernel.

    k(x, y) = Σ_v (β_v/s_v) k_v(x_v, y_v),    s_v = tr(H K_v H)/n,    β ≥ 0, Σ β_v = 1

x_v are the columns of view v. Clustering sees a kernel through HKH alone, and s_v gives each view
the trace n, so that a weight means the same for every view. The sum is a kernel like any other:
embeddings, their error and the certificate are about it, and its rows are those of the embeddings
of the views side by side, [√β_1 Z_1, √β_2 Z_2, …], turned to their principal axes.

β may be learned by agreement. With C̃ = C − (tr C/(n − 1))H, the cosine of C̃_p and C̃_q has mean 0
and deviation √2/(n − 1) if the samples of one of the two are relabelled at random. Views that agree
with no other beyond chance get weight 0, the others the leading eigenvector of the cosines. Views
that share a confounder (a batch, a day) agree as well.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Floats, Ints, check_samples
from .checks import Samples, check_gram, is_sparse
from .kernel import Kernel

# Samples, evenly spaced, by which views are scaled and compared: of twice as many the matrices have
# four times the size, and a thousand show cosines of 0.006.
SAMPLE = 1_000

# Deviations by which two views must agree beyond chance. The greatest of 1,600 cosines of
# relabelled views was 4.1; at 3 one pair in seven hundred would agree by chance.
BEYOND_CHANCE = 4.0

# Fewest views that can vote: of two, both agree equally with the other.
FEWEST_VOTERS = 3

# Share of the leading view's weight below which agreement gives none, and of a view's mean k(x, x)
# below which its centred trace is round-off.
NEGLIGIBLE, CONSTANT = 1e-3, 1e-13


@dataclass(frozen=True, eq=False)
class Mixture(Kernel):
    """A :class:`SumKernel` with its weights and scales known: Σ factor · k_v(x_v, y_v).

    Attributes
    ----------
    views : tuple of Kernel
        Those of positive weight.
    seen : tuple of ndarray
        Columns of X that each of them sees.
    factors : ndarray
        β_v/s_v of each of them.
    weights_ : ndarray of shape (n_views,)
        β of all views that were given.
    """

    views: tuple[Kernel, ...] = ()
    seen: tuple[Ints, ...] = ()
    factors: Floats = ()  # type: ignore[assignment]
    weights_: Floats = ()  # type: ignore[assignment]

    def __call__(self, X: Samples, Y: Samples | None = None) -> Floats:
        """Gram matrix k(X, Y) of shape (n, m); ``Y=None`` means X."""
        parts = zip(self.factors, self.views, self.seen)
        return np.asarray(sum(f * k(X[:, c], None if Y is None else Y[:, c]) for f, k, c in parts))

    def diag(self, X: Samples) -> Floats:
        """k(x, x) for every row of X."""
        parts = zip(self.factors, self.views, self.seen)
        return np.asarray(sum(f * k.diag(X[:, c]) for f, k, c in parts))


@dataclass(frozen=True, eq=False)
class SumKernel:
    """A weighted sum of kernels, each of some columns of X; pass it as ``kernel=``.

    Distances for the graph are those of the embedding, since columns of different views have no
    common unit. The fitted kernel is ``model.kernel_``, with the weights in ``kernel_.weights_``.

    Parameters
    ----------
    views : sequence of (kernel, columns)
        A kernel is a name, a callable or a :class:`Kernel`; each name has its own automatic
        bandwidth. Columns are as in scikit-learn's ``ColumnTransformer``: positions, names, a
        slice or a mask. Every column is in some view.
    weights : "equal", "agreement" or array of shape (n_views,)
        β, up to a factor. "agreement" gives 0 to views that agree with no other view beyond
        chance; of fewer than three views it is "equal".

    Examples
    --------
    >>> from convexcluster import KernelConvexClustering
    >>> from convexcluster.kernels import SumKernel
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 30)
    >>> X = np.column_stack([9 * y + rng.normal(size=60), -9 * y + rng.normal(size=60)])
    >>> X = np.hstack([X, rng.normal(size=(60, 3))])
    >>> views = [("rbf", 0), ("linear", 1), ("rbf", slice(2, 5))]
    >>> model = KernelConvexClustering(2, kernel=SumKernel(views, weights="agreement")).fit(X)
    >>> model.kernel_.weights_.round(2)
    array([0.5, 0.5, 0. ])
    """

    views: Sequence[tuple[Any, Any]]
    weights: str | ArrayLike = "equal"

    def __post_init__(self) -> None:
        from . import resolve_kernel

        if isinstance(self.views, str) or not isinstance(self.views, Sequence) or not self.views:
            raise ValueError(
                f"SumKernel wants a list of (kernel, columns), one per view: {self.views!r}"
            )
        for v, view in enumerate(self.views):
            if not isinstance(view, Sequence) or isinstance(view, str) or len(view) != 2:
                raise ValueError(f"view {v} of a SumKernel must be (kernel, columns): {view!r}")
            if isinstance(view[0], SumKernel) or resolve_kernel(view[0], 1.0).is_precomputed:
                raise ValueError(
                    f"view {v} of a SumKernel must be a kernel of columns: mix Gram matrices with "
                    "kernels.mix, and write sums as one list"
                )
        _check_weights(self.weights, len(self.views))

    def named(self, names: ArrayLike | None) -> SumKernel:
        """The same with positions in place of the names of columns."""
        if names is None:
            return self
        place = {name: position for position, name in enumerate(np.asarray(names).tolist())}
        views = [(kernel, _place_names(columns, place)) for kernel, columns in self.views]
        return SumKernel(views, self.weights)

    def fit(self, X: Samples) -> Mixture:
        """Bandwidths, scales and weights from the rows of X."""
        from . import resolve_kernel

        if is_sparse(X):
            raise ValueError("a SumKernel does not take a sparse X: pass X.toarray()")
        d = X.shape[1]
        columns = [_positions(view[1], d, v) for v, view in enumerate(self.views)]
        unseen = np.setdiff1d(np.arange(d), np.concatenate(columns))
        if len(unseen):
            raise ValueError(
                f"columns {', '.join(map(str, unseen[:10]))} of X are in no view of the SumKernel: "
                "add a view, or drop these columns"
            )
        kernels = [
            resolve_kernel(kernel, "auto", None, X[:, c])
            for (kernel, _), c in zip(self.views, columns)
        ]
        some = X[np.linspace(0, len(X) - 1, min(len(X), SAMPLE)).astype(int)]
        grams = [kernel(some[:, c]) for kernel, c in zip(kernels, columns)]
        scales = np.array([K.diagonal().mean() - K.mean() for K in grams])
        weights = _weigh(grams, scales, self.weights)
        used = np.flatnonzero(weights)
        return Mixture(
            "sum",
            views=tuple(kernels[v] for v in used),
            seen=tuple(columns[v] for v in used),
            factors=weights[used] / scales[used],
            weights_=weights,
        )


def mix(grams: Sequence[ArrayLike], weights: str | ArrayLike = "equal") -> tuple[Floats, Floats]:
    """Σ β_v C_v of Gram matrices of the same samples, C_v = H K_v H scaled to trace n, and β.

    Parameters
    ----------
    grams : sequence of (n, n) arrays
    weights : "equal", "agreement" or array of shape (n_views,)
        As in :class:`SumKernel`.

    Returns
    -------
    K : ndarray of shape (n, n)
        For ``kernel="precomputed"``.
    weights : ndarray of shape (n_views,)
        Sum to one.

    Examples
    --------
    >>> x, y = np.arange(4.0), np.array([0.0, 2.0, 1.0, 3.0])
    >>> K, weights = mix([np.outer(x, x), np.outer(y, y)], [3, 1])
    >>> weights, round(float(np.trace(K)), 12)
    (array([0.75, 0.25]), 4.0)
    """
    if isinstance(grams, np.ndarray | str) or not isinstance(grams, Sequence) or not len(grams):
        raise ValueError(f"mix wants a list of Gram matrices, got {type(grams).__name__}")
    _check_weights(weights, len(grams))
    checked = [check_samples(K, f"matrix {v}") for v, K in enumerate(grams)]
    sizes = [K.shape for K in checked]
    if len(set(sizes)) > 1:
        raise ValueError(f"Gram matrices must be of the same samples, got the sizes {sizes}")
    for v, K in enumerate(checked):
        check_gram(K, None, f"matrix {v}")
    scales = np.array([K.diagonal().mean() - K.mean() for K in checked])
    beta = _weigh(checked, scales, weights)
    used = np.flatnonzero(beta)
    return np.asarray(sum(beta[v] / scales[v] * _centred(checked[v]) for v in used)), beta


def _weigh(grams: Sequence[Floats], scales: Floats, given: str | ArrayLike) -> Floats:
    """β of every view; views that are constant, with a warning, have none."""
    constant = np.array([s <= CONSTANT * np.abs(K).mean() for s, K in zip(scales, grams)])
    if constant.all():
        raise ValueError("every view is constant: there is nothing to cluster")
    if constant.any():
        warnings.warn(
            f"views {', '.join(map(str, np.flatnonzero(constant)))} are constant and left out",
            UserWarning,
            stacklevel=2,
        )
    varied = np.flatnonzero(~constant)
    beta = np.zeros(len(grams))
    if not isinstance(given, str):
        beta[varied] = np.asarray(given, dtype=np.float64)[varied]
        if not beta.any():
            raise ValueError("weights are zero for every view that is not constant")
    elif given == "agreement" and len(varied) >= FEWEST_VOTERS:
        beta[varied] = _agreement([grams[int(v)] for v in varied])
    else:
        beta[varied] = 1.0
    return beta / beta.sum()


def _agreement(grams: Sequence[Floats]) -> Floats:
    """Leading eigenvector of the cosines beyond chance; ones if no two views agree."""
    n = len(grams[0])
    flat = []
    for K in grams:
        C = _centred(K)
        mean = np.trace(C) / (n - 1)
        C = C + mean / n  # C̃ = C − mean·(I − 11ᵀ/n)
        C[np.diag_indices(n)] -= mean
        flat.append(C.ravel() / np.linalg.norm(C))
    cosines = np.stack(flat) @ np.stack(flat).T
    np.fill_diagonal(cosines, 0.0)
    beyond = np.where(cosines * (n - 1) > BEYOND_CHANCE * np.sqrt(2.0), cosines, 0.0)
    if not beyond.any():
        return np.ones(len(grams))
    leading = np.abs(np.linalg.eigh(beyond)[1][:, -1])
    return np.where(leading > NEGLIGIBLE * leading.max(), leading, 0.0)


def _centred(K: Floats) -> Floats:
    """H K H."""
    K = K - K.mean(axis=0)
    return K - K.mean(axis=1)[:, None]


def _check_weights(weights: str | ArrayLike, n_views: int) -> None:
    if isinstance(weights, str):
        if weights not in ("equal", "agreement"):
            raise ValueError(
                f'weights of views must be "equal", "agreement" or numbers: {weights!r}'
            )
        return
    try:
        beta = np.asarray(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"weights of views must be numbers ≥ 0: {weights!r}") from None
    if beta.shape != (n_views,):
        raise ValueError(f"weights of {n_views} views must have shape ({n_views},): {beta.shape}")
    if not np.isfinite(beta).all() or (beta < 0).any() or not beta.any():
        raise ValueError(f"weights of views must be ≥ 0, finite, and not all zero: {weights!r}")


def _place_names(columns: Any, place: dict[Any, int]) -> Any:
    """Names → positions; a name that X does not have stays, and is refused as it is."""
    if isinstance(columns, str):
        return place.get(columns, columns)
    if isinstance(columns, list | tuple | np.ndarray):
        return [place.get(c, c) if isinstance(c, str) else c for c in columns]
    return columns


def _positions(columns: Any, d: int, v: int) -> Ints:
    """Columns of view v as positions among d."""
    if isinstance(columns, slice):
        found = np.arange(d)[columns]
    else:
        found = np.atleast_1d(np.asarray(columns))
        if found.dtype == bool and found.shape == (d,):
            found = np.flatnonzero(found)
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        raise ValueError(
            f"columns of view {v} must be positions, names of columns of X, a slice or a mask of "
            f"{d}: {columns!r}"
        )
    outside = found[(found < -d) | (found >= d)]
    if len(outside):
        raise ValueError(f"view {v} asks for column {outside[0]}, but X has {d} columns")
    return (found % d).astype(np.int64)
