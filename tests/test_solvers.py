"""Every solver on every kind of problem: feasible dual, honest gap, agreement, closed forms."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from convexcluster import Problem, Solution, Status, solve, solve_path
from convexcluster.certificate import duality_gap, solution_radius
from convexcluster.certificate.rounding import roundings
from convexcluster.graph import components, incidence
from convexcluster.numerics.axes import leading_axes
from convexcluster.partition import means
from convexcluster.solvers import SOLVERS, auto, prove, sweeps
from convexcluster.solvers.driver import Method, Point, drive
from convexcluster.solvers.on_path import routed
from problems import knn_edges


def complete(n):
    return np.array(list(itertools.combinations(range(n), 2)), dtype=np.int64).reshape(-1, 2)


def chain(n):
    return np.column_stack([np.arange(n - 1), np.arange(1, n)])


def cases():
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(12, 3))
    edges = complete(12)[rng.permutation(66)[:30]]
    weights = rng.uniform(0.2, 1.0, 30)
    return {
        "generic": (Z, edges, weights, 0.3, None),
        "duplicates": (np.repeat(Z[:6], 2, axis=0), edges, weights, 0.3, None),
        "disconnected": (Z, np.vstack([chain(6), 6 + chain(5)]), np.ones(9), 0.4, None),
        "one edge": (Z, np.array([[2, 7]]), np.array([0.7]), 0.5, None),
        "star": (Z, np.column_stack([np.zeros(11, int), np.arange(1, 12)]), np.ones(11), 0.3, None),
        "chain": (Z, chain(12), np.ones(11), 0.5, None),
        "gamma 0": (Z, edges, weights, 0.0, None),
        "gamma huge": (Z, edges, weights, 1e6, None),
        "n = 1": (Z[:1], np.empty((0, 2), int), np.empty(0), 0.5, None),
        "n = 2": (Z[:2], np.array([[0, 1]]), np.ones(1), 0.25, None),
        "masses": (Z, edges, weights, 0.3, rng.uniform(0.5, 4.0, 12)),
        "no edges": (Z, np.empty((0, 2), int), np.empty(0), 0.5, None),
        "all equal": (np.full((5, 2), 0.1), chain(5), np.ones(4), 0.5, None),
        "one column": (Z[:, :1], edges, weights, 0.2, None),
    }


CASES = cases()
TOL = 1e-9
# the dual of MM loses digits as its smoothing falls: it stalls at 1.06e-9 on "one column"
TOL_MM = 1e-8


def tolerance(solver):
    return TOL_MM if solver == "mm" else TOL


def run(case, solver, tol=None, **options):
    tol = tolerance(solver) if tol is None else tol
    Z, edges, weights, gamma, masses = CASES[case]
    problem = Problem.of(Z, edges, weights, gamma, masses)
    return problem, solve(
        Z, edges, weights, gamma, masses=masses, solver=solver, tol=tol, **options
    )


# Algorithm 1 is the paper's and has no masses; that it says so is tested below
PAIRS = [
    (solver, case)
    for solver, case in itertools.product(SOLVERS, CASES)
    if (solver, case) != ("algorithm1", "masses")
]


@pytest.mark.parametrize(("solver", "case"), PAIRS)
def test_contract(solver, case):
    problem, found = run(case, solver)
    assert found.status is Status.CONVERGED
    assert found.relative_gap <= tolerance(solver)
    # feasible up to the rounding of one square root per row
    assert (np.linalg.norm(found.Lam, axis=1) <= problem.c * (1 + 1e-14)).all()
    assert found.gap == pytest.approx(duality_gap(problem, found.A, found.Lam), rel=1e-9, abs=1e-18)
    # the mean of every component is that of the data: within R/√m by ‖A − A*‖_M ≤ R
    labels = components(problem.edges, problem.n)
    mean = [means(X, problem.masses, labels) for X in (problem.Z, found.A)]
    blur = 2 * roundings(problem.n + 3) * (np.abs(problem.Z).max() + np.abs(found.A).max())
    lightest = np.sqrt(problem.masses.min())
    assert np.abs(mean[0] - mean[1]).max() <= solution_radius(problem, found) / lightest + blur


@pytest.mark.parametrize("case", CASES)
def test_solvers_agree_within_their_radii(case):
    # ‖A₁ − A₂‖_M ≤ ‖A₁ − A*‖_M + ‖A₂ − A*‖_M
    found = []
    for solver in (solver for solver, name in PAIRS if name == case):
        problem, solution = run(case, solver)
        found.append(solution)
    root = np.sqrt(problem.masses)[:, None]
    for a, b in itertools.combinations(found, 2):
        radius = solution_radius(problem, a) + solution_radius(problem, b)
        assert np.linalg.norm(root * (a.A - b.A)) <= radius * (1 + 1e-12)


@pytest.mark.parametrize(("solver", "case"), [pair for pair in PAIRS if pair[1] != "all equal"])
def test_fused_rows_are_equal_to_the_last_bit(solver, case):
    # at 1e-8 the partition of these small cases is settled: rows are equal or clearly apart
    problem, found = run(case, solver)
    i, j = problem.edges.T
    apart = np.abs(found.A[i] - found.A[j]).max(axis=1, initial=0.0)
    assert ((apart == 0) | (apart > 1e-5)).all()


def test_two_points():
    # they approach by γw/m each until they meet at the mass mean
    Z, masses = np.array([[0.0, 0.0], [3.0, 4.0]]), np.array([1.0, 3.0])
    unit = np.array([0.6, 0.8])
    for solver in SOLVERS.keys() - {"algorithm1"}:
        near = solve(Z, [[0, 1]], [0.5], 2.0, masses=masses, solver=solver, tol=1e-12)
        np.testing.assert_allclose(near.A, [unit, Z[1] - unit / 3], atol=1e-5)
        met = solve(Z, [[0, 1]], [0.5], 8.0, masses=masses, solver=solver, tol=1e-12)
        np.testing.assert_allclose(met.A, np.tile(0.75 * Z[1], (2, 1)), atol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
def test_chain(solver):
    # in one dimension, sorted and before anything fuses, only the ends of a chain move, by γ; all
    # is fused from γ_max = max_l |Σ_{i≤l} (z_i − z̄)| on, the only flow that a chain has
    z = np.array([0.0, 1.0, 2.5, 4.0, 7.0])
    edges, weights = chain(5), np.ones(4)
    early = solve(z[:, None], edges, weights, 0.3, solver=solver, tol=1e-12)
    np.testing.assert_allclose(early.A.ravel(), [0.3, 1.0, 2.5, 4.0, 6.7], atol=1e-5)
    top = np.abs(np.cumsum(z - z.mean()))[:-1].max()
    fused = solve(z[:, None], edges, weights, 1.01 * top, solver=solver, tol=1e-10)
    np.testing.assert_allclose(fused.A, z.mean(), atol=1e-4)
    not_yet = solve(z[:, None], edges, weights, 0.97 * top, solver=solver, tol=1e-10)
    assert np.ptp(not_yet.A) > 0.01


def knn_problem(n, k, seed=0):
    rng = np.random.default_rng(seed)
    X = np.vstack([rng.normal(size=(n // 2, 2)), 5 + rng.normal(size=(n - n // 2, 2))])
    edges, squares = knn_edges(X, k)
    return X, edges, np.exp(-0.1 * squares)


def test_algorithm1_equals_sparse_admm():
    X, edges, weights = knn_problem(60, 6)
    for gamma in (0.05, 0.3):
        paper = solve(X, edges, weights, gamma, solver="algorithm1", tol=1e-8)
        sparse = solve(X, edges, weights, gamma, solver="admm", tol=1e-8)
        assert paper.status is sparse.status is Status.CONVERGED
        radius = np.sqrt(2 * paper.gap) + np.sqrt(2 * sparse.gap)
        assert np.linalg.norm(paper.A - sparse.A) <= radius


def shortcut(Z, edges, c, rho, steps):
    """Algorithm 1's update with its 1/(1 + nρ) kept on the pairs of a sparse graph."""
    n = len(Z)
    D = incidence(edges, n)
    V = D @ Z
    mu = np.zeros_like(V)
    for _ in range(steps):
        A = (Z + D.T @ (mu + rho * V) + rho * Z.sum(axis=0)) / (1 + n * rho)
        T = D @ A - mu / rho
        norms = np.linalg.norm(T, axis=1)
        V = np.maximum(1 - c / (rho * np.maximum(norms, 1e-300)), 0)[:, None] * T
        mu = mu + rho * (V - D @ A)
    return A, -mu


