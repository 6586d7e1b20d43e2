"""The formulas of the built-in kernels: f(X, Y, **params) -> (n, m), listed in ``KERNELS``.

Reference: Schölkopf and Smola, Learning with Kernels, MIT Press 2002.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.metrics.pairwise import (
    cosine_similarity,
    euclidean_distances,
    laplacian_kernel,
    linear_kernel,
    polynomial_kernel,
    sigmoid_kernel,
)

from ..numerics.centred import WHOLE, centred_gram
from ..problem import Floats
from .checks import Samples, is_sparse


def rbf(X: Samples, Y: Samples, bandwidth: float = 1.0) -> Floats:
    """exp(−‖x − y‖²/(2σ²)), the Gaussian kernel."""
    if X is Y and not is_sparse(X) and X.size > WHOLE and X.shape[0] <= X.shape[1]:
        return _rbf_of_many_features(X, bandwidth)
    K = euclidean_distances(*_near_origin(X, Y), squared=True)
    K *= -0.5 / bandwidth**2
    return _exponentials(K)


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


def _rbf_of_many_features(X: Floats, bandwidth: float) -> Floats:
    """:func:`rbf` between rows of which a centred copy would be large."""
    K = centred_gram(X)
    squares = K.diagonal().copy()
    K *= 2.0
    K -= squares
    K -= squares[:, None]
    np.minimum(K, 0.0, out=K)
    K *= 0.5 / bandwidth**2
    return _exponentials(K)


# Exponents of a Gaussian are at least this: exp(−700) is 1e-304, and nothing beside k(x, x) = 1.
# Below −708 an exponential takes ten to forty times as long, as its result is no normal number.
LEAST_EXPONENT = -700.0


def _exponentials(K: Floats) -> Floats:
    """exp of exponents ≤ 0, in their place."""
    np.maximum(K, LEAST_EXPONENT, out=K)
    return np.exp(K, out=K)


def _near_origin(X: Samples, Y: Samples) -> tuple[Samples, Samples]:
    """Shift both to the mean of Y: ‖x‖² − 2⟨x, y⟩ + ‖y‖² cancels badly far from the origin."""
    if is_sparse(X) or is_sparse(Y):
        return X, Y
    mean = Y.mean(axis=0)
    if X is Y:
        shifted = X - mean
        return shifted, shifted
    return X - mean, Y - mean


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

# Functions of x − y that are positive semi-definite with k(x, x) = 1.
STATIONARY = {"rbf", "laplacian", "matern"}

SPARSE = {"rbf", "laplacian", "polynomial", "sigmoid", "linear", "cosine"}
