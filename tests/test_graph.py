"""Graph: incidence, Laplacian, components and the bounds on γ_max."""

import numpy as np
import pytest
from scipy import sparse

from convexcluster.graph import components, gamma_range, incidence, widest
from convexcluster.numerics import laplacian as systems
from convexcluster.numerics.axes import gram_axes, principal_axes
from convexcluster.numerics.gradients import conjugate_gradients, nesterov
from convexcluster.numerics.laplacian import (
    factor,
    factors_cheaply,
    laplacian,
    preconditioner,
    solve_compact,
    solve_laplacian,
)
from convexcluster.partition import means
from convexcluster.weights.build import automatic_graph


def random_graph(rng, n, m):
    edges = np.unique(np.sort(rng.integers(0, n, (m, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    return edges, rng.uniform(0.1, 1.0, len(edges))


def test_laplacian_is_the_weighted_square_of_the_incidence():
    rng = np.random.default_rng(0)
    edges, weights = random_graph(rng, 12, 30)
    D = incidence(edges, 12).toarray()
    np.testing.assert_allclose(
        laplacian(edges, weights, 12).toarray(), D.T @ np.diag(weights) @ D, atol=1e-14
    )


def test_two_points_fuse_at_half_their_distance():
    # F is minimised at the mean iff the pull |z0 - z1|/2 is at most γw
    low, high = gamma_range(
        np.array([[0.0], [3.0]]), np.array([[0, 1]]), np.array([0.5]), np.ones(2)
    )
    assert low == pytest.approx(3.0)
    assert high == pytest.approx(3.0)


def test_bounds_are_ordered_and_zero_without_anything_to_fuse():
    rng = np.random.default_rng(1)
    edges, weights = random_graph(rng, 20, 60)
    low, high = gamma_range(rng.normal(size=(20, 3)), edges, weights, np.ones(20))
    assert 0 < low <= high
    assert gamma_range(np.ones((20, 3)), edges, weights, np.ones(20)) == (0.0, 0.0)


@pytest.mark.parametrize("seed", range(5))
def test_the_widest_edge_is_found_from_a_few_combinations_of_many_columns(seed):
    # two groups and one bridge, which every difference between the groups has to cross
    rng = np.random.default_rng(seed)
    edges, weights = random_graph(rng, 40, 150)
    other, more = random_graph(rng, 40, 150)
    edges, weights = np.vstack([edges, other + 40, [[0, 40]]]), np.r_[weights, more, 0.01]
    Z = rng.normal(size=(80, 60)) + 3 * np.repeat(rng.normal(size=(2, 60)), 40, axis=0)
    masses = rng.uniform(1, 2, size=80)
    top = widest(Z, edges, weights, masses)
    assert top == pytest.approx(gamma_range(Z, edges, weights, masses)[1], rel=1e-9)
    flipped = Z * rng.choice([-1.0, 1.0], size=60)
    assert widest(flipped, edges, weights, masses) == pytest.approx(top, rel=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_without_a_bottleneck_the_widest_edge_is_nearly_found(seed):
    rng = np.random.default_rng(seed)
    edges, weights = random_graph(rng, 80, 400)
    Z, masses = rng.normal(size=(80, 60)), np.ones(80)
    top = gamma_range(Z, edges, weights, masses)[1]
    assert 0.8 * top <= widest(Z, edges, weights, masses) <= top * (1 + 1e-9)


def test_components_and_their_means():
    labels = components(np.array([[0, 1], [2, 3]]), 5)
    assert labels.tolist() == [0, 0, 1, 1, 2]
    found = means(np.arange(5.0)[:, None], np.array([1.0, 3, 1, 1, 1]), labels)
    np.testing.assert_allclose(found.ravel(), [0.75, 2.5, 4.0])


def test_factor_and_gradients_solve_the_same_system(monkeypatch):
    rng = np.random.default_rng(2)
    edges, weights = random_graph(rng, 60, 200)
    masses, B = rng.uniform(0.5, 2.0, 60), rng.normal(size=(60, 3))
    B[:, 1] = 0.0  # a column that is solved at the start
    system = laplacian(edges, weights, 60).toarray() + np.diag(masses)
    exact = np.linalg.solve(system, B)
    np.testing.assert_allclose(factor(edges, weights, masses)(B), exact, atol=1e-12)
    np.testing.assert_allclose(preconditioner(edges, weights, masses)(B), exact, atol=1e-12)
    monkeypatch.setattr(systems, "SMALL", 10)
    monkeypatch.setattr(systems, "BAND_WORK", 0.0)
    monkeypatch.setattr(systems, "FLAT_BAND", 0.0)
    np.testing.assert_allclose(factor(edges, weights, masses)(B), exact, atol=1e-8)
    diagonal = np.diag(system)[:, None]
    np.testing.assert_allclose(preconditioner(edges, weights, masses)(B), B / diagonal)
    labels = components(edges, 60)
    balanced = B - means(B, np.ones(60), labels)[labels]
    Y = solve_laplacian(edges, weights, balanced, labels)
    np.testing.assert_allclose(laplacian(edges, weights, 60) @ Y, balanced, atol=1e-5)


def test_gradients_leave_long_graphs_to_the_multigrid(monkeypatch):
    # the diagonal needs about n steps on a chain of n samples
    n = 3_000
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    weights = np.random.default_rng(4).uniform(0.1, 1.0, n - 1)
    b = np.stack([np.cos(np.arange(n)), np.linspace(-1, 1, n)], axis=1)
    b -= b.mean(axis=0)
    exact = solve_laplacian(edges, weights, b, np.zeros(n, dtype=np.int64))
    monkeypatch.setattr(systems, "SMALL", 10)
    monkeypatch.setattr(systems, "BAND_WORK", 0.0)
    monkeypatch.setattr(systems, "FLAT_BAND", 0.0)
    Y = solve_laplacian(edges, weights, b, np.zeros(n, dtype=np.int64))
    L = laplacian(edges, weights, n)
    assert np.linalg.norm(L @ Y - b) <= 1e-6 * np.linalg.norm(b)
    # λ₂ ≥ 0.1 · 2(1 − cos(π/n)) on a chain: ‖Y − exact‖ ≤ ‖LY − b‖/λ₂ beside its mean
    off = Y - exact - (Y - exact).mean(axis=0)
    assert np.linalg.norm(off) <= 1e-6 * np.linalg.norm(b) / (0.2 * (1 - np.cos(np.pi / n)))
    monkeypatch.setattr(systems, "CYCLES", 0)
    Y = solve_laplacian(edges, weights, b, np.zeros(n, dtype=np.int64))
    assert np.linalg.norm(L @ Y - b) > 1e-2 * np.linalg.norm(b)


def test_gradients_stop_at_the_limit():
    rng = np.random.default_rng(3)
    edges, weights = random_graph(rng, 60, 200)
    system = laplacian(edges, weights, 60) + sparse.eye_array(60)
    B = rng.normal(size=(60, 2))

    def apply(P, out):
        out[:] = system @ P

    for plain in (False, True):
        rough, steps = conjugate_gradients(apply, np.copy, B, lambda _: 1e-24, 2, plain=plain)
        assert steps == 2
        assert 1e-6 < np.linalg.norm(system @ rough - B) < np.linalg.norm(B)
        fine, steps = conjugate_gradients(apply, np.copy, B, lambda _: 1e-20, 200, plain=plain)
        assert steps < 100
        assert np.linalg.norm(system @ fine - B) <= 1.1e-10


def test_fill_is_foreseen(monkeypatch):
    # a grid has a narrow band, a random graph of the same size has none
    monkeypatch.setattr(systems, "SMALL", 100)
    monkeypatch.setattr(systems, "BAND_WORK", 1e8)
    side = 40
    point = np.arange(side * side).reshape(side, side)
    across = np.column_stack([point[:, :-1].ravel(), point[:, 1:].ravel()])
    grid = np.vstack([across, np.column_stack([point[:-1].ravel(), point[1:].ravel()])])
    n = side * side
    assert factors_cheaply(laplacian(grid, np.ones(len(grid)), n))
    edges, weights = random_graph(np.random.default_rng(0), n, 3 * n)
    assert not factors_cheaply(laplacian(edges, weights, n))


def test_weights_beyond_arithmetic_are_refused_with_a_way_out():
    edges = np.array([[0, 1], [1, 2], [2, 3]])
    weights = np.array([1.0, 1e-300, 1.0])
    Z = np.array([[0.0], [1.0], [2.0], [5.0]])
    with pytest.raises(ValueError, match="larger weight bandwidth"):
        gamma_range(Z, edges, weights, np.ones(4))


def test_axes_by_hand():
    found = gram_axes(np.diag([1.0, 9.0, 4.0]), drop=1.0)
    assert (found.values.tolist(), found.lost) == ([9.0, 4.0], 1.0)
    mean, Q, variances = principal_axes(np.array([[0.0, 1.0], [4.0, 1.0]]), np.ones(2))
    assert (mean.tolist(), variances.tolist()) == ([2.0, 1.0], [8.0])
    assert np.abs(Q).ravel().tolist() == [1.0, 0.0]


def test_first_momentum_is_zero():
    assert nesterov(1.0) == (1.618033988749895, 0.0)


def test_weights_that_no_gamma_can_balance_are_refused_by_a_sentence():
    Z, edges = np.array([[0.0], [1.0], [2.0]]), np.array([[0, 1], [1, 2]])
    with pytest.raises(ValueError, match=r'weights from 1e-320 to 1 .* weight_bandwidth="auto"'):
        gamma_range(Z, edges, np.array([1.0, 1e-320]), np.ones(3))


@pytest.mark.parametrize("cloud", [True, False])
def test_compact_clusters_are_solved_to_ten_digits(cloud):
    rng, n = np.random.default_rng(6), 700
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    edges = np.unique(np.vstack([chain, random_graph(rng, n, 3 * n)[0]]), axis=0)
    edges = edges if cloud else chain  # of a chain gradients would need n steps
    weights, b = rng.uniform(0.5, 2.0, len(edges)), rng.normal(size=(n, 3))
    b -= b.mean(axis=0)
    Y = solve_compact(edges, weights, b)
    assert np.linalg.norm(laplacian(edges, weights, n) @ Y - b) <= 1e-8 * np.linalg.norm(b)


def clouds_and_bridges(n, d, k, seed):
    """The graph of k clouds far apart, joined by k − 1 weak edges."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + 100.0 * rng.normal(size=(k, d))[np.arange(n) % k]
    g = automatic_graph(X, n_neighbors=5, masses=np.ones(n))
    return g.edges, g.weights, np.tanh(X @ rng.normal(size=(d, 64)) / 50)


@pytest.mark.parametrize(("n", "d", "k"), [(1_500, 10, 2), (3_000, 8, 5)])
def test_of_clouds_far_apart_the_flow_over_bridges_tells_the_widest_edge(n, d, k, monkeypatch):
    edges, weights, Z = clouds_and_bridges(n, d, k, 0)
    masses = np.random.default_rng(1).uniform(0.5, 2.0, size=n)
    top = gamma_range(Z, edges, weights, masses)[1]
    # no system of the whole graph is solved
    monkeypatch.setattr("convexcluster.graph.laplacian_solver", None)
    assert widest(Z, edges, weights, masses) == pytest.approx(top, rel=1e-7)


def test_bridges_that_are_not_the_widest_edges_or_no_tree_leave_it_to_the_systems():
    edges, weights, Z = clouds_and_bridges(1_500, 10, 2, 0)
    masses = np.ones(1_500)
    side = components(edges[weights > 0.1 * np.median(weights)], 1_500)
    same = Z - np.array([Z[side == t].mean(axis=0) for t in range(2)])[side]  # nothing crosses
    top = gamma_range(same, edges, weights, masses)[1]
    assert 0.8 * top <= widest(same, edges, weights, masses) <= top * (1 + 1e-6)
    # a second weak edge between the clouds: neither of the two is a bridge
    i, j = np.flatnonzero(side == 0)[-1], np.flatnonzero(side == 1)[-1]
    edges = np.vstack([edges, np.sort([i, j])])
    weights = np.append(weights, weights.min())
    top = gamma_range(Z, edges, weights, masses)[1]
    assert widest(Z, edges, weights, masses) == pytest.approx(top, rel=1e-6)
