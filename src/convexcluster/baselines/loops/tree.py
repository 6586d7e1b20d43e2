"""Compiled loops on a tree: the fused lasso by dynamic programming, and a breadth-first order.

The tree solver minimises, for one coordinate,

    ½ Σ mᵢ(yᵢ − θᵢ)² + Σ_{i ≠ root} cᵢ |θᵢ − θ_parent(i)|

by dynamic programming from the leaves (Johnson 2013; Kolmogorov, Pock & Rolínek 2016). The
derivative of the cost of a subtree is piecewise linear and increasing. It is kept as its outer two
lines and a set of knots; passing an edge clips it at ±cᵢ, which removes knots from either end and
adds one at each bound. Children's knots are united: they live in two pairing heaps, one for each
end, whose melding costs O(1), so a solve costs O(n log n) amortised.
"""

from __future__ import annotations

import numpy as np

from ...loops.compile import njit
from ...problem import Floats, Ints


@njit(cache=True, nogil=True)
def _meld(a: int, b: int, key: Floats, sign: float, child: Ints, sibling: Ints) -> int:
    """Root of the heaps rooted at a and b (−1 is the empty heap); the least sign·key is on top."""
    if a < 0:
        return b
    if b < 0:
        return a
    if sign * key[b] < sign * key[a]:
        a, b = b, a
    sibling[b] = child[a]
    child[a] = b
    return a


@njit(cache=True, nogil=True)
def _pop(root: int, key: Floats, sign: float, child: Ints, sibling: Ints) -> int:
    """Root that remains when the top is taken off: pair the children, then meld the pairs."""
    pairs = -1
    node = child[root]
    while node >= 0:
        other = sibling[node]
        if other >= 0:
            following = sibling[other]
            sibling[node] = -1
            sibling[other] = -1
            node = _meld(node, other, key, sign, child, sibling)
        else:
            following = -1
            sibling[node] = -1
        sibling[node] = pairs
        pairs = node
        node = following
    top = -1
    while pairs >= 0:
        following = sibling[pairs]
        sibling[pairs] = -1
        top = _meld(top, pairs, key, sign, child, sibling)
        pairs = following
    return top


@njit(cache=True, nogil=True)
def tree_fused_lasso(
    Y: Floats, masses: Floats, parent: Ints, capacity: Floats, theta: Floats
) -> None:
    """Minimise ½ Σ mᵢ(yᵢ − θᵢ)² + Σ cᵢ|θᵢ − θ_parent(i)| for every row of Y (coordinates × n).

    Vertices are numbered so that parent[i] < i, and vertex 0 is the root (parent −1). Fused
    vertices come out equal to the last bit, since θᵢ = clip(θ_parent, lbᵢ, ubᵢ).
    """
    p, n = Y.shape
    key = np.empty(2 * n)  # knot 2i is the lower, 2i + 1 the upper bound of vertex i
    jump = np.empty(2 * n)  # change of slope at the knot
    alive = np.empty(2 * n, dtype=np.bool_)
    low = np.empty(n, dtype=np.int64)  # top of the heap of least knots in the subtree of i
    high = np.empty(n, dtype=np.int64)
    low_child = np.empty(2 * n, dtype=np.int64)
    low_sibling = np.empty(2 * n, dtype=np.int64)
    high_child = np.empty(2 * n, dtype=np.int64)
    high_sibling = np.empty(2 * n, dtype=np.int64)
    lower = np.empty(n)
    upper = np.empty(n)
    pull = np.empty(n)  # Σ of the children's capacities: the height of the outer lines
    for row in range(p):
        y = Y[row]
        low[:] = -1
        high[:] = -1
        pull[:] = 0.0
        for i in range(n - 1, -1, -1):
            c = capacity[i] if i > 0 else 0.0
            slope = masses[i]
            intercept = -masses[i] * y[i] - pull[i]
            top = low[i]
            while top >= 0 and (not alive[top] or slope * key[top] + intercept < -c):
                if alive[top]:
                    alive[top] = False
                    slope += jump[top]
                    intercept -= jump[top] * key[top]
                top = _pop(top, key, 1.0, low_child, low_sibling)
            low[i] = top
            lower[i] = (-c - intercept) / slope
            if i == 0:
                break
            first_slope = slope
            slope = masses[i]
            intercept = -masses[i] * y[i] + pull[i]
            top = high[i]
            while top >= 0 and (not alive[top] or slope * key[top] + intercept > c):
                if alive[top]:
                    alive[top] = False
                    slope -= jump[top]
                    intercept += jump[top] * key[top]
                top = _pop(top, key, -1.0, high_child, high_sibling)
            high[i] = top
            upper[i] = max((c - intercept) / slope, lower[i])
            key[2 * i], jump[2 * i], alive[2 * i] = lower[i], first_slope, True
            key[2 * i + 1], jump[2 * i + 1], alive[2 * i + 1] = upper[i], -slope, True
            for knot in (2 * i, 2 * i + 1):
                low_child[knot] = high_child[knot] = -1
                low_sibling[knot] = high_sibling[knot] = -1
                low[i] = _meld(low[i], knot, key, 1.0, low_child, low_sibling)
                high[i] = _meld(high[i], knot, key, -1.0, high_child, high_sibling)
            q = parent[i]
            low[q] = _meld(low[q], low[i], key, 1.0, low_child, low_sibling)
            high[q] = _meld(high[q], high[i], key, -1.0, high_child, high_sibling)
            pull[q] += c
        theta[row, 0] = lower[0]
        for i in range(1, n):
            theta[row, i] = min(max(theta[row, parent[i]], lower[i]), upper[i])


@njit(cache=True, nogil=True)
def root_tree(n: int, tails: Ints, heads: Ints, order: Ints, parent: Ints, edge: Ints) -> None:
    """Number the vertices of a tree breadth first from vertex 0.

    order[t] is the vertex of number t, parent[t] the number of its parent (−1 at the root), and
    edge[t] the edge that joins them.
    """
    degree = np.zeros(n + 1, dtype=np.int64)
    for e in range(n - 1):
        degree[tails[e] + 1] += 1
        degree[heads[e] + 1] += 1
    first = np.cumsum(degree)
    slot = first[:-1].copy()
    incident = np.empty(2 * (n - 1), dtype=np.int64)
    for e in range(n - 1):
        incident[slot[tails[e]]] = e
        slot[tails[e]] += 1
        incident[slot[heads[e]]] = e
        slot[heads[e]] += 1
    order[0], parent[0], edge[0] = 0, -1, -1
    count = 1
    for t in range(n):
        vertex = order[t]
        for s in range(first[vertex], first[vertex + 1]):
            e = incident[s]
            if e == edge[t]:
                continue
            order[count] = heads[e] if tails[e] == vertex else tails[e]
            parent[count], edge[count] = t, e
            count += 1


@njit(cache=True, nogil=True)
def number_contracted(parent: Ints, fused: Ints, number: Ints) -> int:
    """Number the vertices after joining each fused one to its parent (parent[i] < i); return k."""
    count = 0
    for i in range(len(parent)):
        if fused[i]:
            number[i] = number[parent[i]]
        else:
            number[i] = count
            count += 1
    return count


@njit(cache=True, nogil=True)
def add_subtrees(parent: Ints, flow: Floats) -> None:
    """Add to every column of ``flow`` (coordinates × n) the columns of its descendants."""
    for i in range(len(parent) - 1, 0, -1):
        for k in range(flow.shape[0]):
            flow[k, parent[i]] += flow[k, i]
