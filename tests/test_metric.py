"""Distances: any metric for graph, kernel and prediction; given ones; and what is refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import kneighbors_graph

import convexcluster
from convexcluster import ConvexClustering, KernelConvexClustering, tune
from convexcluster.kernels import METRICS, along_paths, auto_bandwidth, resolve_kernel
from convexcluster.weights.neighbors import tied_distances, tied_points

X, Y = make_moons(120, noise=0.05, random_state=0)
NEW, _ = make_moons(40, noise=0.05, random_state=1)
D = cdist(X, X)
IRIS, SPECIES = load_iris(return_X_y=True)
# yes/no features, which the metrics of sets are about
BITS = np.random.default_rng(0).random((60, 12)) < 0.2 + 0.6 * (np.arange(60) % 2)[:, None]
BITS[:, 0] = True  # no empty set


def edit_distance(a, b):
    """Levenshtein's, by its recurrence."""
    row = np.arange(len(b) + 1)
    for i, x in enumerate(a, start=1):
        before, row[0] = row.copy(), i
        for j, y in enumerate(b, start=1):
            row[j] = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
    return row[-1]


def test_given_distances_are_those_of_the_metric():
    named = KernelConvexClustering(2, metric="euclidean", weights="local").fit(X)
    given = KernelConvexClustering(2, metric="precomputed", weights="local").fit(D)
    np.testing.assert_array_equal(named.labels_, given.labels_)
    np.testing.assert_allclose(named.transform(NEW), given.transform(cdist(NEW, X)), atol=1e-6)
    np.testing.assert_array_equal(named.predict(NEW), given.predict(cdist(NEW, X)))
    assert given.certificate_.clipped_share == 0.0
    assert adjusted_rand_score(Y, given.labels_) == 1.0


def test_shares_of_the_vote_by_given_distances():
    new = IRIS[::7] + 0.03
    named = KernelConvexClustering(3, metric="euclidean").fit(IRIS)
    given = KernelConvexClustering(3, metric="precomputed").fit(cdist(IRIS, IRIS))
    np.testing.assert_array_equal(named.labels_, given.labels_)
    shares = given.predict_proba(cdist(new, IRIS))
    np.testing.assert_allclose(named.predict_proba(new), shares, atol=1e-9)


def test_the_metric_that_is_automatic_can_be_named():
    plane = KernelConvexClustering().fit(X)
    np.testing.assert_array_equal(KernelConvexClustering(metric="l2").fit_predict(X), plane.labels_)
    many = KernelConvexClustering(3).fit(IRIS)
    named = KernelConvexClustering(3, kernel="rbf", metric="cityblock").fit(IRIS)
    np.testing.assert_array_equal(many.graph_.edges, named.graph_.edges)
    np.testing.assert_array_equal(many.graph_.weights, named.graph_.weights)


@pytest.mark.parametrize("metric", [m for m in METRICS if m not in ("auto", "precomputed")])
def test_every_metric_fits_and_predicts(metric):
    data = BITS if metric not in ("haversine", "correlation", "cosine") else IRIS[:60]
    data = data[:, :2] / 10 if metric == "haversine" else data.astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # clipped shares, and rows converted to bool
        model = KernelConvexClustering(2, metric=metric).fit(data)
        np.testing.assert_array_equal(model.predict(data), model.labels_)
        assert np.isfinite(model.transform(data[:5])).all()


def test_a_callable_metric_is_that_metric(tmp_path):
    def total(u, v):
        return np.abs(u - v).sum()

    with pytest.warns(UserWarning, match="not positive semi-definite"):
        own = KernelConvexClustering(3, metric=total).fit(IRIS)
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        named = KernelConvexClustering(3, metric="manhattan").fit(IRIS)
    np.testing.assert_array_equal(own.labels_, named.labels_)
    np.testing.assert_array_equal(own.predict(IRIS[::7] + 0.01), named.predict(IRIS[::7] + 0.01))
    with pytest.raises(TypeError, match="code, which a file of data cannot hold"):
        own.save(tmp_path / "model")


def test_distances_without_negative_type_are_clipped_and_certified():
    blobs, _ = make_blobs(60, 5, centers=[[0.0] * 5, [9.0] * 5], random_state=0)
    given = pairwise_distances(blobs, metric="chebyshev")
    with pytest.warns(UserWarning, match=r"[0-9.]+% of its spectrum is negative and was clipped"):
        model = KernelConvexClustering(2, metric="precomputed").fit(given)
    assert 0 < model.certificate_.clipped_share < 0.2
    assert model.certificate_.relative_gap <= 1e-6
    assert model.certificate_.partition == "certified"


