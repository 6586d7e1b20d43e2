"""Labels as data: numbering, first samples, means, fused clusters, and rows that are equal.

A partition of n samples is an array of labels 0 … k − 1, each of them used. It is *canonical* if
the labels are numbered in order of first appearance. Two rows are equal if they are so to the last
bit (and −0.0 is 0.0): equal rows have one embedding, and as neighbours they say nothing of scale.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .problem import Floats, Ints


def ranks(order: Ints) -> Ints:
    """Place of every entry in ``order``, a permutation: ``ranks(order)[order]`` is 0, 1, …."""
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank


def roots(parent: Ints) -> Ints:
    """Root of every node of a forest; ``parent`` is that of each node, and a root is its own.

    Examples
    --------
    >>> roots(np.array([0, 0, 1, 3]))
    array([0, 0, 0, 3])
    """
    while ((above := parent[parent]) != parent).any():  # each round halves the way that is left
        parent = above
    return parent


def canonical(labels: np.ndarray) -> Ints:
    """Renumber labels of any kind 0, 1, … in order of first appearance."""
    if labels.dtype.kind == "i" and len(labels) and 0 <= labels.min() <= labels.max() < len(labels):
        start = np.full(int(labels.max()) + 1, len(labels))  # a twentieth of the time of a sort
        start[labels[::-1]] = np.arange(len(labels))[::-1]
        return ranks(np.argsort(start))[labels]
    _, start, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return ranks(np.argsort(start))[inverse.ravel()]


def check_labels(labels: object, n: int) -> Ints:
    """Labels as canonical whole numbers, or a sentence about what is wrong with them."""
    found = np.asarray(labels)
    if found.shape != (n,):
        raise ValueError(f"labels must have shape ({n},), one for each sample: got {found.shape}")
    if found.dtype.kind not in "biuf" or not np.isfinite(found).all():
        raise ValueError("labels must be whole numbers ≥ 0")
    if (found < 0).any() or (found != np.floor(found)).any():
        raise ValueError("labels must be whole numbers ≥ 0")
    return canonical(found)


def by_size(labels: Ints, masses: Floats) -> Ints:
    """Renumber clusters by falling mass; ties keep their order."""
    return ranks(np.argsort(-np.bincount(labels, masses), kind="stable"))[labels]


def first(labels: Ints) -> Ints:
    """First sample of every label 0 … k − 1."""
    start = np.empty(int(labels.max()) + 1, dtype=np.int64)
    start[labels[::-1]] = np.arange(len(labels))[::-1]  # the last write is the first sample
    return start


def twins(labels: Ints) -> Ints:
    """Pairs (first sample of a label, a further sample of that label), ascending in the second."""
    start = first(labels)[labels]
    further = np.flatnonzero(start != np.arange(len(labels)))
    return np.column_stack([start[further], further])


def means(Z: Floats, masses: Floats, labels: Ints) -> Floats:
    """Mass-weighted mean of the rows of every label, shape (n_labels, r)."""
    k = int(labels.max()) + 1
    member = sparse.csr_array((masses, (labels, np.arange(len(labels)))), shape=(k, len(labels)))
    return (member @ Z) / np.asarray(member.sum(axis=1))[:, None]


def fused(A: Floats, edges: Ints) -> Ints:
    """Fused clusters: the components of the edges whose two centroids are equal to the last bit."""
    from .loops.clusters import join  # late: both load numba
    from .loops.edges import equal_ends

    tail, head = (np.ascontiguousarray(end, dtype=np.int64) for end in edges.T)
    equal, labels = np.empty(len(tail), dtype=np.bool_), np.empty(len(A), dtype=np.int64)
    equal_ends(tail, head, np.ascontiguousarray(A, dtype=np.float64), equal)
    join(tail, head, equal, labels)
    return labels


def distinct_rows(X: Any) -> tuple[Ints, Ints]:
    """First occurrence of every distinct row, ascending, and the distinct row of every sample.

    ``X[first]`` are the distinct rows by first appearance, and ``X[first][inverse]`` equals X.
    """
    rows = tidy(X) if sparse.issparse(X) else np.asarray(X, dtype=np.float64)
    start, inverse = sorted_rows(rows)
    order = np.argsort(start)
    return start[order].astype(np.int64), ranks(order)[inverse]


def tidy(X: Any) -> Any:
    """Copy of a sparse matrix in the one CSR form that its values have: no zero, sorted columns."""
    X = X.tocsr(copy=True).astype(np.float64, copy=False)
    X.sum_duplicates()
    X.eliminate_zeros()
    return X


# Columns that are compared first; each round after compares twice as many. Most rows differ in a
# few columns: with fewer, more rounds sort the same rows; with more, columns are read for nothing.
COLUMNS = 8


def sorted_rows(X: Any) -> tuple[Ints, Ints]:
    """First occurrence of every distinct row, in the order of the rows, and the row of each sample.

    ``X[first]`` is ``np.unique(X, axis=0)``. Only rows that are still tied see further columns.
    The rows of a sparse matrix, which must be :func:`tidy`, come in the order of their bytes.
    """
    if sparse.issparse(X):
        return _sorted_sparse(X)
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


# Rows among which copies are looked for. Of up to 50,000 distinct rows, each as frequent as the
# others, this many hold forty equal pairs on average; half as many hold ten.
COPIES = 2_000


def has_copies(X: Floats) -> bool:
    """Whether some of a few rows, drawn at random, are equal: then X may have few distinct rows.

    Examples
    --------
    >>> has_copies(np.arange(9.0)[:, None]), has_copies(np.arange(9.0)[:, None] // 2)
    (False, True)
    """
    rng = np.random.default_rng(0)
    few = X[rng.choice(len(X), min(len(X), COPIES), replace=False)]
    return len(sorted_rows(few)[0]) < len(few)


def _sorted_sparse(X: Any) -> tuple[Ints, Ints]:
    bounds = zip(X.indptr[:-1], X.indptr[1:])
    keys = [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds]
    rank = {key: t for t, key in enumerate(sorted(set(keys)))}
    inverse = np.array([rank[key] for key in keys], dtype=np.int64)
    return first(inverse), inverse


def row_keys(X: Any) -> np.ndarray:
    """64 bits for every row: equal for equal rows, dense or sparse, and else by accident only.

    The key is Σ_q mix(x_q)·c_q modulo 2⁶⁴, with the bits of x_q mixed and c_q odd. Zeros add
    nothing. Of 10⁹ pairs of different rows two share a key with probability 10⁻¹⁰.

    Examples
    --------
    >>> row_keys(np.array([[0.0, 1.0], [1.0, 0.0], [-0.0, 1.0]])) == row_keys(np.eye(2)[[1, 1, 1]])
    array([ True, False,  True])
    """
    columns = np.arange(1, X.shape[1] + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    factor = _mix(columns) | np.uint64(1)
    if sparse.issparse(X):
        X = tidy(X)
        terms = _mix(_bits(X.data)) * factor[X.indices]
        sums = np.append(np.uint64(0), np.cumsum(terms, dtype=np.uint64))
        return np.diff(sums[X.indptr])  # sums and differences wrap around
    step = max(1, KEYED // max(1, X.shape[1]))
    blocks = (_mix(_bits(X[s : s + step])) * factor for s in range(0, X.shape[0], step))
    return np.concatenate([np.add.reduce(block, axis=1, dtype=np.uint64) for block in blocks])


# Numbers that are mixed at a time: their copies fill a few megabytes.
KEYED = 2**18


def _bits(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values + 0.0, dtype=np.float64).view(np.uint64)  # −0.0 is 0.0


def _mix(bits: np.ndarray) -> np.ndarray:
    """A bijection of 64 bits in which each bit depends on all, and 0 stays 0 (splitmix64)."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))
