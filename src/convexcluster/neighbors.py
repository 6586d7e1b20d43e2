"""Nearest neighbours and the shortest edges that join components.

Input is X (n × d), or a matrix of distances; output is indices and distances. Distances are
computed from differences of the pair, so that a pair has one distance and duplicates have 0.
"""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from .kernels import Samples, is_sparse
from .partition import first
from .problem import Floats, Ints

# Trees find neighbours in O(log n) up to about this dimension; above it they visit everything.
TREE_DIMENSION = 15

# Exact search is quadratic beyond tree dimensions: at this many samples it takes about a minute,
# and a nearest-neighbour graph takes seconds.
APPROXIMATE_SIZE = 50_000

# Up to this many samples all Manhattan distances take less than a tree, in any dimension.
TREE_SIZE = 1_000

# Manhattan distances between all pairs cost several times the Euclidean ones, which are a matrix
# product. Beyond this many entries of all differences (a second) the nearest are looked for among
# this many Euclidean neighbours for each one that is wanted.
MANHATTAN_WORK = 10**10
SHORTLIST = 5

# Distances held at a time where samples have too many tied neighbours: some tens of megabytes.
CROWD = 10**6


def nearest_neighbors(
    X: Samples, k: int, *, precomputed: bool = False, metric: str = "euclidean"
) -> Ints:
    """The k nearest other samples of every sample, shape (n, k), nearest first.

    Exact, save for more than 50,000 samples in more than 15 dimensions if pynndescent is
    installed, and for Manhattan distances of many samples in many dimensions, which are compared
    among the Euclidean neighbours only. A sample is never its own neighbour; a duplicate may be.
    """
    n, d = X.shape
    if metric == "manhattan" and not precomputed:
        return _nearest_manhattan(X, k)[0]
    if precomputed:
        search = NearestNeighbors(n_neighbors=k, metric="precomputed").fit(X)
        return search.kneighbors(return_distance=False).astype(np.int64)
    if not is_sparse(X) and d <= TREE_DIMENSION:
        return _from_tree(X, k, power=2)
    if n > APPROXIMATE_SIZE and find_spec("pynndescent"):
        return _approximate(X, k)
    search = NearestNeighbors(n_neighbors=k).fit(X)
    return search.kneighbors(return_distance=False).astype(np.int64)


def tied_neighbors(
    X: Samples, k: int, *, precomputed: bool = False, metric: str = "euclidean"
) -> tuple[Ints, Floats, Floats]:
    """Pairs (i, j), j near i, with shares that sum to k or a little more; and the k-th distances.

    Features of few values tie many distances, and which of the tied samples comes first is an
    accident of their order. All samples tied at the k-th distance are neighbours unless that makes
    more than 2k of them; then they share the places that are left.

    Examples
    --------
    >>> pairs, share, _ = tied_neighbors(np.array([[0.0], [1.0], [-1.0]]), 1)
    >>> sorted(pairs.tolist()), share.tolist()
    ([[0, 1], [0, 2], [1, 0], [2, 0]], [1.0, 1.0, 1.0, 1.0])
    """
    n = X.shape[0]
    wide = min(2 * k + 1, n - 1)
    how: dict[str, Any] = {"precomputed": precomputed, "metric": metric}
    rows = np.repeat(np.arange(n), wide)
    if metric == "manhattan" and not precomputed:
        near, length = _nearest_manhattan(X, wide)
    else:
        near = nearest_neighbors(X, wide, **how)
        length = edge_lengths(X, np.column_stack([rows, near.ravel()]), **how).reshape(near.shape)
    scale = length[:, k - 1]
    # 1e-12: round-off between distances that are equal
    taken = length <= (scale * (1 + 1e-12))[:, None]
    share = taken.astype(np.float64)
    many = np.flatnonzero(taken[:, 2 * k :].any(axis=1)) if wide > 2 * k else np.empty(0, int)
    share[many] = 0.0
    pairs = np.column_stack([rows, near.ravel()])[share.ravel() > 0]
    shares = share.ravel()[share.ravel() > 0]
    crowded, parts = _crowds(X, many, scale[many], k, how)
    return np.vstack([pairs, crowded]), np.concatenate([shares, parts]), scale


