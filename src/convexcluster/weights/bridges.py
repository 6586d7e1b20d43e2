"""The shortest edges that join the components of a graph.

Input is X (n × d), or a matrix of distances, and the component of every sample; output is a minimum
spanning tree of the components, by Borůvka's rounds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors

from ..graph import components
from ..kernels import Samples, is_sparse
from ..problem import Floats, Ints
from .search import TINY, TREE_DIMENSION, edge_lengths

# Components up to which each one is searched by itself, which is a pass over all samples each. Many
# more would be as many passes; then log₂(components) searches by bits are taken.
FEW_COMPONENTS = 64

# Share of the largest norm by which distances from matrix products, ‖x‖² − 2x·y + ‖y‖², may be off:
# √(d ε) for d in the thousands. Less may lose the shortest edge, more costs a few comparisons.
SLACK = 1e-6


# Pairs up to which all distances are computed; of more, by blocks and matrix products. Ten times as
# many hold tens of megabytes; a tenth starts the threads of these products more often.
FEW_PAIRS = 300_000


def joining_edges(X: Samples, labels: Ints, *, precomputed: bool = False) -> Ints:
    """The shortest edges that make components one: a minimum spanning tree of the components.

    Each round joins every component to its nearest other one. Where there are few, the largest does
    not search: the others find it.
    """
    from ..loops.clusters import forest  # late: it loads numba

    edges = np.empty((0, 2), dtype=np.int64)
    metric = "precomputed" if precomputed else "euclidean"
    dense = not precomputed and not is_sparse(X)
    squares = np.einsum("ik,ik->i", X, X) if dense else np.empty(0)
    pieces = labels
    while (count := int(labels.max()) + 1) > 1:
        if dense and pieces.max() < FEW_COMPONENTS:
            largest = np.bincount(labels).argmax()
            searching = np.unique(pieces[labels != largest])
            found = [_shortest_out(X, squares, pieces, p, labels) for p in searching]
            near, far = np.array(found).T
            length = edge_lengths(X, np.array(found))
        else:
            near = np.arange(len(labels))
            far, length = _nearest_foreign(X, labels, count, precomputed)
        # the shortest edge out of each component; ties by sample, so that no cycle can form twice
        order = np.lexsort((near, length))
        shortest = order[np.unique(labels[near[order]], return_index=True)[1]]
        pairs = np.column_stack([near[shortest], far[shortest]])
        pairs = np.unique(np.sort(pairs, axis=1), axis=0)
        order = np.argsort(edge_lengths(X, pairs, metric=metric), kind="stable")
        pairs = pairs[np.sort(order[forest(labels[pairs[order]], count)])]  # without cycles
        labels = components(labels[pairs], count)[labels]
        pieces = pieces if pieces.max() < FEW_COMPONENTS else labels
        edges = np.vstack([edges, pairs])
    return edges


def _shortest_out(X: Floats, squares: Floats, pieces: Ints, piece: int, labels: Ints) -> Ints:
    """The shortest pair of a sample of a piece and one of another label; ``squares`` are ‖x‖².

    Let c and r be the centre and radius of the piece. The pair is no longer than u, found by going
    to and fro between nearest samples while that shortens it (rounding could go in circles); so a
    sample y with ‖y − c‖ > r + u is not in the pair. The same holds with the two sides exchanged.
    """

    def distances(y: Floats, rows: Any = slice(None)) -> Floats:
        return np.sqrt(np.maximum(squares[rows] - 2.0 * (X[rows] @ y) + y @ y, 0.0))

    own = np.flatnonzero(pieces == piece)
    rest = np.flatnonzero(labels != labels[own[0]])
    to = distances(X[own].mean(axis=0))
    j, u = int(rest[to[rest].argmin()]), np.inf
    while True:
        i = int(own[distances(X[j], own).argmin()])
        j = int(rest[distances(X[i])[rest].argmin()])
        now = float(edge_lengths(X, np.array([(i, j)]))[0])
        if now >= u:
            break
        u = now
    slack = SLACK * float(np.sqrt(squares.max()))
    u += slack
    rest = rest[to[rest] <= u + to[own].max()]
    back = distances(X[rest].mean(axis=0))
    own = own[back[own] <= u + back[rest].max()]
    if X.shape[1] <= TREE_DIMENSION:
        tree = KDTree(X[own])
        length, found = map(np.asarray, tree.query(X[rest], distance_upper_bound=u * (1 + SLACK)))
        near = own[np.minimum(found, len(own) - 1)]  # no neighbour within the bound: infinitely far
    else:
        near, length = _nearest_of_groups(X, own, rest, pieces[rest], u)
    close = np.flatnonzero(length <= length.min() + slack)
    pairs = np.column_stack([near[close], rest[close]])
    return pairs[edge_lengths(X, pairs).argmin()]


def _nearest_of_groups(
    X: Floats, own: Ints, rest: Ints, groups: Ints, u: float
) -> tuple[Ints, Floats]:
    """Nearest of ``own`` and its distance for each of ``rest``; infinity for some beyond u.

    Along a line on which a group lies ahead of ``own``, neither is nearer than it is there.
    """
    near, length = np.zeros_like(rest), np.full(len(rest), np.inf)
    centre = X[own].mean(axis=0)
    for group in np.unique(groups):
        some = np.flatnonzero(groups == group)
        way = X[rest[some]].mean(axis=0) - centre
        way /= max(float(np.linalg.norm(way)), TINY)
        here, there = X[own] @ way, X[rest[some]] @ way
        some = some[there <= here.max() + u]
        if len(some):
            few = own[here >= there.min() - u]
            if len(some) * len(few) <= FEW_PAIRS:
                D = cdist(X[rest[some]], X[few])
                found, length[some] = D.argmin(axis=1), D.min(axis=1)
            else:
                found, length[some] = pairwise_distances_argmin_min(X[rest[some]], X[few])
            near[some] = few[found]
    return near, length


def _nearest_foreign(
    X: Samples, labels: Ints, count: int, precomputed: bool
) -> tuple[Ints, Floats]:
    """Nearest sample of another component, and its distance, for every sample.

    Two components differ in some bit of their numbers, so log₂(components) searches between the
    samples with that bit 0 and 1 find it, and no distance matrix is formed.
    """
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