def test_linear_convex_clustering_of_distances():
    blobs, y = make_blobs(60, centers=3, n_features=5, random_state=0)
    given = ConvexClustering(3, metric="precomputed").fit(cdist(blobs, blobs))
    assert given.embedding_.shape == (60, 5)  # classical scaling finds the dimensions again
    np.testing.assert_allclose(cdist(given.embedding_, given.embedding_), cdist(blobs, blobs))
    assert adjusted_rand_score(y, given.labels_) == 1.0


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern"])
def test_kernels_of_given_distances_are_the_kernels(kernel):
    metric = "cityblock" if kernel == "laplacian" else "euclidean"
    features = resolve_kernel(kernel, 0.7)
    given = resolve_kernel(kernel, 0.7, metric="precomputed")
    np.testing.assert_allclose(given(cdist(X, X, metric)), features(X), atol=1e-12)
    np.testing.assert_array_equal(given.diag(D), np.ones(len(X)))
    assert np.isclose(auto_bandwidth(D, metric="precomputed"), auto_bandwidth(X))


def test_neighbours_from_distances_share_ties():
    rows, points = np.array([[0.0], [1.4], [10.0]]), np.array([[0.0], [1.0], [2.0], [2.0], [-1.0]])
    for k in (1, 2, 4):
        a, b = tied_points(rows, points, k), tied_distances(cdist(rows, points), k)
        for one in (a, b):
            assert [*map(len, one)] == [*map(len, a)]
        order_a, order_b = np.lexsort(a[0].T[::-1]), np.lexsort(b[0].T[::-1])
        np.testing.assert_array_equal(a[0][order_a], b[0][order_b])
        np.testing.assert_allclose(a[1][order_a], b[1][order_b])
        np.testing.assert_allclose(a[3], b[3])


def test_copies_among_given_distances():
    twice = np.vstack([X, X])
    model = KernelConvexClustering(2, metric="precomputed").fit(cdist(twice, twice))
    assert adjusted_rand_score(np.tile(Y, 2), model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(cdist(twice, twice)), model.labels_)


def test_strings_by_edit_distance():
    rng = np.random.default_rng(0)
    stems = ["clustering", "mathematics", "photograph"]
    words, truth = [], []
    for k in range(45):
        letters = list(stems[k % 3])
        for _ in range(2):
            letters[rng.integers(len(letters))] = rng.choice(list("aeiou"))
        words.append("".join(letters))
        truth.append(k % 3)
    given = np.array([[edit_distance(a, b) for b in words] for a in words], dtype=float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        model = KernelConvexClustering(metric="precomputed").fit(given)
    assert adjusted_rand_score(truth, model.labels_) == 1.0
    new = np.array([[edit_distance("clostering", b) for b in words]], dtype=float)
    assert model.predict(new) == model.labels_[0]


def test_a_model_of_distances_is_saved(tmp_path):
    model = KernelConvexClustering(2, metric="precomputed").fit(D)
    model.save(tmp_path / "model", path=True)
    again = convexcluster.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(cdist(NEW, X)), model.predict(cdist(NEW, X)))
    np.testing.assert_array_equal(again.transform(D), model.transform(D))
    assert "2 features" not in again.report(tmp_path / "r.html").read_text("utf-8")[:5000]


def test_far_units_of_distances():
    usual = KernelConvexClustering(2, metric="precomputed").fit(D)
    model = KernelConvexClustering(2, metric="precomputed").fit(D * 1e-120)
    np.testing.assert_array_equal(model.labels_, usual.labels_)
    np.testing.assert_array_equal(model.predict(D * 1e-120), model.labels_)


def test_tuning_over_metrics():
    result = tune(IRIS, SPECIES, grid={"metric": ["euclidean", "cosine"]})
    assert set(result.table["metric"]) == {"euclidean", "cosine"}


NEAR = kneighbors_graph(X, 12, mode="distance")


