"""What each parameter of a fit may be, whatever the rows are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..embedding import EMBEDDINGS
from ..graph import Graph
from ..kernels import SumKernel
from ..numerics.parameters import (
    THREADS,
    Rules,
    is_count,
    is_count_or_none,
    is_number,
    is_one_of,
    is_positive,
    is_threads,
    is_whole,
)
from ..path.grid import check_gammas
from ..path.solve import CERTIFY
from ..problem import check_gamma
from ..rows import parse_bytes
from ..selection import SELECTORS
from ..solvers import SOLVERS
from ..weights import WEIGHTS

LABELS = ("auto", "fusion", "agglomerative")
WEIGHT_SPACES = ("input", "embedding")


def _strengths(value: Any) -> bool:
    """Whether this is one γ or a sequence of them."""
    try:
        if is_number(value):
            return check_gamma(value) >= 0
        return not isinstance(value, str | bytes) and len(check_gammas(value)) > 0
    except (TypeError, ValueError, OverflowError):
        return False


def _size(value: Any) -> bool:
    try:
        return value is None or parse_bytes(value) > 0
    except ValueError:
        return False


def _matrix(value: Any) -> bool:
    table = hasattr(value, "__array__") and not np.isscalar(value)
    return table or sparse.issparse(value) or isinstance(value, list | tuple | Graph)


def _weighing(value: Any) -> bool:
    """Whether feature weights are None or numbers ≥ 0, not all zero."""
    if value is None:
        return True
    try:
        theta = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return theta.ndim == 1 and bool(np.isfinite(theta).all() and (theta >= 0).all() and theta.any())


# What each parameter may be, and how that is said. What depends on the rows is checked later, and a
# kernel with its parameters by its own functions.
RULES: Rules = {
    "n_clusters": (is_count_or_none, "a whole number ≥ 1, or None"),
    "kernel": (lambda v: isinstance(v, str | SumKernel) or callable(v), "a name or a callable"),
    "feature_weights": (
        _weighing,
        "a number ≥ 0 for each feature, finite and not all zero, or None",
    ),
    "metric": (lambda v: isinstance(v, str) or callable(v), "a name or a callable"),
    "bandwidth": (
        lambda v: is_one_of(v, "auto") or is_positive(v),
        '"auto" or a finite number > 0',
    ),
    "kernel_params": (
        lambda v: v is None or (isinstance(v, Mapping) and all(isinstance(k, str) for k in v)),
        "a dictionary of parameters by their names, or None",
    ),
    "weights": (
        lambda v: is_one_of(v, *WEIGHTS) or callable(v) or _matrix(v),
        f"one of {', '.join(WEIGHTS)}, a matrix, (edges, weights) or a callable",
    ),
    "n_neighbors": (is_count, "a whole number ≥ 1"),
    "weight_bandwidth": (
        lambda v: is_one_of(v, "auto") or is_positive(v),
        '"auto" or a finite number > 0',
    ),
    "weight_space": (lambda v: is_one_of(v, *WEIGHT_SPACES), f"one of {', '.join(WEIGHT_SPACES)}"),
    "gamma": (
        lambda v: v is None or _strengths(v),
        "a finite number ≥ 0, a sequence of at least one, or None",
    ),
    "embedding": (lambda v: is_one_of(v, *EMBEDDINGS), f"one of {', '.join(EMBEDDINGS)}"),
    "rank": (is_count_or_none, "a whole number ≥ 1, or None"),
    "embedding_tol": (lambda v: is_number(v) and 0 <= v < 1, "a number in [0, 1)"),
    "labels": (lambda v: is_one_of(v, *LABELS), f"one of {', '.join(LABELS)}"),
    "selection": (
        lambda v: is_one_of(v, *SELECTORS) or callable(v),
        f"one of {', '.join(SELECTORS)} or a callable",
    ),
    "min_cluster_size": (is_count_or_none, "a whole number ≥ 1, or None"),
    "solver": (
        lambda v: is_one_of(v, *SOLVERS) or callable(v),
        f"one of {', '.join(SOLVERS)} or a callable",
    ),
    "tol": (
        lambda v: is_one_of(v, "auto") or (is_positive(v) and v < 1),
        '"auto" or a number between 0 and 1',
    ),
    "max_iter": (is_count_or_none, "a whole number ≥ 1, or None"),
    "certify": (
        lambda v: v is False or (isinstance(v, str) and v in CERTIFY),
        f"one of {', '.join(map(str, CERTIFY))}",
    ),
    "coarsen": (
        lambda v: isinstance(v, bool) or is_one_of(v, "auto") or is_count(v),
        '"auto", True, False or a number of cells ≥ 1',
    ),
    "max_memory": (_size, 'a positive number of bytes, such as 4e9 or "4GB", or None'),
    "random_state": (
        lambda v: (
            v is None
            or isinstance(v, np.random.RandomState | np.random.Generator)
            or (is_whole(v) and 0 <= v < 2**32)
        ),
        "a whole number from 0 to 2³² − 1, a generator of NumPy or None",
    ),
    "n_jobs": (is_threads, THREADS),
    "verbose": (
        lambda v: isinstance(v, bool) or (is_whole(v) and v >= 0) or callable(v),
        "a whole number ≥ 0 or a callable",
    ),
}
