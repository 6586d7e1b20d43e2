"""solve_path: gaps of the full problem, partitions, edge cases."""

from __future__ import annotations

import numpy as np
import pytest

from convexcluster import solve_path
from convexcluster.problem import Problem


def knn(X, k=6):
    d = np.linalg.norm(X[:, None] - X[None], axis=2)
    near = np.argsort(d, axis=1, kind="stable")[:, 1 : k + 1]
    i = np.repeat(np.arange(len(X)), k)
    edges = np.unique(np.sort(np.stack([i, near.ravel()], axis=1), axis=1), axis=0)
    return edges, np.exp(-0.5 * d[edges[:, 0], edges[:, 1]] ** 2)


@pytest.fixture
def two_blobs():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, (30, 2)), rng.normal(2, 0.3, (30, 2))])
    return X, *knn(X, 8)


def test_every_gamma_is_certified_and_feasible(two_blobs):
    X, edges, weights = two_blobs
    path = solve_path(X, edges, weights, np.geomspace(1e-3, 0.3, 12))
    assert path.certified.all()
    assert (path.gaps <= 1e-6).all()
    for gamma in path.gammas:
        problem = Problem.of(X, edges, weights, gamma)
        A = path.centroids(gamma)[path.labels(gamma)]
        # the mean is preserved up to the radius of the certificate
        assert np.linalg.norm(A.mean(0) - X.mean(0)) <= np.sqrt(2e-6 * problem.scale)


def test_two_points_fuse_at_half_their_distance_over_the_weight():
    path = solve_path([[0.0], [1.0]], [[0, 1]], [2.0], [0.2, 0.249, 0.251, 1.0])
    np.testing.assert_array_equal(path.n_clusters, [2, 2, 1, 1])
    np.testing.assert_allclose(path.centroids(0.2).ravel(), [0.4, 0.6], atol=1e-3)
    np.testing.assert_allclose(path.centroids(1.0), [[0.5]], atol=1e-12)


def test_interruption_leaves_what_has_been_done(two_blobs):
    X, edges, weights = two_blobs

    def stop(step, total, gamma, k, gap):
        if step == 4:
            raise KeyboardInterrupt

    path = solve_path(X, edges, weights, np.geomspace(1e-3, 0.3, 12), callback=stop)
    assert not path.complete
    assert len(path) == 5
    assert len(path.labels(path.gammas[-1])) == 60


def test_bad_arguments_are_named(two_blobs):
    X, edges, weights = two_blobs
    with pytest.raises(ValueError, match="certify"):
        solve_path(X, edges, weights, certify="yes")
    with pytest.raises(ValueError, match="gammas"):
        solve_path(X, edges, weights, [])
    with pytest.raises(ValueError, match="gammas"):
        solve_path(X, edges, weights, [-1.0])
