"""Kernels: samples X (n × d) to similarities k(x, y).

A kernel is a function ``f(X, Y, **params) -> (n, m)`` listed in ``KERNELS``; a new one is a
function and a line (:mod:`~convexcluster.kernels.formulas`). ``bandwidth`` is always a length: σ in
exp(−‖x − y‖²/(2σ²)). :func:`resolve_kernel` turns what a user may pass (a name, a callable, a
scikit-learn Gaussian-process kernel) into a :class:`Kernel`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np

from .bandwidth import auto_bandwidth
from .checks import Samples, check_features, is_sparse
from .distances import METRICS, along_paths, check_metric, distances, metric_of_kernel
from .formulas import (
    ALIASES,
    KERNELS,
    SPARSE,
    STATIONARY,
    cosine,
    laplacian,
    linear,
    matern,
    polynomial,
    precomputed,
    rbf,
    sigmoid,
)
from .kernel import Kernel
from .views import Mixture, SumKernel, mix

__all__ = [
    "ALIASES",
    "KERNELS",
    "METRICS",
    "SPARSE",
    "STATIONARY",
    "Kernel",
    "Mixture",
    "Samples",
    "SumKernel",
    "along_paths",
    "auto_bandwidth",
    "check_features",
    "check_metric",
    "cosine",
    "distances",
    "is_sparse",
    "laplacian",
    "linear",
    "matern",
    "mix",
    "polynomial",
    "precomputed",
    "rbf",
    "resolve_kernel",
    "sigmoid",
]


def resolve_kernel(
    kernel: str | Callable[..., Any] | SumKernel = "rbf",
    bandwidth: float | str = "auto",
    params: Mapping[str, Any] | None = None,
    X: Samples | None = None,
    metric: Any = "auto",
) -> Kernel:
    """Turn what a user may pass for a kernel into a :class:`Kernel`.

    Parameters
    ----------
    kernel : str or callable
        A key of ``KERNELS`` or ``ALIASES``; f(X, Y) -> (n, m) matrix; f(x, y) -> number; an
        object of ``sklearn.gaussian_process.kernels``; or a :class:`SumKernel`.
    bandwidth : float or "auto"
        σ of rbf, laplacian and matern; "auto" is :func:`auto_bandwidth` of X. Others ignore it.
    params : mapping, optional
        Further parameters, e.g. ``{"degree": 2, "c": -0.5}``; ``bandwidth`` here has precedence.
    X : (n, d) array, optional
        Training samples, needed for ``bandwidth="auto"`` only.
    metric : str or callable
        Distance that rbf, laplacian and matern are functions of; "auto" is their own. With
        "precomputed" X holds distances, and linear is −½ d².

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
    if isinstance(kernel, SumKernel):
        if given:
            raise ValueError(
                "kernel_params are of one kernel: give each view of a SumKernel its own, as "
                "resolve_kernel(name, bandwidth, params)"
            )
        return Kernel("sum") if X is None else kernel.fit(X)
    if not isinstance(kernel, str):
        if not callable(kernel):
            raise ValueError(f"kernel must be a name or a callable, got {kernel!r}")
        metric_of_kernel("callable", metric)
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
        given["bandwidth"] = _bandwidth(given.get("bandwidth", bandwidth), X, metric)
    return Kernel(
        name,
        {key: _number(key, value) for key, value in given.items()},
        metric=metric_of_kernel(name, metric),
    )


def _bandwidth(value: float | str, X: Samples | None, metric: Any) -> float:
    if isinstance(value, str):
        if value != "auto":
            raise ValueError(f'bandwidth must be "auto" or a number > 0, got {value!r}')
        if X is None:
            raise ValueError('bandwidth="auto" needs samples: pass X, or a number > 0')
        metric = check_metric(metric)
        return auto_bandwidth(X, metric="auto" if metric == "euclidean" else metric)
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
