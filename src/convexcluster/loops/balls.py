"""Loops of connected cells in a graph, and of sums along a tree."""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .compile import njit, run


def balls(start: Ints, near: Ints, component: Ints, size: Ints, order: Ints) -> Ints:
    """Connected cells of about ``size`` nodes: the cell of every node, numbered from 0.

    Balls of a breadth-first search swallow ``size`` nodes of their component each; what is left of
    less than half of it goes to the nearest ball. Every component has a ball.
    """
    n = len(component)
    cell, queue, seeds = np.full(n, -1), np.zeros(n, np.int64), np.zeros(n, np.int64)
    seen = np.zeros(int(component.max()) + 1, np.bool_)
    run(_balls, n, start, near, component, size, order, queue, seeds, seen, cell)
    return cell


@njit(cache=True, nogil=True, error_model="numpy")
def _balls(start, near, component, size, order, queue, seeds, seen, cell):  # type: ignore[no-untyped-def]
    """The cells of :func:`balls`."""
    n, count = len(component), 0
    for at in range(n):
        root = order[at]
        if cell[root] >= 0:
            continue
        head, tail, most = 0, 1, size[component[root]]
        queue[0], cell[root] = root, count
        while head < tail and tail < most:
            v = queue[head]
            head += 1
            for q in range(start[v], start[v + 1]):
                u = near[q]
                if cell[u] < 0 and tail < most:
                    cell[u] = count
                    queue[tail] = u
                    tail += 1
        if 2 * tail >= most or not seen[component[root]]:
            seen[component[root]] = True
            seeds[count] = root
            count += 1
    for v in range(n):  # all seeds grow at once, so that each node goes to the nearest
        cell[v] = -1
    for c in range(count):
        cell[seeds[c]] = c
        queue[c] = seeds[c]
    head, tail = 0, count
    while head < tail:
        v = queue[head]
        head += 1
        for q in range(start[v], start[v + 1]):
            u = near[q]
            if cell[u] < 0:
                cell[u] = cell[v]
                queue[tail] = u
                tail += 1


@njit(cache=True, nogil=True)
def below(order: Ints, parent: Ints, values: Floats) -> Floats:
    """Sum of the rows of ``values`` (n, r) over the subtree under every node.

    ``order`` are the nodes of a tree, parents before children.
    """
    out = values.copy()
    for at in range(len(order) - 1, 0, -1):
        v = order[at]
        for k in range(values.shape[1]):
            out[parent[v], k] += out[v, k]
    return out
