"""The mixed graph: where routing stalls, a cluster is opened and everything is free again.

If no flow inside a cluster can meet its demand, the cluster has to split, or its centroid to move.
The clusters that carry the residual are opened, down to single samples where it is worst; those
around them stay contracted to points; all duals between are free. Solving that graph gives new
pieces and centroids.
"""

from __future__ import annotations

from concurrent.futures import Executor

import numpy as np

from ..loops.clusters import gap_parts
from ..loops.levels import add_rows, lower_duals
from ..loops.routing import residuals
from ..problem import Floats, Ints
from .levels import Level
from .route import SWEEPS, heavy, smooth, two_parts
from .top import Clusters, solve_top

# Nodes of a mixed graph: a pass over this many costs some ten milliseconds, as much as an
# electrical step on as many; below it every sample of an open cluster is a node.
BUDGET = 200_000

# Clusters this many edges away from an open one take part, as points: they may have to move too.
RINGS = 2


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
        error = 0.5 * base.masses * ((base.A - center[labels]) ** 2).sum(axis=1)
        size, weight = np.bincount(key), np.bincount(key, np.where(opened, error, 0.0))
        order = np.argsort(-weight, kind="stable")
        fits = (np.cumsum(size[order]) <= BUDGET // 2) & (weight[order] > 0)
        single = np.zeros(len(size), dtype=bool)
        single[order[fits]] = True
        key = np.where(single[key] & opened, len(size) + np.arange(base.n), key)
        _, key = np.unique(key, return_inverse=True)
    return key.astype(np.int64), int(key.max()) + 1


def surroundings(base: Level, labels: Ints, count: int, opened: np.ndarray) -> np.ndarray:
    """Mark the clusters that hold opened samples, and those within RINGS edges of them."""
    near = np.zeros(count, dtype=np.bool_)
    near[labels[opened]] = True
    x, y = labels[base.tail], labels[base.head]
    for _ in range(RINGS):
        wider = near.copy()
        wider[y[near[x]]] = True
        wider[x[near[y]]] = True
        near = wider
    return near


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
    an earlier round stays open, so that the rounds do not push the residual to and fro. Only the
    surroundings of what is open are solved; duals across their border stay as they are.
    """
    base, labels = levels[0], clusters.labels
    by_cluster = residuals(base.masses, base.A, labels, clusters.center)
    opened |= heavy(by_cluster, 0.3 * room)[labels]
    nodes, _ = mixed_labels(levels, labels, clusters.center, clusters.count, opened)
    own = surroundings(base, labels, clusters.count, opened)[labels]
    part, samples, edges = cut_out(base, own, c / gamma)
    _, key = np.unique(nodes[samples], return_inverse=True)
    key = key.astype(np.int64)
    graph, link = part.contracted(key, int(key.max()) + 1)
    graph.refresh()
    found = solve_top(graph, gamma * graph.w, 0.15 * room, pool)
    inside = lower_duals(
        part.tail,
        part.head,
        c[edges],
        link.up,
        link.share,
        found.labels[key],
        part.Lam,
        graph.Lam,
        graph.before,
    )
    base.Lam[edges] = part.Lam
    base.refresh()
    new = labels.copy()
    new[samples] = clusters.count + found.labels[key]
    kept, new = np.unique(new, return_inverse=True)
    new = new.astype(np.int64)
    center = np.concatenate([clusters.center, found.center])[kept]
    fit, slack = gap_parts(base.tail, base.head, c, base.masses, base.A, base.Lam, new, center)
    parts = two_parts(base, new, len(center), edges[inside])
    if fit > room - slack > 0:
        fit = smooth(base, c, new, center, parts, room - slack, 2 * SWEEPS, pool)
    return Clusters(new, len(center), center, fit, slack, found.passes, found.work)


def cut_out(base: Level, own: np.ndarray, weights: Floats) -> tuple[Level, Ints, Ints]:
    """The graph of the samples that are marked, with the duals across its border held fixed.

    Fixed duals pull at the samples of the border: they become a part of Σ m z. Returns also the
    samples and the edges of the part.
    """
    samples, number = np.flatnonzero(own), np.cumsum(own) - 1
    i, j = own[base.tail], own[base.head]
    edges, out, into = (np.flatnonzero(e) for e in (i & j, i & ~j, j & ~i))
    MZ = base.MZ[samples]
    add_rows(MZ, number[base.tail[out]], -base.Lam[out])
    add_rows(MZ, number[base.head[into]], base.Lam[into])
    ends = number[base.tail[edges]], number[base.head[edges]]
    return Level(*ends, weights[edges], base.masses[samples], MZ, base.Lam[edges]), samples, edges
