"""A user's rows → distinct weighted rows.

Exact duplicates are one row of their summed mass and rows of mass zero take no part, so that a
repeated row and a row of weight two are the same thing. The distinct rows are sorted: the order in
which rows arrive changes nothing. In the plane nor do mirror images and the order of the columns,
which else would change the order of sums, and so the answer where two answers are as good.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..partition import sorted_rows, tidy
from ..problem import Floats, Ints
from ..tables.check import check_mask

# Greatest ratio of two weights. Beyond it the lighter samples are lost in the round-off of every
# sum of masses; at 1e50 the flows between them are nan.
MASS_RATIO = 1e30

# Columns up to which rows are sorted as if upright: the plane. Of more of them distances round
# otherwise in another order of columns, whatever the order of the rows.
FEW_COLUMNS = 2


@dataclass(frozen=True, slots=True)
class Merged:
    """Rows that take part, and which of them stands for each of the user's.

    Attributes
    ----------
    X : array or sparse matrix of shape (g, d)
    masses : ndarray of shape (g,)
        > 0.
    index : ndarray of shape (n,)
        Row of ``X`` that stands for each of the user's rows.
    """

    X: Any
    masses: Floats
    index: Ints


def check_sample_weight(sample_weight: ArrayLike | None, n: int) -> Floats:
    """n finite weights ≥ 0 of which one is positive; ``None`` means one each."""
    if sample_weight is None:
        return np.ones(n)
    check_mask(sample_weight, "sample_weight")
    if np.asarray(sample_weight).dtype.kind not in "biufO":
        raise ValueError("sample_weight must hold real numbers")
    weight = np.ascontiguousarray(sample_weight, dtype=np.float64)
    if weight.shape != (n,):
        raise ValueError(f"sample_weight must have shape ({n},), got {weight.shape}")
    if not np.isfinite(weight).all() or (weight < 0).any():
        raise ValueError("sample_weight must be finite and ≥ 0")
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere: give some sample a positive weight")
    if weight.max() / MASS_RATIO > weight[weight > 0].min():
        raise ValueError(
            f"sample_weight spans more than {np.log10(MASS_RATIO):.0f} decades: give samples that "
            "are not to count the weight 0"
        )
    return weight


def merge_equal(X: Any, weight: Floats) -> Merged:
    """Merge equal rows into masses, drop rows of weight zero, and sort.

    A row of weight zero is represented by the nearest row that takes part.

    Examples
    --------
    >>> merged = merge_equal(np.array([[2.0], [1.0], [2.0]]), np.ones(3))
    >>> merged.X.ravel().tolist(), merged.masses.tolist(), merged.index.tolist()
    ([1.0, 2.0], [1.0, 2.0], [1, 0, 1])
    """
    used = weight > 0
    taken = X if used.all() else X[used]
    taken = tidy(taken) if sparse.issparse(taken) else taken
    first, inverse = sorted_rows(upright(taken))
    rows = taken[first]
    if not sparse.issparse(rows):
        rows += 0.0  # −0.0 is 0.0
    index = np.empty(X.shape[0], dtype=np.int64)
    index[used] = inverse
    if not used.all():
        from sklearn.neighbors import NearestNeighbors

        nearest = NearestNeighbors(n_neighbors=1).fit(rows)
        index[~used] = nearest.kneighbors(X[~used], return_distance=False).ravel()
    return Merged(rows, np.bincount(inverse, weight[used]).astype(np.float64), index)


def upright(X: Any) -> Any:
    """Two columns turned and ordered by their values alone, which rows are sorted by.

    The column of the widest range is the first one, and each rises to its longer tail.

    Examples
    --------
    >>> upright(np.array([[-1.0, 1.0], [-2.0, 3.0], [-4.0, 9.0]]))
    array([[1., 1.],
           [3., 2.],
           [9., 4.]])
    """
    if sparse.issparse(X) or not 1 < X.shape[1] <= FEW_COLUMNS or len(X) < 2:
        return X
    sign, width = np.ones(X.shape[1]), np.empty(X.shape[1])
    for k, column in enumerate(X.T):
        values = np.unique(column)  # copies of a row are no more than the row
        width[k] = values[-1] - values[0]
        tails = values + values[::-1]  # of a mirror image the same with the other sign
        tails -= tails[len(tails) // 2]
        if tails[np.argmax(tails != 0)] < 0:  # the outermost pair that is no mirror image
            sign[k] = -1.0
    return (X * sign)[:, np.argsort(-width, kind="stable")]


def keep_all(X: Any, weight: Floats) -> Merged:
    """Every row is a point, in the user's order: for rows whose graph is given."""
    if not weight.all():
        raise ValueError(
            "sample_weight holds zeros, which need automatic weights on samples: "
            "drop these samples instead"
        )
    return Merged(X, weight, np.arange(X.shape[0]))