def test_sparse_distances_are_the_edges_of_a_graph():
    """Neighbours are those of all distances; the kernel is that of the shortest paths."""
    whole = KernelConvexClustering(2, metric="precomputed").fit(D)
    with pytest.warns(UserWarning, match="not positive semi-definite"):  # as paths are not
        some = KernelConvexClustering(2, metric="precomputed").fit(NEAR)
    np.testing.assert_array_equal(some.labels_, whole.labels_)
    np.testing.assert_array_equal(some.graph_.edges, whole.graph_.edges)
    np.testing.assert_allclose(some.graph_.weights, whole.graph_.weights)
    np.testing.assert_array_equal(some.predict(D), some.labels_)
    assert some.certificate_.relative_gap <= 1e-6
    with pytest.raises(ValueError, match="new samples need theirs to every training sample"):
        some.predict(NEAR)


def test_shortest_paths():
    edges = np.array([[0, 1], [1, 2], [2, 0], [3, 4]]).T
    given = sparse.coo_array(([1.0, 2.0, 9.0, 0.0], edges), shape=(5, 5))
    with pytest.warns(UserWarning, match="2 parts, between which none is given"):
        full = along_paths(given)
    near = [[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]]
    np.testing.assert_array_equal(full[:3, :3], near)  # 9 is longer than 1 + 2
    np.testing.assert_array_equal(full[3:, 3:], np.zeros((2, 2)))  # a stored 0 is an edge
    np.testing.assert_array_equal(full[:3, 3:], np.full((3, 2), 6.0))


def test_three_samples_with_sparse_distances():
    given = sparse.coo_array(([1.0, 9.0], ([0, 1], [1, 2])), shape=(3, 3))
    model = KernelConvexClustering(2, metric="precomputed").fit(given)
    assert model.labels_.tolist() == [0, 0, 1]


ASYMMETRIC = D + np.triu(D)
REFUSED = {
    "a kernel": (rbf_kernel(X), {}, 'looks like similarities .*pass kernel="precomputed"'),
    "features": (X, {}, r"distances must be square \(n × n\), got 120 × 2"),
    "negative": (-D, {}, r"distances must be ≥ 0: X holds -[0-9.]+ in row 0, column 1"),
    "asymmetric": (ASYMMETRIC, {}, r"distances must be symmetric: .*\(D \+ D\.T\) / 2"),
    "own distance": (D + np.eye(120), {}, "must be 0 between a sample and itself"),
    "sparse features": (
        sparse.csr_array(X),
        {},
        r"distances must be square \(n × n\), got 120 × 2",
    ),
    "sparse, negative": (NEAR * -1, {}, r"distances must be ≥ 0: X holds -[0-9.]+ in row \d+, col"),
    "sparse, asymmetric": (NEAR + sparse.triu(NEAR), {}, "a pair is stored twice in X, with two"),
    "sparse, own distance": (NEAR + sparse.eye_array(120) * 0.1, {}, "a sample and itself"),
    "a sparse kernel": (sparse.csr_array(rbf_kernel(X)), {}, "looks like similarities"),
    "two matrices": (D, {"kernel": "precomputed"}, "two readings of one matrix"),
    "no kernel of a distance": (D, {"kernel": "cosine"}, "'cosine' is no function of a distance"),
    "a callable kernel": (D, {"kernel": rbf_kernel}, "is no function of a distance"),
    "unknown": (X, {"metric": "euklid"}, "metric 'euklid' is unknown: use a function"),
    "no name": (X, {"metric": 2}, "metric must be a name or a callable, got 2"),
    "of a kernel": (rbf_kernel(X), {"metric": "cosine", "kernel": "precomputed"}, "needs features"),
    "below zero": (X, {"metric": lambda u, v: -1.0}, "must return distances, finite and ≥ 0"),
    "one argument": (X, {"metric": lambda u: 1.0}, "failed on these samples"),
    "cells": (IRIS, {"metric": "cosine", "coarsen": 20}, "which this metric need not know"),
    "cells of distances": (D, {"coarsen": 20}, "distances are given"),
    "random features": (IRIS, {"metric": "cosine", "embedding": "rff"}, "rff"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_by_a_sentence(case):
    data, options, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence):
        KernelConvexClustering(**{"metric": "precomputed", **options}).fit(data)


def test_distances_given_as_a_kernel_are_recognised():
    with pytest.raises(ValueError, match=r'look like distances .*metric="precomputed"'):
        KernelConvexClustering(kernel="precomputed").fit(D)
