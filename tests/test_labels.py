"""Labels: weighted Ward against SciPy, cuts by merge order, the elbow, dual coefficients."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, is_valid_linkage, linkage
from sklearn.metrics import adjusted_rand_score

from convexcluster.labels import (
    cut,
    dual_coefficients,
    elbow,
    elbow_scores,
    fusion_labels,
    sse_curve,
    ward_tree,
)
from convexcluster.problem import Problem
from convexcluster.solvers import solve_problem


@pytest.mark.parametrize("seed", range(5))
def test_ward_equals_scipy_with_unit_masses(seed):
    A = np.random.default_rng(seed).normal(size=(60, 4))
    ours, theirs = ward_tree(A), linkage(A, "ward")
    np.testing.assert_allclose(ours[:, 2], theirs[:, 2], rtol=1e-10)
    for k in (1, 2, 5, 17, 60):
        assert adjusted_rand_score(cut(ours, k), cut_tree(theirs, k).ravel()) == 1.0


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_masses_are_repetitions(seed):
    rng = np.random.default_rng(seed)
    A, times = rng.normal(size=(12, 2)), rng.integers(1, 4, 12)
    repeated = np.repeat(A, times, axis=0)
    weighted, plain = ward_tree(A, times.astype(float)), linkage(repeated, "ward")
    np.testing.assert_allclose(weighted[:, 2], plain[-11:, 2], rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_duplicates_merge_first_and_every_k_is_reached(seed):
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 3, size=(15, 2)).astype(float)
    tree = ward_tree(A)
    assert is_valid_linkage(tree)
    distinct = len(np.unique(A, axis=0))
    assert (tree[: 15 - distinct, 2] == 0).all()
    assert [cut(tree, k).max() + 1 for k in range(1, 16)] == list(range(1, 16))


def test_sse_curve_is_the_within_cluster_sum_of_squares():
    rng = np.random.default_rng(0)
    A, masses = rng.normal(size=(30, 3)), rng.uniform(0.5, 2.0, 30)
    tree = ward_tree(A, masses)
    sse = sse_curve(tree)
    for k in (1, 2, 7, 30):
        labels, direct = cut(tree, k), 0.0
        for t in range(k):
            m = labels == t
            centre = masses[m] @ A[m] / masses[m].sum()
            direct += masses[m] @ ((A[m] - centre) ** 2).sum(axis=1)
        assert sse[k - 1] == pytest.approx(direct, rel=1e-9, abs=1e-12)


def test_elbow_of_clear_groups():
    rng = np.random.default_rng(3)
    centres = np.array([[0, 0], [9, 0], [0, 9], [9, 9], [4, 20]])
    A = np.repeat(centres, 20, axis=0) + rng.normal(scale=0.1, size=(100, 2))
    assert elbow(sse_curve(ward_tree(A))) == 5


def test_elbow_scores_by_hand():
    """SSE 10, 4, 3, 2: x = 0, ⅓, ⅔, 1 and y = 1, ¼, ⅛, 0."""
    found = elbow_scores(np.array([10.0, 4.0, 3.0, 2.0, 1.0]), 4)
    np.testing.assert_allclose(found, [0.0, 5 / 12, 5 / 24, 0.0], atol=1e-15)
    np.testing.assert_array_equal(elbow_scores(np.array([1.0, 2.0])), [0.0, 0.0])
    np.testing.assert_array_equal(elbow_scores(np.array([3.0])), [0.0])


def test_elbow_without_any_change_is_one():
    assert elbow(np.zeros(20)) == 1
    assert elbow(np.zeros(1)) == 1


def test_fusion_needs_an_edge():
    A = np.zeros((3, 2))
    assert fusion_labels(A, np.array([[0, 1]])).tolist() == [0, 0, 1]


def test_cut_refuses_more_clusters_than_samples():
    with pytest.raises(ValueError, match="n_clusters must be between 1 and 3"):
        cut(ward_tree(np.eye(3)), 4)


@pytest.mark.parametrize("told", ["more than have fused", "across what has fused", "fused"])
def test_dual_coefficients_are_the_centroids_of_any_labels(told):
    """c_t = Σ β_tj z_j, β ≥ 0, rows sum to one: also where labels part what has fused."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(12, 2)) + 6.0 * (np.arange(12) % 2)[:, None]
    i, j = np.triu_indices(12, 1)
    masses = rng.uniform(0.5, 2.0, 12)
    problem = Problem.of(Z, np.column_stack([i, j]), np.exp(-np.hypot(*(Z[i] - Z[j]).T)), 1, masses)
    A = solve_problem(problem, tol=1e-12).A
    labels = fusion_labels(A, problem.edges)
    assert 1 < labels.max() + 1 < 12
    if told != "fused":
        labels = np.arange(12) if told == "more than have fused" else np.arange(12) // 4
    beta = dual_coefficients(problem, A, labels)
    assert (beta >= 0).all()
    np.testing.assert_allclose(beta.sum(axis=1), 1.0, rtol=1e-12)
    for t in range(labels.max() + 1):
        mean = np.average(A[labels == t], axis=0, weights=masses[labels == t])
        np.testing.assert_allclose(beta[t] @ Z, mean, atol=1e-5)  # √tol, the error of A


def test_dual_coefficients_of_centroids_that_nearly_meet():
    """A pull of 10³⁰ beside a mass of one leaves no digit of the mass."""
    problem = Problem.of([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], 1.0)
    beta = dual_coefficients(problem, np.array([[0.0], [1e-30], [1.0]]), np.arange(3))
    np.testing.assert_allclose(beta[0], beta[1], atol=1e-11)
    np.testing.assert_allclose(beta.sum(axis=1), 1.0, rtol=1e-12)


def test_the_strongest_pull_is_relative_to_the_masses():
    """Heavy centroids that are nearly one are means of both samples; a fixed bound parts them."""
    heavy = Problem.of([[0.0], [2.0]], [[0, 1]], [1.0], 1e6, [1e6, 1e6])
    A = np.array([[1.0 - 5e-7], [1.0 + 5e-7]])
    beta = dual_coefficients(heavy, A, np.array([0, 1]))
    np.testing.assert_allclose(beta, 0.5, atol=1e-6)
