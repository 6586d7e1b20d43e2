"""Compiled loops of the Euclidean minimum spanning tree: Prim, and Borůvka on a k-d tree."""

from __future__ import annotations

import numpy as np

from ...loops.clusters import find
from ...loops.compile import njit
from ...problem import Floats, Ints


@njit(cache=True, nogil=True)
def prim(X: Floats) -> tuple[Ints, Ints, Floats]:
    """Euclidean minimum spanning tree by Prim's algorithm: O(n² d) time, O(n) memory."""
    n, d = X.shape
    tails = np.empty(n - 1, dtype=np.int64)
    heads = np.empty(n - 1, dtype=np.int64)
    squares = np.empty(n - 1)
    best = np.full(n, np.inf)
    link = np.zeros(n, dtype=np.int64)
    outside = np.ones(n, dtype=np.bool_)
    current = 0
    for step in range(n - 1):
        outside[current] = False
        nearest = -1
        for j in range(n):
            if outside[j]:
                square = 0.0
                for k in range(d):
                    difference = X[j, k] - X[current, k]
                    square += difference * difference
                    if square >= best[j]:
                        break
                if square < best[j]:
                    best[j] = square
                    link[j] = current
                if nearest < 0 or best[j] < best[nearest]:
                    nearest = j
        tails[step], heads[step], squares[step] = link[nearest], nearest, best[nearest]
        current = nearest
    return tails, heads, squares


@njit(cache=True, nogil=True)
def nearest_foreign(
    X: Floats,
    order: Ints,
    start: Ints,
    stop: Ints,
    is_leaf: Ints,
    box: Floats,
    group: Ints,
    best: Floats,
    tail: Ints,
    head: Ints,
) -> None:
    """Shortest edge that leaves each group: one round of Borůvka's algorithm on a k-d tree.

    Node t of the binary tree holds points order[start[t]:stop[t]] in box[0, t] … box[1, t]; its
    children are 2t + 1 and 2t + 2. Ties go to the smaller pair of indices, which keeps Borůvka's
    choice free of cycles. Results go to best (squared length), tail and head, one per group.
    """
    n, d = X.shape
    nodes = len(start)
    owner = np.empty(nodes, dtype=np.int64)  # the one group of a node, −1 if it holds several
    for t in range(nodes - 1, -1, -1):
        if is_leaf[t]:
            owner[t] = group[order[start[t]]]
            for s in range(start[t] + 1, stop[t]):
                if group[order[s]] != owner[t]:
                    owner[t] = -1
                    break
        else:
            left, right = owner[2 * t + 1], owner[2 * t + 2]
            owner[t] = left if left == right else -1
    stack = np.empty(128, dtype=np.int64)
    reach = np.empty(128)
    for s in range(n):  # in tree order, so that neighbouring points share a bound early
        i = order[s]
        own = group[i]
        stack[0], reach[0], depth = 0, 0.0, 1
        while depth > 0:
            depth -= 1
            t = stack[depth]
            if owner[t] == own or reach[depth] > best[own]:
                continue
            if is_leaf[t]:
                for u in range(start[t], stop[t]):
                    j = order[u]
                    if group[j] == own:
                        continue
                    square = 0.0
                    for k in range(d):
                        difference = X[i, k] - X[j, k]
                        square += difference * difference
                    a, b = min(i, j), max(i, j)
                    if square < best[own] or (
                        square == best[own]
                        and (a < tail[own] or (a == tail[own] and b < head[own]))
                    ):
                        best[own], tail[own], head[own] = square, a, b
                continue
            far, near = 2 * t + 1, 2 * t + 2
            far_reach = _box_square(X, i, box, far)
            near_reach = _box_square(X, i, box, near)
            if far_reach < near_reach:
                far, near = near, far
                far_reach, near_reach = near_reach, far_reach
            stack[depth], reach[depth] = far, far_reach
            stack[depth + 1], reach[depth + 1] = near, near_reach
            depth += 2


@njit(cache=True, nogil=True)
def _box_square(X: Floats, i: int, box: Floats, t: int) -> float:
    """Squared distance from point i to the box of node t."""
    square = 0.0
    for k in range(X.shape[1]):
        gap = max(box[0, t, k] - X[i, k], X[i, k] - box[1, t, k], 0.0)
        square += gap * gap
    return square


@njit(cache=True, nogil=True)
def join_groups(group: Ints, best: Floats, tail: Ints, head: Ints, chosen: Ints) -> int:
    """Unite groups along their best edges; mark those used in ``chosen``; relabel; return k."""
    n = len(group)
    k = len(best)
    leader = np.arange(k)
    for g in range(k):
        chosen[g] = 0
        a, b = find(leader, group[tail[g]]), find(leader, group[head[g]])
        if a != b:
            leader[max(a, b)] = min(a, b)
            chosen[g] = 1
    label = np.full(k, -1, dtype=np.int64)
    count = 0
    for g in range(k):
        root = find(leader, g)
        if label[root] < 0:
            label[root] = count
            count += 1
        label[g] = label[root]
    for i in range(n):
        group[i] = label[group[i]]
    return count
