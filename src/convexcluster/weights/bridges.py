"""The shortest edges that join the components of a graph.

Input is X (n × d), or a matrix of distances, and the component of every sample; output is a minimum
spanning tree of the components, by Borůvka's rounds.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial import KDTree
from sklearn.neighbors import NearestNeighbors

from ..graph import components
from ..kernels import Samples, is_sparse
from ..problem import Floats, Ints
from .neighbors import TREE_DIMENSION, edge_lengths


def joining_edges(X: Samples, labels: Ints, *, precomputed: bool = False) -> Ints:
    """The shortest edges that make components one: a minimum spanning tree of the components.

    Each round joins every component to its nearest other one. Two components differ in some bit of
    their numbers, so log₂(components) searches between the samples with that bit 0 and 1 find the
    nearest foreign sample of all, and no distance matrix is formed.
    """
    from ..loops.clusters import forest  # late: it loads numba

    edges = np.empty((0, 2), dtype=np.int64)
    while (count := int(labels.max()) + 1) > 1:
        far, length = _nearest_foreign(X, labels, count, precomputed)
        # the shortest edge out of each component; ties by sample, so that no cycle can form twice
        order = np.lexsort((np.arange(len(labels)), length))
        _, first = np.unique(labels[order], return_index=True)
        near = order[first]
        pairs = np.unique(np.sort(np.column_stack([near, far[near]]), axis=1), axis=0)
        lengths = edge_lengths(X, pairs, metric="precomputed" if precomputed else "euclidean")
        order = np.argsort(lengths, kind="stable")
        pairs = pairs[np.sort(order[forest(labels[pairs[order]], count)])]  # without cycles
        labels = components(labels[pairs], count)[labels]
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
