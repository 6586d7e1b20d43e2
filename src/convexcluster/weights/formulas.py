"""The weights that have a name: samples → edges i < j and w > 0, one function each.

    knn    w_ij = ½(g_ij + g_ji),  g_ij = exp(−d_ij²/(2σ²)) if j is one of the k nearest of i
    full   w_ij = exp(−d_ij²/(2σ²)) for every pair
    local  w_ij = b·exp(−(d_ij²/(s_i s_j))^¾),  s_i the distance to the k-th nearest distinct
           sample, b = 1 if i and j are each other's neighbours, ½ if one-sided; distances are
           Manhattan's between features
    mutual  local without one-sided neighbours
    mst    knn, and the shortest edges that join its components

``WEIGHTS`` lists them; a new one is a function and a line.

References: the paper, §4.1 (knn); Zelnik-Manor and Perona, NIPS 2004 (local scaling).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..graph import Graph, components
from ..kernels import Samples, is_sparse
from ..numerics.memory import check_memory
from ..partition import distinct_rows
from ..problem import Floats, Ints
from .bridges import joining_edges
from .neighbors import Nearest, nearest_neighbors, tied_neighbors
from .search import edge_lengths

# Of d²/(s_i s_j) in local weights. ½ and ¾ do equally well on measured data, ¾ and 1 on curves.
EXPONENT = 0.75

# The least weight of an edge, relative to the median: a Gaussian underflows on a long bridge, and
# an edge of weight 0 is none. γ_max grows as the inverse of the weakest bridge.
FLOOR = 1e-3


@dataclass(frozen=True)
class Neighbourhood:
    """Who is near, and how near."""

    k: int  # neighbours of each sample
    bandwidth: float | str  # σ of the Gaussian; "auto" is the mean of :func:`local_scales`
    masses: Floats  # (n,)
    metric: str = "euclidean"  # "precomputed" if X is a matrix of distances
    connect: bool = False  # whether the shortest edges that join the components are added
    distinct: bool = False  # whether no two samples are known to be equal
    nearest: Nearest | None = None  # by the same metric, where they are known

    @property
    def precomputed(self) -> bool:
        """Whether X is a matrix of distances."""
        return self.metric == "precomputed"


def knn(X: Samples, near: Neighbourhood) -> Graph:
    """Gaussian on the k nearest neighbours, symmetrised by (W + Wᵀ)/2 (the paper's)."""
    near = _by_length(near)
    edges, share = _neighbor_pairs(X, near)
    edges, share = _bridged(X, near, edges, share)
    w = share * _gaussian(X, edges, near) * np.sqrt(near.masses[edges].prod(axis=1))
    return Graph(edges, _floored(w) if near.connect else w)


def full(X: Samples, near: Neighbourhood) -> Graph:
    """Gaussian on all pairs; a sample of mass m counts as m copies of it."""
    near = _by_length(near)
    n = X.shape[0]
    check_memory(
        24.0 * n * n, f"all {n * (n - 1) // 2:,} pairs of {n:,} samples", 'use weights="knn"'
    )
    edges = np.column_stack(np.triu_indices(n, k=1)).astype(np.int64)
    return Graph(edges, _gaussian(X, edges, near) * near.masses[edges].prod(axis=1))


def local(X: Samples, near: Neighbourhood) -> Graph:
    """Local scaling: each sample has its own bandwidth, and ``bandwidth`` is not used.

    Manhattan distances are less ruled by the few features in which two samples differ most, and
    make better neighbours where features are many. The exponent ¾ lies between Gaussian weights of
    Manhattan (1) and of Euclidean distances of 0/1 features (½).
    """
    return _scaled(X, near, one_sided=True)


def mutual(X: Samples, near: Neighbourhood) -> Graph:
    """:func:`local` between mutual neighbours alone.

    Where features are few, a neighbour that does not return the choice stands in a denser place,
    most often across a gap. Where they are many, some samples are the neighbours of many others
    and cannot return them all, and one-sided neighbours are as good as others.
    """
    return _scaled(X, near, one_sided=False)


def mst(X: Samples, near: Neighbourhood) -> Graph:
    """:func:`knn` made connected, whatever ``connect`` says."""
    return knn(X, replace(near, connect=True))


WEIGHTS: dict[str, Callable[[Samples, Neighbourhood], Graph]] = {
    "knn": knn,
    "full": full,
    "local": local,
    "mutual": mutual,
    "mst": mst,
}


def _scaled(X: Samples, near: Neighbourhood, one_sided: bool) -> Graph:
    """Weights b·exp(−(d²/(s_i s_j))^¾); with ``connect`` also on the edges that join components."""
    if is_sparse(X):
        near = replace(near, metric="euclidean")
    edges, share, s, returned = _tied_pairs(X, near)
    if not one_sided:
        edges, share = edges[returned], share[returned]
    # a gap in a curve is as wide as its ends are sparse: its bridge has a weight like others
    edges, share = _bridged(X, near, edges, share)
    lengths = edge_lengths(X, edges, metric=near.metric)
    scale = s[edges].prod(axis=1)
    # equal samples have weight 1 whatever the scale, which is 0 only if all samples are equal
    ratio = np.divide(lengths**2, scale, out=np.zeros_like(lengths), where=scale > 0)
    w = share * np.exp(-(ratio**EXPONENT)) * np.sqrt(near.masses[edges].prod(axis=1))
    return Graph(edges, _floored(w) if near.connect else w)


def local_scales(
    X: Samples, n_neighbors: int, *, metric: str = "euclidean", distinct: bool = False
) -> Floats:
    """Distance of each sample to its k-th nearest distinct sample; copies do not count."""
    n = X.shape[0]
    first, inverse = (np.arange(n), np.arange(n)) if distinct else distinct_rows(X)
    k = min(n_neighbors, len(first) - 1)
    if k < 1:
        return np.zeros(n)
    if len(first) < n:
        X = X[np.ix_(first, first)] if metric == "precomputed" else X[first]
    last = nearest_neighbors(X, k, metric=metric)[:, -1]
    pairs = np.column_stack([np.arange(len(first)), last])
    return edge_lengths(X, pairs, metric=metric)[inverse]


def _by_length(near: Neighbourhood) -> Neighbourhood:
    """Gaussian weights are of Euclidean distances, or of those that are given."""
    return near if near.precomputed else replace(near, metric="euclidean")


def _gaussian(X: Samples, edges: Ints, near: Neighbourhood) -> Floats:
    """exp(−d²/(2σ²)) of every pair."""
    sigma = near.bandwidth
    if sigma == "auto":
        scales = local_scales(X, max(1, near.k), metric=near.metric, distinct=near.distinct)
        sigma = float(scales.mean()) or 1.0
    elif isinstance(sigma, str) or not np.isfinite(float(sigma)) or sigma <= 0:
        raise ValueError(f'bandwidth of the weights must be "auto" or a number > 0: {sigma!r}')
    return np.exp(-0.5 * (edge_lengths(X, edges, metric=near.metric) / float(sigma)) ** 2)


def _neighbor_pairs(X: Samples, near: Neighbourhood) -> tuple[Ints, Floats]:
    """Pairs i < j of which one is among the k nearest of the other; 1 if both are, ½ if not."""
    n, k = X.shape[0], near.k
    if k < 1:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    i, j = np.repeat(np.arange(n), k), nearest_neighbors(X, k, metric=near.metric).ravel()
    keys, counts = np.unique(np.minimum(i, j) * n + np.maximum(i, j), return_counts=True)
    return np.column_stack(np.divmod(keys, n)), counts / 2


def _tied_pairs(X: Samples, near: Neighbourhood) -> tuple[Ints, Floats, Floats, np.ndarray]:
    """Pairs i < j, the mean of their two shares (1 if mutual neighbours, ½ if not), scales, mutual.

    The scales are of the samples, the others of the pairs.
    """
    n, k = X.shape[0], near.k
    if k < 1:
        return np.empty((0, 2), dtype=np.int64), np.empty(0), np.zeros(n), np.empty(0, dtype=bool)
    pairs, share, scale = tied_neighbors(X, k, metric=near.metric, nearest=near.nearest)
    if not near.distinct and not is_sparse(X) and len(distinct_rows(X)[0]) < n:
        scale = local_scales(X, k, metric=near.metric)
    low, high = np.sort(pairs, axis=1).T
    keys, place, count = np.unique(low * n + high, return_inverse=True, return_counts=True)
    shares = np.bincount(place.ravel(), share) / 2
    return np.column_stack(np.divmod(keys, n)), shares, scale, count == 2


def _bridged(X: Samples, near: Neighbourhood, edges: Ints, share: Floats) -> tuple[Ints, Floats]:
    """With ``connect`` also the shortest pairs that join the components, with share ½."""
    if not near.connect:
        return edges, share
    bridges = joining_edges(X, components(edges, X.shape[0]), precomputed=near.precomputed)
    return np.vstack([edges, bridges]), np.concatenate([share, np.full(len(bridges), 0.5)])


def _floored(w: Floats) -> Floats:
    """No weight below the floor: 1e-3 of the median, or 1e-3 if the median underflows."""
    median = float(np.median(w)) if len(w) else 0.0
    return np.maximum(w, FLOOR * (median or 1.0))
