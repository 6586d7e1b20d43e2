"""Nearest neighbours, and how ties among them are shared.

Input is X (n × d), or a matrix of distances; output is indices and distances. Distances are
computed from differences of the pair, so that a pair has one distance and duplicates have 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
from scipy import sparse
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from ..kernels import Samples, is_sparse
from ..numerics.threads import each
from ..problem import Floats, Ints
from .search import (
    CROWD,
    THREADED,
    TREE_DIMENSION,
    Around,
    as_loops_take,
    edge_lengths,
    near_lengths,
    others,
    tree_neighbors,
)

# Metrics whose neighbours are searched for; of any other all distances are computed first.
LOOPED = ("auto", "euclidean", "manhattan")

# Trees find the neighbours of new rows among 8,000 samples in 2 µs each in the plane, in 37 µs in
# this dimension and in 190 µs in ten; comparing all pairs takes 60 µs in any of these.
CROSS_TREE_DIMENSION = 6

# Exact search is quadratic beyond tree dimensions: at this many samples it takes about a minute, at
# twice as many four; the approximate search takes seconds.
APPROXIMATE_SIZE = 50_000

# Up to this many samples for each feature all Manhattan distances take less than a tree: 5,000 in
# ten dimensions 0.12 s against 0.18 for six clouds and 0.84 for one. At twice as many a tree of
# clouds far apart is as fast.
TREE_SIZE = 1_000

# Entries of all differences up to which Manhattan distances are compared between all pairs: about a
# second, and in proportion. Euclidean distances are a matrix product and cost a fraction of that.
MANHATTAN_WORK = 10**10

# Beyond that work the nearest by Manhattan distance are looked for among this many Euclidean
# neighbours for each one that is wanted: fewer miss more of them, more take longer to compare.
SHORTLIST = 5

# Tiles of rows up to which all pairs are compared in the order of the rows. Up to two, no tree and
# no copy save 10 to 50 % of the time, whatever the columns; of four, clusters far apart, whose
# tiles a tree leaves out, take up to a quarter longer.
AS_GIVEN = 2


def nearest_neighbors(X: Samples, k: int, *, metric: str = "euclidean", jobs: int = 1) -> Ints:
    """The k nearest other samples of every sample, shape (n, k), nearest first.

    Exact, save for more than 50,000 samples in more than 15 dimensions if pynndescent is
    installed, and for Manhattan distances of many samples in many dimensions, which are compared
    among the Euclidean neighbours only. A sample is never its own neighbour; a duplicate may be.
    """
    n, d = X.shape
    if metric == "manhattan":
        return _nearest_manhattan(X, k, jobs)[0]
    if metric == "precomputed":
        search = NearestNeighbors(n_neighbors=k, metric="precomputed").fit(X)
        return search.kneighbors(return_distance=False).astype(np.int64)
    if not is_sparse(X) and d <= TREE_DIMENSION:
        return _from_tree(X, k, 2, jobs)
    if n > APPROXIMATE_SIZE and find_spec("pynndescent"):
        from pynndescent import NNDescent

        return others(NNDescent(X, n_neighbors=k + 1, random_state=0).neighbor_graph[0])[0].astype(
            np.int64
        )
    search = NearestNeighbors(n_neighbors=k).fit(X)
    return search.kneighbors(return_distance=False).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Nearest:
    """The nearest others of every sample: found once, for all graphs and scales of a fit."""

    index: Ints  # (n, w), nearest first
    length: Floats  # (n, w)
    around: Around | None = None  # many more of them

    @classmethod
    def of(
        cls, X: Samples, k: int, *, metric: str = "euclidean", many: int = 0, jobs: int = 1
    ) -> Nearest:
        """As many as :func:`tied_neighbors` looks at for k neighbours, and ``many`` around them."""
        n = X.shape[0]
        wide = min(2 * k + 1, n - 1)
        if many >= wide:
            around = Around.of(X, many, metric=metric, jobs=jobs)
            near = np.ascontiguousarray(around.index[:, :wide])
            return cls(near, near_lengths(X, np.arange(n), near, metric), around)
        if metric == "manhattan":
            return cls(*_nearest_manhattan(X, wide, jobs))
        near = nearest_neighbors(X, wide, metric=metric, jobs=jobs)
        return cls(near, near_lengths(X, np.arange(n), near, metric))

    @property
    def dimension(self) -> float:
        """D if the number of neighbours grows as r^D with their distance r: Hill's estimate.

        The median of all samples; copies are not counted.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> line, square = (Nearest.of(rng.uniform(size=(400, d)), 7) for d in (1, 2))
        >>> round(line.dimension, 1), round(square.dimension, 1)
        (0.9, 1.9)
        """
        known = self.length[:, -1] > 0
        length = self.length[known]
        copies = (length == 0).sum(axis=1)
        growth = np.log(length[:, -1:] / np.where(length > 0, length, length[:, -1:])).sum(axis=1)
        inverse = growth / np.maximum(self.length.shape[1] - 2 - copies, 1)
        middle = float(np.median(inverse)) if len(inverse) else 0.0
        return 1.0 / middle if middle > 0 else np.inf


def tied_neighbors(
    X: Samples, k: int, *, metric: str = "euclidean", nearest: Nearest | None = None
) -> tuple[Ints, Floats, Floats]:
    """Pairs (i, j), j near i, with shares that sum to k or a little more; and the k-th distances.

    Features of few values tie many distances, and which of the tied samples comes first is an
    accident of their order. All samples tied at the k-th distance are neighbours unless that makes
    more than 2k of them; then they share the places that are left. ``nearest`` are those for k or
    more neighbours, where they are known.
    """
    n = X.shape[0]
    if nearest is None:
        nearest = Nearest.of(X, k, metric=metric)
    wide = min(2 * k + 1, n - 1)
    near, length = nearest.index[:, :wide], nearest.length[:, :wide]
    pairs, share, _, scale = _tied(X, np.arange(n), near, length, k, metric, n)
    return pairs, share, scale


def tied_points(
    rows: Samples, X: Samples, k: int, *, metric: str = "euclidean"
) -> tuple[Ints, Floats, Floats, Floats]:
    """Pairs (i, j), the sample X_j near the new row i, shares, distances and the k-th distances.

    See :func:`tied_neighbors`; k is at most the number of samples. What is found for a row does not
    depend on the other rows.

    Examples
    --------
    >>> tied_points(np.array([[0.4]]), np.array([[0.0], [1.0], [9.0]]), 1)
    (array([[0, 0]]), array([1.]), array([0.4]), array([0.4]))
    """
    n, d = X.shape
    wide = min(2 * k + 1, n)
    if not is_sparse(X) and d <= CROSS_TREE_DIMENSION:
        order = 1 if metric == "manhattan" else 2
        near = np.asarray(KDTree(X).query(rows, wide, p=order)[1]).reshape(-1, wide)
    else:
        exact = metric == "euclidean" or d <= MANHATTAN_WORK / n**2
        several = wide if exact else min(SHORTLIST * wide, n)
        search = NearestNeighbors(
            n_neighbors=several, metric=metric if exact else "euclidean", algorithm="brute"
        )
        near = search.fit(X).kneighbors(rows, return_distance=False)
    both = sparse.vstack([X, rows], format="csr") if is_sparse(X) else np.vstack([X, rows])
    index = np.arange(n, both.shape[0])
    length = near_lengths(both, index, near, metric)
    place = np.argsort(length, axis=1, kind="stable")[:, :wide]
    near, length = np.take_along_axis(near, place, 1), np.take_along_axis(length, place, 1)
    pairs, *rest = _tied(both, index, near, length, k, metric, n)
    return pairs - [n, 0], *rest


def tied_distances(D: Floats, k: int) -> tuple[Ints, Floats, Floats, Floats]:
    """:func:`tied_points` of distances D between new rows and samples, shape (m, n).

    Examples
    --------
    >>> tied_distances(np.array([[0.4, 0.6, 8.6]]), 1)
    (array([[0, 0]]), array([1.]), array([0.4]), array([0.4]))
    """
    scale = np.partition(D, k - 1, axis=1)[:, k - 1]
    ratio = D / np.where(scale > 0, scale, 1.0)[:, None]
    # 1e-12: round-off between distances that are equal
    taken, closer = ratio <= 1 + 1e-12, ratio < 1 - 1e-12
    taken[scale == 0], closer[scale == 0] = D[scale == 0] == 0, False
    tied = taken & ~closer
    left = (k - closer.sum(axis=1)) / np.maximum(tied.sum(axis=1), 1)
    many = taken.sum(axis=1, keepdims=True) > 2 * k
    share = np.where(many, closer + tied * left[:, None], taken)
    pairs = np.argwhere(share > 0)
    i, j = pairs.T
    return pairs, share[i, j], D[i, j], scale


def _tied(
    X: Samples, rows: Ints, near: Ints, length: Floats, k: int, metric: str, n: int
) -> tuple[Ints, Floats, Floats, Floats]:
    """Which of the candidates ``near`` each of ``rows`` are its neighbours among the first n."""
    wide = near.shape[1]
    scale = length[:, k - 1]
    # 1e-12: round-off between distances that are equal
    taken = length <= (scale * (1 + 1e-12))[:, None]
    share = taken.astype(np.float64)
    many = np.flatnonzero(taken[:, 2 * k :].any(axis=1)) if wide > 2 * k else np.empty(0, int)
    share[many] = 0.0
    kept = share.ravel() > 0
    pairs = np.column_stack([np.repeat(rows, wide), near.ravel()])[kept]
    crowded, parts, lengths = _crowds(X, rows[many], scale[many], k, metric, n)
    shares = np.concatenate([share.ravel()[kept], parts])
    lengths = np.concatenate([length.ravel()[kept], lengths])
    return np.vstack([pairs, crowded]), shares, lengths, scale


def _crowds(
    X: Samples, rows: Ints, radius: Floats, k: int, metric: str, n: int
) -> tuple[Ints, Floats, Floats]:
    """Samples up to the k-th distance of ``rows``, the farthest sharing the places left.

    The samples are the first n of X.
    """
    pairs, shares, lengths = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)], [np.empty(0)]
    step = max(1, CROWD // n)
    for start in range(0, len(rows), step):
        i, r = rows[start : start + step], radius[start : start + step, None]
        both = np.column_stack([np.repeat(i, n), np.tile(np.arange(n), len(i))])
        length = edge_lengths(X, both, metric=metric).reshape(len(i), n)
        length[i[:, None] == np.arange(n)] = np.inf
        closer, tied = length < r * (1 - 1e-12), np.abs(length - r) <= 1e-12 * r
        left = (k - closer.sum(axis=1)) / np.maximum(tied.sum(axis=1), 1)
        share = (closer + tied * left[:, None]).ravel()
        pairs.append(both[share > 0])
        shares.append(share[share > 0])
        lengths.append(length.ravel()[share > 0])
    return np.vstack(pairs), np.concatenate(shares), np.concatenate(lengths)


def _nearest_manhattan(X: Floats, k: int, jobs: int = 1) -> tuple[Ints, Floats]:
    """The k nearest of every sample and their Manhattan distances, both (n, k)."""
    n, d = X.shape
    few = n <= TREE_SIZE * (d if d <= TREE_DIMENSION else 1)
    if few or TREE_DIMENSION < d <= MANHATTAN_WORK / n**2:
        return _compared(as_loops_take(X), k, jobs)
    if d <= TREE_DIMENSION:
        found = _from_tree(X, k, 1, jobs)
    else:
        found = nearest_neighbors(X, min(SHORTLIST * k, n - 1))
    pairs = np.column_stack([np.repeat(np.arange(n), found.shape[1]), found.ravel()])
    length = edge_lengths(X, pairs, metric="manhattan").reshape(found.shape)
    order = np.argsort(length, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(length, order, axis=1)


def _compared(X: Floats, k: int, jobs: int) -> tuple[Ints, Floats]:
    """The k nearest of every sample by comparing all pairs, half of them on a second thread.

    Rows in the order of a tree make tiles that are close together. Those in the tile of a row show
    how far its neighbours can be, and tiles beyond that are left out. Rows of AS_GIVEN tiles are
    neither sorted nor copied.
    """
    from ..loops.distances import TILE, nearest_rows

    n, parts = len(X), min(jobs, 2) if len(X) >= THREADED else 1
    order = np.arange(n)
    if n > AS_GIVEN * TILE:
        # cells cut in the middle, and not at the median, do not cut through clusters
        tree = KDTree(X, leafsize=TILE, compact_nodes=False, balanced_tree=False, copy_data=False)
        order = np.asarray(tree.indices).astype(np.int64)
        X = as_loops_take(X[order])
    back = np.argsort(order)
    limit = np.full((n, k), np.inf)
    nearest_rows(X, order, np.full((n, k), n), limit, 0, 0)

    def look(part: int) -> tuple[Ints, Floats]:
        found, length = np.full((n, k), n), np.repeat(limit[:, -1:], k, axis=1)
        nearest_rows(X, order, found, length, part, parts)
        return found, length

    lists = each(look, range(parts), parts)
    found, length = (np.hstack(both)[back] for both in zip(*lists))
    place = np.lexsort((found, length), axis=1)[:, :k]
    return np.take_along_axis(found, place, axis=1), np.take_along_axis(length, place, axis=1)


def _from_tree(X: Floats, k: int, power: int, jobs: int) -> Ints:
    """The k nearest others by a tree."""
    return others(tree_neighbors(KDTree(X), X, k + 1, power, jobs)[1])[0]
