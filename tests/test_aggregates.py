"""Many rows on a given graph: aggregates of the graph are the points of the path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from convexcluster import ConvexClustering, KernelConvexClustering, load
from convexcluster.graph import Graph, components
from convexcluster.points.aggregates import aggregate


@st.composite
def graphs(draw):
    n = draw(st.integers(1, 12))
    pairs = np.column_stack(np.triu_indices(n, k=1))
    weight = st.sampled_from([0.0, 0.0, 0.5, 1.0, 1.0, 7.0])
    weights = np.array(draw(st.lists(weight, min_size=len(pairs), max_size=len(pairs))))
    masses = np.array(draw(st.lists(st.sampled_from([1.0, 3.0]), min_size=n, max_size=n)))
    return Graph(pairs[weights > 0], weights[weights > 0]), masses


@settings(max_examples=100, deadline=None)
@given(graphs(), st.integers(1, 12))
def test_aggregates_are_connected_and_as_few_as_wanted(drawn, budget):
    graph, masses = drawn
    n = len(masses)
    labels = aggregate(graph, masses, budget)
    count = labels.max() + 1
    pieces = components(graph.edges, n)
    assert count == min(n, max(budget, pieces.max() + 1))
    same = labels[graph.edges[:, 0]] == labels[graph.edges[:, 1]]
    np.testing.assert_array_equal(components(graph.edges[same], n), labels)


def test_the_strongest_ties_are_grouped_first():
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4]])
    labels = aggregate(Graph(edges, np.array([1.0, 9.0, 1.0, 5.0])), np.ones(5), 3)
    assert labels.tolist() == [0, 1, 1, 2, 2]
    heavy = np.array([1.0, 1.0, 100.0, 1.0, 1.0])  # per mass the tie 1–2 is weaker than 3–4
    labels = aggregate(Graph(edges, np.array([1.0, 9.0, 1.0, 5.0])), heavy, 4)
    assert labels.tolist() == [0, 1, 2, 3, 3]


def cells(n=400, d=4):
    X, y = make_blobs(n, d, centers=3, cluster_std=0.7, random_state=0)
    W = kneighbors_graph(X, 8, mode="distance")
    W.data = np.exp(-(W.data**2) / 2)
    return X, y, sparse.csr_array(W.maximum(W.T))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_clusters_are_those_of_all_rows(kernel):
    X, y, W = cells()
    model = KernelConvexClustering(weights=W, kernel=kernel, coarsen=80).fit(X)
    assert len(model.points_) == 80
    assert model.points_.masses.sum() == 400
    assert model.coarsening_.graph == "rows"
    assert adjusted_rand_score(y, model.labels_) == 1.0
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.labels_)
    assert model.linkage_.shape == (399, 4)


@pytest.mark.parametrize("gamma", [0.02, 0.2, 1.0])
def test_the_bound_covers_the_distance_to_the_solution_of_all_rows(gamma):
    X, _, W = cells(150, 2)
    weight = 1.0 + np.arange(150) % 2
    options = {"weights": W, "gamma": gamma, "labels": "fusion"}
    coarse = ConvexClustering(**options, coarsen=50).fit(X, sample_weight=weight)
    fine = ConvexClustering(**options, coarsen=False, tol=1e-10).fit(X, sample_weight=weight)

    def placed(model):
        path = model.path_
        return path.centroids(gamma)[path.labels(gamma=gamma)]

    apart = np.sqrt((weight[:, None] * (placed(coarse) - placed(fine)) ** 2).sum())
    assert apart <= coarse.certificate_.radius + fine.certificate_.radius
    assert coarse.certificate_.coarsening_error > 0


def test_more_rows_than_a_path_takes_are_aggregated_unasked(monkeypatch):
    monkeypatch.setattr("convexcluster.rows.plan.EXACT_ROWS", 200)
    monkeypatch.setattr("convexcluster.rows.plan.CELLS", 100)
    X, y, W = cells()
    upper = sparse.triu(W, 1).tocoo()
    edges = (np.column_stack([upper.row, upper.col]), upper.data)
    for weights in (W, edges):
        model = KernelConvexClustering(3, weights=weights).fit(X)
        assert len(model.points_) == 100
        assert adjusted_rand_score(y, model.labels_) == 1.0
    assert not hasattr(KernelConvexClustering(3, weights=W, coarsen=False).fit(X), "points_")


def test_such_a_model_is_saved_and_loaded(tmp_path):
    X, _, W = cells()
    model = KernelConvexClustering(3, weights=W, coarsen=60).fit(X)
    for path in (False, True):
        model.save(tmp_path / "m", path=path)
        again = load(tmp_path / "m")
        np.testing.assert_array_equal(again.predict(X), model.labels_)
        np.testing.assert_array_equal(again.transform(X), model.transform(X))


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"sample_weight": "zero"}, "sample_weight holds zeros, which need automatic weights"),
        ({"weights": lambda X, **_: None}, "groups rows into cells, but the graph is given"),
        ({"weights": sparse.eye_array(3)}, "weights must be 400 × 400"),
        ({"kernel": "precomputed"}, "groups rows into cells, but the kernel is precomputed"),
    ],
)
def test_bad_input_gets_a_sentence(change, sentence):
    X, _, W = cells()
    weight = None
    if "sample_weight" in change:
        change, weight = {}, np.arange(400) % 2
    data = X @ X.T if "kernel" in change else X
    model = KernelConvexClustering(**{"weights": W, "coarsen": 60} | change)
    with pytest.raises(ValueError, match=sentence):
        model.fit(data, sample_weight=weight)
