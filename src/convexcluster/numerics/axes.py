"""Principal axes: eigenvectors of a Gram matrix, largest first, and how many of them to keep."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem import Floats


@dataclass(frozen=True, slots=True)
class Axes:
    """Orthonormal columns, the leading ones kept and the trailing ones left out."""

    Q: Floats  # (r, s): kept, largest eigenvalue first; at least one
    N: Floats  # (r, t): left out, smallest eigenvalue first; s + t = r where all of them are known
    values: Floats  # (s,): eigenvalues of ``Q``
    lost: float  # sum of the eigenvalues of ``N``


def gram_axes(gram: Floats, drop: float) -> Axes:
    """Axes of a Gram matrix; eigenvalues left out sum to at most ``drop``."""
    return _kept(*np.linalg.eigh(gram), drop)


def _kept(values: Floats, vectors: Floats, drop: float) -> Axes:
    """Cut eigenvectors in ascending order."""
    lost = np.cumsum(np.maximum(values, 0.0))
    out = min(int(np.searchsorted(lost, drop, side="right")), len(values) - 1)
    return Axes(
        np.ascontiguousarray(vectors[:, out:][:, ::-1]),
        np.ascontiguousarray(vectors[:, :out]),
        values[out:][::-1],
        float(lost[out - 1]) if out else 0.0,
    )


# Entries off the diagonal of a Gram matrix, relative to its largest entry, that are round-off of
# eigenvectors. Half of it sends exact embeddings of many samples to an eigendecomposition that they
# do not need; much more would take axes for principal that are not.
DIAGONAL = 1e-12

# The least share of ‖X‖² that may be left out for axes to be taken from the n × n Gram matrix. Its
# eigenvectors divided by √λ are orthonormal to about 1e-16‖X‖²/λ: ten times less costs a digit.
SMALL_GRAM = 1e-10


def leading_axes(X: Floats, drop: float) -> Axes:
    """Axes of the rows of X (n, r), such that ‖X − XQQᵀ‖² ≤ ``drop``; rows are not centred.

    Weighted rows are given as √m x.
    """
    n, r = X.shape
    if n >= r:
        gram = X.T @ X
        off = np.abs(gram - np.diag(np.diagonal(gram))).max()
        if off > DIAGONAL * np.abs(gram).max():
            return gram_axes(gram, drop)
        # columns are principal axes already, as an exact embedding's are
        order = np.argsort(np.diagonal(gram), kind="stable")
        return _kept(np.diagonal(gram)[order], np.eye(r)[:, order], drop)
    if drop > SMALL_GRAM * float(np.sum(X * X)):
        values, left = np.linalg.eigh(X @ X.T)
        return _kept(values, X.T @ (left / np.sqrt(np.maximum(values, 1e-300))), drop)
    _, singular, right = np.linalg.svd(X, full_matrices=False)
    noise = (n * np.finfo(float).eps * singular[0]) ** 2  # axes of round-off are left out
    return _kept(singular[::-1] ** 2, right[::-1].T, max(drop, noise))


# Rows per step of a sum over samples: copies stay small beside the matrix itself. Half as many rows
# call BLAS twice as often, and twice as many need copies twice as large.
ROWS = 4_096


def principal_axes(X: Floats, masses: Floats) -> tuple[Floats, Floats, Floats]:
    """Mean, principal axes Q (columns) and variances of the rows of X, mass-weighted, descending.

    Axes whose variance is round-off are dropped; at least one is kept.
    """
    mean = masses @ X / masses.sum()
    C = np.zeros((X.shape[1], X.shape[1]))
    for start in range(0, len(X), ROWS):
        rows = X[start : start + ROWS] - mean
        rows *= np.sqrt(masses[start : start + ROWS, None])
        C += rows.T @ rows
    variances, Q = np.linalg.eigh(C)
    variances, Q = variances[::-1], Q[:, ::-1]
    r = max(1, int(np.count_nonzero(variances > len(C) * np.finfo(float).eps * variances[:1])))
    return mean, Q[:, :r], np.maximum(variances[:r], 0.0)
