"""Exact duplicates: rows that are equal to the last bit.

Two samples that are equal have equal centroids at any γ, so they may be computed once; and a
neighbour at distance zero says nothing about scale.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .problem import Floats, Ints


def distinct_rows(X: ArrayLike) -> tuple[Ints, Ints]:
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
    # adding 0 turns −0 into 0, after which equal numbers have equal bytes
    rows = np.ascontiguousarray(X, dtype=np.float64) + 0.0
    keys = rows.view(np.dtype((np.void, rows.shape[1] * rows.itemsize))).ravel()
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order].astype(np.int64), rank[inverse.ravel()]


def merged_masses(masses: Floats, inverse: Ints) -> Floats:
    """Mass of every distinct row: the sum over its copies."""
    return np.bincount(inverse, weights=masses).astype(np.float64)
