"""What changed from one γ to the next: clusters that only seem to split, pairs that fused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..graph import canonical, components
from ..loops.partition import gap_parts, means
from ..problem import Floats, Ints
from .levels import Level
from .top import Clusters


def keep_together(
    base: Level, c: Floats, clusters: Clusters, before: Ints, room: float
) -> Clusters:
    """Split a cluster of the γ before only if the certificate asks for it.

    Edges close to their capacity flicker within the tolerance. If the gap of the clusters that are
    put together again is at most ``room``, they stay together. ``before`` are the labels there.
    """
    first = np.empty(int(before.max()) + 1, dtype=np.int64)
    first[before] = clusters.labels
    if (first[before] == clusters.labels).all():
        return clusters
    pairs = np.stack([clusters.count + before, clusters.labels], axis=1)
    joined = canonical(components(pairs, clusters.count + len(first))[: clusters.count])
    labels, count = joined[clusters.labels], int(joined.max()) + 1
    base.refresh()
    _, center = means(base.m, base.a, labels, count)
    fit, slack = gap_parts(base.ei, base.ej, c, base.m, base.a, base.lam, labels, center)
    if fit + slack > room:
        return clusters
    return replace(clusters, labels=labels, count=count, center=center, fit=fit, slack=slack)


def fused_pairs(level: Level, node: Ints, labels: Ints, before: Ints) -> tuple[Ints, Floats]:
    """Pairs of samples that carry a fusion since the γ before, with γ* = ‖λ‖/W.

    Two clusters that have fused pull at each other with λ; had it been the same below, they would
    have fused where γW = ‖λ‖. ``node`` is the node of the top level that holds each sample.
    """
    sample = np.arange(level.n)
    if level.n < len(node):
        sample[node[::-1]] = np.arange(len(node))[::-1]  # first sample of each node
    labels, before = labels[sample], before[sample]
    ei, ej = level.ei, level.ej
    carry = np.flatnonzero((labels[ei] == labels[ej]) & (before[ei] != before[ej]))
    pairs = np.stack([sample[ei[carry]], sample[ej[carry]]], axis=1)
    return pairs, np.sqrt((level.lam[carry] ** 2).sum(axis=1)) / level.W[carry]
