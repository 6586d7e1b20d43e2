"""Kernels: samples X (n × d) to similarities k(x, y).

A kernel is a function ``f(X, Y, **params) -> (n, m)`` listed in ``KERNELS``; a new one is a
function and a line. ``bandwidth`` is always a length: σ in exp(−‖x − y‖²/(2σ²)).
:func:`resolve_kernel` turns what a user may pass (a name, a callable, a scikit-learn
Gaussian-process kernel) into a :class:`Kernel`.

Reference: Schölkopf and Smola, Learning with Kernels, MIT Press 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import (
    cosine_similarity,
    laplacian_kernel,
    linear_kernel,
    pairwise_kernels,
    polynomial_kernel,
    rbf_kernel,
    sigmoid_kernel,
)

from .duplicates import distinct_rows
from .problem import Floats, Ints, check_samples

Samples = Any  # ndarray (n, d) or a SciPy sparse matrix of that shape


def is_sparse(X: Samples) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


def rbf(X: Samples, Y: Samples, bandwidth: float = 1.0) -> Floats:
    """exp(−‖x − y‖²/(2σ²)), the Gaussian kernel."""
    X, Y = _near_origin(X, Y)
    return rbf_kernel(X, Y, gamma=0.5 / bandwidth**2)


def laplacian(X: Samples, Y: Samples, bandwidth: float = 1.0) -> Floats:
    """exp(−‖x − y‖₁/σ)."""
    return laplacian_kernel(X, Y, gamma=1.0 / bandwidth)


def polynomial(
    X: Samples, Y: Samples, c: float = 1.0, degree: int = 3, scale: float = 1.0
) -> Floats:
    """(c + s·⟨x, y⟩)^degree; not positive semi-definite if c < 0."""
    return polynomial_kernel(X, Y, degree=degree, gamma=scale, coef0=c)


def sigmoid(X: Samples, Y: Samples, c: float = 0.0, scale: float | None = None) -> Floats:
    """tanh(c + s·⟨x, y⟩), s = 1/d unless given; in general not positive semi-definite."""
    return sigmoid_kernel(X, Y, gamma=scale, coef0=c)


def linear(X: Samples, Y: Samples) -> Floats:
    """⟨x, y⟩."""
    return linear_kernel(X, Y, dense_output=True)


def cosine(X: Samples, Y: Samples) -> Floats:
    """⟨x, y⟩/(‖x‖‖y‖), and 0 where a row is 0."""
    return cosine_similarity(X, Y, dense_output=True)


def matern(X: Samples, Y: Samples, bandwidth: float = 1.0, nu: float = 1.5) -> Floats:
    """Matérn kernel of smoothness ν and length σ; ν = ½ is exp(−‖x − y‖/σ), ν = ∞ Gaussian."""
    from sklearn.gaussian_process.kernels import Matern

    X, Y = _near_origin(X, Y)
    return Matern(length_scale=bandwidth, nu=nu)(X, Y)


def precomputed(X: Samples, Y: Samples) -> Floats:
    """X is K itself, or rows k(new, training): nothing to compute."""
    raise ValueError("a precomputed kernel has no formula: slice its matrix instead")


KERNELS: dict[str, Callable[..., Floats]] = {
    "rbf": rbf,
    "laplacian": laplacian,
    "polynomial": polynomial,
    "sigmoid": sigmoid,
    "linear": linear,
    "cosine": cosine,
    "matern": matern,
    "precomputed": precomputed,
}

# the paper's words, and scikit-learn's short ones
ALIASES = {
    "gaussian": "rbf",
    "laplace": "laplacian",
    "poly": "polynomial",
    "tanh": "sigmoid",
    "hyperbolic": "sigmoid",
}

SPARSE = {"rbf", "laplacian", "polynomial", "sigmoid", "linear", "cosine"}

# A block of this many entries (64 MB) keeps temporaries small and matrix products efficient.
BLOCK = 8_000_000


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
    """

    name: str
    params: dict[str, Any] = field(default_factory=dict)
    function: Callable[..., Any] | None = None

    @property
    def is_precomputed(self) -> bool:
        """Whether X is the Gram matrix itself."""
        return self.name == "precomputed"

    def __call__(self, X: Samples, Y: Samples | None = None) -> Floats:
        """Gram matrix k(X, Y) of shape (n, m); ``Y=None`` means X."""
        if self.is_precomputed:
            if Y is not None:
                precomputed(X, Y)
            return X
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
        if self.is_precomputed:
            return np.diagonal(X).copy()
        if self.name in ("rbf", "laplacian", "matern"):
            return np.ones(X.shape[0])
        size = 64  # the block computes size² entries to keep size of them
        blocks = [self(X[s : s + size]).diagonal() for s in range(0, X.shape[0], size)]
        return np.concatenate(blocks)

    def columns(self, X: Samples, index: Ints, landmarks: Samples | None = None) -> Floats:
        """k(X, x_index), shape (n, len(index)); never more than a block of temporaries.

        ``landmarks`` are the rows x_index of the training samples when X holds new ones; of a
        precomputed kernel X has the columns k(new, training), and ``index`` selects.
        """
        if self.is_precomputed:
            return np.ascontiguousarray(X[:, index])
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
        if is_sparse(X) and self.name not in SPARSE:
            raise ValueError(
                f"kernel {self.name!r} does not take a sparse {name}: pass {name}.toarray(), "
                f"or one of the kernels {', '.join(sorted(SPARSE))}"
            )
        X = check_features(X, name)
        if self.is_precomputed:
            _check_gram(X, n_train, name)
        return X


