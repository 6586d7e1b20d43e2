"""Every solver on every kind of problem: feasible dual, honest gap, agreement, closed forms."""

import itertools

import numpy as np
import pytest

from convexcluster import Problem, Status, solve
from convexcluster.certificate import duality_gap
from convexcluster.graph import component_means, components
from convexcluster.solvers import SOLVERS


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
TOL = 1e-8


def run(case, solver, tol=TOL, **options):
    if solver == "algorithm1" and CASES[case][4] is not None:
        pytest.skip("Algorithm 1 has no masses")
    Z, edges, weights, gamma, masses = CASES[case]
    problem = Problem.of(Z, edges, weights, gamma, masses)
    return problem, solve(
        Z, edges, weights, gamma, masses=masses, solver=solver, tol=tol, **options
    )


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", SOLVERS)
def test_contract(solver, case):
    problem, found = run(case, solver)
    assert found.status is Status.CONVERGED
    assert found.relative_gap <= TOL
    # feasible up to the rounding of one square root per row
    assert (np.linalg.norm(found.Lam, axis=1) <= problem.c * (1 + 1e-14)).all()
    assert found.gap == pytest.approx(duality_gap(problem, found.A, found.Lam), rel=1e-9, abs=1e-18)
    # the mean of every component is that of the data: within √(2G/m) by ‖A − A*‖_M ≤ √(2G)
    labels = components(problem.edges, problem.n)
    means = [component_means(X, problem.masses, labels) for X in (problem.Z, found.A)]
    assert np.abs(means[0] - means[1]).max() <= np.sqrt(2 * found.gap) + 1e-12


@pytest.mark.parametrize("case", CASES)
def test_solvers_agree_within_their_radii(case):
    # ‖A₁ − A₂‖_M ≤ ‖A₁ − A*‖_M + ‖A₂ − A*‖_M ≤ √(2G₁) + √(2G₂)
    found = []
    for solver in SOLVERS:
        problem, solution = run(case, solver)
        found.append(solution)
    root = np.sqrt(problem.masses)[:, None]
    for a, b in itertools.combinations(found, 2):
        radius = np.sqrt(2 * a.gap) + np.sqrt(2 * b.gap)
        assert np.linalg.norm(root * (a.A - b.A)) <= radius + 1e-12
