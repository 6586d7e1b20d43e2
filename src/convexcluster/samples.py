"""A user's rows → distinct weighted rows, and results back on the user's rows.

Exact duplicates are one sample of their summed mass and rows of mass zero take no part, so that a
repeated row and a row of weight two are the same thing. The distinct rows are sorted: the order in
which samples arrive changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .clusterpath import ClusterPath
from .duplicates import sorted_rows
from .graph import canonical
from .problem import Floats, Ints
from .tree import join


@dataclass(frozen=True, slots=True)
class Samples:
    """What the pipeline works on.

    Attributes
    ----------
    X : array of shape (k, d)
        The rows that take part.
    masses : ndarray of shape (k,)
        Their masses, > 0.
    index : ndarray of shape (n,)
        Row of ``X`` that stands for each of the user's samples.
    """

    X: Any
    masses: Floats
    index: Ints

    @property
    def unchanged(self) -> bool:
        """Whether every sample stands for itself, in order."""
        k = len(self.masses)
        return k == len(self.index) and bool((self.index == np.arange(k)).all())


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> Floats:
    """n finite weights ≥ 0 of which one is positive; ``None`` means one each."""
    if sample_weight is None:
        return np.ones(n)
    weight = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight must be finite and ≥ 0")
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere: give some sample a positive weight")
    return weight


def distinct_samples(X: Any, weight: Floats) -> Samples:
    """Merge equal rows into masses, drop rows of weight zero, and sort.

    A row of weight zero is represented by the nearest row that takes part.

    Examples
    --------
    >>> samples = distinct_samples(np.array([[2.0], [1.0], [2.0]]), np.ones(3))
    >>> samples.X.ravel().tolist(), samples.masses.tolist(), samples.index.tolist()
    ([1.0, 2.0], [1.0, 2.0], [1, 0, 1])
    """
    used = weight > 0
    distinct = _distinct_sparse if sparse.issparse(X) else _distinct_dense
    rows, inverse = distinct(X[used])
    index = np.empty(X.shape[0], dtype=np.int64)
    index[used] = inverse
    if not used.all():
        from sklearn.neighbors import NearestNeighbors

        nearest = NearestNeighbors(n_neighbors=1).fit(rows)
        index[~used] = nearest.kneighbors(X[~used], return_distance=False).ravel()
    masses = np.bincount(inverse, weight[used]).astype(np.float64)
    return Samples(rows, masses, index)


def _distinct_dense(X: Floats) -> tuple[Floats, Ints]:
    """Distinct rows, sorted."""
    X = X + 0.0  # −0.0 is 0.0
    first, inverse = sorted_rows(X)
    return X[first], inverse


def _distinct_sparse(X: Any) -> tuple[Any, Ints]:
    """Distinct rows of a sparse matrix, in the order of their bytes."""
    X = X.tocsr(copy=True)
    X.sum_duplicates()
    X.eliminate_zeros()
    bounds = list(zip(X.indptr[:-1], X.indptr[1:]))
    keys = [X.indices[a:b].tobytes() + X.data[a:b].tobytes() for a, b in bounds]
    rank = {key: t for t, key in enumerate(sorted(set(keys)))}
    inverse = np.array([rank[key] for key in keys], dtype=np.int64)
    _, first = np.unique(inverse, return_index=True)
    return X[first], inverse


def expand_path(path: ClusterPath, samples: Samples, weight: Floats) -> ClusterPath:
    """Return the path on the user's rows; copies of a row are together from the start."""
    if samples.unchanged:
        return path
    index = samples.index
    first, twins = _copies(samples)
    centers = []
    for step, center in enumerate(path.centers):
        of_sample = path.labels(gamma=float(path.gammas[step]))[index]
        _, seen = np.unique(of_sample, return_index=True)
        centers.append(center[np.argsort(seen)])
    splits = [canonical(row[index]) for row in path.split_labels]
    return replace(
        path,
        masses=weight,
        merges=np.concatenate([twins, first[path.merges]]),
        merge_steps=np.concatenate([np.zeros(len(twins), dtype=np.int64), path.merge_steps]),
        fusion_values=np.concatenate([np.zeros(len(twins)), path.fusion_values]),
        centers=tuple(centers),
        split_labels=np.array(splits, dtype=np.int64).reshape(-1, len(index)),
    )


def expand_linkage(tree: Floats, samples: Samples) -> Floats:
    """Return a SciPy linkage on the user's rows; copies of a row merge first, at height zero."""
    if samples.unchanged:
        return tree
    first, twins = _copies(samples)
    k = len(first)
    member = np.concatenate([first, np.empty(len(tree), dtype=np.int64)])
    pairs = np.empty((len(tree), 2), dtype=np.int64)
    for row, (left, right) in enumerate(tree[:, :2].astype(np.int64)):
        pairs[row] = member[left], member[right]
        member[k + row] = member[left]
    heights = np.concatenate([np.zeros(len(twins)), tree[:, 2]])
    return join(np.concatenate([twins, pairs]), heights, len(samples.index))


def _copies(samples: Samples) -> tuple[Ints, Ints]:
    """First sample of every row, and the pairs (first sample, further copy) of all others."""
    index, n = samples.index, len(samples.index)
    first = np.empty(len(samples.masses), dtype=np.int64)
    first[index[::-1]] = np.arange(n)[::-1]  # the last write wins: the least sample
    copies = np.flatnonzero(first[index] != np.arange(n))
    return first, np.column_stack([first[index[copies]], copies])


def by_size(labels: Ints, masses: Floats) -> Ints:
    """Renumber clusters by falling mass; ties keep their order.

    Examples
    --------
    >>> by_size(np.array([0, 1, 1]), np.ones(3))
    array([1, 0, 0])
    """
    order = np.argsort(-np.bincount(labels, masses), kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return rank[labels]
