"""Soft answers: how near a sample is to a border, how lonely it is, which sample stands for many.

Input are the graph, the labels, the kernel and the coordinates of a fit. Output:

    membership   (D + s(D − W)) P = D·1[labels]: where a random walk on the graph that starts at a
                 sample and goes s steps on average ends. P ≥ 0, and rows sum to one.
    outlier      oᵢ = −log( Σⱼ mⱼ k(xᵢ, xⱼ) / Σⱼ mⱼ ), the sample itself included: minus the log of
                 the density, in the kernel's own bandwidth.
    medoid       argmin_{i ∈ C_t} ‖zᵢ − z̄_t‖: the sum of squared distances to the other samples of
                 the cluster is least from there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Graph
from ..kernels import Kernel
from ..numerics.laplacian import factor
from ..problem import Floats, Ints

# Mean length s of the walk. Walks of 2 and 4 steps were too sure of overlapping groups (log loss of
# the true classes over 11 data sets .376 with 4, .325 with 8); 16 too unsure in many dimensions.
STEPS = 8.0

# Kernels that are positive and fall with the distance: their sums are densities.
DENSITIES = ("rbf", "laplacian", "matern")

# Numbers of a Gram matrix held at a time: some tens of megabytes.
BLOCK = 4_000_000

# How far a label leads after rows are made to agree: far above the rounding of a row, which is some
# 1e-15, and below what anybody would read as a difference.
LEAD = 1e-9


def membership(graph: Graph, labels: Ints) -> Floats:
    """Where walks end: shares P (n, k) that need not yet agree with the labels.

    Parameters
    ----------
    graph : Graph
    labels : ndarray of shape (n,)
        0 … k − 1; −1 where no cluster is known, and then walks that end there do not count.

    Returns
    -------
    ndarray of shape (n, k)
        ≥ 0, rows sum to one. A sample without neighbours has share 1 in its cluster.

    Examples
    --------
    >>> chain = Graph(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 0.1, 1.0]))
    >>> membership(chain, np.array([0, 0, 1, 1])).round(2)
    array([[0.8 , 0.2 ],
           [0.78, 0.22],
           [0.22, 0.78],
           [0.2 , 0.8 ]])
    """
    n, k = len(labels), int(labels.max()) + 1
    weights = graph.weights / graph.weights.max(initial=1e-300)  # the walk does not see the unit
    degree = np.bincount(graph.edges.ravel(), np.repeat(weights, 2), n).astype(np.float64)
    degree = np.where(degree > 0, degree, 1.0)
    known = np.flatnonzero(labels >= 0)
    start = np.zeros((n, k))
    start[known, labels[known]] = degree[known]
    P = np.maximum(factor(graph.edges, STEPS * weights, degree)(start), 0.0)
    total = P.sum(axis=1, keepdims=True)
    return np.divide(P, total, out=np.full_like(P, 1.0 / k), where=total > 0)


def agreeing(P: Floats, labels: Ints) -> Floats:
    """The rows of P with the least of e_label mixed in, (1 − u)p + u·e, that makes it the greatest.

    Examples
    --------
    >>> agreeing(np.array([[0.6, 0.4], [0.6, 0.4]]), np.array([0, 1])).round(3)
    array([[0.6, 0.4],
           [0.5, 0.5]])
    """
    rows = np.arange(len(P))
    own, others = P[rows, labels], P.copy()
    others[rows, labels] = -1.0
    behind = others.max(axis=1) - own
    lag = np.maximum(behind, 0.0)
    # own + u(1 − own) exceeds (1 − u)·other as soon as u > lag/(1 + lag)
    u = np.where(behind > -LEAD, lag / (1.0 + lag) + LEAD, 0.0)
    mixed = (1.0 - u)[:, None] * P
    mixed[rows, labels] += u
    return mixed


def density_scores(X: Any, masses: Floats, kernel: Kernel) -> Floats:
    """−log of the share of all mass that each row of X sees through the kernel, shape (g,).

    Examples
    --------
    >>> from convexcluster.kernels import resolve_kernel
    >>> X = np.array([[0.0], [0.1], [9.0]])
    >>> density_scores(X, np.ones(3), resolve_kernel("rbf", 1.0)).round(2)
    array([0.41, 0.41, 1.1 ])
    """
    g = X.shape[0]
    step = max(1, BLOCK // g)
    seen = [kernel(X[s : s + step], X) @ masses for s in range(0, g, step)]
    return -np.log(np.concatenate(seen) / masses.sum())


def medoids(Z: Floats, index: Ints, labels: Ints, masses: Floats) -> Ints:
    """The sample of each cluster that is nearest to its mean; of equals the first.

    Parameters
    ----------
    Z : ndarray of shape (g, r)
        Coordinates of the points.
    index : ndarray of shape (n,)
        Point of every sample.
    labels, masses : ndarray of shape (n,)
        Of the samples. Those without mass stand for no cluster that has others.

    Returns
    -------
    ndarray of shape (k,)

    Examples
    --------
    >>> Z = np.array([[0.0], [1.0], [5.0], [8.0], [9.0]])
    >>> medoids(Z, np.arange(5), np.array([0, 0, 0, 1, 1]), np.ones(5))
    array([1, 3])
    """
    found = np.empty(int(labels.max()) + 1, dtype=np.int64)
    for t in range(len(found)):
        members = np.flatnonzero(labels == t)
        members = members[masses[members] > 0] if masses[members].any() else members
        # rows of one point have one place: its mass is theirs
        points, first, inverse = np.unique(index[members], return_index=True, return_inverse=True)
        mass = np.bincount(inverse, np.maximum(masses[members], 1e-300))
        mean = mass @ Z[points] / mass.sum()
        far = ((Z[points] - mean) ** 2).sum(axis=1)
        found[t] = members[first[far == far.min()].min()]
    return found
