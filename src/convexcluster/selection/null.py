"""What a graph looks like when there is nothing to find: samples from a null.

Input is X (n × d); output are samples of the same size without clusters. They keep what is no
evidence for clusters, the correlations and the tails, and drop what is: every feature's
distribution is replaced by the nearest unimodal one.

    x*_ij = Q_j(Φ(g_ij)),   g_i ~ N(0, R),

R the correlation of the normal scores of X, and Q_j the quantile function of feature j whose
spacings are made to fall up to a mode and to rise after it: the density is unimodal. With more
features than samples the features are the principal components. Uniform, Gaussian, log-normal and
Student noise are their own null.

References: Horn, Psychometrika 1965 (eigenvalues against those of random data); Tibshirani, Walther
and Hastie, J. R. Stat. Soc. B 2001 (the gap statistic); Hartigan and Hartigan, Ann. Stat. 1985
(unimodality).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtr, ndtri

from ..graph import Graph
from ..numerics.threads import Workers, stop_if_asked
from ..problem import Floats

# Graphs are cheap, and their eigenvalues vary little: twelve give a spread to compare with.
GRAPHS = 12

# Beyond this many samples a draw of them stands for all, in the data and in its nulls: like is
# compared with like.
SIZE = 500

# How many eigenvalues are looked at for structure, and how far one must lie below the null's
# median: in spreads of the null, and in its logarithm. The spread is how far from the median two
# thirds of the null lie: one null in ten has a few samples apart from the rest, which must not make
# the spread. In the plane all eigenvalues follow the outline of the samples, which the null has
# only roughly, and more is asked.
EIGENVALUES = 8
SPREADS = 3.0
LEAST = 0.2
LEAST_PLANAR = 0.4

# Where the mode of a feature is looked for, as shares of the samples below it.
MODES = np.linspace(0.0, 1.0, 9)


@dataclass(frozen=True)
class Margins:
    """What is kept of X: how its features hang together, and the unimodal version of each."""

    scores: Floats | None  # (n, r): normal scores; None for independent features
    quantiles: Floats  # (r, n): quantile function of every feature
    steps: np.ndarray  # (r,): features of few values, which stay as they are
    axes: Floats | None  # (r, d) or None: principal axes if the features are principal components
    mean: Floats  # (d,)

    @classmethod
    def of(cls, X: Floats, rng: np.random.Generator) -> Margins:
        """Measure X (n × d)."""
        n, d = X.shape
        mean = X.mean(axis=0)
        if d < n:
            # ties are broken at random, so that equal values do not look correlated
            order = np.lexsort((rng.random(X.shape), X), axis=0)
            rank = np.empty_like(order)
            places = np.broadcast_to(np.arange(n)[:, None], X.shape)
            np.put_along_axis(rank, order, places, axis=0)
            scores = ndtri((rank + 0.5) / n)
            return cls(scores / np.linalg.norm(scores, axis=0), *_unimodal(X), None, mean)
        values, vectors = np.linalg.eigh((X - mean) @ (X - mean).T)
        keep = values > 1e-10 * max(float(values[-1]), 1e-300)
        root = np.sqrt(values[keep])
        axes = (vectors[:, keep] / root).T @ (X - mean)
        return cls(None, *_unimodal(vectors[:, keep] * root), axes, mean)

    def random(self, rng: np.random.Generator) -> Floats:
        """The random numbers of a draw."""
        r, n = self.quantiles.shape
        return rng.uniform(size=(n, r)) if self.scores is None else rng.normal(size=(n, n))

    def draw(self, random: Floats) -> Floats:
        """As many samples as were measured, from the numbers that :meth:`random` gave."""
        from ..loops.valley import read_quantiles

        u = random if self.scores is None else ndtr(random @ self.scores)
        drawn = read_quantiles(self.quantiles, self.steps, u)
        return drawn if self.axes is None else drawn @ self.axes + self.mean


def null_sample(X: Floats, rng: np.random.Generator) -> Floats:
    """Draw samples like X but without clusters."""
    margins = Margins.of(X, rng)
    return margins.draw(margins.random(rng))


def _unimodal(X: Floats) -> tuple[Floats, np.ndarray]:
    """Quantile functions (d × n) with one mode each, and which features have too few values."""
    from ..loops.valley import fit_valleys

    x = np.sort(X, axis=0).T
    gaps = np.ascontiguousarray(np.diff(x, axis=1))
    steps = (gaps <= 0).mean(axis=1) > 0.5 if gaps.shape[1] else np.ones(len(x), dtype=bool)
    rows = np.flatnonzero(~steps)
    fit_valleys(gaps, rows, np.unique((MODES * gaps.shape[1]).astype(np.int64)))
    x[rows, 1:] = x[rows, :1] + np.cumsum(gaps[rows], axis=1)
    return np.ascontiguousarray(x), steps


@dataclass(frozen=True)
class Null:
    """Structureless data like the samples, whose graphs have eigenvalues to compare with."""

    X: Floats  # (n, d): samples
    own: Graph  # graph of the distinct samples whose cuts are counted
    graph: Callable[[Floats], Graph]  # samples to such a graph
    planar: bool = False  # whether the samples are points of the plane or of space
    seed: int = 0

    def measure(self) -> None:
        """Draw the null and compare with it now; the answer is kept for the choice."""
        _ = self.below

    @cached_property
    def below(self) -> tuple[Floats, Floats]:
        """δ₂, δ₃, …: how far log λ₂, … lie below the medians of the null's; and the null's spreads.

        λ are the least eigenvalues of the normalised Laplacian. Where k groups are nearly apart,
        k of them are near zero.
        """
        rng = np.random.default_rng([self.seed, 1])
        X, n = self.X, len(self.X)
        X = X if n <= SIZE else X[np.sort(rng.choice(n, SIZE, replace=False))]
        own = log_eigenvalues(self.graph(X))
        margins = Margins.of(X, rng)

        def of_null(random: Floats) -> Floats:
            stop_if_asked()
            return log_eigenvalues(self.graph(margins.draw(random)))

        randoms = [margins.random(rng) for _ in range(GRAPHS)]
        with Workers(2) as pool:  # most of a null is compiled, and two run at once
            null = list(pool.map(of_null, randoms))
        count = min(len(own), *(len(row) for row in null))  # equal rows are one node
        table = np.array([row[:count] for row in null])
        middle = np.median(table, axis=0)
        return middle - own[:count], np.sort(np.abs(table - middle), axis=0)[2 * GRAPHS // 3]

    def shown(self, k_max: int) -> Floats:
        """δ_k for k = 1, …, k_max, within −1 and 1: how clearly the graph shows a k-th group.

        Zero for the first group, which is always there, and beyond the eigenvalues that are known.
        """
        found = self.below[0][: k_max - 1]
        return np.pad(np.clip(found, -1.0, 1.0), (1, k_max - 1 - len(found)))

    def drop(self, k_max: int) -> Floats:
        """δ_k − δ_{k+1} for k = 1, …, k_max, within 0 and 1: how clearly no further group is shown.

        Zero for one group and where the eigenvalues are not known.
        """
        found = -np.diff(self.below[0][:k_max])
        return np.pad(np.clip(found, 0.0, 1.0), (1, k_max - 1 - len(found)))

    def has_structure(self) -> bool:
        """Whether the graph falls apart more easily than the graphs of null samples.

        One of the least eigenvalues must lie below the null's median by several spreads. λ₂ bounds
        the conductance of the best cut from both sides (Cheeger), and the others tell of several
        groups where a few samples that are apart, in the data and in the null, rule λ₂.
        """
        below, spread = (value[:EIGENVALUES] for value in self.below)
        # the spread of few draws can be small by chance, but not that of half of the eigenvalues
        spread = np.maximum(spread, np.median(spread))
        far = SPREADS * np.sqrt(1 + 1 / GRAPHS) * spread
        least = LEAST_PLANAR if self.planar else LEAST
        return bool((below > np.maximum(far, least)).any())


def log_eigenvalues(graph: Graph) -> Floats:
    """log λ₂, log λ₃, … of the normalised Laplacian, as many as there are candidates for k."""
    i, j = graph.edges.T
    n = int(graph.edges.max()) + 1
    degree = np.bincount(np.concatenate([i, j]), np.tile(graph.weights, 2), n)
    W = np.zeros((n, n))
    W[i, j] = W[j, i] = graph.weights / np.sqrt(degree[i] * degree[j])
    count = min(greatest_count(n), n)
    top = eigh(W, eigvals_only=True, subset_by_index=(n - count, n - 1), check_finite=False)
    # bridges of 1e-3 of the median weight leave λ near 1e-4: below that it says no more
    return np.log(np.maximum(1.0 - top[-2::-1], 0.0) + 1e-4)


def greatest_count(n_samples: float) -> int:
    """Number of clusters up to which candidates are scored: 1.5 √n, at least 10."""
    return max(10, int(1.5 * np.sqrt(n_samples)))
