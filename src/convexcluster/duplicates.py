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
    if sparse.issparse(X):
        _, first, inverse = np.unique(_sparse_keys(X), return_index=True, return_inverse=True)
    else:
        first, inverse = sorted_rows(np.asarray(X, dtype=np.float64))
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse.ravel()]


# Columns that are compared first, and then twice as many at a time: most rows differ in a few.
COLUMNS = 8


def sorted_rows(X: Floats) -> tuple[Ints, Ints]:
    """First occurrence of every distinct row, in the order of the rows, and the row of each sample.

    ``X[first]`` is ``np.unique(X, axis=0)``. Only rows that are still tied see further columns.

    Examples
    --------
    >>> sorted_rows(np.array([[1.0, 2.0], [0.0, 3.0], [1.0, 1.0], [1.0, 2.0]]))
    (array([1, 2, 0]), array([2, 0, 1, 2]))
    """
    n = len(X)
    order, starts = np.arange(n), np.arange(n) == 0  # of the groups of equal rows so far
    tied = np.arange(n)  # places in the order
    begin, width = 0, COLUMNS
    while len(tied) and begin < X.shape[1]:
        block = X[order[tied], begin : begin + width]
        begin, width = begin + width, 2 * width
        if (block == block[0]).all():
            continue
        group = np.cumsum(starts)[tied]
        place = np.lexsort((*block.T[::-1], group))  # stable: equal rows keep their order
        order[tied], block = order[tied][place], block[place]
        # a place that starts a group of tied rows still does
        starts[tied[1:]] |= (block[1:] != block[:-1]).any(axis=1)
        alone = starts & np.append(starts[1:], True)
        tied = np.flatnonzero(~alone)
    inverse = np.empty(n, dtype=np.int64)
    inverse[order] = np.cumsum(starts) - 1
    return order[starts], inverse


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
