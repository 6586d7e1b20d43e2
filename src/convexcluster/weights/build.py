"""Build a graph by the name of its weights or by the defaults, or check a user's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..graph import Graph, components
from ..kernels import Samples, check_features, is_sparse
from ..kernels.checks import round_off
from ..problem import Floats, check_graph, check_masses, check_samples
from .bridges import joining_edges
from .formulas import FLOOR, WEIGHTS, Neighbourhood
from .neighbors import Nearest


def build_graph(
    X: Samples,
    weights: str | Callable[..., Graph] | Any = "knn",
    *,
    n_neighbors: int = 6,
    bandwidth: float | str = "auto",
    masses: ArrayLike | None = None,
    precomputed: bool = False,
    connect: bool = False,
    normalize: bool = False,
    metric: str = "manhattan",
    distinct: bool = False,
    nearest: Nearest | None = None,
) -> Graph:
    """Build the graph of weights, or check the user's.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Samples in the space where distances are meant; or K with ``precomputed=True``.
    weights : key of ``WEIGHTS``, callable, (n, n) matrix or (edges, weights)
        A matrix, sparse or dense, is symmetric with weights ≥ 0; its diagonal is ignored. ``edges``
        has shape (m, 2) with i < j, each once. A callable is called as
        ``weights(X, n_neighbors=…, bandwidth=…, masses=…, precomputed=…)`` and returns a ``Graph``.
    n_neighbors : int
        Neighbours of each sample; more than n − 1 means all.
    bandwidth : float or "auto"
        σ of the Gaussian; "auto" is the mean distance to the k-th nearest distinct sample.
    masses : (n,) array, optional
        Multiply weights by √(m_i m_j), and by m_i m_j with ``full``.
    precomputed : bool
        Whether X is a Gram matrix; then d² = K_ii + K_jj − 2K_ij.
    connect : bool
        Join the components by their shortest edges, and let no weight be below 1e-3 of the
        median; with ``full``, a user's graph or a callable only the joining edges have that floor.
    normalize : bool
        Rescale to mean weighted degree 1.
    metric : {"manhattan", "euclidean"}
        Distance of ``local`` and ``mutual`` weights. Rows whose axes mean nothing, such as those
        of an embedding, need "euclidean".
    distinct : bool
        Whether X is checked and no two of its rows are equal: then neither is looked at again.
    nearest : Nearest, optional
        Neighbours of the rows by ``metric``, at least as many as are needed, where they are known;
        for ``local`` and ``mutual`` weights.

    Returns
    -------
    Graph
        Edges sorted, weights positive.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [9.0], [10.0]])
    >>> build_graph(X, n_neighbors=1, bandwidth=1.0).edges.tolist()
    [[0, 1], [1, 2], [3, 4]]
    >>> build_graph(X, n_neighbors=1, bandwidth=1.0, connect=True).edges.tolist()
    [[0, 1], [1, 2], [2, 3], [3, 4]]
    """
    if precomputed:
        X = _distances(X)
    elif not distinct:
        X = check_features(X)
    n = X.shape[0]
    m = check_masses(masses, n)
    if int(n_neighbors) != n_neighbors or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number ≥ 1, got {n_neighbors}")
    k = min(int(n_neighbors), n - 1)
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise ValueError(f"weights {weights!r} are unknown: use one of {', '.join(WEIGHTS)}")
        metric = "precomputed" if precomputed else metric
        near = Neighbourhood(k, bandwidth, m, metric, connect, distinct, nearest)
        graph = WEIGHTS[weights](X, near)
        keep = graph.weights > 0  # far pairs whose Gaussian is 0 are dropped
        graph = Graph(graph.edges[keep], graph.weights[keep])
    elif callable(weights):
        found = weights(X, n_neighbors=k, bandwidth=bandwidth, masses=m, precomputed=precomputed)
        graph = user_graph(found, n)
    else:
        graph = user_graph(weights, n)
    if connect:
        graph = connected(X, graph, precomputed=precomputed)
    if normalize and len(graph.weights):
        graph = Graph(graph.edges, graph.weights * (n / (2 * graph.weights.sum())))
    return _sorted(graph)


# Rows of at most this many features are taken for points of the plane or of space, whose axes may
# be turned without a change of meaning.
FEW_FEATURES = 3

# Neighbours that are asked for where only mutual ones count, per neighbour that is wanted. Of seven
# neighbours in the plane five or six return the choice: ten leave as many edges as seven one-sided
# ones. Fourteen lose spirals drawn at random.
ASKED = 10 / 7


def automatic_graph(
    X: Samples,
    *,
    n_neighbors: int,
    masses: Floats,
    metric: str = "auto",
    few: bool | None = None,
    distinct: bool = False,
    nearest: Nearest | None = None,
) -> Graph:
    """Build the graph of the defaults, with mean weighted degree 1, so that γ has one scale.

    Of ``few`` dimensions, by default of at most three features, distances are Euclidean, since
    turning the axes must change nothing, and neighbours mutual. Of more, distances are Manhattan's
    and neighbours one-sided too. A ``metric`` that is given has precedence, and the axes of an
    embedding need "euclidean"; with "precomputed" X holds distances. Of ``distinct`` rows, checked,
    no two are equal. ``nearest`` are those of :func:`automatic_nearest`, where they are known.
    """
    metric, few, asked = automatic_neighbors(X, n_neighbors, metric, few)
    return build_graph(
        X,
        "mutual" if few else "local",
        n_neighbors=asked,
        masses=masses,
        connect=True,
        normalize=True,
        metric=metric,
        distinct=distinct,
        nearest=nearest,
    )


def automatic_nearest(
    X: Samples,
    n_neighbors: int,
    metric: str = "auto",
    few: bool | None = None,
    *,
    many: int = 0,
    jobs: int = 1,
) -> Nearest:
    """The neighbours that the graph of the defaults is made of, or ``many`` if these are more."""
    metric, _, asked = automatic_neighbors(X, n_neighbors, metric, few)
    return Nearest.of(X, min(asked, X.shape[0] - 1), metric=metric, many=many, jobs=jobs)


def automatic_neighbors(
    X: Samples, n_neighbors: int, metric: str = "auto", few: bool | None = None
) -> tuple[str, bool, int]:
    """Metric of the graph of the defaults, whether dimensions are few, and how many are asked."""
    if few is None:
        few = metric != "precomputed" and X.shape[1] <= FEW_FEATURES
    if metric == "auto":
        metric = "euclidean" if few or is_sparse(X) or directions(X) else "manhattan"
    return metric, few, round(ASKED * n_neighbors) if few else n_neighbors


# Rows of one length differ by less than this share of it: rounding of single precision. A hundred
# times as much takes ordinary rows of thousands of columns, whose lengths are alike, for these.
ONE_LENGTH = 1e-6


def directions(X: Floats) -> bool:
    """Whether rows were divided by their Euclidean lengths, such as tf-idf: all have one length.

    Rows of zeros may be among them. Rows whose Manhattan lengths are equal as well, such as one 1
    for each category, were not.

    Examples
    --------
    >>> directions(np.array([[3.0, 4.0], [5.0, 0.0], [0.0, 0.0]])), directions(np.eye(3))
    (True, False)
    """
    return _one_length(np.sqrt(np.einsum("ij,ij->i", X, X))) and not _one_length(
        np.abs(X).sum(axis=1)
    )


def _one_length(length: Floats) -> bool:
    length = length[length > 0]
    return len(length) > 0 and bool(np.ptp(length) <= ONE_LENGTH * length.max())


def user_graph(given: Any, n: int) -> Graph:
    """Check a user's (n, n) symmetric matrix or (edges, weights)."""
    if isinstance(given, Graph):
        given = (given.edges, given.weights)
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"weights must be (edges, weights), got a tuple of {len(given)}")
        return Graph(*check_graph(given[0], given[1], n))
    if given is None:
        raise ValueError(
            f"weights are missing: pass one of {', '.join(WEIGHTS)}, a matrix or (edges, weights)"
        )
    try:
        W = sparse.csr_array(given if is_sparse(given) else np.array(given, np.float64, ndmin=2))
    except (TypeError, ValueError):
        raise ValueError(f"weights must be {n} × {n} numbers, one row per sample") from None
    if W.shape != (n, n):
        raise ValueError(f"weights must be {n} × {n}, one row per sample, got {W.shape}")
    W = W.astype(np.float64)
    W.sum_duplicates()
    if not np.isfinite(W.data).all() or (W.data < 0).any():
        raise ValueError("weights must be finite and ≥ 0: the matrix holds NaN, infinity or less")
    difference = abs(W - W.T)
    # 1e-12: round-off of a symmetric formula evaluated twice
    if difference.nnz and difference.max() > max(1e-12, round_off(W.data)) * W.max():
        raise ValueError("weights must be symmetric: pass (W + W.T) / 2")
    upper = sparse.coo_array(sparse.triu(W, k=1))
    edges = np.column_stack(upper.coords).astype(np.int64)
    return _sorted(Graph(*check_graph(edges, upper.data, n)))


