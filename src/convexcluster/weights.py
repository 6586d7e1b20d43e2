"""Weights: samples in the input or the embedding space to a graph of edges i < j and w > 0.

    knn    w_ij = ½(g_ij + g_ji),  g_ij = exp(−d_ij²/(2σ²)) if j is one of the k nearest of i
    full   w_ij = exp(−d_ij²/(2σ²)) for every pair
    local  w_ij = b·exp(−(d_ij²/(s_i s_j))^¾),  s_i the distance to the k-th nearest distinct
           sample, b = 1 if i and j are each other's neighbours, ½ if one-sided; distances are
           Manhattan's between features
    mutual  local without one-sided neighbours
    mst    knn, and the shortest edges that join its components

References: the paper, §4.1 (knn); Zelnik-Manor and Perona, NIPS 2004 (local scaling).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from .graph import Graph, components
from .kernels import Samples, check_features, is_sparse
from .memory import check_memory
from .neighbors import edge_lengths, joining_edges, nearest_neighbors, tied_neighbors
from .partition import distinct_rows
from .problem import Floats, Ints, check_graph, check_masses, check_samples

# Of d²/(s_i s_j) in local weights. ½ and ¾ do equally well on measured data, ¾ and 1 on curves.
EXPONENT = 0.75

# Rows of so many features are places in the plane or in space.
PLACES = 3

# Of seven neighbours in the plane five or six return the choice. Where only these count, ten are
# asked, and the graph has as many edges as with one-sided neighbours of seven.
ASKED = 10 / 7

# The least weight of an edge, relative to the median: a Gaussian underflows on a long bridge, and
# an edge of weight 0 is none. γ_max grows as the inverse of the weakest bridge.
FLOOR = 1e-3


def knn(
    X: Samples,
    *,
    n_neighbors: int,
    bandwidth: float | str,
    masses: Floats,
    precomputed: bool = False,
    connect: bool = False,
) -> Graph:
    """Gaussian on the k nearest neighbours, symmetrised by (W + Wᵀ)/2 (the paper's)."""
    edges, share = _neighbor_pairs(X, n_neighbors, precomputed, connect)
    lengths = edge_lengths(X, edges, precomputed=precomputed)
    sigma = _sigma(X, bandwidth, n_neighbors, precomputed)
    w = share * np.exp(-0.5 * (lengths / sigma) ** 2) * np.sqrt(masses[edges].prod(axis=1))
    return Graph(edges, _floored(w) if connect else w)


def full(
    X: Samples,
    *,
    n_neighbors: int,
    bandwidth: float | str,
    masses: Floats,
    precomputed: bool = False,
    connect: bool = False,
) -> Graph:
    """Gaussian on all pairs; a sample of mass m counts as m copies of it."""
    n = X.shape[0]
    check_memory(
        24.0 * n * n, f"all {n * (n - 1) // 2:,} pairs of {n:,} samples", 'use weights="knn"'
    )
    edges = np.column_stack(np.triu_indices(n, k=1)).astype(np.int64)
    lengths = edge_lengths(X, edges, precomputed=precomputed)
    sigma = _sigma(X, bandwidth, n_neighbors, precomputed)
    return Graph(edges, np.exp(-0.5 * (lengths / sigma) ** 2) * masses[edges].prod(axis=1))


def local(
    X: Samples,
    *,
    n_neighbors: int,
    bandwidth: float | str,
    masses: Floats,
    precomputed: bool = False,
    connect: bool = False,
    metric: str = "manhattan",
) -> Graph:
    """Local scaling: each sample has its own bandwidth, and ``bandwidth`` is not used.

    Manhattan distances are less ruled by the few features in which two samples differ most, and
    make better neighbours where features are many. The exponent ¾ lies between Gaussian weights of
    Manhattan (1) and of Euclidean distances of 0/1 features (½).
    """
    return _scaled(X, n_neighbors, masses, precomputed, connect, metric, one_sided=True)


def mutual(
    X: Samples,
    *,
    n_neighbors: int,
    bandwidth: float | str,
    masses: Floats,
    precomputed: bool = False,
    connect: bool = False,
    metric: str = "manhattan",
) -> Graph:
    """:func:`local` between mutual neighbours alone.

    Where features are few, a neighbour that does not return the choice stands in a denser place,
    most often across a gap. Where they are many, some samples are the neighbours of many others
    and cannot return them all, and one-sided neighbours are as good as others.
    """
    return _scaled(X, n_neighbors, masses, precomputed, connect, metric, one_sided=False)


def _scaled(
    X: Samples,
    k: int,
    masses: Floats,
    precomputed: bool,
    connect: bool,
    metric: str,
    one_sided: bool,
) -> Graph:
    """Weights b·exp(−(d²/(s_i s_j))^¾); with ``connect`` also on the edges that join components."""
    how: dict[str, Any] = {
        "precomputed": precomputed,
        "metric": "euclidean" if precomputed or is_sparse(X) else metric,
    }
    edges, share, s, returned = _tied_pairs(X, k, how)
    if not one_sided:
        edges, share = edges[returned], share[returned]
    if connect:
        # a gap in a curve is as wide as its ends are sparse: its bridge has a weight like others
        bridges = joining_edges(X, components(edges, X.shape[0]), precomputed=precomputed)
        edges = np.vstack([edges, bridges])
        share = np.concatenate([share, np.full(len(bridges), 0.5)])
    lengths = edge_lengths(X, edges, **how)
    scale = s[edges].prod(axis=1)
    # equal samples have weight 1 whatever the scale, which is 0 only if all samples are equal
    ratio = np.divide(lengths**2, scale, out=np.zeros_like(lengths), where=scale > 0)
    w = share * np.exp(-(ratio**EXPONENT)) * np.sqrt(masses[edges].prod(axis=1))
    return Graph(edges, _floored(w) if connect else w)


def mst(
    X: Samples,
    *,
    n_neighbors: int,
    bandwidth: float | str,
    masses: Floats,
    precomputed: bool = False,
    connect: bool = True,
) -> Graph:
    """:func:`knn` made connected, whatever ``connect`` says."""
    return knn(
        X,
        n_neighbors=n_neighbors,
        bandwidth=bandwidth,
        masses=masses,
        precomputed=precomputed,
        connect=True,
    )


WEIGHTS: dict[str, Callable[..., Graph]] = {
    "knn": knn,
    "full": full,
    "local": local,
    "mutual": mutual,
    "mst": mst,
}


def automatic_graph(
    X: Samples, *, n_neighbors: int, masses: Floats, features: bool = True, scored: bool = False
) -> Graph:
    """The graph of the defaults: each pair has its own bandwidth, every sample is reached.

    Rows of at most three features are places: distances are Euclidean, since turning the axes must
    change nothing, and neighbours mutual. Rows of more have Manhattan distances and one-sided
    neighbours too. The mean weighted degree is 1, so that γ has one scale.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
    n_neighbors : int
    masses : (n,) array
    features : bool
        Whether the columns are features; the axes of an embedding mean nothing, and its distances
        are Euclidean.
    scored : bool
        Whether the cuts of the graph are to be counted. That of places then has one-sided
        neighbours too: with more edges it is known better how hard a curve is to cut.

    Returns
    -------
    Graph

    Examples
    --------
    >>> X = np.array([[0.0, 0], [1, 0], [3, 0], [3.5, 0]])
    >>> automatic_graph(X, n_neighbors=1, masses=np.ones(4)).edges.tolist()
    [[0, 1], [1, 2], [2, 3]]
    """
    places = features and X.shape[1] <= PLACES
    only_mutual = places and not scored
    return build_graph(
        X,
        "mutual" if only_mutual else "local",
        n_neighbors=round(ASKED * n_neighbors) if only_mutual else n_neighbors,
        masses=masses,
        connect=True,
        normalize=True,
        metric="manhattan" if features and not places else "euclidean",
    )


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
) -> Graph:
    """Build the graph of weights, or check the user's.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Samples in the space where distances are meant; or K with ``precomputed=True``.
    weights : key of ``WEIGHTS``, callable, (n, n) matrix or (edges, weights)
        A matrix, sparse or dense, is symmetric with weights ≥ 0; its diagonal is ignored. ``edges``
        has shape (m, 2) with i < j, each once.
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
    X = _distances(X) if precomputed else check_features(X)
    n = X.shape[0]
    m = check_masses(masses, n)
    if int(n_neighbors) != n_neighbors or n_neighbors < 1:
        raise ValueError(f"n_neighbors must be a whole number ≥ 1, got {n_neighbors}")
    if isinstance(weights, str) and weights not in WEIGHTS:
        raise ValueError(f"weights {weights!r} are unknown: use one of {', '.join(WEIGHTS)}")
    if isinstance(weights, str) or callable(weights):
        arguments: dict[str, Any] = {
            "n_neighbors": min(int(n_neighbors), n - 1),
            "bandwidth": bandwidth,
            "masses": m,
            "precomputed": precomputed,
        }
        if weights in ("local", "mutual"):
            arguments["metric"] = metric
        if isinstance(weights, str):
            graph = WEIGHTS[weights](X, connect=connect, **arguments)
        else:
            graph = weights(X, **arguments)
        # far pairs whose Gaussian is 0 are dropped
        graph = Graph(*check_graph(graph.edges, graph.weights, n))
    else:
        graph = user_graph(weights, n)
    if connect:
        graph = connected(X, graph, precomputed=precomputed)
    if normalize and len(graph.weights):
        graph = Graph(graph.edges, graph.weights * (n / (2 * graph.weights.sum())))
    return _sorted(graph)


def user_graph(given: Any, n: int) -> Graph:
    """Check a user's (n, n) symmetric matrix or (edges, weights).

    Examples
    --------
    >>> user_graph(np.array([[0, 2.0], [2.0, 0]]), 2)
    Graph(edges=array([[0, 1]]), weights=array([2.]))
    """
    if isinstance(given, Graph):
        given = (given.edges, given.weights)
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValueError(f"weights must be (edges, weights), got a tuple of {len(given)}")
        return Graph(*check_graph(given[0], given[1], n))
    W = sparse.csr_array(given if is_sparse(given) else np.asarray(given, dtype=np.float64))
    if W.shape != (n, n):
        raise ValueError(f"weights must be {n} × {n}, one row per sample, got {W.shape}")
    W = W.astype(np.float64)
    W.sum_duplicates()
    if not np.isfinite(W.data).all() or (W.data < 0).any():
        raise ValueError("weights must be finite and ≥ 0: the matrix holds NaN, infinity or less")
    difference = abs(W - W.T)
    # 1e-12: round-off of a symmetric formula evaluated twice
    if difference.nnz and difference.max() > 1e-12 * W.max():
        raise ValueError("weights must be symmetric: pass (W + W.T) / 2")
    upper = sparse.coo_array(sparse.triu(W, k=1))
    edges = np.column_stack(upper.coords).astype(np.int64)
    return _sorted(Graph(*check_graph(edges, upper.data, n)))


def connected(
    X: Samples, graph: Graph, *, precomputed: bool = False, floor: float = FLOOR
) -> Graph:
    """Add the shortest edges that join the components, weighted ``floor`` × the median weight.

    Gaussian weights on bridges would underflow; the floor keeps them, and weaker ones than any
    neighbour's of note.
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


