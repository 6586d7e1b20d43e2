"""Graph: incidence, Laplacian, components and the bounds on γ_max."""

import numpy as np
import pytest

from convexcluster.graph import component_means, components, gamma_range, incidence, laplacian


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


def test_components_and_their_means():
    labels = components(np.array([[0, 1], [2, 3]]), 5)
    assert labels.tolist() == [0, 0, 1, 1, 2]
    means = component_means(np.arange(5.0)[:, None], np.array([1.0, 3, 1, 1, 1]), labels)
    np.testing.assert_allclose(means.ravel(), [0.75, 2.5, 4.0])
