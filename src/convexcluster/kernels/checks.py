"""What a kernel takes: finite features, dense or sparse, or a symmetric Gram matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..problem import Floats, check_samples

Samples = Any  # ndarray (n, d) or a SciPy sparse matrix of that shape

# A block of this many entries (64 MB) keeps temporaries small and matrix products efficient.
BLOCK = 8_000_000


def is_sparse(X: Samples) -> bool:
    """Whether X is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(X))


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


# Round-off of a Gram matrix computed in double precision with up to about 10⁶ features, and with
# a large margin of one stored in text with 9 digits.
ASYMMETRY = 1e-8


def round_off(values: Floats) -> float:
    """Relative round-off of a symmetric formula in single precision; 0 of doubles.

    Numbers that single precision holds exactly were computed in it.
    """
    with np.errstate(over="ignore"):
        single = bool((values.astype(np.float32) == values).all())
    return 16.0 * float(np.finfo(np.float32).eps) if single else 0.0


def check_gram(K: Floats, n_train: int | None, name: str) -> None:
    """Refuse K unless it is symmetric n × n, or m × n_train for new samples."""
    if n_train is None and K.any() and not np.diagonal(K).any() and K.min() >= 0:
        raise ValueError(
            "a precomputed kernel must be similarities, but these look like distances D (zero "
            'diagonal, nothing negative): pass kernel="rbf", metric="precomputed", which takes '
            "np.exp(-(D**2) / (2 * s**2)) with a typical distance s between neighbours"
        )
    check_square(K, n_train, name, "a precomputed kernel", "k(new, training)")


def check_square(M: Floats, n_train: int | None, name: str, what: str, new: str) -> None:
    """Refuse values of pairs unless symmetric n × n, or m × n_train for new samples."""
    n, m = M.shape
    if n_train is not None:
        if m != n_train:
            raise ValueError(
                f"{name} must have one column {new} for each of the {n_train} "
                f"training samples, got {m}"
            )
        return
    if n != m:
        raise ValueError(f"{what} must be square (n × n), got {n} × {m}")
    scale, allowed = float(np.abs(M).max()), max(ASYMMETRY, round_off(M))
    step = max(1, BLOCK // n)
    for s in range(0, n, step):
        if np.abs(M[s : s + step] - M[:, s : s + step].T).max() > allowed * scale:
            letter = "K" if "kernel" in what else "D"
            raise ValueError(
                f"{what} must be symmetric: check that it is {letter.lower()}(x, x'), or pass "
                f"({letter} + {letter}.T) / 2"
            )
