"""Cells, their sums, and the bound on what coarsening costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import MiniBatchKMeans

from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.certificate import duality_gap
from convexcluster.graph import Graph, incidence, quotient
from convexcluster.loops.routing import cut_off
from convexcluster.loops.sweeps import sweep
from convexcluster.points.cells import add, cells_of, condense, summarise, unite
from convexcluster.points.error import cohesion, inherited_error
from convexcluster.points.flows import rows_error
from convexcluster.points.scales import ScaleWarning
from convexcluster.problem import Problem
from convexcluster.solvers import solve_problem
from problems import inherited_graph, knn_edges


def blobs(n: int, d: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    centres = 4 * rng.normal(size=(5, d))
    return centres[rng.integers(5, size=n)] + rng.normal(size=(n, d))


def knn_graph(X: np.ndarray, k: int = 5) -> Graph:
    edges, squares = knn_edges(X, k)
    return Graph(edges, np.exp(-squares / np.median(squares)))


def plain_summary(Z, labels, count, masses):
    """The NumPy twin of the loop ``add_rows``."""
    M = np.bincount(labels, masses, count)
    mean = np.array([masses[labels == g] @ Z[labels == g] / M[g] for g in range(count)])
    scatter = np.bincount(labels, masses * ((Z - mean[labels]) ** 2).sum(axis=1), count)
    return M, mean, scatter


def test_summary_is_that_of_the_rows():
    X = blobs(300, 3) + 1e6  # an offset that would cancel in a naive sum of squares
    masses = np.random.default_rng(1).uniform(0.5, 2, 300)
    labels, cells = condense(X, 20, masses)
    M, mean, scatter = plain_summary(X, labels, 20, masses)
    np.testing.assert_allclose(cells.masses, M)
    np.testing.assert_allclose(cells.means, mean)
    # X is known to 1e6·2⁻⁵³, so the scatter (~1 a row) is to about 1e-9 of itself
    np.testing.assert_allclose(cells.scatter, scatter, rtol=1e-8)


def test_summaries_of_parts_add_up():
    X = blobs(400, 4)
    labels, whole = condense(X, 15)
    parts = [summarise(X[s], labels[s], 15) for s in (slice(0, 100), slice(100, 400))]
    for name in ("masses", "means", "scatter"):
        np.testing.assert_allclose(getattr(add(parts), name), getattr(whole, name), atol=1e-9)


def test_cells_of_blocks_unite_to_cells_of_the_whole():
    X = blobs(3000, 2)
    parts = [condense(block, 100)[1] for block in np.array_split(X, 6)]
    united = unite(parts, 50)
    assert len(united.masses) <= 50
    assert united.masses.sum() == pytest.approx(3000)
    mean = united.masses @ united.means / 3000
    np.testing.assert_allclose(mean, X.mean(axis=0))
    # scatter inside + scatter of the means = scatter of the rows: nothing is lost on the way
    between = united.masses @ ((united.means - mean) ** 2).sum(axis=1)
    assert united.scatter.sum() + between == pytest.approx(((X - X.mean(axis=0)) ** 2).sum())


@pytest.mark.parametrize("d", [2, 10])
def test_scatter_is_near_that_of_k_means(d):
    X = blobs(3000, d)
    ours = condense(X, 60)[1].scatter.sum()
    theirs = MiniBatchKMeans(60, random_state=0, n_init=1).fit(X).inertia_
    assert ours <= 1.15 * theirs  # measured: 0.85 and 1.07 at 200,000 rows


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 40),
    d=st.integers(1, 3),
    values=st.integers(1, 5),
    budget=st.integers(1, 60),
    seed=st.integers(0, 10_000),
)
def test_condense_on_degenerate_rows(n, d, values, budget, seed):
    X = np.random.default_rng(seed).integers(values, size=(n, d)).astype(float)
    labels, cells = condense(X, budget)
    distinct = len(np.unique(X, axis=0))
    assert len(cells.masses) <= min(budget, distinct)
    assert np.array_equal(np.unique(labels), np.arange(len(cells.masses)))
    if budget >= distinct:
        assert cells.scatter.max() == pytest.approx(0, abs=1e-12)
        assert len(cells.masses) == distinct


def test_assignment_does_not_depend_on_the_block_and_is_near_the_nearest():
    X = blobs(5000, 3)
    cells = cells_of(condense(X, 300)[1].means)
    labels = cells.assign(X)
    again = np.concatenate([cells.assign(block) for block in np.array_split(X, 7)])
    np.testing.assert_array_equal(labels, again)
    distance = np.linalg.norm(X[:, None] - cells.centres, axis=2)
    strays = np.mean(labels != distance.argmin(axis=1))
    assert strays < 0.02  # a walk may end one cell off; it must not be lost


def test_each_centre_is_its_own_cell():
    centres = blobs(200, 5)
    np.testing.assert_array_equal(cells_of(centres).assign(centres), np.arange(200))


@pytest.mark.parametrize("gamma", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("tol", [1e-2, 1e-8])
def test_points_error_bounds_the_true_error(gamma, tol):
    X = blobs(150, 2, seed=3)
    masses = np.random.default_rng(0).uniform(0.5, 2.0, len(X))
    fine = knn_graph(X)
    labels, cells = condense(X, 40, masses)
    between = quotient(fine.edges, fine.weights, labels)
    coarse = Problem.of(cells.means, between.edges, between.weights, gamma, cells.masses)
    solution = solve_problem(coarse, tol=tol)
    full = Problem.of(X, fine.edges, fine.weights, gamma, masses)
    exact = solve_problem(full, tol=1e-11)
    A = solution.A[labels]
    true = np.sqrt(masses @ ((A - exact.A) ** 2).sum(axis=1))

    def error(rounds):
        return rows_error(lambda i: X[i], masses, labels, fine, coarse, solution, rounds).total

    plain, routed = error(0), error(5)
    for bound in (plain, routed):  # ‖V‖ alone, without the gap of the coarse problem
        assert true <= bound + np.sqrt(2 * exact.gap) + 1e-12
    assert routed <= plain + 1e-12
    assert routed < 0.9 * plain or gamma == 0.05  # clusters of one cell have little to route


def test_points_error_is_the_gap_of_the_dual_it_describes():
    X = blobs(150, 2, seed=3)
    fine = knn_graph(X)
    labels, cells = condense(X, 40)
    between = quotient(fine.edges, fine.weights, labels)
    coarse = Problem.of(cells.means, between.edges, between.weights, 0.5, cells.masses)
    solution = solve_problem(coarse, tol=1e-6)
    A = solution.A[labels]
    apart = A[fine.edges[:, 0]] - A[fine.edges[:, 1]]
    length = np.linalg.norm(apart, axis=1)
    Lam = (0.5 * fine.weights / np.where(length > 0, length, np.inf))[:, None] * apart
    gap = duality_gap(Problem.of(X, fine.edges, fine.weights, 0.5), A, Lam)
    bound = rows_error(lambda i: X[i], np.ones(150), labels, fine, coarse, solution, 0).total
    assert bound**2 / 2 == pytest.approx(gap, rel=1e-9)


@pytest.mark.parametrize("gamma", [0.02, 0.3, 2.0])
def test_spread_error_bounds_the_true_error(gamma):
    X = blobs(90, 2, seed=5)
    masses = np.random.default_rng(2).uniform(0.5, 2.0, len(X))
    labels, cells = condense(X, 25, masses)
    coarse_graph = knn_graph(cells.means, 4)
    coarse = Problem.of(cells.means, coarse_graph.edges, coarse_graph.weights, gamma, cells.masses)
    solution = solve_problem(coarse, tol=1e-8)
    fine = inherited_graph(coarse_graph, labels, masses)
    exact = solve_problem(Problem.of(X, fine.edges, fine.weights, gamma, masses), tol=1e-10)
    true = np.sqrt(masses @ ((solution.A[labels] - exact.A) ** 2).sum(axis=1))
    distance = np.linalg.norm(X[:, None] - X, axis=2)
    same = labels[:, None] == labels
    diameters = np.array([(distance * same)[labels == g].max() for g in range(25)])
    bound = inherited_error(
        cells.scatter, diameters, gamma, cohesion(coarse_graph, cells.masses)
    ).total
    assert true <= np.sqrt(2 * solution.gap + bound**2) + np.sqrt(2 * exact.gap) + 1e-12


def test_spread_coarsening_is_exact_once_cells_must_fuse():
    X = blobs(60, 2, seed=1)
    labels, cells = condense(X, 30)
    graph = knn_graph(cells.means, 4)
    omega = cohesion(graph, cells.masses)
    diameter = max(
        np.linalg.norm(X[labels == g][:, None] - X[labels == g], axis=2).max() for g in range(30)
    )
    gamma = 1.0001 * diameter / omega
    assert inherited_error(cells.scatter, np.full(30, diameter), gamma, omega).total == 0
    fine = inherited_graph(graph, labels, np.ones(60))
    exact = solve_problem(Problem.of(X, fine.edges, fine.weights, gamma), tol=1e-9)
    coarse = solve_problem(
        Problem.of(cells.means, graph.edges, graph.weights, gamma, cells.masses), tol=1e-9
    )
    distance = np.linalg.norm(exact.A - coarse.A[labels])
    assert distance <= np.sqrt(2 * exact.gap) + np.sqrt(2 * coarse.gap) + 1e-12


def test_at_large_gamma_the_flow_inside_clusters_carries_everything():
    X = blobs(300, 2, seed=4)
    fine = knn_graph(X, 12)
    labels, cells = condense(X, 10)
    between = quotient(fine.edges, fine.weights, labels)
    coarse = Problem.of(cells.means, between.edges, between.weights, 1e5, cells.masses)
    solution = solve_problem(coarse, tol=1e-12)
    error = rows_error(lambda i: X[i], np.ones(300), labels, fine, coarse, solution)
    # what is left is 1e-4 of ‖b‖² in axes without flow, and in two dimensions there are none
    assert error.total < 1e-5 * np.linalg.norm(X)


def test_loops_of_flows_equal_their_numpy_twins():
    rng = np.random.default_rng(0)
    Y, v, m = rng.normal(size=(30, 4)), rng.normal(size=(30, 4)), rng.uniform(0.5, 2.0, 30)
    edges = knn_graph(Y).edges
    kappa, c = rng.uniform(0.1, 1.0, len(edges)), rng.uniform(0.1, 1.0, len(edges))
    D = incidence(edges, 30)
    flow = kappa[:, None] * (D @ Y)
    length = np.linalg.norm(flow, axis=1) / c
    short = flow / np.maximum(length, 1.0)[:, None]
    left, ratio = v.copy(), np.empty(len(edges))
    cut_off(Y, kappa, c, edges, left, ratio)
    np.testing.assert_allclose(left, v - D.T @ short, atol=1e-12)
    np.testing.assert_allclose(ratio, length)
    Lam, swept = short.copy(), v - (D.T @ short) / m[:, None]
    before = m @ (swept**2).sum(axis=1)
    i, j = np.ascontiguousarray(edges.T)
    sweep(i, j, c, 1 / m, swept, Lam, np.arange(len(c)), 3, np.float64(1.0))
    np.testing.assert_allclose(swept, v - (D.T @ Lam) / m[:, None], atol=1e-12)
    assert (np.linalg.norm(Lam, axis=1) <= c * (1 + 1e-12)).all()
    assert m @ (swept**2).sum(axis=1) < before


def test_cells_at_gamma_zero_have_an_answer():
    """No force has no flow to be routed: that was a division by zero."""
    X = np.random.default_rng(0).normal(size=(28, 1)) * 10.0 ** np.arange(28)[:, None]
    model = ConvexClustering(gamma=[0.0], coarsen=5).fit(X)
    assert np.isfinite(model.certificate_.radius)


def test_cells_whose_flows_are_beyond_all_numbers_have_an_answer():
    """Conductances that were lowered to 0 made a singular matrix."""
    X = 2.0**30 * np.random.default_rng(0).normal(size=(16, 2))
    X[0] *= 1e10
    with pytest.warns(ScaleWarning):
        model = KernelConvexClustering(kernel="polynomial", coarsen=1).fit(X)
    assert np.isfinite(model.certificate_.radius)
