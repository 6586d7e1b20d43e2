"""Exact duplicates: rows that are equal to the last bit.

Two samples that are equal have the same row in any embedding, so that it may be computed once; and
a neighbour at distance zero says nothing about scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .problem import Floats, Ints


def distinct_rows(X: Any) -> tuple[Ints, Ints]:
    """First occurrence of every distinct row, ascending, and the distinct row of every sample.

    Returns
    -------
    first : ndarray of shape (u,)
        ``X[first]`` are the distinct rows in order of first appearance.
    inverse : ndarray of shape (n,)
        ``X[first][inverse]`` equals X.

    Examples
    --------
    >>> distinct_rows(np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [-0.0, 0.0]]))
    (array([0, 1]), array([0, 1, 0, 1]))
    """
    _, first, inverse = np.unique(_keys(X), return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse.ravel()]


def _keys(X: Any) -> np.ndarray:
    """One key per row, equal if and only if the rows are."""
    if sparse.issparse(X):
        return _sparse_keys(X)
    # adding 0 turns −0 into 0, after which equal numbers have equal bytes
    dense = np.ascontiguousarray(X, dtype=np.float64) + 0.0
    return dense.view(np.dtype((np.void, dense.shape[1] * dense.itemsize))).ravel()


def _sparse_keys(X: Any) -> np.ndarray:
    rows = sparse.csr_array(X).astype(np.float64, copy=True)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    seen: dict[tuple[bytes, bytes], int] = {}
    ends = zip(rows.indptr[:-1], rows.indptr[1:])
    parts = ((rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in ends)
    return np.array([seen.setdefault(part, len(seen)) for part in parts], dtype=np.int64)


def merged_masses(masses: Floats, inverse: Ints) -> Floats:
    """Mass of every distinct row: the sum over its copies."""
    return np.bincount(inverse, weights=masses).astype(np.float64)
