"""Path → tree in SciPy's linkage format, by monotone closure.

A partition of convex clustering may split as γ rises when the weights are general. The tree joins
two samples at the least γ at which they were together, and keeps them together from there on: the
finest hierarchy that contains every fusion of the path.
"""

from __future__ import annotations

import numpy as np
from scipy.cluster import hierarchy

from .clusterpath import ClusterPath
from .graph import canonical
from .problem import Floats, Ints

# Clusters still apart at the last γ are joined this much above it: visible as a tie at the top of
# a dendrogram, and above every fusion.
ABOVE = 1 + 1e-6

# Ward's order among the clusters that are left costs k² memory; beyond this many they are joined
# in the order of their labels.
WARD_SIZE = 2_000


def linkage(path: ClusterPath) -> Floats:
    """SciPy linkage (n − 1, 4) of a path, heights = fusion γ.

    Clusters that are still apart at the last γ (other components of the graph, or a grid that
    ends early) are joined above it in Ward's order of their centroids.

    Examples
    --------
    >>> from convexcluster import solve_path
    >>> path = solve_path([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 1.2, 4.0])
    >>> linkage(path)[:, [0, 1, 3]]
    array([[0., 1., 2.],
           [2., 3., 3.]])
    """
    order = np.lexsort((path.fusion_values, path.merge_steps))
    pairs, heights = path.merges[order], path.fusion_values[order]
    heights = np.maximum.accumulate(heights) if len(heights) else heights
    if len(path):
        rest = _remaining(path)
        top = max(float(path.gammas[-1]), float(heights[-1]) if len(heights) else 0.0) * ABOVE
    else:
        first = np.arange(path.n_samples)
        rest, top = np.stack([first[:-1], first[1:]], axis=1), ABOVE
    pairs = np.concatenate([pairs, rest])
    heights = np.concatenate([heights, np.full(len(rest), top)])
    return join(pairs, heights, path.n_samples)


def cut(tree: Floats, n_clusters: int) -> Ints:
    """Undo the last ``n_clusters`` − 1 merges of a linkage; labels by first appearance.

    Merge order, not height, decides: ties and duplicates cannot change the number of clusters.

    Examples
    --------
    >>> cut(np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 1.0, 3.0]]), 2)
    array([0, 0, 1])
    """
    n = len(tree) + 1
    if not 1 <= n_clusters <= n:
        raise ValueError(f"n_clusters must be between 1 and {n}, the number of samples")
    label = np.arange(2 * n - 1)
    for row in range(n - n_clusters - 1, -1, -1):
        left, right = int(tree[row, 0]), int(tree[row, 1])
        label[left] = label[right] = label[n + row]
    return canonical(label[:n])


def _remaining(path: ClusterPath) -> Ints:
    """Pairs of samples that join the clusters of the last γ."""
    labels = path.labels(gamma=float(path.gammas[-1]))
    _, first = np.unique(labels, return_index=True)
    k = len(first)
    if k < 2:
        return np.empty((0, 2), dtype=np.int64)
    if k > WARD_SIZE:
        return np.stack([first[:-1], first[1:]], axis=1)
    centers = path.centers[-1]
    member = np.concatenate([first, np.empty(k - 1, dtype=np.int64)])
    pairs = np.empty((k - 1, 2), dtype=np.int64)
    for row, (left, right) in enumerate(hierarchy.linkage(centers, "ward")[:, :2].astype(int)):
        pairs[row] = member[left], member[right]
        member[k + row] = member[left]
    return pairs


def join(pairs: Ints, heights: Floats, n: int) -> Floats:
    """SciPy linkage of merges given as pairs of samples, in order of ascending height.

    Pairs that are already together are dropped.

    Examples
    --------
    >>> join(np.array([[0, 2], [2, 1]]), np.array([1.0, 2.0]), 3)
    array([[0., 2., 1., 2.],
           [1., 3., 2., 3.]])
    """
    root = list(range(n))
    node = list(range(n))  # linkage id of the tree with this root
    size = [1] * n
    rows = []
    for (a, b), height in zip(pairs.tolist(), heights.tolist()):
        while root[a] != a:
            root[a] = root[root[a]]
            a = root[a]
        while root[b] != b:
            root[b] = root[root[b]]
            b = root[b]
        if a == b:
            continue
        if size[a] < size[b]:
            a, b = b, a
        total = size[a] + size[b]
        low, high = sorted((node[a], node[b]))
        rows.append((low, high, height, total))
        root[b], size[a], node[a] = a, total, n + len(rows) - 1
    return np.array(rows, dtype=np.float64).reshape(-1, 4)
