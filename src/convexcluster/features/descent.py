"""Feature weights that lower the optimal value of the clustering, from a start.

With c‖x‖ = min_q ½q‖x‖² + ½c²/q the centroids are eliminated from F,

    V(K) = min_A F(A) = min_q ½⟨K, I − B_q⟩ + ½ Σ c_l²/q_l,      B_q = (I + L_q)⁻¹,

a minimum of functions linear in K: V is concave, ∇V = ½(I − B), and B is the smoother of the
optimum, A* = BZ, constant on fused clusters. Graph, bandwidth and a few γ are kept during a round.
V falls with the entries of K off the diagonal, which are convex in θ: θ ↦ V(K_θ) is concave, its
tangent lies above it, and J(θ) = mean_γ V(K_θ) + (τ/2)‖θ‖² never rises by

    θ ← argmin gᵀθ + (τ/2)‖θ‖² over the simplex = (ν − g)₊/τ,     g_f = (r/2) Σ_ij S_ij δ_f(i, j),

S = mean_γ B∘K with δ = (x_f − y_f)², r = 1/(2σ²) of rbf; δ = |x_f − y_f|, r = 1/σ of laplacian;
S = mean_γ B, r = ½ of linear. Without τ one feature would have all the weight.

τ has no knob. Under a random permutation of feature f the sum Σ S_ij δ_f(i, j) has the mean and
variance of Mantel's test. τ = Σ_f (mean_f − z·deviation_f − g_f)₊ makes θ_f proportional to what
feature f is smoother than features of noise are: the best of d of them exceeds z in one learning of
twenty. Features outside the start enter beyond z.

Reference: Mantel, Cancer Research 27, 1967 (moments of the permuted sum).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtri

from ..certificate.reduced import reduce
from ..embedding import embed
from ..kernels import Kernel
from ..numerics.laplacian import laplacian
from ..partition import first, fused
from ..path.solve import path_of
from ..problem import Floats, Problem
from ..selection.tension import spread
from ..settings import Settings, scaled_columns
from ..stages.penalty import weigh
from ..stages.space import space_of

# Rounds, each with a new graph; weights that differ by less in total end them sooner.
ROUNDS = 5
SETTLED = 1e-2

# Features of noise that are expected to enter in all rounds together. A feature that has entered is
# part of the next graph and confirms itself: at ten times as many, one set of rings in ten is lost.
FALSE_FEATURES = 0.05

# Steps within a round, and the relative decrease of J below which the round ends: the first steps
# do nearly all, and the graph is made anew in the next round.
STEPS = 3
DECREASE = 1e-4

# Values of γ whose optimal values are averaged, evenly spaced in log γ where a path tells most.
GAMMAS = 5

# Spread of the centroids, as a share of that of the samples, between which a path tells most.
# Above, little has fused; below, the clusters themselves have nearly met.
TELLING = (0.01, 0.5)

# Relative gap of the solutions, and relative trace that the embedding may lose: J is known to their
# sum, a hundredth of the decrease at which a round ends.
TOL = 1e-6

# Features of less than this share of the greatest weight end with none.
LEAST_SHARE = 1e-3


@dataclass(frozen=True)
class Descent:
    """Weights from a start, and what is known of every feature there.

    Attributes
    ----------
    theta : ndarray of shape (d,)
        Sums to one.
    evidence : ndarray of shape (d,)
        (mean_f − g_f)/deviation_f in the last round.
    noise : float
        z, the evidence that the best of d features of noise exceeds once in twenty times.
    objective : tuple of lists
        J after each step, a list for every round.
    """

    theta: Floats
    evidence: Floats
    noise: float
    objective: tuple[list[float], ...]

    @classmethod
    def of(cls, X: Floats, theta: Floats, settings: Settings) -> Descent:
        """Rounds of steps from ``theta``; X is standardised."""
        noise = float(-ndtri(FALSE_FEATURES / (ROUNDS * X.shape[1])))
        allowed, objective = theta > 0, []
        evidence = np.zeros(X.shape[1])
        for _ in range(ROUNDS):
            frozen = Frozen.at(X, theta, settings)
            V, S = frozen.value(theta)
            g = frozen.gradient(S)
            mean, deviation = frozen.by_chance(S)
            evidence = (mean - g) / deviation
            allowed = allowed | (evidence > noise)
            tau = float(np.maximum(mean - noise * deviation - g, 0.0)[allowed].sum())
            if tau <= 0:
                break
            before, J = theta, [V + tau / 2 * float(theta @ theta)]
            for _ in range(STEPS):
                theta = simplex_ridge(g, tau, allowed)
                V, S = frozen.value(theta)
                g = frozen.gradient(S)
                J.append(V + tau / 2 * float(theta @ theta))
                if J[-2] - J[-1] < DECREASE * abs(J[-1]):
                    break
            objective.append(J)
            if np.abs(theta - before).sum() < SETTLED:
                break
        theta = np.where(theta > LEAST_SHARE * theta.max(), theta, 0.0)
        return cls(theta / theta.sum(), evidence, noise, tuple(objective))


@dataclass(frozen=True)
class Frozen:
    """Graph, bandwidth and γ of a round; V and its gradient as functions of θ."""

    X: Floats  # (n, d), standardised
    kernel: str
    sigma: float
    problem: Problem  # its graph counts, not its Z
    gammas: Floats

    @classmethod
    def at(cls, X: Floats, theta: Floats, settings: Settings) -> Frozen:
        """Those of the data weighted by θ."""
        Y = weighted(X, theta, settings.kernel_name)
        graph = weigh(space_of(Y, settings), np.ones(len(X)), settings)
        sigma = settings.resolve_kernel(X=Y).params.get("bandwidth", 1.0)
        Z = np.zeros((len(X), 1))
        problem = Problem(Z, graph.edges, graph.weights, 0.0, np.ones(len(X)))
        frozen = cls(X, settings.kernel_name, float(sigma), problem, np.empty(0))
        problem = frozen.embedded(frozen.gram(theta))
        path = path_of(problem, None, tol=1e-4, certify="selected", refine=False)
        shares = np.array([spread(path, step) for step in range(len(path))])
        telling = np.flatnonzero((shares >= TELLING[0]) & (shares <= TELLING[1]))
        ends = telling[[0, -1]] if len(telling) else [np.argmin(np.abs(shares - TELLING[0]))] * 2
        low, high = path.gammas[ends]
        return cls(X, frozen.kernel, frozen.sigma, problem, np.geomspace(low, high, GAMMAS))

    def gram(self, theta: Floats) -> Floats:
        """K_θ."""
        params = {} if self.kernel == "linear" else {"bandwidth": self.sigma}
        return Kernel(self.kernel, params)(weighted(self.X, theta, self.kernel))

    def embedded(self, K: Floats) -> Problem:
        """The problem of the graph with the kernel K."""
        found = embed(K, Kernel("precomputed"), method="exact", distinct=True)
        Z = found.truncate(TOL * float(found.variances.sum())).Z
        graph = self.problem
        return Problem(Z, graph.edges, graph.weights, 0.0, graph.masses)

    def value(self, theta: Floats) -> tuple[float, Floats]:
        """mean_γ V(K_θ), and S."""
        K = self.gram(theta)
        problem = self.embedded(K)
        path = path_of(problem, self.gammas, tol=TOL, certify="path", refine=False)
        value, B = 0.0, np.zeros_like(K)
        for step, gamma in enumerate(path.gammas):
            here, A = problem.at(gamma), path.centroids(gamma)[path.labels(step=step)]
            value += here.objective(A) / len(path)
            labels = fused(A, problem.edges)  # those of a path may be apart at equal centroids
            small = smoother(reduce(here, labels), A[first(labels)])
            B += small[np.ix_(labels, labels)] / len(path)
        S = B if self.kernel == "linear" else B * K
        np.fill_diagonal(S, 0.0)
        return value, S

    @property
    def rate(self) -> float:
        """r/2 in g = (r/2) Σ S δ."""
        return {
            "rbf": 0.25 / self.sigma**2,
            "laplacian": 0.5 / self.sigma,
            "linear": 0.25,
        }[self.kernel]

    def gradient(self, S: Floats) -> Floats:
        """∂V/∂θ."""
        if self.kernel == "laplacian":
            sums = [float((S * np.abs(x[:, None] - x)).sum()) for x in self.X.T]
            return self.rate * np.array(sums)
        # Σ S_ij (x_i − x_j)² = 2 xᵀ(diag(S1) − S)x
        L = S.sum(axis=1)[:, None] * self.X - S @ self.X
        return 2 * self.rate * np.einsum("if,if->f", self.X, L)

    def by_chance(self, S: Floats) -> tuple[Floats, Floats]:
        """Mean and deviation of g_f over permutations of the values of feature f."""
        n = len(S)
        a1, a2, a3 = float(S.sum()), float((S**2).sum()), float((S.sum(axis=1) ** 2).sum())
        d1, d2, d3 = self.distances
        mean = a1 * d1 / (n * (n - 1))
        square = (
            2 * a2 * d2
            + 4 * (a3 - a2) * (d3 - d2) / (n - 2)
            + (a1**2 + 2 * a2 - 4 * a3) * (d1**2 + 2 * d2 - 4 * d3) / ((n - 2) * (n - 3))
        ) / (n * (n - 1))
        deviation = np.sqrt(np.maximum(square - mean**2, 0.0))
        return self.rate * mean, self.rate * np.maximum(deviation, 1e-12 * mean)

    @cached_property
    def distances(self) -> tuple[Floats, Floats, Floats]:
        """Σ δ, Σ δ² and Σ_i (Σ_j δ)² of every feature; X has mean 0 and variance 1."""
        X, n = self.X, len(self.X)
        if self.kernel == "laplacian":
            x, place = np.sort(X, axis=0), np.arange(1, n + 1)[:, None]
            rows = (2 * place - n) * x + x.sum(axis=0) - 2 * np.cumsum(x, axis=0)
            squares = np.full(X.shape[1], 2.0 * n**2)
        else:
            rows = n * (X**2 + 1)
            squares = 2 * n * (X**4).sum(axis=0) + 6.0 * n**2
        return rows.sum(axis=0), squares, (rows**2).sum(axis=0)


def weighted(X: Floats, theta: Floats, kernel: str) -> Floats:
    """Columns of X such that distances of the kernel have the weights θ."""
    return scaled_columns(X, theta if kernel == "laplacian" else np.sqrt(theta))


def smoother(problem: Problem, C: Floats) -> Floats:
    """(M + L_q)⁻¹ of a reduced problem with centroids C, q = γ w/‖c_s − c_t‖.

    Its entry (label i, label j) is B_ij for unit masses.
    """
    i, j = problem.edges.T
    q = problem.c / np.linalg.norm(C[i] - C[j], axis=1)
    return np.linalg.inv(np.diag(problem.masses) + laplacian(problem.edges, q, problem.n).toarray())


def simplex_ridge(g: Floats, tau: float, allowed: np.ndarray) -> Floats:
    """argmin gᵀθ + (τ/2)‖θ‖² over θ ≥ 0, Σ θ = 1, θ = 0 where not ``allowed``: (ν − g)₊/τ.

    Examples
    --------
    >>> simplex_ridge(np.array([1.0, 2.0, 9.0, 0.0]), 3.0, np.array([True, True, True, False]))
    array([0.66666667, 0.33333333, 0.        , 0.        ])
    """
    ascending = np.sort(g[allowed])
    levels = (tau + np.cumsum(ascending)) / np.arange(1, len(ascending) + 1)
    nu = levels[np.flatnonzero(levels > ascending)[-1]]
    return np.where(allowed, np.maximum(nu - g, 0.0) / tau, 0.0)