def connected(X: Samples, graph: Graph, *, precomputed: bool = False) -> Graph:
    """Add the shortest edges that join the components, each with 1e-3 of the median weight.

    A Gaussian weight would underflow on a long bridge. A bridge of this weight is weaker than
    nearly every edge between neighbours.
    """
    labels = components(graph.edges, X.shape[0])
    if labels.max() == 0:
        return graph
    bridges = joining_edges(X, labels, precomputed=precomputed)
    weight = FLOOR * (float(np.median(graph.weights)) if len(graph.weights) else 1.0)
    return _sorted(
        Graph(
            np.vstack([graph.edges, bridges]),
            np.concatenate([graph.weights, np.full(len(bridges), weight)]),
        )
    )


def _distances(K: ArrayLike) -> Floats:
    """Distances in the RKHS of a Gram matrix: d² = K_ii + K_jj − 2K_ij, at least 0."""
    K = check_samples(K, "K")
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a precomputed kernel must be square (n × n), got {K.shape}")
    diagonal = np.diagonal(K)
    D = diagonal[:, None] + diagonal - (K + K.T)
    np.sqrt(np.maximum(D, 0.0, out=D), out=D)
    np.fill_diagonal(D, 0.0)
    return D


def _sorted(graph: Graph) -> Graph:
    order = np.lexsort(graph.edges.T[::-1])
    return Graph(np.ascontiguousarray(graph.edges[order]), graph.weights[order])