# Squares of numbers beyond this, summed over up to 10⁸ features, may overflow.
LARGEST = 1e150


def check_features(X: Samples, name: str = "X") -> Samples:
    """Return ``X`` as a float64 array or CSR array of finite numbers, or say what is wrong."""
    if is_sparse(X):
        X = sparse.csr_array(X)
        if np.iscomplexobj(X.data):
            raise ValueError(f"{name} is complex: pass real numbers")
        X = X.astype(np.float64)
        if X.shape[0] == 0:
            raise ValueError(f"{name} has no samples: pass at least one row")
        values = X.data
        if not np.isfinite(values).all():
            raise ValueError(f"{name} holds NaN or infinity: impute or drop these values first")
    else:
        X = values = check_samples(X, name)
    if X.shape[1] == 0:
        raise ValueError(f"{name} has 0 features: pass at least one column")
    if values.size and max(values.max(), -values.min()) > LARGEST:
        raise ValueError(f"{name} holds numbers beyond 1e150, whose squares overflow: scale {name}")
    return X


def resolve_kernel(
    kernel: str | Callable[..., Any] = "rbf",
    bandwidth: float | str = "auto",
    params: Mapping[str, Any] | None = None,
    X: Samples | None = None,
) -> Kernel:
    """Turn what a user may pass for a kernel into a :class:`Kernel`.

    Parameters
    ----------
    kernel : str or callable
        A key of ``KERNELS`` or ``ALIASES``; f(X, Y) -> (n, m) matrix; f(x, y) -> number; or an
        object of ``sklearn.gaussian_process.kernels``.
    bandwidth : float or "auto"
        σ of rbf, laplacian and matern; "auto" is :func:`auto_bandwidth` of X. Others ignore it.
    params : mapping, optional
        Further parameters, e.g. ``{"degree": 2, "c": -0.5}``; ``bandwidth`` here has precedence.
    X : (n, d) array, optional
        Training samples, needed for ``bandwidth="auto"`` only.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> resolve_kernel("gaussian", 2.0)
    Kernel(name='rbf', params={'bandwidth': 2.0}, function=None)
    >>> resolve_kernel("rbf", 1.0)(np.array([[0.0], [1.0]])).round(4)
    array([[1.    , 0.6065],
           [0.6065, 1.    ]])
    """
    given = dict(params or {})
    if isinstance(kernel, Kernel):
        return kernel
    if not isinstance(kernel, str):
        if not callable(kernel):
            raise ValueError(f"kernel must be a name or a callable, got {kernel!r}")
        return Kernel("callable", given, kernel)
    name = ALIASES.get(kernel.lower(), kernel.lower())
    if name not in KERNELS:
        raise ValueError(f"kernel {kernel!r} is unknown: use one of {', '.join(KERNELS)}")
    allowed = list(signature(KERNELS[name]).parameters)[2:]
    unknown = sorted(set(given) - set(allowed))
    if unknown:
        raise ValueError(
            f"kernel {name!r} has no parameter {unknown[0]!r}: "
            f"it takes {', '.join(allowed) if allowed else 'none'}"
        )
    if "bandwidth" in allowed:
        given["bandwidth"] = _bandwidth(given.get("bandwidth", bandwidth), X)
    return Kernel(name, {key: _number(key, value) for key, value in given.items()})


