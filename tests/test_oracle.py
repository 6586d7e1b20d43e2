"""`solve` against an independent modelling tool (cvxpy with Clarabel) on small instances."""

import numpy as np
import pytest

from convexcluster import Problem, Status, solve
from convexcluster.certificate import certify, duality_gap, project
from convexcluster.graph import components, gamma_range

cvxpy = pytest.importorskip("cvxpy")

KINDS = ["generic", "duplicates", "disconnected", "star", "chain", "one edge", "wide", "masses"]
SHARES = [0.0, 1e-3, 0.05, 0.3, 0.8, 3.0]  # of the upper bound on γ_max: the last is full fusion


def instance(kind, seed):
    rng = np.random.default_rng([KINDS.index(kind), seed])
    n, r = 9, 3
    Z = rng.normal(size=(n, r))
    pairs = np.column_stack(np.triu_indices(n, k=1))
    edges = np.sort(pairs[rng.permutation(len(pairs))[:16]], axis=0)
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    masses = None
    if kind == "duplicates":
        Z = np.repeat(Z[:5], 2, axis=0)[:n]
    elif kind == "disconnected":
        edges = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [5, 6], [7, 8]])
    elif kind == "star":
        edges = np.column_stack([np.zeros(n - 1, int), np.arange(1, n)])
    elif kind == "chain":
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    elif kind == "one edge":
        edges = np.array([[1, 6]])
    elif kind == "masses":
        masses = rng.uniform(0.2, 5.0, n)
    weights = rng.uniform(0.2, 1.0, len(edges))
    if kind == "wide":
        weights = 10.0 ** rng.uniform(-8, 0, len(edges))
    return Z, edges, weights, masses


@pytest.fixture(scope="module")
def oracle():
    """Clarabel's centroids for one instance at many γ; the model is compiled once."""

    def centroids(problem, gammas):
        A = cvxpy.Variable(problem.Z.shape)
        strength = cvxpy.Parameter(nonneg=True)
        i, j = problem.edges.T
        root = np.sqrt(problem.masses)[:, None]
        fit = 0.5 * cvxpy.sum_squares(cvxpy.multiply(root, A - problem.Z))
        fusion = problem.weights @ cvxpy.norm(A[i] - A[j], 2, axis=1)
        model = cvxpy.Problem(cvxpy.Minimize(fit + strength * fusion))
        found = []
        for gamma in gammas:
            strength.value = gamma
            options = {"tol_gap_abs": 1e-12, "tol_gap_rel": 1e-12, "tol_feas": 1e-12}
            model.solve(solver=cvxpy.CLARABEL, **options)
            found.append(np.asarray(A.value))
        return found

    return centroids


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_solve_equals_the_oracle(kind, oracle):
    Z, edges, weights, masses = instance(kind, 0)
    top = gamma_range(Z, edges, weights, np.ones(len(Z)) if masses is None else masses)[1]
    problem = Problem.of(Z, edges, weights, 0.0, masses)
    gammas = [share * top for share in SHARES]
    for gamma, theirs in zip(gammas, oracle(problem, gammas)):
        here = problem.at(gamma)
        F = here.objective(theirs)
        # tol is relative to ½‖Z − Z̄‖², the claim is relative to F
        tol = 1e-3 if F == 0 else max(1e-14, min(1e-8, 1e-8 * F / here.scale))
        for solver in ("auto", "ssnal"):
            ours = solve(Z, edges, weights, gamma, masses=masses, solver=solver, tol=tol)
            assert ours.status is Status.CONVERGED, (kind, gamma, solver, ours.relative_gap)
            assert ours.gap >= 0
            assert here.objective(ours.A) == pytest.approx(F, rel=1e-7, abs=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_gap_covers_the_true_suboptimality(kind, oracle):
    # F* ≤ F(theirs), so F(A) − F(theirs) ≤ F(A) − F* ≤ gap: no accuracy of the oracle enters,
    # only the rounding of two values of F
    Z, edges, weights, masses = instance(kind, 1)
    problem = Problem.of(Z, edges, weights, 0.4, masses)
    F = problem.objective(oracle(problem, [0.4])[0])
    rng = np.random.default_rng(5)
    for scale in (0.0, 0.1, 1.0, 10.0):
        A = Z + scale * rng.normal(size=Z.shape)
        Lam = project(scale * rng.normal(size=(len(edges), Z.shape[1])), problem.c)
        assert duality_gap(problem, A, Lam) >= problem.objective(A) - F - 1e-13 * (1 + F)
    for solver in ("auto", "admm", "ama", "mm", "ssnal", "sweeps"):
        for max_iter in (1, 3, 20):
            ours = solve(
                Z, edges, weights, 0.4, masses=masses, solver=solver, tol=1e-13, max_iter=max_iter
            )
            assert ours.gap >= problem.objective(ours.A) - F - 1e-13 * (1 + F)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Solution may be inaccurate")
def test_certified_partitions_are_the_oracles(kind, oracle):
    # the oracle's distance from A* is at most √(2G), G its gap to our dual; a certified cluster
    # must be one place up to twice that, and certified neighbours must be apart
    Z, edges, weights, masses = instance(kind, 2)
    problem = Problem.of(Z, edges, weights, 0.0, masses)
    top = gamma_range(Z, edges, weights, problem.masses)[1]
    gammas = [share * top for share in (0.02, 0.15, 0.5, 2.0)]
    certified = 0
    for gamma, theirs in zip(gammas, oracle(problem, gammas)):
        here = problem.at(gamma)
        ours = solve(Z, edges, weights, gamma, masses=masses, tol=1e-13)
        if certify(here, ours).partition != "certified":
            continue
        certified += 1
        i, j = here.edges.T
        fused = (ours.A[i] == ours.A[j]).all(axis=1)
        reach = np.sqrt(2 * duality_gap(here, theirs, ours.Lam))
        spread = np.sqrt(1 / here.masses[i] + 1 / here.masses[j]) * reach
        apart = np.linalg.norm(theirs[i] - theirs[j], axis=1)
        assert (apart[fused] <= spread[fused]).all()
        places = np.linalg.norm(ours.A[i] - ours.A[j], axis=1)
        assert (places[~fused] > 0).all()
        own = np.sqrt(1 / here.masses[i] + 1 / here.masses[j]) * np.sqrt(2 * ours.gap)
        assert (apart >= places - spread - own).all()
        assert len(components(here.edges[fused], here.n)) == here.n
    assert certified >= 3  # at most one of the four may sit at a kink