def local_scales(
    X: Samples, n_neighbors: int, *, precomputed: bool = False, metric: str = "euclidean"
) -> Floats:
    """Distance of each sample to its k-th nearest distinct sample; copies do not count.

    Examples
    --------
    >>> local_scales(np.array([[0.0], [0.0], [0.0], [1.0], [3.0]]), 1)
    array([1., 1., 1., 1., 2.])
    """
    n = X.shape[0]
    first, inverse = distinct_rows(X)
    k = min(n_neighbors, len(first) - 1)
    if k < 1:
        return np.zeros(n)
    distinct = X[np.ix_(first, first)] if precomputed else X[first]
    last = nearest_neighbors(distinct, k, precomputed=precomputed, metric=metric)[:, -1]
    pairs = np.column_stack([np.arange(len(first)), last])
    return edge_lengths(distinct, pairs, precomputed=precomputed, metric=metric)[inverse]


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


def _neighbor_pairs(
    X: Samples, k: int, precomputed: bool, connect: bool, metric: str = "euclidean"
) -> tuple[Ints, Floats]:
    """Pairs i < j of which one is among the k nearest of the other; 1 if both are, ½ if not.

    With ``connect`` also the shortest pairs that join the components, with ½.
    """
    n = X.shape[0]
    if k < 1:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    index = nearest_neighbors(X, k, precomputed=precomputed, metric=metric)
    i, j = np.repeat(np.arange(n), k), index.ravel()
    keys, counts = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_counts=True)
    edges, share = np.column_stack(np.divmod(keys, n)), counts / 2
    if connect:
        bridges = joining_edges(X, components(edges, n), precomputed=precomputed)
        edges = np.vstack([edges, bridges])
        share = np.concatenate([share, np.full(len(bridges), 0.5)])
    return edges, share


