"""The mixed graph: where routing stalls, a cluster is opened and everything is free again.

If no flow inside a cluster can meet its demand, the cluster has to split, or its centroid to move.
The clusters that carry the residual are opened, down to single samples where it is worst; those
around them stay contracted to points; all duals between are free. Solving that graph gives new
pieces and centroids.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace

import numpy as np

from ..loops.levels import add_rows
from ..loops.routing import residuals
from ..problem import Floats, Ints
from .levels import Level
from .route import DOWN_PASSES, heavy, sweep_inside, two_parts
from .top import Clusters, measure, solve_top

# Nodes of a mixed graph; with fewer every sample of an open cluster is a node. A pass over as many
# costs some ten milliseconds. Half: large clusters open to nodes too coarse to split where they
# should, and more rounds are needed. Twice: each round costs twice as much.
MIXED_NODES = 200_000

# Clusters this many edges away from an open one take part, as points. One: clusters beside an open
# one cannot give way, and some γ stay above their tolerance. Four: most of the graph takes part.
RINGS = 2

# Share of the room that closed clusters may hold together. Half: more clusters are opened at once.
# Twice: what stays closed leaves too little room, twice as many rounds are needed, and some γ stay
# above their tolerance.
LEFT_CLOSED = 0.3

# Share of the room to which a mixed graph is solved. Half: more passes for digits that bringing the
# duals down spoils. Twice: the graph alone takes a third of the room.
MIXED_SHARE = 0.15


def mixed_labels(
    levels: list[Level], labels: Ints, center: Floats, count: int, opened: np.ndarray
) -> Ints:
    """Node of the mixed graph for every sample.

    Samples that are ``opened`` become nodes of the finest level that fits half of the budget; the
    nodes with the largest residuals go down to samples. All others are their cluster.
    """
    base = levels[0]
    node, q = np.arange(base.n), 0
    while q < len(levels) - 2 and len(np.unique(node[opened])) > MIXED_NODES // 2:
        node = levels[q].above.parent[node]
        q += 1
    key = np.where(opened, count + node * count + labels, labels)
    _, key = np.unique(key, return_inverse=True)
    if q > 0:
        error = 0.5 * base.masses * ((base.A - center[labels]) ** 2).sum(axis=1)
        size, weight = np.bincount(key), np.bincount(key, np.where(opened, error, 0.0))
        order = np.argsort(-weight, kind="stable")
        fits = (np.cumsum(size[order]) <= MIXED_NODES // 2) & (weight[order] > 0)
        single = np.zeros(len(size), dtype=bool)
        single[order[fits]] = True
        key = np.where(single[key] & opened, len(size) + np.arange(base.n), key)
        _, key = np.unique(key, return_inverse=True)
    return key.astype(np.int64)


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


def carrying(base: Level, clusters: Clusters, room: float) -> np.ndarray:
    """Mark the samples of the clusters that carry the residual: those to be opened."""
    by_cluster = residuals(base.masses, base.A, clusters.labels, clusters.center)
    return heavy(by_cluster, LEFT_CLOSED * room)[clusters.labels]


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

    Only the surroundings of the samples that are ``opened`` are solved; duals across the border of
    the surroundings stay as they are.
    """
    base, labels = levels[0], clusters.labels
    nodes = mixed_labels(levels, labels, clusters.center, clusters.count, opened)
    own = surroundings(base, labels, clusters.count, opened)[labels]
    part, samples, edges = cut_out(base, own, c / gamma)
    _, key = np.unique(nodes[samples], return_inverse=True)
    key = key.astype(np.int64)
    count = int(key.max()) + 1
    graph = part.contract(key, count, spare=base.spaces[1], pool=pool)
    graph.refresh(pool)
    found = solve_top(graph, gamma * graph.w, MIXED_SHARE * room, pool)
    inside = part.lower(c[edges], found.labels[key], graph.Lam, base.spaces[1], pool)
    base.Lam[edges] = part.Lam
    base.refresh(pool)
    new = labels.copy()
    new[samples] = clusters.count + found.labels[key]
    kept, new = np.unique(new, return_inverse=True)
    center = np.concatenate([clusters.center, found.center])[kept]
    whole = measure(base, c, new.astype(np.int64), center, pool=pool)
    fit, goal = whole.fit, room - whole.slack
    if fit > goal > 0:
        parts = two_parts(base, whole.labels, whole.count, edges[inside])
        given = whole.labels, center, parts, goal, 2 * DOWN_PASSES
        fit = sweep_inside(base, c, *given, pool)
    return replace(whole, fit=fit, passes=found.passes, work=found.work)


def cut_out(base: Level, own: np.ndarray, weights: Floats) -> tuple[Level, Ints, Ints]:
    """The graph of the samples that are marked, with the duals across its border held fixed.

    Fixed duals pull at the samples of the border: the pull becomes a part of MZ. Returns also the
    samples and the edges of the part.
    """
    samples, number = np.flatnonzero(own), np.cumsum(own) - 1
    i, j = own[base.tail], own[base.head]
    edges, out, into = (np.flatnonzero(e) for e in (i & j, i & ~j, j & ~i))
    masses = base.masses[samples]
    # nothing else is worked on inside clusters meanwhile
    space, r = base.spaces[0], base.MZ.shape[1]
    MZ = space.array("MZ", (len(samples), r), np.float64)
    np.take(base.MZ, samples, axis=0, out=MZ, mode="clip")  # without a copy in between
    add_rows(MZ, number[base.tail[out]], -base.Lam[out])
    add_rows(MZ, number[base.head[into]], base.Lam[into])
    ends = number[base.tail[edges]], number[base.head[edges]]
    Lam = space.array("Λ", (len(edges), r), np.float64)
    np.take(base.Lam, edges, axis=0, out=Lam, mode="clip")
    return Level.of(*ends, weights[edges], masses, MZ, Lam), samples, edges
