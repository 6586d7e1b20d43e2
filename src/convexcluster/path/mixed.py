"""The mixed graph: where routing stalls, a cluster is opened and everything is free again.

If no flow inside a cluster can meet its demand, the cluster has to split, or its centroid to move.
The clusters that carry the residual are opened, down to single samples where it is worst; the
others stay contracted to points; all duals are free. Solving that graph gives new pieces and
centroids.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from ..loops.levels import lower_duals
from ..loops.routing import residuals
from ..problem import Floats, Ints
from .levels import Level
from .route import SWEEPS, heavy, smooth, two_parts
from .top import Clusters, solve_top

# Nodes of a mixed graph: a pass over this many costs some ten milliseconds, as much as an
# electrical step on as many; below it every sample of an open cluster is a node.
BUDGET = 200_000


def mixed_labels(
    levels: list[Level], labels: Ints, center: Floats, count: int, opened: np.ndarray
) -> tuple[Ints, int]:
    """Node of the mixed graph for every sample.

    Samples that are ``opened`` become nodes of the finest level that fits half of the budget; the
    nodes with the largest residuals go down to samples. All others are their cluster.
    """
    base = levels[0]
    node, q = np.arange(base.n), 0
    while q < len(levels) - 2 and len(np.unique(node[opened])) > BUDGET // 2:
        node = levels[q].above.parent[node]
        q += 1
    key = np.where(opened, count + node * count + labels, labels)
    _, key = np.unique(key, return_inverse=True)
    if q > 0:
        error = 0.5 * base.m * ((base.a - center[labels]) ** 2).sum(axis=1)
        size, weight = np.bincount(key), np.bincount(key, np.where(opened, error, 0.0))
        order = np.argsort(-weight, kind="stable")
        fits = (np.cumsum(size[order]) <= BUDGET // 2) & (weight[order] > 0)
        single = np.zeros(len(size), dtype=bool)
        single[order[fits]] = True
        key = np.where(single[key] & opened, len(size) + np.arange(base.n), key)
        _, key = np.unique(key, return_inverse=True)
    return key.astype(np.int64), int(key.max()) + 1


def solve_mixed(
    levels: list[Level],
    c: Floats,
    gamma: float,
    clusters: Clusters,
    room: float,
    opened: np.ndarray,
    pool: Executor | None = None,
) -> Clusters:
    """Open, solve and bring down; returns the new clusters of level 0 with their residual.

    ``opened`` grows by the samples of the clusters that carry the residual now: what was opened in
    an earlier round stays open, so that the rounds do not push the residual to and fro.
    """
    base = levels[0]
    by_cluster = residuals(base.m, base.a, clusters.labels, clusters.center)
    opened |= heavy(by_cluster, 0.3 * room)[clusters.labels]
    nodes, count = mixed_labels(levels, clusters.labels, clusters.center, clusters.count, opened)
    graph, link = base.contracted(nodes, count, c / gamma)
    graph.refresh()
    found = solve_top(graph, gamma * graph.W, 0.15 * room, pool)
    labels = found.labels[nodes]
    inside = lower_duals(
        base.ei, base.ej, c, link.up, link.share, labels, base.lam, graph.lam, graph.before
    )
    base.refresh()
    goal = room - found.slack
    parts = two_parts(base, labels, found.count, inside)
    fit = smooth(base, c, labels, found.center, parts, goal, 2 * SWEEPS, pool)
    return Clusters(labels, found.count, found.center, fit, found.slack)
