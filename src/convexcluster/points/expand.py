"""Results on points → results on the user's rows, which all points stand for.

``index`` (n,) is the point of every row. The first row of a point stands for it where one row must.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..graph import Graph
from ..numerics.linkage import expand
from ..partition import canonical, first, twins
from ..path.clusterpath import ClusterPath
from ..problem import Floats, Ints


def expand_path(path: ClusterPath, index: Ints, masses: Floats) -> ClusterPath:
    """The path on the rows; rows of one point are together from the start.

    Its centroids are those of ``path``, which are put in the order of the rows where they are: they
    are the largest arrays of a fit, and the path on the points ends here.
    """
    if _unchanged(index, path.n_samples):
        return path
    copies = twins(index)
    for step, center in enumerate(path.centers):
        center[:] = center[np.argsort(first(path.labels(step=step)[index]))]
    splits = [canonical(row[index]) for row in path.split_labels]
    return replace(
        path,
        masses=masses,
        merges=np.concatenate([copies, first(index)[path.merges]]),
        merge_steps=np.concatenate([np.zeros(len(copies), dtype=np.int64), path.merge_steps]),
        fusion_values=np.concatenate([np.zeros(len(copies)), path.fusion_values]),
        split_labels=np.array(splits, dtype=np.int64).reshape(-1, len(index)),
    )


def expand_tree(tree: Floats, index: Ints) -> Floats:
    """The linkage on the rows; rows of one point merge first, at height zero."""
    return tree if _unchanged(index, len(tree) + 1) else expand(tree, index)


def expand_graph(graph: Graph, index: Ints) -> Graph:
    """The graph between the first rows of the points; further copies of a row have no edge.

    Examples
    --------
    >>> expand_graph(Graph(np.array([[0, 1]]), np.array([2.0])), np.array([1, 0, 1])).edges
    array([[0, 1]])
    """
    edges = np.sort(first(index)[graph.edges], axis=1)
    order = np.lexsort(edges.T[::-1])
    return Graph(edges[order], graph.weights[order])


def _unchanged(index: Ints, n_points: int) -> bool:
    """Whether every row is a point, in order."""
    return len(index) == n_points and bool((index == np.arange(n_points)).all())