def test_the_shortcut_on_a_sparse_graph_solves_another_problem():
    Z, edges, weights = knn_problem(20, 4, seed=3)
    gamma = 0.2
    c = gamma * weights
    n = len(Z)
    D = incidence(edges, n).toarray()
    others = n * np.eye(n) - 1.0 - D.T @ D  # Laplacian of the pairs without an edge
    exact = solve(Z, edges, weights, gamma, tol=1e-12)
    for rho in (0.02, 0.2):
        A, Lam = shortcut(Z, edges, c, rho, 4_000)
        # F + (ρ/2) Σ_{(i,j)∉E} ‖a_i − a_j‖² is as strongly convex as F: its stationarity residual
        # and the misalignment of a feasible dual bound the distance of A from its minimiser
        assert (np.linalg.norm(Lam, axis=1) <= c * (1 + 1e-9)).all()
        rest = A - Z + rho * others @ A + D.T @ Lam
        DA = D @ A
        aligned = c * np.linalg.norm(DA, axis=1) - (Lam * DA).sum(axis=1)
        off = np.sqrt(np.sum(rest**2) + 2 * np.maximum(aligned, 0).sum())
        # the optimum of F is a hundred times further away
        assert np.linalg.norm(A - exact.A) - np.sqrt(2 * exact.gap) > 100 * off


