"""Distances: which there are, what a given matrix of them must be, and kernels of a distance.

``metric`` is "auto" (each kernel its own), a name of scikit-learn's, a function of two rows, or
"precomputed", where X (n × n) holds the distances themselves. With d(x, y) any of these

    rbf  exp(−d²/(2σ²))      laplacian  exp(−d/σ)      matern  of d      linear  −½ d², centred.

If d is not of negative type (dynamic time warping, edit distances), the Gram matrix has negative
eigenvalues: they are clipped, and their share is on the certificate.

Sparse distances are the edges of a graph, and every other distance is the length of the shortest
path along them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, dijkstra
from sklearn.metrics import pairwise_distances

from ..numerics.memory import check_memory
from ..problem import Floats
from .checks import ASYMMETRY, BLOCK, Samples, check_square, is_sparse

ALIASES = {"l1": "manhattan", "cityblock": "manhattan", "l2": "euclidean"}
# Of the names that scikit-learn knows, those that need nothing but two rows.
METRICS = (
    "auto",
    "braycurtis",
    "canberra",
    "chebyshev",
    "correlation",
    "cosine",
    "dice",
    "euclidean",
    "hamming",
    "haversine",
    "jaccard",
    "manhattan",
    "precomputed",
    "rogerstanimoto",
    "russellrao",
    "sokalsneath",
    "sqeuclidean",
    "yule",
)


def check_metric(metric: Any) -> Any:
    """A name of ``METRICS`` or a callable, or a sentence."""
    if callable(metric):
        return metric
    name = metric.lower() if isinstance(metric, str) else metric
    name = ALIASES.get(name, name) if isinstance(name, str) else name
    if name not in METRICS:
        raise ValueError(
            f"metric {metric!r} is unknown: use a function of two rows or one of "
            f"{', '.join(METRICS)}"
        )
    return name


def distances(X: Samples, Y: Samples | None, metric: Any) -> Floats:
    """Distances between rows, shape (n, m), finite and ≥ 0; ``Y=None`` means X."""
    n, m = X.shape[0], (X if Y is None else Y).shape[0]
    what = f"distances between {n:,} and {m:,} samples"
    check_memory(8.0 * n * m, what, 'use metric="auto", "euclidean" or "manhattan"')
    try:
        D = np.asarray(pairwise_distances(X, Y, metric=metric), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"metric {_called(metric)} failed on these samples: {error}") from error
    if not np.isfinite(D).all() or D.min(initial=0.0) < 0:
        raise ValueError(
            f"metric {_called(metric)} must return distances, finite and ≥ 0: between these "
            f"samples it returned {D[~(D >= 0) | ~np.isfinite(D)][0]}"
        )
    return D


def _called(metric: Any) -> str:
    return repr(metric) if isinstance(metric, str) else getattr(metric, "__name__", repr(metric))


def check_distances(D: Samples, n_train: int | None, name: str) -> None:
    """Refuse D unless it holds distances, n × n, or m × n_train for new samples."""
    if is_sparse(D):
        raise ValueError(
            f"a sparse {name} holds some of the distances, and a kernel needs all: "
            "along_paths completes them"
        )
    check_square(D, n_train, name, "distances", "d(new, training)")
    if D.min(initial=0.0) < 0:
        row, column = np.argwhere(D < 0)[0]
        raise ValueError(
            f"distances must be ≥ 0: {name} holds {D[row, column]:g} in row {row}, column {column}"
        )
    if n_train is not None:
        return
    _check_diagonal(np.diagonal(D), float(D.max()), name)


def _check_diagonal(diagonal: Floats, largest: float, name: str) -> None:
    """Refuse a sample that is away from itself, and similarities by their large diagonal."""
    if not diagonal.any():
        return
    if diagonal.min() > 0 and diagonal.max() >= largest * (1 - 1e-9):
        raise ValueError(
            f'metric="precomputed" takes distances, but {name} looks like similarities (the '
            'largest values are on its diagonal): pass kernel="precomputed"'
        )
    row = int(np.argmax(diagonal != 0))
    raise ValueError(
        f"distances must be 0 between a sample and itself: {name} holds {diagonal[row]:g} in "
        f"row {row}, column {row}"
    )


# Parts of a graph that nothing joins, in lengths of its longest path. A kernel between them is as
# good as 0; half as much could be a distance within a part.
UNJOINED = 2.0


def along_paths(D: Samples, name: str = "X") -> Floats:
    """All distances, (n, n), where D has those between some samples: lengths of shortest paths.

    D is sparse, finite, and holds a pair once or twice. What it stores are edges, of length 0 too.
    Samples that no path joins are farther apart than any others, which is said by a warning.

    Examples
    --------
    >>> D = sparse.coo_array(([1.0, 2.0], ([0, 1], [1, 2])), shape=(3, 3))
    >>> along_paths(D)
    array([[0., 1., 3.],
           [1., 0., 2.],
           [3., 2., 0.]])
    """
    n, m = D.shape
    if n != m:
        raise ValueError(f"distances must be square (n × n), got {n} × {m}")
    what = f"all distances between {n:,} samples, of which a sparse {name} holds some"
    check_memory(16.0 * n * n, what, "pass features, with weights=… a graph made from these")
    pairs = sparse.coo_array(D)
    if pairs.nnz and pairs.data.min() < 0:
        at = int(np.argmin(pairs.data))
        raise ValueError(
            f"distances must be ≥ 0: {name} holds {pairs.data[at]:g} in row {pairs.row[at]}, "
            f"column {pairs.col[at]}"
        )
    _check_diagonal(pairs.diagonal(), float(pairs.data.max(initial=0.0)), name)
    i, j = pairs.row.astype(np.int32), pairs.col.astype(np.int32)  # paths of SciPy 1.13 need it
    there = sparse.csr_array((pairs.data, (i, j)), shape=(n, n))
    stored = sparse.csr_array((np.ones(there.nnz), there.indices, there.indptr), shape=(n, n))
    apart = abs(there - there.T).multiply(stored).multiply(stored.T)
    if apart.nnz and apart.max() > ASYMMETRY * pairs.data.max():
        raise ValueError(
            f"distances must be symmetric: a pair is stored twice in {name}, with two distances"
        )
    full = dijkstra(there, directed=False)
    far = ~np.isfinite(full)
    if far.any():
        parts = connected_components(there, directed=False)[0]
        longest = float(full[~far].max())
        warnings.warn(
            f"the distances in {name} join samples to {parts} parts, between which none is given: "
            "they count as twice the longest path",
            UserWarning,
            stacklevel=4,
        )
        full[far] = UNJOINED * longest if longest > 0 else 1.0
    return full


def _rbf(d: Floats, bandwidth: float = 1.0) -> Floats:
    with np.errstate(over="ignore"):  # beyond 1e150 bandwidths the value is 0 as well
        return np.exp(-0.5 * (d / bandwidth) ** 2)


def _laplacian(d: Floats, bandwidth: float = 1.0) -> Floats:
    return np.exp(-d / bandwidth)


def _matern(d: Floats, bandwidth: float = 1.0, nu: float = 1.5) -> Floats:
    from sklearn.gaussian_process.kernels import Matern

    kernel, out = Matern(length_scale=bandwidth, nu=nu), np.empty_like(d)
    for start in range(0, len(d), step := max(1, BLOCK // max(1, d.shape[1]))):
        block = d[start : start + step]
        out[start : start + step] = kernel([[0.0]], block.reshape(-1, 1)).reshape(block.shape)
    return out


def _linear(d: Floats) -> Floats:
    """−½ d²: centred, the inner products of points at these distances (classical scaling)."""
    return -0.5 * d**2


OF_DISTANCE: dict[str, Callable[..., Floats]] = {
    "rbf": _rbf,
    "laplacian": _laplacian,
    "matern": _matern,
    "linear": _linear,
}
# What these kernels measure by themselves: there the formula on features is the same and faster.
OWN_METRIC = {"rbf": "euclidean", "matern": "euclidean", "laplacian": "manhattan"}


def metric_of_kernel(name: str, metric: Any) -> Any:
    """The metric that a kernel has to be told: "auto" if it has its own, or has none.

    Examples
    --------
    >>> metric_of_kernel("rbf", "euclidean"), metric_of_kernel("rbf", "cosine")
    ('auto', 'cosine')
    """
    metric = check_metric(metric)
    if isinstance(metric, str) and metric == "precomputed":
        if name == "precomputed":
            raise ValueError(
                'kernel="precomputed" and metric="precomputed" are two readings of one matrix: '
                "X holds similarities or distances"
            )
        if name not in OF_DISTANCE:
            raise ValueError(
                f'kernel {name!r} is no function of a distance: with metric="precomputed" use '
                f"one of {', '.join(OF_DISTANCE)}"
            )
        return metric
    if name == "precomputed" and metric != "auto":
        raise ValueError(
            f"metric={_called(metric)} needs features, but X is a kernel matrix: leave "
            'metric="auto"'
        )
    if name not in OWN_METRIC or metric == OWN_METRIC[name]:
        return "auto"
    return metric