def _tied_pairs(X: Samples, k: int, how: dict[str, Any]) -> tuple[Ints, Floats, Floats, np.ndarray]:
    """Pairs i < j, the mean of their two shares (1 if mutual neighbours, ½ if not), scales, mutual.

    The scales are of the samples, the others of the pairs.
    """
    n = X.shape[0]
    if k < 1:
        return np.empty((0, 2), dtype=np.int64), np.empty(0), np.zeros(n), np.empty(0, dtype=bool)
    pairs, share, scale = tied_neighbors(X, k, **how)
    if not is_sparse(X) and len(distinct_rows(X)[0]) < n:
        scale = local_scales(X, k, **how)
    low, high = np.sort(pairs, axis=1).T
    keys, place, count = np.unique(low * n + high, return_inverse=True, return_counts=True)
    shares = np.bincount(place.ravel(), share) / 2
    return np.column_stack(np.divmod(keys, n)), shares, scale, count == 2


def _floored(w: Floats) -> Floats:
    """No weight below the floor: 1e-3 of the median, or 1e-3 if the median underflows."""
    median = float(np.median(w)) if len(w) else 0.0
    return np.maximum(w, FLOOR * (median or 1.0))


def _sigma(X: Samples, bandwidth: float | str, n_neighbors: int, precomputed: bool) -> float:
    if bandwidth == "auto":
        mean = float(local_scales(X, max(1, n_neighbors), precomputed=precomputed).mean())
        return mean if mean > 0 else 1.0
    if isinstance(bandwidth, str) or not np.isfinite(bandwidth) or bandwidth <= 0:
        raise ValueError(f'bandwidth of the weights must be "auto" or a number > 0: {bandwidth!r}')
    return float(bandwidth)


def _sorted(graph: Graph) -> Graph:
    order = np.lexsort(graph.edges.T[::-1])
    return Graph(np.ascontiguousarray(graph.edges[order]), graph.weights[order])