@pytest.mark.parametrize("solver", sorted(SOLVERS.keys() - {"algorithm1"}))
def test_a_warm_start_starts_near(solver):
    X, edges, weights = knn_problem(40, 5)
    cold = solve(X, edges, weights, 0.1, solver=solver, tol=1e-8)
    again = solve(X, edges, weights, 0.1, solver=solver, tol=1e-8, warm=cold)
    assert again.status is Status.CONVERGED
    assert again.n_iter == 0
    nearby = {"solver": solver, "tol": 1e-8, "max_iter": 4}
    from_scratch = solve(X, edges, weights, 0.102, **nearby)
    assert solve(X, edges, weights, 0.102, warm=cold, **nearby).gap < 0.5 * from_scratch.gap


@pytest.mark.parametrize("solver", SOLVERS)
def test_the_limit_on_iterations_is_kept_and_said(solver):
    X, edges, weights = knn_problem(30, 5)
    found = solve(X, edges, weights, 0.1, solver=solver, tol=1e-14, max_iter=3)
    assert found.n_iter == 3
    assert found.status is Status.MAX_ITER
    problem = Problem.of(X, edges, weights, 0.1)
    assert found.gap == pytest.approx(duality_gap(problem, found.A, found.Lam))


def test_many_small_components_and_lone_samples():
    # components are solved apart or together depending on their size: both must be right
    X, edges, weights = knn_problem(40, 4)
    small = 40 + np.array([[0, 1], [1, 2], [3, 4]])
    Z = np.vstack([X, 3 * X[:7]])
    edges, weights = np.vstack([edges, small]), np.concatenate([weights, np.ones(3)])
    found = solve(Z, edges, weights, 0.2, tol=1e-10)
    check = solve(Z, edges, weights, 0.2, tol=1e-10, solver="ssnal")
    assert found.status is Status.CONVERGED
    assert np.linalg.norm(found.A - check.A) <= np.sqrt(2 * found.gap) + np.sqrt(2 * check.gap)
    np.testing.assert_array_equal(found.A[45:], Z[45:])