def _crowds(
    X: Samples, rows: Ints, radius: Floats, k: int, how: dict[str, Any]
) -> tuple[Ints, Floats]:
    """All samples up to the k-th distance of ``rows``, the farthest sharing the places left."""
    n = X.shape[0]
    pairs, shares = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
    step = max(1, CROWD // n)
    for start in range(0, len(rows), step):
        i, r = rows[start : start + step], radius[start : start + step, None]
        both = np.column_stack([np.repeat(i, n), np.tile(np.arange(n), len(i))])
        length = edge_lengths(X, both, **how).reshape(len(i), n)
        length[np.arange(len(i)), i] = np.inf
        closer, tied = length < r * (1 - 1e-12), np.abs(length - r) <= 1e-12 * r
        left = (k - closer.sum(axis=1)) / np.maximum(tied.sum(axis=1), 1)
        share = (closer + tied * left[:, None]).ravel()
        pairs.append(both[share > 0])
        shares.append(share[share > 0])
    return np.vstack(pairs), np.concatenate(shares)


def _nearest_manhattan(X: Floats, k: int) -> tuple[Ints, Floats]:
    """The k nearest of every sample and their Manhattan distances, both (n, k)."""
    from .loops.distances import nearest_rows

    n, d = X.shape
    if n <= TREE_SIZE or TREE_DIMENSION < d <= MANHATTAN_WORK / n**2:
        found, length = np.full((n, k), n), np.full((n, k), np.inf)
        nearest_rows(_plain(X), found, length)
        return found, length
    if d <= TREE_DIMENSION:
        found = _from_tree(X, k, power=1)
    else:
        found = nearest_neighbors(X, min(SHORTLIST * k, n - 1))
    pairs = np.column_stack([np.repeat(np.arange(n), found.shape[1]), found.ravel()])
    length = edge_lengths(X, pairs, metric="manhattan").reshape(found.shape)
    order = np.argsort(length, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(length, order, axis=1)


def _plain(X: Samples) -> Floats:
    """X as the compiled loops take it: contiguous and writable, copied only if it is not."""
    return np.require(X, np.float64, ["C", "W"])


def _approximate(X: Samples, k: int) -> Ints:
    from pynndescent import NNDescent

    return _others(NNDescent(X, n_neighbors=k + 1, random_state=0).neighbor_graph[0])


def _from_tree(X: Floats, k: int, power: int) -> Ints:
    """The k nearest others by a tree, which several threads may do at once."""
    return _others(np.asarray(KDTree(X).query(X, k + 1, p=power)[1]))


def _others(found: np.ndarray) -> Ints:
    """Neighbours (n, k) from (n, k + 1) that hold most samples themselves, and not all if equal."""
    own = found == np.arange(len(found))[:, None]
    own[~own.any(axis=1), -1] = True
    return found[~own].reshape(len(found), -1).astype(np.int64)


def edge_lengths(
    X: Samples, edges: Ints, *, precomputed: bool = False, metric: str = "euclidean"
) -> Floats:
    """Distance of every pair, in blocks."""
    i, j = edges.T
    if precomputed:
        return X[i, j].astype(np.float64)
    if metric == "manhattan":
        from .loops.distances import pair_lengths

        return pair_lengths(_plain(X), np.ascontiguousarray(i), np.ascontiguousarray(j))
    out = np.empty(len(edges))
    step = max(1, 4_000_000 // max(1, X.shape[1]))
    for s in range(0, len(edges), step):
        difference = X[i[s : s + step]] - X[j[s : s + step]]
        if is_sparse(difference):
            out[s : s + step] = np.sqrt(difference.multiply(difference).sum(axis=1))
        else:
            out[s : s + step] = np.sqrt(np.einsum("ek,ek->e", difference, difference))
    return out


def joining_edges(X: Samples, labels: Ints, *, precomputed: bool = False) -> Ints:
    """The shortest edges that make components one: a minimum spanning tree of the components.

    Borůvka: each round joins every component to its nearest other one. Two components differ in
    some bit of their numbers, so log₂(components) searches between the samples with that bit 0
    and 1 find the nearest foreign sample of all, and no distance matrix is formed.
    """
    labels = labels.copy()
    edges = np.empty((0, 2), dtype=np.int64)
    count = int(labels.max()) + 1
    while count > 1:
        far, length = _nearest_foreign(X, labels, count, precomputed)
        # the shortest edge out of each component; ties by sample, so that no cycle can form twice
        order = np.lexsort((np.arange(len(labels)), length))
        near = order[first(labels[order])]
        pairs = np.unique(np.sort(np.column_stack([near, far[near]]), axis=1), axis=0)
        pairs, labels, count = _without_cycles(X, pairs, labels, count, precomputed)
        edges = np.vstack([edges, pairs])
    return edges


def _nearest_foreign(
    X: Samples, labels: Ints, count: int, precomputed: bool
) -> tuple[Ints, Floats]:
    """Nearest sample of another component, and its distance, for every sample."""
    far = np.zeros(len(labels), dtype=np.int64)
    length = np.full(len(labels), np.inf)
    for bit in range(int(count - 1).bit_length()):
        side = (labels >> bit) & 1
        for own in (0, 1):
            here, there = np.flatnonzero(side == own), np.flatnonzero(side != own)
            if len(here) == 0 or len(there) == 0:
                continue
            distance, index = _nearest(X, here, there, precomputed)
            closer = distance < length[here]
            length[here[closer]] = distance[closer]
            far[here[closer]] = there[index[closer]]
    return far, length


def _nearest(X: Samples, here: Ints, there: Ints, precomputed: bool) -> tuple[Floats, Ints]:
    """Nearest of ``there`` for each of ``here``: distances and positions in ``there``."""
    if precomputed:
        block = X[np.ix_(here, there)]
        index = block.argmin(axis=1)
        return block[np.arange(len(here)), index], index
    if not is_sparse(X) and X.shape[1] <= TREE_DIMENSION:
        # splitting at the middle of a cell rather than the median suits queries from far away
        distance, index = KDTree(X[there], balanced_tree=False).query(X[here])
        return np.asarray(distance), np.asarray(index)
    search = NearestNeighbors(n_neighbors=1).fit(X[there])
    distance, index = search.kneighbors(X[here])
    return distance[:, 0], index[:, 0]


def _without_cycles(
    X: Samples, pairs: Ints, labels: Ints, count: int, precomputed: bool
) -> tuple[Ints, Ints, int]:
    """Keep a spanning forest of the pairs as edges between components, and merge those."""
    a, b = labels[pairs[:, 0]], labels[pairs[:, 1]]
    order = np.argsort(edge_lengths(X, pairs, precomputed=precomputed), kind="stable")
    parent = np.arange(count)

    def root(c: int) -> int:
        while parent[c] != c:
            parent[c] = parent[parent[c]]
            c = parent[c]
        return c

    kept = []
    for e in order:
        left, right = root(a[e]), root(b[e])
        if left != right:
            parent[left] = right
            kept.append(e)
    joins = sparse.coo_array((np.ones(len(kept)), (a[kept], b[kept])), shape=(count, count))
    count, merged = connected_components(joins, directed=False)
    return pairs[np.sort(kept)], merged.astype(np.int64)[labels], int(count)
