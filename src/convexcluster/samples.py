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

from .numerics.linkage import expand
from .partition import canonical, first, sorted_rows, tidy, twins
from .path.clusterpath import ClusterPath
from .problem import Floats, Ints


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
    rows = X[used]
    rows = tidy(rows) if sparse.issparse(rows) else rows + 0.0  # −0.0 is 0.0
    start, inverse = sorted_rows(rows)
    rows = rows[start]
    index = np.empty(X.shape[0], dtype=np.int64)
    index[used] = inverse
    if not used.all():
        from sklearn.neighbors import NearestNeighbors

        nearest = NearestNeighbors(n_neighbors=1).fit(rows)
        index[~used] = nearest.kneighbors(X[~used], return_distance=False).ravel()
    masses = np.bincount(inverse, weight[used]).astype(np.float64)
    return Samples(rows, masses, index)


def expand_path(path: ClusterPath, samples: Samples, weight: Floats) -> ClusterPath:
    """Return the path on the user's rows; copies of a row are together from the start."""
    if samples.unchanged:
        return path
    index = samples.index
    copies = twins(index)
    centers = []
    for step, center in enumerate(path.centers):
        seen = first(path.labels(step=step)[index])
        centers.append(center[np.argsort(seen)])
    splits = [canonical(row[index]) for row in path.split_labels]
    return replace(
        path,
        masses=weight,
        merges=np.concatenate([copies, first(index)[path.merges]]),
        merge_steps=np.concatenate([np.zeros(len(copies), dtype=np.int64), path.merge_steps]),
        fusion_values=np.concatenate([np.zeros(len(copies)), path.fusion_values]),
        centers=tuple(centers),
        split_labels=np.array(splits, dtype=np.int64).reshape(-1, len(index)),
    )


def expand_linkage(tree: Floats, samples: Samples) -> Floats:
    """Return a SciPy linkage on the user's rows; copies of a row merge first, at height zero."""
    return tree if samples.unchanged else expand(tree, samples.index)