def test_nothing_of_the_users_is_changed():
    Z, edges, weights, gamma, _ = CASES["generic"]
    parts = [np.array(part) for part in (Z, edges, weights)]
    for part in parts:
        part.flags.writeable = False
    for solver in SOLVERS:
        solve(*parts, gamma, solver=solver, tol=1e-6)
    kept = solve(*parts, 0.0)
    assert not np.shares_memory(kept.A, parts[0])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_other_types_and_orders_are_taken(dtype, order):
    Z = np.array([[0, 0], [4, 1], [9, 3]], dtype=dtype, order=order)
    found = solve(Z, [[0, 1], [1, 2]], [1, 1], 0.5)
    assert found.A.dtype == np.float64
    assert found.status is Status.CONVERGED


BAD = {
    "Z is a sparse matrix": {"Z": csr_array(np.eye(2))},
    "Z is complex": {"Z": [[1j], [0.0]]},
    "Z must be 2-D": {"Z": [0.0, 1.0]},
    "Z has no samples": {"Z": np.empty((0, 2))},
    "Z must hold numbers": {"Z": [["a"], ["b"]]},
    "Z holds nan in row 1": {"Z": [[0.0], [np.nan]]},
    "Z holds inf in row 0": {"Z": [[np.inf], [0.0]]},
    "edges must have shape": {"edges": [0, 1]},
    "out of range for 2 samples": {"edges": [[0, 2]]},
    "must have i < j": {"edges": [[1, 0]]},
    "is repeated": {"edges": [[0, 1], [0, 1]], "weights": [1.0, 1.0]},
    "integer sample indices": {"edges": [[0.0, 0.5]]},
    "weights must have shape": {"weights": [1.0, 2.0]},
    "weights must be finite and ≥ 0": {"weights": [-1.0]},
    "weights\\[0\\] is nan": {"weights": [np.nan]},
    "gamma must be finite and ≥ 0": {"gamma": -0.1},
    "gamma must be a number": {"gamma": "much"},
    "weights must hold numbers": {"weights": ["a"]},
    "weights must be real": {"weights": [1j]},
    "masses must hold numbers": {"masses": ["a", "b"]},
    "got nan": {"gamma": np.nan},
    "Z spans 1.0e-200": {"Z": [[0.0], [1e-200]]},
    "Z spans 1.0e\\+200": {"Z": [[0.0], [1e200]]},
    "overflows": {"gamma": 1e308, "weights": [1e10]},
    "masses must have shape": {"masses": [1.0]},
    "masses must be finite and > 0": {"masses": [1.0, 0.0]},
    "solver must be one of": {"solver": "newton"},
    "tol must be a finite number > 0": {"tol": 0.0},
    "max_iter must be a whole number": {"max_iter": 0},
    "warm must be a Solution": {"warm": "cold"},
    "algorithm1 takes no masses": {"solver": "algorithm1", "masses": [1.0, 2.0]},
    "algorithm1 splits all pairs": {"solver": "algorithm1", "Z": np.arange(2000.0)[:, None]},
}


@pytest.mark.parametrize("sentence", BAD)
def test_bad_input_is_refused_by_a_sentence(sentence):
    good = {"Z": [[0.0], [4.0]], "edges": [[0, 1]], "weights": [1.0], "gamma": 0.5}
    with pytest.raises(ValueError, match=sentence):
        solve(**{**good, **BAD[sentence]})


def test_algorithm1_refuses_a_warm_start():
    cold = solve([[0.0], [4.0]], [[0, 1]], [1.0], 0.5)
    with pytest.raises(ValueError, match="algorithm1 takes no warm start"):
        solve([[0.0], [4.0]], [[0, 1]], [1.0], 0.5, solver="algorithm1", warm=cold)


def test_a_callable_is_a_solver():
    def lazy(problem, target, max_iter, warm):
        Lam = np.zeros((len(problem.edges), problem.Z.shape[1]))
        return Solution(problem.Z, Lam, 1.0, 1.0, Status.STALLED, 0)

    found = solve([[0.0], [4.0]], [[0, 1]], [1.0], 0.5, solver=lazy)
    assert found.status is Status.STALLED


