"""What neighbours are looked up in: a tree, tiles or a matrix of distances; and lengths of pairs.

Input is X (n × d), or a matrix of distances; output is indices and distances. Distances are
computed from differences of the pair, so that a pair has one distance and duplicates have 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from ..graph import edge_lengths as row_distances
from ..kernels import Samples, is_sparse
from ..numerics.threads import each
from ..problem import Floats, Ints
from .tiles import Tiles

# Trees find neighbours in O(log n) up to about this dimension; above it they visit everything.
TREE_DIMENSION = 15

# Features up to which tiles find many neighbours sooner than trees do, and samples from which it
# is worth what they compile: of 2,000 with 129 neighbours each it saves 15 ms.
TILED_FEATURES, TILED = 3, 1_000

# Least distance of two distinct points: beside a row at 1e200 those of others round to 0.
TINY = float(np.finfo(np.float64).tiny)

# Distances held at a time where samples have too many tied neighbours: some tens of megabytes.
CROWD = 10**6

# Rows that a thread looks up at a time. Ctrl-C waits for them: a tenth of a second. Half as many
# cost no more; ten times as many leave the second thread without work at 80,000 rows.
LOOKED_UP = 8_192

# Rows from which a search uses a second thread. Half: starting it takes as long as it saves.
THREADED = 1_000


@dataclass(frozen=True)
class Search:
    """Points, or a matrix of the distances between them, among which nearest ones are looked up."""

    X: Samples
    metric: str = "euclidean"  # or "precomputed"
    tree: KDTree | Tiles | None = None  # of few features

    @classmethod
    def of(cls, X: Samples, metric: str = "euclidean") -> Search:
        """Plant a tree, or lay tiles, where there are features, and few."""
        if metric != "euclidean" or is_sparse(X) or X.shape[1] > TREE_DIMENSION:
            return cls(X, metric)
        tiled = X.shape[1] <= TILED_FEATURES and len(X) > TILED
        return cls(X, metric, Tiles.of(X) if tiled else KDTree(X))

    def nearest(self, rows: Ints, k: int, jobs: int = 1) -> tuple[Floats, Ints]:
        """Distances and numbers of the k points nearest to each of ``rows``, itself among them."""
        if isinstance(self.tree, Tiles):
            return self.tree.nearest(rows, k, jobs)
        if self.tree is not None:
            return tree_neighbors(self.tree, self.X[rows], k, jobs=jobs)
        if self.metric == "precomputed":
            found, step = np.empty((len(rows), k), dtype=np.int64), max(1, CROWD // len(self.X))
            for first in range(0, len(rows), step):
                some = slice(first, first + step)
                found[some] = np.argpartition(self.X[rows[some]], k - 1, axis=1)[:, :k]
        else:
            search = NearestNeighbors(n_neighbors=k, algorithm="brute").fit(self.X)
            found = search.kneighbors(self.X[rows], return_distance=False).astype(np.int64)
        length = near_lengths(self.X, rows, found, self.metric)
        order = np.argsort(length, axis=1, kind="stable")
        return np.take_along_axis(length, order, axis=1), np.take_along_axis(found, order, axis=1)

    def lengths(self, edges: Ints) -> Floats:
        """Distance of every pair."""
        return edge_lengths(self.X, edges, metric=self.metric)


@dataclass(frozen=True, slots=True)
class Around:
    """Many neighbours of every point, and what finds more of them."""

    search: Search
    index: Ints  # (n, columns), nearest first
    length: Floats  # (n, columns)

    @classmethod
    def of(cls, X: Samples, columns: int, *, metric: str = "euclidean", jobs: int = 1) -> Around:
        """The ``columns`` nearest others of every point."""
        search, n = Search.of(X, metric), len(X)
        length, index = search.nearest(np.arange(n), columns + 1, jobs if n >= THREADED else 1)
        return cls(search, *others(index, length))


def tree_neighbors(
    tree: KDTree, X: Floats, k: int, power: int = 2, jobs: int = 1
) -> tuple[Floats, Ints]:
    """Distances and numbers of the k nearest points of a tree, both (n, k), on ``jobs`` threads.

    The threads of ``KDTree.query`` itself are not waited for when Ctrl-C is pressed: they went on
    to write into arrays that were gone, and the process crashed.
    """
    length, found = np.empty((len(X), k)), np.empty((len(X), k), dtype=np.int64)

    step = min(LOOKED_UP, -(-len(X) // jobs))  # of few rows every thread has its share
    # points in the order of the leaves find what the ones before have left in the cache
    order = np.asarray(tree.indices) if len(X) == tree.n else np.arange(len(X))

    def look_up(first: int) -> None:
        some = order[first : first + step]
        near = tree.query(X[some], k, p=power)
        length[some], found[some] = (np.asarray(part).reshape(-1, k) for part in near)

    each(look_up, range(0, len(X), step), jobs if len(X) >= THREADED else 1)
    return length, found


def others(found: np.ndarray, *more: np.ndarray) -> list[np.ndarray]:
    """Drop each sample from its own list of k + 1, the last where copies pushed the sample out.

    What ``more`` arrays have in the same places goes too.
    """
    n, first = len(found), np.arange(len(found))
    if (found[:, 0] == first).all():
        return [np.ascontiguousarray(values[:, 1:]) for values in (found, *more)]
    own = found == first[:, None]
    own[~own.any(axis=1), -1] = True
    return [values[~own].reshape(n, -1) for values in (found, *more)]


def near_lengths(X: Samples, rows: Ints, near: Ints, metric: str) -> Floats:
    """Distance of each of ``rows`` to the samples ``near`` it, in the shape of ``near``."""
    pairs = np.column_stack([np.repeat(rows, near.shape[1]), near.ravel()])
    return edge_lengths(X, pairs, metric=metric).reshape(near.shape)


def as_loops_take(X: Samples) -> Floats:
    """X as the compiled loops take it: contiguous and writable, copied only if it is not."""
    return np.require(X, np.float64, ["C", "W"])


def edge_lengths(X: Samples, edges: Ints, *, metric: str = "euclidean") -> Floats:
    """Distance of every pair, in blocks."""
    i, j = edges.T
    if metric == "precomputed":
        return X[i, j].astype(np.float64)
    if metric == "manhattan":
        from ..loops.distances import pair_lengths

        return pair_lengths(as_loops_take(X), np.ascontiguousarray(i), np.ascontiguousarray(j))
    return row_distances(X, edges)
