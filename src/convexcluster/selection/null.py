"""What a path looks like when there is nothing to find: samples from a null.

Input is X (n × d); output are samples of the same size without clusters. They keep what is no
evidence for clusters, the correlations and the tails, and drop what is: every feature's
distribution is replaced by the nearest unimodal one.

    x*_ij = Q_j(Φ(g_ij)),   g_i ~ N(0, R),

R the correlation of the normal scores of X, and Q_j the quantile function of feature j whose
spacings are made to fall up to a mode and to rise after it: the density is unimodal. With more
features than samples the features are the principal components. Uniform, Gaussian, log-normal and
Student noise are their own null.

References: Tibshirani, Walther and Hastie, J. R. Stat. Soc. B 2001 (the gap statistic); Hartigan
and Hartigan, Ann. Stat. 1985 (unimodality).
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh
from scipy.special import ndtr, ndtri

from ..clusterpath import ClusterPath
from ..graph import Graph
from ..problem import Floats
from .average import average_tree, path_average
from .cuts import NestedCuts, conductance_ratio

# The null's score is a correction that is smooth in k: two paths, and the mean over this many
# neighbours of k on either side, tell it to about a tenth. Half of it is taken off, since what is
# known so roughly should not decide alone.
PATHS = 2
SMOOTH = 2
SHRINK = 0.5

# Graphs are cheap, and their eigenvalues vary little: twelve give a spread to compare with.
GRAPHS = 12

# Beyond this many samples a draw of them stands for all, in the data and in its nulls: the
# correction varies slowly with n, and the test compares like with like.
SIZE = 500

# Steps of the nulls' paths, in units of the samples' spread: from where little has fused to where
# all has, for graphs of mean degree one. A factor of two is fine enough for a mean.
STEPS = 0.5 * 2.0 ** np.arange(9)

# How far the data must lie from the null's median: in spreads of the null, and by a fifth in the
# eigenvalue itself. The spread is the distance from the median that two thirds of the null keep
# to: one null in ten has a few samples apart from the rest, which must not make the spread. At 3.2
# of them four draws in a hundred of the hardest noise, in the plane, have a structure.
SPREADS = 3.2
LEAST = 0.2

# Where the mode of a feature is looked for, as shares of the samples below it.
MODES = np.linspace(0.0, 1.0, 9)


@dataclass(frozen=True)
class Margins:
    """What is kept of X: how its features hang together, and the unimodal version of each.

    Attributes
    ----------
    scores : ndarray of shape (n, r)
        Normal scores, whose correlation is kept; zero columns for independent features.
    quantiles : ndarray of shape (r, n)
        Quantile function of every feature.
    steps : ndarray of bool, shape (r,)
        Features of few values, which stay as they are.
    axes : ndarray of shape (r, d) or None
        Principal axes if the features are principal components.
    mean : ndarray of shape (d,)
    """

    scores: Floats | None
    quantiles: Floats
    steps: np.ndarray
    axes: Floats | None
    mean: Floats

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
    """Draw samples like X but without clusters.

    Parameters
    ----------
    X : ndarray of shape (n, d)
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of shape (n, d)

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> two = np.concatenate([np.zeros(50), np.ones(50)])[:, None] + rng.normal(0, 0.1, (100, 1))
    >>> between = lambda x: ((x > 0.3) & (x < 0.7)).mean()
    >>> bool(between(two) < 0.02), bool(between(null_sample(two, rng)) > 0.1)
    (True, True)
    """
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
    """Structureless data like the samples, and the way through the pipeline.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Samples.
    own : Graph
        Graph of the distinct samples whose cuts are counted.
    graph : callable
        Samples to such a graph.
    path : callable
        Samples to (such a graph, path).
    seed : int
    """

    X: Floats
    own: Graph
    graph: Callable[[Floats], Graph]
    path: Callable[[Floats], tuple[Graph, ClusterPath]]
    seed: int = 0

    def correction(self, k_max: int) -> Floats:
        """Half the mean conductance score of null samples for k = 1, …, k_max."""
        rng = np.random.default_rng(self.seed)
        margins = Margins.of(_thinned(self.X, rng), rng)
        total = np.zeros(k_max)

        def score_of(random: Floats) -> Floats:
            graph, path = self.path(margins.draw(random))
            average = path_average(path)
            cuts = NestedCuts.of(average_tree(average), graph, average.atoms)
            return conductance_ratio(cuts, k_max)

        for score in _two_at_a_time(score_of, [margins.random(rng) for _ in range(PATHS)]):
            total[: len(score)] += score
            total[len(score) :] += score[-1]  # beyond the null's groups the score stays
        mean = total[1:] / PATHS
        padded = np.pad(mean, SMOOTH, mode="edge") if len(mean) else mean
        width = 2 * SMOOTH + 1
        smooth = np.convolve(padded, np.full(width, 1 / width), mode="valid") if len(mean) else mean
        return SHRINK * np.concatenate([[0.0], smooth])

    def has_structure(self) -> bool:
        """Whether the graph falls apart more easily than the graphs of null samples.

        The statistics are log λ₂, λ₂ the least positive eigenvalue of the normalised Laplacian,
        which bounds the conductance of the best cut from both sides (Cheeger), and the mean of the
        first five such logarithms. One of them must lie below the null's median by several spreads.
        """
        rng = np.random.default_rng([self.seed, 1])
        X = _thinned(self.X, rng)
        own = separation(self.graph(X))
        margins = Margins.of(X, rng)

        def separation_of(random: Floats) -> Floats:
            return separation(self.graph(margins.draw(random)))

        null = _two_at_a_time(separation_of, [margins.random(rng) for _ in range(GRAPHS)])
        middle = np.median(null, axis=0)
        below = middle - own
        spread = np.sort(np.abs(null - middle), axis=0)[2 * GRAPHS // 3]
        far = SPREADS * np.sqrt(1 + 1 / GRAPHS) * spread
        return bool((below > np.maximum(far, LEAST)).any())


def separation(graph: Graph) -> Floats:
    """log λ₂ of the normalised Laplacian, and the mean of log λ₂ … log λ₆.

    Examples
    --------
    >>> triangles = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]])
    >>> weak = np.array([1, 1, 1, 0.01, 1, 1, 1])
    >>> bool(separation(Graph(triangles, weak))[0] < separation(Graph(triangles, np.ones(7)))[0])
    True
    """
    i, j = graph.edges.T
    n = int(graph.edges.max()) + 1
    degree = np.bincount(np.concatenate([i, j]), np.tile(graph.weights, 2), n)
    W = np.zeros((n, n))
    W[i, j] = W[j, i] = graph.weights / np.sqrt(degree[i] * degree[j])
    wanted = max(n - 6, 0), max(n - 2, 0)
    lam = 1.0 - eigh(W, eigvals_only=True, subset_by_index=wanted, check_finite=False)[::-1]
    # bridges of 1e-3 of the median weight leave λ near 1e-4: below that it says no more
    logs = np.log(np.maximum(lam, 0.0) + 1e-4)
    return np.array([logs[0], logs.mean()])


def _two_at_a_time(task: Callable[[Floats], Any], given: list[Floats]) -> list[Any]:
    """Results of ``task`` on all that is given; most of a null is compiled, and two run at once."""
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(task, given))


def null_grid(Z: Floats, masses: Floats) -> Floats:
    """γ of a null's path."""
    centred = Z - masses @ Z / masses.sum()
    return np.sqrt(masses @ (centred**2).sum(axis=1) / masses.sum()) * STEPS


def _thinned(X: Floats, rng: np.random.Generator) -> Floats:
    return X if len(X) <= SIZE else X[np.sort(rng.choice(len(X), SIZE, replace=False))]