def test_auto_goes_on_by_newton_where_sweeps_stall(monkeypatch):
    X, edges, weights = knn_problem(60, 5)
    lazy = replace(sweeps.METHOD, max_iter=2)
    monkeypatch.setattr(sweeps, "METHOD", lazy)
    found = solve(X, edges, weights, 0.1, tol=1e-9)
    assert found.status is Status.CONVERGED
    assert found.n_iter > 2


def test_auto_numbers_large_parts_anew(monkeypatch):
    X, edges, weights = knn_problem(60, 5)
    plain = solve(X, edges, weights, 0.1, tol=1e-10)
    monkeypatch.setattr(auto, "UNORDERED", 10)
    found = solve(X, edges, weights, 0.1, tol=1e-10)
    assert found.status is Status.CONVERGED
    assert np.linalg.norm(found.A - plain.A) <= np.sqrt(2 * found.gap) + np.sqrt(2 * plain.gap)
    problem = Problem.of(X, edges, weights, 0.1)
    assert found.gap == pytest.approx(duality_gap(problem, found.A, found.Lam))


def test_dropped_axes_stay_in_the_gap():
    # the trace outside the kept axes is part of the reported gap, which is of the full problem
    rng = np.random.default_rng(2)
    X, edges, weights = knn_problem(50, 5)
    Z = np.hstack([X, 1e-4 * rng.normal(size=(50, 30))])
    problem = Problem.of(Z, edges, weights, 0.1)
    (part,) = auto.parts(problem, 1e-6 * problem.scale)[:1]
    assert part.problem.Z.shape[1] < 32
    found = solve(Z, edges, weights, 0.1, tol=1e-6)
    assert found.gap == pytest.approx(duality_gap(problem, found.A, found.Lam))
    fine = solve(Z, edges, weights, 0.1, tol=1e-13, solver="ssnal")
    assert np.linalg.norm(found.A - fine.A) <= np.sqrt(2 * found.gap) + np.sqrt(2 * fine.gap)


def test_prove_tightens_until_the_partition_is_certified():
    X, edges, weights = knn_problem(60, 5)
    problem = Problem.of(X, edges, weights, 0.1)
    rough = solve(X, edges, weights, 0.1, tol=1e-3)
    exact, certificate = prove(problem, rough)
    assert certificate.partition == "certified"
    assert exact.gap < rough.gap
    assert certificate.gap == exact.gap
    _, blurred = prove(problem, rough, embedding_error=5.0)
    assert blurred.partition.endswith("without it certified)")


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_data_far_from_the_origin(offset):
    X, edges, weights = knn_problem(40, 5)
    near = solve(X, edges, weights, 0.1)
    far = solve(X + offset, edges, weights, 0.1)
    assert far.status is Status.CONVERGED
    radius = np.sqrt(2 * near.gap) + np.sqrt(2 * far.gap)
    assert np.linalg.norm(far.A - offset - near.A) <= radius + 1e-15 * offset * np.sqrt(X.size)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_data_of_any_size(scale):
    X, edges, weights = knn_problem(40, 5)
    found = solve(scale * X, edges, weights, scale * 0.1)
    assert found.status is Status.CONVERGED
    near = solve(X, edges, weights, 0.1)
    radius = np.sqrt(2 * near.gap) + np.sqrt(2 * found.gap) / scale
    assert np.linalg.norm(found.A / scale - near.A) <= radius + 1e-12


def test_masses_over_sixteen_orders_of_magnitude():
    X, edges, weights = knn_problem(40, 5)
    masses = 10.0 ** np.random.default_rng(0).uniform(-8, 8, 40)
    found = solve(X, edges, weights, 0.1, masses=masses)
    assert found.status is Status.CONVERGED
    check = solve(X, edges, weights, 0.1, masses=masses, solver="ssnal")
    root = np.sqrt(masses)[:, None]
    radius = np.sqrt(2 * found.gap) + np.sqrt(2 * check.gap)
    assert np.linalg.norm(root * (found.A - check.A)) <= radius


