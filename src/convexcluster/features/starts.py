"""Where learning may start: features that depend on each other, or that fall into two parts.

Input is X (n × d), standardised; output are weights θ, one start after the other.

Two features f, g have orthonormal bases Q_f, Q_g (n × r) of cosines of their ranks. Without
dependence (n − 1)‖Q_fᵀQ_g‖² is χ² with r_f r_g degrees of freedom. Ranks 2, 4 and 8 see
dependence without correlation as well, such as that of the coordinates of a ring.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.special import log_ndtr
from scipy.stats import rankdata

from ..problem import Floats, Ints

# Ranks of the bases: 2 sees trends, 8 sees a ring of a fifth of the samples among others.
RANKS = (2, 4, 8)

# Features that every feature is compared with. All pairs of more would be millions.
LANDMARKS = 1_000

# Expected number of pairs that depend by chance alone, in all.
FALSE_PAIRS = 0.05

# Steps of the power method, and the change that ends it. A start needs two digits.
POWERS, SETTLED = 200, 1e-7

# Features of less than this share of the greatest weight are no part of a community.
LEAST_SHARE = 1e-2

# Share of the variance that the best split into two parts must explain: 0.75 of a uniform law, 0.64
# of a normal one. Features of few values are partitions, whatever they mean, and take no part.
SPLIT = 0.78
FEW_VALUES = 20

# Single features that are tried.
SINGLES = 5

# Products held at a time, 32 MB.
BLOCK = 4_000_000


def communities(X: Floats) -> Iterator[Floats]:
    """Leading singular vectors of the evidence for dependence, each without the features before."""
    d = X.shape[1]
    evidence, others = dependence(X)
    pairs = d * (d - 1) / 2 if len(others) == d else d * len(others)
    beyond = np.sqrt(np.maximum(evidence - np.log10(pairs / FALSE_PAIRS), 0.0))
    left = np.ones(d, dtype=bool)
    while True:
        table = beyond * left[:, None] * left[others]
        if not table.any():
            return
        theta = leading(table)
        theta[theta <= LEAST_SHARE * theta.max()] = 0.0
        yield theta / theta.sum()
        left &= theta == 0


def leading(table: Floats) -> Floats:
    """Leading left singular vector of a table ≥ 0, by the power method from the sums of its rows.

    Two features that depend on each other alone have a double singular value, and equal weights.
    """
    theta = table.sum(axis=1)
    for _ in range(POWERS):
        before = theta / np.linalg.norm(theta)
        theta = table @ (table.T @ before)
        if np.abs(theta / np.linalg.norm(theta) - before).max() < SETTLED:
            break
    return theta


def dependence(X: Floats) -> tuple[Floats, Ints]:
    """−log₁₀ p of the dependence of every feature on ``others``, the least over the ranks.

    Returns
    -------
    evidence : ndarray of shape (d, len(others))
        After Bonferroni's correction for the number of ranks; 0 of a feature with itself.
    others : ndarray
        All features, or as many as there are landmarks.
    """
    n, d = X.shape
    others = np.arange(d)
    if d > LANDMARKS:
        others = np.sort(np.random.default_rng(0).choice(d, LANDMARKS, replace=False))
    best = np.zeros((d, len(others)))
    for r in RANKS:
        Q, rank = cosine_bases(X, r)
        P = np.ascontiguousarray(Q[:, others]).reshape(n, -1)
        step = max(1, BLOCK // (len(others) * r * r))
        for s in range(0, d, step):
            squares = (Q[:, s : s + step].reshape(n, -1).T @ P) ** 2
            statistic = (n - 1) * squares.reshape(-1, r, len(others), r).sum(axis=(1, 3))
            free = np.maximum(np.outer(rank[s : s + step], rank[others]), 1)
            # Wilson and Hilferty: the cube root of χ²/free is about normal, in the tail too
            z = np.cbrt(statistic / free) - (1 - 2 / (9 * free))
            found = -log_ndtr(-z / np.sqrt(2 / (9 * free))) / np.log(10)
            best[s : s + step] = np.maximum(best[s : s + step], found)
    best[others, np.arange(len(others))] = 0.0
    return np.maximum(best - np.log10(len(RANKS)), 0.0), others


def cosine_bases(X: Floats, r: int) -> tuple[Floats, Ints]:
    """Orthonormal bases (n, d, r) of cos(π k u), k ≤ r, u the rank of a value; and their ranks."""
    u = (rankdata(X, axis=0) - 0.5) / len(X)
    C = np.cos(np.pi * u.T[:, :, None] * np.arange(1, r + 1))
    C -= C.mean(axis=1, keepdims=True)
    Q, size, _ = np.linalg.svd(C, full_matrices=False)
    keep = size > 1e-6 * np.maximum(size[:, :1], 1e-300)  # a feature of two values has rank one
    return (Q * keep[:, None, :]).transpose(1, 0, 2), keep.sum(axis=1)


def singles(X: Floats) -> Iterator[Floats]:
    """Single features whose best split into two parts explains most, the clearest first."""
    n, d = X.shape
    values = np.sort(X, axis=0)
    head, size = np.cumsum(values, axis=0)[:-1], np.arange(1, n)[:, None]
    total = values.sum(axis=0)
    between = head**2 / size + (total - head) ** 2 / (n - size) - total**2 / n
    explained = between.max(axis=0) / ((values - total / n) ** 2).sum(axis=0)
    count = 1 + np.count_nonzero(np.diff(values, axis=0), axis=0)
    explained[count <= max(FEW_VALUES, n // 10)] = 0.0
    for f in np.argsort(-explained, kind="stable")[:SINGLES]:
        if explained[f] > SPLIT:
            yield np.eye(d)[f]
