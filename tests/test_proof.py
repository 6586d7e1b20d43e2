"""Claims about labels in the full space of a kernel: never wrong, and made where they can be."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from convexcluster import Problem, solve
from convexcluster.certificate import certified_different, solution_radius
from convexcluster.certificate.claims import prove_labels
from convexcluster.certificate.space import Space
from convexcluster.graph import Graph, gamma_range
from convexcluster.partition import canonical, fused
from convexcluster.solvers import prove


def connected(rng, n, extra):
    """Edges of a random tree and some more."""
    tree = [(int(rng.integers(max(0, k - 4), k)), k) for k in range(1, n)]
    more = [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(extra * (n > 2))]
    return np.array(sorted(set(tree + more)), dtype=np.int64).reshape(-1, 2)


def of_gram(K):
    """The space of a Gram matrix that is exact by definition."""
    sizes = np.sqrt(np.maximum(np.diag(K), 0.0)) * (1 + 1e-15)
    return Space(lambda rows, columns: K[np.ix_(rows, columns)], sizes, 0.0)


def coordinates(K):
    """Z with Z Zᵀ = K up to rounding."""
    values, axes = np.linalg.eigh(K)
    return axes * np.sqrt(np.maximum(values, 0.0))


KERNELS = {
    "linear": lambda X: X @ X.T,
    "gaussian": lambda X: np.exp(-cdist(X, X, "sqeuclidean") / 2),
    "laplacian": lambda X: np.exp(-cdist(X, X, "cityblock")),
    "cosine": lambda X: 1 - cdist(X, X, "cosine"),
}


def draw(seed):
    """A random problem: kernel, masses, copies of rows, clusters that touch, uneven weights."""
    rng = np.random.default_rng(seed)
    kernel = list(KERNELS)[seed % len(KERNELS)]
    n, d = int(rng.integers(2, 17)), int(rng.integers(1, 4)) + (kernel == "cosine")
    truth = np.sort(rng.integers(0, int(rng.integers(1, 5)), n))
    apart = float(rng.choice([0.3, 1.0, 3.0]))
    X = 2.0 * apart * rng.normal(size=(truth.max() + 1, d))[truth] + 0.3 * rng.normal(size=(n, d))
    if seed % 3 == 0 and n > 3:  # copies
        X[rng.integers(n, size=n // 3)] = X[rng.integers(n)]
    masses = rng.uniform(0.3, 3.0, n) if seed % 2 else np.ones(n)
    edges = connected(rng, n, int(rng.integers(0, 4 * n)))
    same = truth[edges[:, 0]] == truth[edges[:, 1]]
    weights = rng.uniform(0.5, 1.5, len(edges)) * np.where(same, 1.0, rng.choice([0.01, 0.1, 1.0]))
    if seed % 5 == 0:
        weights *= 10.0 ** rng.uniform(-3, 0, len(edges))
    if seed % 7 == 0:  # several components
        keep = rng.random(len(edges)) < 0.8
        edges, weights = edges[keep], weights[keep]
    return KERNELS[kernel](X), Graph(edges, weights), masses, truth, rng


def candidates(K, graph, masses, truth, rng):
    """Labels worth a try with a γ: those of solutions, the drawn groups, and wrong neighbours."""
    Z, n = coordinates(K), len(K)
    top = gamma_range(Z, graph.edges, graph.weights, masses)[1] or 1.0
    for share in (0.02, 0.2, 0.6):
        gamma = share * top
        found = solve(Z, graph.edges, graph.weights, gamma, masses=masses, tol=1e-9)
        yield fused(found.A, graph.edges), gamma
    yield canonical(truth), 0.2 * top
    if n > 2:
        wrong = fused(found.A, graph.edges)
        wrong[int(rng.integers(n))] = int(rng.integers(wrong.max() + 1))
        yield canonical(wrong), gamma


def refute(K, graph, masses, labels, gamma, whole, clusters):
    """Hold a claim at γ against a solution with its own radius: (refuted, decided)."""
    Z = coordinates(K)
    problem = Problem.of(Z, graph.edges, graph.weights, gamma, masses)
    best = solve(Z, graph.edges, graph.weights, gamma, masses=masses, tol=1e-14)
    best, certificate = prove(problem, best)
    # K and Z Zᵀ differ by rounding: ‖A*(K) − A*(Z)‖ ≤ √‖K − Z Zᵀ‖_*
    off = np.sqrt(masses.max() * 10 * len(K) ** 1.5 * np.finfo(float).eps * np.abs(K).max())
    radius = solution_radius(problem, best) + off
    i, j = np.triu_indices(len(K), 1)
    together = (labels[i] == labels[j]) & clusters[labels[i]]
    pairs = np.column_stack([i, j])
    if certified_different(problem, best.A, radius, pairs[together]).any():
        return True, True
    if not whole:
        return False, True
    sure = certificate.partition == "certified"
    return sure and bool((fused(best.A, graph.edges) != canonical(labels)).any()), sure


def hold(seeds):
    """(claims of an interval, at a γ, of clusters alone, decided by a certified solution)."""
    intervals = at_one = alone = decided = 0
    for seed in seeds:
        K, graph, masses, truth, rng = draw(seed)
        for labels, gamma in candidates(K, graph, masses, truth, rng):
            claim = prove_labels(of_gram(K), graph, masses, labels, gamma)
            where = [claim.gamma] if claim.whole or claim.clusters.any() else []
            if claim.interval is not None:
                low, high = claim.interval
                high = min(high, 1e3 * max(low, 1e-3))
                inside = [low * (1 + 1e-9) + 1e-12, low + rng.random() * (high - low)]
                where += [*inside, high * (1 - 1e-9)]
                intervals += 1
            elif claim.whole:
                at_one += 1
            alone += bool(claim.clusters.any() and not claim.whole)
            for value in where:
                refuted, sure = refute(K, graph, masses, labels, value, claim.whole, claim.clusters)
                assert not refuted, (seed, labels, value, claim)
                decided += sure
    return intervals, at_one, alone, decided


def test_claims_hold_on_random_problems():
    intervals, at_one, alone, decided = hold(range(100))
    assert intervals > 100  # the claims are not empty
    assert at_one > 5
    assert alone > 5
    assert decided > 300


@pytest.mark.slow
def test_claims_hold_on_a_thousand_random_problems():
    intervals, _, _, decided = hold(range(1000, 2000))
    assert intervals > 1000
    assert decided > 3000