@pytest.mark.parametrize("shape", [(30, 5), (8, 40)])
@pytest.mark.parametrize("share", [0.0, 1e-14, 1e-6, 1e-2, 1.0])
def test_principal_axes_are_orthonormal_and_drop_what_they_may(shape, share):
    rng = np.random.default_rng(6)
    X = rng.normal(size=shape) * 10.0 ** -np.arange(shape[1])
    X -= X.mean(axis=0)  # rank n − 1
    total = 0.5 * np.sum(X * X)
    axes = leading_axes(X, 2 * share * total).Q.T
    np.testing.assert_allclose(axes @ axes.T, np.eye(len(axes)), atol=1e-7)
    lost = X - X @ axes.T @ axes
    assert len(axes) == 1 or 0.5 * np.sum(lost * lost) <= share * total + 1e-15 * total


def test_more_dimensions_than_samples_to_full_accuracy():
    X, edges, weights = knn_problem(40, 5)
    Z = np.hstack([X, np.random.default_rng(1).normal(size=(40, 90))])
    found = solve(Z, edges, weights, 0.5, tol=1e-14)
    assert found.status is Status.CONVERGED


@pytest.mark.parametrize("case", CASES)
def test_routing_finds_the_dual_of_the_right_partition(case):
    problem, solved = run(case, "auto", 1e-12)
    i, j = problem.edges.T
    labels = components(problem.edges[(solved.A[i] == solved.A[j]).all(axis=1)], problem.n)
    centers = means(solved.A, problem.masses, labels)
    rough = centers + 1e-3 * np.random.default_rng(0).normal(size=centers.shape)
    target = 1e-6 * problem.scale
    found = routed(problem, labels, rough, target)
    assert found.gap <= target or problem.gamma == 0  # without pull the rough centroids stay
    assert found.gap == pytest.approx(duality_gap(problem, found.A, found.Lam), abs=1e-15)
    assert (np.linalg.norm(found.Lam, axis=1) <= problem.c * (1 + 1e-12)).all()
    apart = np.linalg.norm(np.sqrt(problem.masses)[:, None] * (found.A - solved.A))
    assert apart <= np.sqrt(2 * found.gap) + np.sqrt(2 * solved.gap) + 1e-12


def test_clusters_that_cannot_be_held_are_known_not_to_fuse_fully():
    # two pairs, tied by an edge that can carry a tenth of what either has to give
    Z = np.array([[-5.0], [-5.2], [5.0], [5.2]])
    problem = Problem.of(Z, chain(4), np.array([9.0, 0.1, 9.0]), 10.0)
    warm = solve(Z, chain(4), problem.weights, 10.0, tol=1e-9)
    assert auto.may_fuse_fully(problem)
    assert not auto.may_fuse_fully(problem, warm.Lam)
    assert auto.may_fuse_fully(problem.at(1e4), warm.Lam)


def test_routing_at_capacity_finishes_by_sweeps_and_sharpens_where_asked():
    # a graph that has just fused: some edges are full, and electrical steps stall at them
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(60, 5))
    edges = np.unique(
        np.sort(np.vstack([chain(60), rng.integers(0, 60, (120, 2))]), axis=1), axis=0
    )
    edges = edges[edges[:, 0] < edges[:, 1]]
    weights = rng.uniform(0.1, 1.0, len(edges))
    path = solve_path(Z, edges, weights)
    problem = Problem.of(Z, edges, weights, float(path.gammas[path.n_clusters == 1][0]))
    whole, mean = np.zeros(60, dtype=np.int64), Z.mean(axis=0, keepdims=True)
    target = 1e-10 * problem.scale
    found, sharp = (routed(problem, whole, mean, target, sharp=s) for s in (False, True))
    assert found.gap <= target
    assert sharp.gap <= 1e-3 * target
    for solution in (found, sharp):
        assert (np.linalg.norm(solution.Lam, axis=1) <= problem.c * (1 + 1e-12)).all()


