"""Temporary: tension of the path (to be replaced)."""
from __future__ import annotations

import heapq

import numpy as np

from ..boundaries import Boundaries
from ..graph import Graph
from ..numerics.linkage import join


def spread(path):
    total = path.masses.sum(); value = np.zeros(len(path))
    for step, center in enumerate(path.centers):
        mass = np.bincount(path.labels(step=step), path.masses)
        c = center - mass @ center / total
        value[step] = float(mass @ (c**2).sum(axis=1))
    return value / (2 * path.scale)

def tensions(path, edges, few):
    begun = path.n_clusters <= .25 * path.n_samples if few else spread(path) <= .5
    steps = np.flatnonzero(begun & (path.n_clusters > 1))
    total = np.zeros(len(edges))
    if not len(steps): return total
    width = np.gradient(np.log(path.gammas[steps])) if len(steps) > 1 else np.ones(1)
    for step, length in zip(steps, width):
        label = path.labels(step=int(step)); mass = np.bincount(label, path.masses)
        A = path.centers[step] - mass @ path.centers[step] / mass.sum()
        A = A / np.maximum(np.linalg.norm(A, axis=1), 1e-12)[:, None]
        i, j = label[edges].T; apart = np.flatnonzero(i != j)
        total[apart] += length * np.minimum(1.0 - np.einsum("ij,ij->i", A[i[apart]], A[j[apart]]), 1.0)
    return total

def tension(path, graph: Graph, n_features: int, n_clusters: int | None = None) -> Boundaries:
    few = n_features <= 3
    t = tensions(path, graph.edges, few)
    n = path.n_samples
    near = [{} for _ in range(n)]; heap = []
    for (i, j), w, x in zip(graph.edges.tolist(), graph.weights.tolist(), t.tolist()):
        near[i][j] = near[j][i] = (w, w * x); heap.append((x, -w, i, j, 0, 0))
    heapq.heapify(heap)
    version, alive = [0] * n, [True] * n
    q = float(np.quantile(t, .95)) if len(t) else 0.0
    least = 8
    mass = list(path.masses); count = [int(m >= least) for m in mass]; inner = [0.0] * n
    pairs, heights = [], []
    done = 0
    while heap and done < n - 1:
        h, _, i, j, vi, vj = heapq.heappop(heap)
        if not (alive[i] and alive[j]) or version[i] != vi or version[j] != vj: continue
        if len(near[i]) < len(near[j]): i, j = j, i
        done += 1
        big = mass[i] >= least and mass[j] >= least
        share = 0.0
        if big:
            share = np.inf
            for s in (i, j):
                need = (4 * q + 32 / mass[s] + 1.25 * inner[s]) if few else 1.1
                share = min(share, h / need)
        pairs.append((i, j)); heights.append(share)
        inner[i] = max(inner[i], inner[j], h if big and share <= 1 else 0.0)
        mass[i] += mass[j]
        del near[i][j], near[j][i]
        for x, (w, wt) in near[j].items():
            del near[x][j]
            if x in near[i]: w, wt = w + near[i][x][0], wt + near[i][x][1]
            near[i][x] = near[x][i] = (w, wt)
        near[j] = {}; alive[j] = False; version[i] += 1
        for x, (w, wt) in near[i].items(): heapq.heappush(heap, (wt / w, -w, i, x, version[i], version[x]))
    order = np.argsort(heights, kind="stable")
    return Boundaries(join(np.array(pairs)[order], np.array(heights)[order], n), "tension")
