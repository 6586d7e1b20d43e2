"""Curves and surfaces are seen in every space: features, more features, distances, a kernel."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from convexcluster import KernelConvexClustering
from convexcluster.weights.neighbors import Nearest
from convexcluster.weights.search import Search


def turned(X, seed=0, d=10):
    """The same points in d features, by a rotation."""
    Q = np.linalg.qr(np.random.default_rng(seed).normal(size=(d, d)))[0]
    return X @ Q[: X.shape[1]]


def gram(X):
    """A Gaussian kernel of half the median distance."""
    square = cdist(X, X, "sqeuclidean")
    return np.exp(-2.0 * square / np.median(square))


TOLD = {
    "ten features": (turned, {}),
    "twenty features": (lambda X: turned(X, d=20), {}),
    "distances": (lambda X: cdist(X, X), {"metric": "precomputed"}),
    "kernel": (gram, {"kernel": "precomputed"}),
}


@pytest.mark.parametrize("told", TOLD)
def test_noise_of_the_plane_is_one_cluster_however_it_is_told(told):
    given, options = TOLD[told]
    for law in ("uniform", "normal"):
        for seed in range(3):
            X = getattr(np.random.default_rng([5, seed]), law)(size=(300, 2))
            model = KernelConvexClustering(**options, certify=False).fit(given(X))
            assert model.selection_.verdict == "no structure", (law, seed)


@pytest.mark.parametrize("told", TOLD)
@pytest.mark.parametrize("make", [make_moons, make_circles])
def test_curves_are_found_however_they_are_told(make, told):
    extra = {"factor": 0.4} if make is make_circles else {}
    X, y = make(400, noise=0.05, random_state=0, **extra)
    given, options = TOLD[told]
    model = KernelConvexClustering(**options).fit(given(X))
    assert adjusted_rand_score(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(given(X)), model.labels_)


def test_a_curve_in_ten_features_is_one_cluster():
    angle = np.random.default_rng(1).uniform(0, 2 * np.pi, size=400)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    assert KernelConvexClustering(certify=False).fit(turned(circle)).n_clusters_ == 1


def test_new_rows_on_curves_in_ten_features_are_labelled():
    X, y = make_moons(800, noise=0.05, random_state=3)
    model = KernelConvexClustering().fit(turned(X[:400]))
    assert adjusted_rand_score(y[400:], model.predict(turned(X[400:]))) == 1.0


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_dimension_is_that_of_the_space(d):
    X = np.random.default_rng(d).uniform(size=(3000, d))
    found = Nearest.of(X, 7).dimension
    # Hill's estimate of 15 neighbours scatters by a quarter, its median of 3,000 by a hundredth;
    # neighbours beyond the faces of the cube are missing
    assert 0.8 * d < found < 1.05 * d


def test_copies_do_not_lower_the_dimension():
    X = np.random.default_rng(0).normal(size=(500, 2))
    twice = np.vstack([X, X])
    found = Nearest.of(twice, 7)
    assert (found.length[:, 0] == 0).all()
    assert 1.6 < found.dimension < 2.4
    assert Nearest.of(np.ones((40, 2)), 7).dimension == np.inf


@pytest.mark.parametrize("kind", ["tree", "all pairs", "distances"])
def test_searches_find_what_all_distances_say(kind):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(150, 20 if kind == "all pairs" else 3))
    D = cdist(X, X)
    search = Search.of(D, "precomputed") if kind == "distances" else Search.of(X)
    assert (search.tree is not None) == (kind == "tree")
    rows = rng.integers(150, size=12)
    lengths, near = search.nearest(rows, 9)
    np.testing.assert_array_equal(near, np.argsort(D[rows], axis=1)[:, :9])
    np.testing.assert_allclose(lengths, np.sort(D[rows], axis=1)[:, :9], atol=1e-13)
    edges = rng.integers(150, size=(30, 2))
    np.testing.assert_allclose(search.lengths(edges), D[tuple(edges.T)], atol=1e-13)
