"""A kernel with its parameters: Gram matrices, their diagonals and columns, block by block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import pairwise_kernels

from ..problem import Floats, Ints
from .checks import BLOCK, Samples, check_features, check_gram, is_sparse
from .distances import OF_DISTANCE, check_distances, distances
from .formulas import KERNELS, SPARSE, STATIONARY, precomputed


@dataclass(frozen=True)
class Kernel:
    """A kernel with its parameters; call it for a Gram matrix.

    Attributes
    ----------
    name : str
        A key of ``KERNELS``, or ``"callable"``.
    params : dict
        Its parameters. With ``name`` they describe a built-in kernel completely and are plain data.
    function : callable or None
        What the user passed, for ``"callable"``: f(X, Y) -> matrix, or f(x, y) -> number.
    metric : str or callable
        "auto", or the distance that the kernel is a function of; "precomputed": X holds distances.
    """

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    function: Callable[..., Any] | None = None
    metric: Any = field(default="auto", repr=False)

    @property
    def is_precomputed(self) -> bool:
        """Whether X holds values of pairs: the Gram matrix itself, or distances."""
        return self.name == "precomputed" or self._takes_distances

    @property
    def _takes_distances(self) -> bool:
        return isinstance(self.metric, str) and self.metric == "precomputed"

    def _of_pairs(self, values: Floats) -> Floats:
        """Similarities from what X holds of pairs."""
        return OF_DISTANCE[self.name](values, **self.params) if self._takes_distances else values

    def __call__(self, X: Samples, Y: Samples | None = None) -> Floats:
        """Gram matrix k(X, Y) of shape (n, m); ``Y=None`` means X."""
        if self.is_precomputed:
            if Y is not None:
                precomputed(X, Y)
            return self._of_pairs(X)
        if self.metric != "auto":
            return OF_DISTANCE[self.name](distances(X, Y, self.metric), **self.params)
        Y = X if Y is None else Y
        if self.function is not None:
            return _call(self.function, X, Y, self.params)
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.asarray(KERNELS[self.name](X, Y, **self.params), dtype=np.float64)
        if not np.isfinite(K).all():
            raise ValueError(
                f"kernel {self.name!r} overflows on these samples: scale X, e.g. with "
                "StandardScaler"
            )
        return K

    def diag(self, X: Samples) -> Floats:
        """k(x, x) for every row of X, block by block."""
        if self.name in STATIONARY:
            return np.ones(X.shape[0])
        if self.is_precomputed:
            return self._of_pairs(np.diagonal(X).copy())
        size = 64  # the block computes size² entries to keep size of them
        blocks = [self(X[s : s + size]).diagonal() for s in range(0, X.shape[0], size)]
        return np.concatenate(blocks)

    def columns(self, X: Samples, index: Ints, landmarks: Samples | None = None) -> Floats:
        """k(X, x_index), shape (n, len(index)); never more than a block of temporaries.

        ``landmarks`` are the rows x_index of the training samples when X holds new ones; of a
        precomputed kernel X has the columns k(new, training), and ``index`` selects.
        """
        if self.is_precomputed:
            return self._of_pairs(np.ascontiguousarray(X[:, index]))
        Y = X[index] if landmarks is None else landmarks
        n, m = X.shape[0], Y.shape[0]
        step = max(1, BLOCK // max(1, m))
        if n <= step:
            return self(X, Y)
        out = np.empty((n, m))
        for s in range(0, n, step):
            out[s : s + step] = self(X[s : s + step], Y)
        return out

    def check(self, X: Samples, *, n_train: int | None = None, name: str = "X") -> Samples:
        """Return ``X`` as this kernel takes it: float64 and finite, or say what is wrong.

        A precomputed kernel wants a symmetric n × n matrix, or m × n_train for new samples.
        """
        if self._takes_distances:
            check_distances(X, n_train, name)
            return check_features(X, name)
        if is_sparse(X) and self.name not in SPARSE:
            raise ValueError(
                f"kernel {self.name!r} does not take a sparse {name}: pass {name}.toarray(), "
                f"or one of the kernels {', '.join(sorted(SPARSE))}"
            )
        X = check_features(X, name)
        if self.is_precomputed:
            check_gram(X, n_train, name)
        return X


def _call(f: Callable[..., Any], X: Samples, Y: Samples, params: dict[str, Any]) -> Floats:
    """Gram matrix of a user's callable, which takes matrices or single samples."""
    if _takes_matrices(f, X, params):
        K = np.asarray(f(X, Y, **params), dtype=np.float64)
    else:
        try:
            K = pairwise_kernels(X, Y, metric=f, **params)
        except (TypeError, ValueError) as error:
            raise ValueError(f"kernel {f!r} failed on two samples: {error}") from error
    if K.shape != (X.shape[0], Y.shape[0]) or not np.isfinite(K).all():
        raise ValueError(
            f"kernel {f!r} must return finite numbers, one for each pair of samples: "
            f"it returned shape {K.shape} for {X.shape[0]} × {Y.shape[0]}"
        )
    return K


def _takes_matrices(f: Callable[..., Any], X: Samples, params: dict[str, Any]) -> bool:
    """Whether f(X, Y) is a matrix, tried on 2 × 3 samples and on 1 × 1.

    Two shapes are needed: ⟨x, y⟩ written as ``x @ y`` also gives 2 × 3 in three dimensions.
    """
    few = X[np.arange(3) % X.shape[0]]
    try:
        wide = np.asarray(f(few[:2], few, **params))
        one = np.asarray(f(few[:1], few[:1], **params))
    except Exception:  # whatever f raises on matrices, it is then tried on pairs
        return False
    if wide.shape != (2, 3) or one.shape != (1, 1):
        return False
    if hasattr(f, "diag") and not np.allclose(f.diag(few[:1]), one[0]):
        raise ValueError(
            "the kernel adds independent noise to each sample (WhiteKernel), which has no value "
            "between samples: drop that term"
        )
    return bool(np.allclose(wide[0, 0], one[0, 0], equal_nan=True))