def test_routing_a_wrong_partition_is_no_solution_but_a_start():
    Z = np.array([[0.0], [1.0], [9.0]])
    problem = Problem.of(Z, chain(3), np.ones(2), 1.2)
    wrong = routed(problem, np.zeros(3, dtype=np.int64), Z.mean(axis=0, keepdims=True), 1e-9)
    assert wrong.status is Status.STALLED
    assert wrong.gap > 1e-9
    right = solve(Z, chain(3), np.ones(2), 1.2, warm=wrong, tol=1e-9)
    np.testing.assert_allclose(right.A.ravel(), [1.1, 1.1, 7.8], atol=np.sqrt(2 * right.gap))


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "algorithm1"])
@pytest.mark.filterwarnings("error")
def test_weights_over_eighteen_orders_of_magnitude(solver):
    # Laplacians of such weights are singular in floats; no solver may fail or warn of it
    rng = np.random.default_rng(3)
    converged = 0
    for _ in range(12):
        n = int(rng.integers(3, 9))
        pairs = np.column_stack(np.triu_indices(n, k=1))
        edges = pairs[np.sort(rng.choice(len(pairs), n, replace=False))]
        weights = rng.uniform(0.1, 1, n) * 10.0 ** rng.choice([-18, -9, 0], n)
        Z, gamma = rng.normal(size=(n, 2)), float(10.0 ** rng.uniform(-2, 19))
        found = solve(Z, edges, weights, gamma, solver=solver, max_iter=500)
        assert np.isfinite(found.A).all()
        converged += found.status is Status.CONVERGED
        problem = Problem.of(Z, edges, weights, gamma)
        exact, proved = prove(problem, found)
        radius = solution_radius(problem, found) + solution_radius(problem, exact)
        assert np.linalg.norm(found.A - exact.A) <= radius * (1 + 1e-12)
        assert proved.partition.startswith(("certified", "not certified"))
    assert converged >= 6


def test_the_best_point_is_kept_where_a_method_goes_on_in_place():
    problem = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], 0.5)

    def iterates(problem, warm, target):
        A, Lam = np.array([[0.5], [3.5]]), np.zeros((1, 1))  # the optimum, but for the dual
        while True:
            yield Point(A, Lam)
            A += 1.0

    found = drive(Method(iterates, max_iter=3), problem, 0.0)
    np.testing.assert_array_equal(found.A, [[0.5], [3.5]])
    assert found.gap == duality_gap(problem, found.A, found.Lam)


def test_a_dual_of_the_run_is_started_from_without_a_copy():
    problem = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], 0.5)
    started = []

    def iterates(problem, warm, target):
        started.append(warm)
        while True:
            yield Point(problem.Z.copy(), warm)

    given = np.array([[0.3]])
    drive(Method(iterates, max_iter=3), problem, 0.0, warm=given, own=True)
    drive(Method(iterates, max_iter=3), problem, 0.0, warm=given)
    assert started[0] is given
    assert started[1] is not given


def test_the_first_iterate_ends_a_run_that_is_done_and_is_else_not_kept():
    problem = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], 0.5)

    def iterates(problem, warm, target):
        for dual in (-0.45, *[-0.1] * 8, -0.4):
            yield Point(problem.Z.copy(), np.array([[dual]]))

    done = drive(Method(iterates, max_iter=100, every=10), problem, 10.0)
    assert (done.n_iter, done.status) == (1, Status.CONVERGED)
    found = drive(Method(iterates, max_iter=10, every=10), problem, 0.0)
    np.testing.assert_array_equal(found.Lam, [[-0.4]])
    assert found.gap == duality_gap(problem, found.A, found.Lam)


def test_a_dual_to_start_from_is_written_over_only_where_it_may_be():
    X, edges, weights = knn_problem(60, 5)
    problem = Problem.of(X, edges, weights, 0.1)
    start = np.full((len(edges), X.shape[1]), 0.3)
    given = start.copy()
    kept = drive(sweeps.METHOD, problem, 1e-9, 200, given)
    np.testing.assert_array_equal(given, start)
    owned = drive(sweeps.METHOD, problem, 1e-9, 200, given, own=True)
    assert owned.Lam is given
    np.testing.assert_array_equal(owned.Lam, kept.Lam)
    np.testing.assert_array_equal(owned.A, kept.A)
