"""Trees in SciPy's linkage format, (n − 1, 4): cut, build, expand, and lay out.

Nodes are numbered as in SciPy: leaves 0 … n − 1, then the merge of row t is node n + t.
"""

from __future__ import annotations

import numpy as np

from ..partition import canonical, first, roots, twins
from ..problem import Floats, Ints


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
    parent, merges = np.arange(2 * n - 1), np.arange(n - n_clusters)
    parent[tree[merges, :2].astype(np.int64)] = n + merges[:, None]
    return canonical(roots(parent)[:n])


def join(pairs: Ints, heights: Floats, n: int) -> Floats:
    """SciPy linkage of merges given as pairs of samples, in order of ascending height.

    Pairs that are already together are dropped.

    Examples
    --------
    >>> join(np.array([[0, 2], [2, 1]]), np.array([1.0, 2.0]), 3)
    array([[0., 2., 1., 2.],
           [1., 3., 2., 3.]])
    """
    from ..loops.clusters import merge_in_order  # late: it loads numba

    rows = np.empty((n - 1, 4))
    count = merge_in_order(_own(pairs, np.int64), _own(heights, np.float64), rows)
    return rows[:count]


def _own(values: np.ndarray, kind: type) -> np.ndarray:
    """The values as a compiled loop takes them."""
    return np.require(values, kind, ["C", "W"])


def merged_pairs(tree: Floats, leaves: Ints) -> Ints:
    """One pair of samples for every merge; ``leaves`` are the samples that the leaves stand for."""
    k = len(leaves)
    member = np.concatenate([leaves, np.empty(k - 1, dtype=np.int64)])
    pairs = np.empty((k - 1, 2), dtype=np.int64)
    for row, (left, right) in enumerate(tree[:, :2].astype(np.int64)):
        pairs[row] = member[left], member[right]
        member[k + row] = member[left]
    return pairs


def expand(tree: Floats, groups: Ints) -> Floats:
    """Linkage over samples from one over their groups: a group is joined first, at height zero."""
    n = len(groups)
    if n == len(tree) + 1:  # every group is one sample: leaves have other numbers, and that is all
        nodes = tree[:, :2].astype(np.int64)
        leaves = np.concatenate([first(groups), np.arange(n, 2 * n - 1)])
        return np.column_stack([np.sort(leaves[nodes], axis=1), tree[:, 2:]])
    copies = twins(groups)
    pairs = np.concatenate([copies, merged_pairs(tree, first(groups))])
    return join(pairs, np.concatenate([np.zeros(len(copies)), tree[:, 2]]), len(groups))


def nested_labels(tree: Floats, k_max: int) -> Ints:
    """Labels of the leaves for k = 1, …, k_max clusters, shape (k_max, n).

    Examples
    --------
    >>> nested_labels(np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 1.0, 3.0]]), 2)
    array([[0, 0, 0],
           [1, 1, 0]])
    """
    low, high = intervals(tree)
    n = len(tree) + 1
    table = np.zeros((min(k_max, n), n), dtype=np.int64)
    current = np.zeros(n, dtype=np.int64)
    for count in range(1, len(table)):
        right = int(tree[n - 1 - count, 1])
        current[low[right] : high[right]] = count
        table[count] = current[low[:n]]
    return table


def intervals(tree: Floats) -> tuple[Ints, Ints]:
    """Lay the leaves on a line on which every node of the tree is an interval [low, high)."""
    n = len(tree) + 1
    children = tree[:, :2].astype(np.int64).tolist()
    size = [1] * (2 * n - 1)
    for row, (a, b) in enumerate(children):
        size[n + row] = size[a] + size[b]
    low = [0] * (2 * n - 1)
    for row in range(n - 2, -1, -1):
        a, b = children[row]
        low[a], low[b] = low[n + row], low[n + row] + size[a]
    return np.array(low), np.array(low) + np.array(size)