# Neighbour distances shrink as samples are added, and a kernel that narrows with n ends as the
# identity, of full rank: beyond this many samples the distances are those within a sample.
SAMPLE = 2_000


def auto_bandwidth(X: Samples, n_neighbors: int = 7) -> float:
    """Mean distance to the ``n_neighbors``-th nearest distinct sample; 1 if all are equal.

    Of more than 2,000 distinct samples that many are taken, evenly spaced in X, so that the
    bandwidth does not depend on n.

    Examples
    --------
    >>> float(auto_bandwidth(np.arange(20.0)[:, None], n_neighbors=1))
    1.0
    """
    from sklearn.neighbors import NearestNeighbors

    X = X[distinct_rows(X)[0]]
    if X.shape[0] > SAMPLE:
        X = X[np.linspace(0, X.shape[0] - 1, SAMPLE).astype(int)]
    k = min(n_neighbors, X.shape[0] - 1)
    if k < 1:
        return 1.0
    # a sample is its own nearest neighbour, at distance 0
    distances, _ = NearestNeighbors(n_neighbors=k + 1).fit(X).kneighbors(X)
    sigma = float(distances[:, -1].mean())
    return sigma if sigma > 0 else 1.0


def _bandwidth(value: float | str, X: Samples | None) -> float:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'bandwidth must be "auto" or a number > 0, got {value!r}')
        if X is None:
            raise ValueError('bandwidth="auto" needs samples: pass X, or a number > 0')
        return auto_bandwidth(X)
    sigma = float(value)
    if not np.isfinite(sigma) or sigma <= 0:
        raise ValueError(f"bandwidth must be finite and > 0, got {value}")
    return sigma


def _number(key: str, value: Any) -> Any:
    if value is None:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ValueError(f"kernel parameter {key!r} must be a number, got {value!r}") from None
    if np.isnan(number):
        raise ValueError(f"kernel parameter {key!r} is NaN")
    if key == "degree":
        if number < 1 or number != int(number):  # a real power of a negative number is NaN
            raise ValueError(f"kernel parameter 'degree' must be a whole number ≥ 1, got {value}")
        return int(number)
    return number


def _near_origin(X: Samples, Y: Samples) -> tuple[Samples, Samples]:
    """Shift both to the mean of Y: ‖x‖² − 2⟨x, y⟩ + ‖y‖² cancels badly far from the origin."""
    if is_sparse(X) or is_sparse(Y):
        return X, Y
    mean = Y.mean(axis=0)
    if X is Y:
        shifted = X - mean
        return shifted, shifted
    return X - mean, Y - mean


def _call(f: Callable[..., Any], X: Samples, Y: Samples, params: dict[str, Any]) -> Floats:
    """Gram matrix of a user's callable, which takes matrices or single samples."""
    if _takes_matrices(f, X, params):
        K = np.asarray(f(X, Y, **params), dtype=np.float64)
    else:
        K = pairwise_kernels(X, Y, metric=f, **params)
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


# Round-off of a Gram matrix computed in double precision with up to about 10⁶ features, and with
# a large margin of one stored in text with 9 digits.
ASYMMETRY = 1e-8


def _check_gram(K: Floats, n_train: int | None, name: str) -> None:
    n, m = K.shape
    if n_train is not None:
        if m != n_train:
            raise ValueError(
                f"{name} must have one column k(new, training) for each of the {n_train} "
                f"training samples, got {m}"
            )
        return
    if n != m:
        raise ValueError(f"a precomputed kernel must be square (n × n), got {n} × {m}")
    scale = float(np.abs(K).max())
    step = max(1, BLOCK // n)
    for s in range(0, n, step):
        if np.abs(K[s : s + step] - K[:, s : s + step].T).max() > ASYMMETRY * scale:
            raise ValueError(
                "a precomputed kernel must be symmetric: check that it is k(x, x'), or pass "
                "(K + K.T) / 2"
            )
