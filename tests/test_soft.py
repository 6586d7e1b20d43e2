"""Soft answers: shares that agree with the labels, lonely samples, medoids, trees, descriptions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score, log_loss, roc_auc_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import scale

import convexcluster
from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.answers.describe import describe, effects, explained
from convexcluster.answers.soft import STEPS, agreeing, membership
from convexcluster.answers.tree import condense, inside, restrict, splits
from convexcluster.graph import Graph
from convexcluster.partition import canonical

many = settings(max_examples=60, deadline=None)


@st.composite
def graphs(draw):
    """A graph, possibly in pieces, with copies of weights and labels that need not follow it."""
    n = draw(st.integers(1, 9))
    pairs = np.column_stack(np.triu_indices(n, k=1))
    weight = st.sampled_from([0.0, 0.0, 1e-12, 0.3, 1.0, 1e9])
    weights = np.array(draw(st.lists(weight, min_size=len(pairs), max_size=len(pairs))))
    labels = canonical(np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))))
    return Graph(pairs[weights > 0], weights[weights > 0]), labels


def dense_walk(graph, labels):
    """P by a dense solve of the normalised walk, (1 + s)I − s D⁻¹W."""
    n, k = len(labels), labels.max() + 1
    W = np.zeros((n, n))
    W[tuple(graph.edges.T)] = graph.weights
    W += W.T
    degree = W.sum(axis=1)
    step = np.divide(W, degree[:, None], out=np.eye(n), where=degree[:, None] > 0)
    return np.linalg.solve((1 + STEPS) * np.eye(n) - STEPS * step, np.eye(k)[labels])


@many
@given(graphs())
def test_memberships_are_where_walks_end(drawn):
    graph, labels = drawn
    P = membership(graph, labels)
    np.testing.assert_allclose(P, dense_walk(graph, labels), atol=1e-8)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-14)
    assert (P >= 0).all()
    agreed = agreeing(P, labels)
    np.testing.assert_array_equal(agreed.argmax(axis=1), labels)
    np.testing.assert_allclose(agreed.sum(axis=1), 1.0, rtol=1e-14)
    same = P.argmax(axis=1) == labels
    np.testing.assert_allclose(agreed[same], P[same], atol=2e-9)


@many
@given(graphs(), st.randoms(use_true_random=False))
def test_the_order_of_the_samples_does_not_matter(drawn, random):
    graph, labels = drawn
    place = np.arange(len(labels))
    random.shuffle(place)
    moved = Graph(np.sort(place[graph.edges], axis=1), graph.weights)
    again = np.empty_like(labels)
    again[place] = labels
    np.testing.assert_allclose(
        membership(moved, again)[place], membership(graph, labels), atol=1e-9
    )


def test_a_piece_of_one_label_is_sure_of_it():
    graph = Graph(np.array([[0, 1], [1, 2], [3, 4]]), np.array([1.0, 2.0, 1.0]))
    P = membership(graph, np.array([0, 0, 0, 1, 1, 2]))
    np.testing.assert_allclose(P, np.eye(3)[[0, 0, 0, 1, 1, 2]], atol=1e-12)


def test_large_graphs_are_solved_without_a_factor():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6_000, 10))
    W = kneighbors_graph(X, 8)
    W = sparse.triu(W.maximum(W.T), 1).tocoo()
    graph = Graph(np.column_stack([W.row, W.col]).astype(np.int64), W.data)
    labels = canonical(X[:, 0] > 0)
    P = membership(graph, labels)
    degree = np.bincount(graph.edges.ravel(), np.repeat(graph.weights, 2), len(X))
    A = sparse.csr_array(W + W.T)
    left = (1 + STEPS) * degree[:, None] * P - STEPS * (A @ P) - degree[:, None] * np.eye(2)[labels]
    assert np.abs(left).max() < 1e-6


def rows(seed=0, n=60, copies=True, weights=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) + np.repeat([[0.0, 0.0], [4.0, 0.0], [0.0, 5.0]], n // 3, axis=0)
    return np.concatenate([X, X[:7], [[40.0, 40.0]]]) if copies else X


MODELS = {
    "rbf": KernelConvexClustering(3),
    "chosen": KernelConvexClustering(),
    "one γ": KernelConvexClustering(gamma=0.5),
    "linear": ConvexClustering(3),
    "cosine": KernelConvexClustering(2, kernel="cosine"),
    "cells": KernelConvexClustering(3, coarsen=25),
    "embedding": KernelConvexClustering(3, weight_space="embedding"),
    "bandwidth": KernelConvexClustering(3, weight_bandwidth=1.0),
    "one": KernelConvexClustering(1),
}


@pytest.fixture(scope="module", params=[*MODELS, "precomputed", "graph", "weighted", "tiny"])
def fitted(request):
    """A fitted model and its rows."""
    X = rows()
    if request.param == "precomputed":
        return KernelConvexClustering(3, kernel="precomputed").fit(rbf_kernel(X, gamma=0.2)), X
    if request.param == "graph":
        W = kneighbors_graph(X, 5, mode="distance")
        W.data = np.exp(-W.data)
        return KernelConvexClustering(3, weights=W.maximum(W.T)).fit(X), X
    if request.param == "weighted":
        weight = np.where(np.arange(len(X)) % 9 == 0, 0.0, 1.0 + np.arange(len(X)) % 3)
        return KernelConvexClustering(3).fit(X, sample_weight=weight), X
    if request.param == "tiny":
        return ConvexClustering(3).fit(X * 1e-200), X
    return MODELS[request.param].fit(X), X


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_every_model_answers(fitted):
    model, X = fitted
    n, k = len(X), model.n_clusters_
    P = model.membership_
    assert P.shape == (n, k)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(P.argmax(axis=1), model.labels_)
    np.testing.assert_array_equal(model.probabilities_, P.max(axis=1))
    scores = model.outlier_score_
    assert scores.shape == (n,)
    assert np.isfinite(scores).all()
    assert scores.argmax() == n - 1  # the row at (40, 40)
    medoid = model.medoid_indices_
    np.testing.assert_array_equal(model.labels_[medoid], np.arange(k))
    tree = model.condensed_tree_
    assert tree.sizes[0] == n
    for label in range(k):
        inner = model.subcluster(label)
        assert inner.shape == ((model.labels_ == label).sum(),)
        assert set(inner) == set(range(inner.max() + 1))
        if len(inner) > 2:
            assert set(model.subcluster(label, 2)) == {0, 1}
    described = model.describe(X)
    assert len(described.splits.get("split", ())) == 2 * (k - 1)


def test_nothing_of_this_is_kept_in_the_model():
    model = KernelConvexClustering(3).fit(rows())
    before = set(vars(model))
    model.membership_, model.outlier_score_, model.medoid_indices_, model.condensed_tree_  # noqa: B018
    assert set(vars(model)) == before


def test_copies_count_as_weights():
    X = rows(copies=False)
    copied = KernelConvexClustering(3).fit(np.concatenate([X, X]))
    weighted = KernelConvexClustering(3).fit(X, sample_weight=np.full(len(X), 2.0))
    for name in ("membership_", "outlier_score_"):
        whole = getattr(copied, name)
        np.testing.assert_allclose(whole[: len(X)], getattr(weighted, name), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(whole[: len(X)], whole[len(X) :])
    np.testing.assert_array_equal(copied.medoid_indices_, weighted.medoid_indices_)


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=25, deadline=None)
@given(hnp.arrays(np.float64, (12, 2), elements=st.integers(-2, 2)), st.integers(1, 4))
@example(np.zeros((12, 2)), 1)
def test_memberships_of_fits_agree_with_the_labels(X, k):
    k = min(k, len(np.unique(X, axis=0)))
    model = KernelConvexClustering(k, gamma=[0.05, 0.5, 5.0], bandwidth=1.0).fit(X)
    P = model.membership_
    np.testing.assert_array_equal(P.argmax(axis=1), model.labels_)
    np.testing.assert_allclose(P.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_array_equal(model.predict_proba(X).argmax(axis=1), model.predict(X))


def test_outlier_scores_are_densities():
    X = rows()
    model = KernelConvexClustering(3, bandwidth=0.8).fit(X)
    K = rbf_kernel(X, gamma=0.5 / 0.8**2)
    np.testing.assert_allclose(model.outlier_score_, -np.log(K.mean(axis=1)), rtol=1e-9)


def test_medoids_have_the_least_sum_of_squared_distances():
    X, _ = make_blobs(90, 3, centers=3, cluster_std=0.5, random_state=0)
    model = ConvexClustering(3).fit(X)
    for label, medoid in enumerate(model.medoid_indices_):
        own = np.flatnonzero(model.labels_ == label)
        sums = ((X[own, None] - X[own]) ** 2).sum(axis=(1, 2))
        assert own[sums.argmin()] == medoid


def test_memberships_are_better_than_hard_labels():
    """Log loss of the true classes, told k: the figures of overlapping and of real groups."""
    y = np.arange(300) % 3
    X = np.array([[0, 0], [4, 0], [2, 3.5]])[y] + np.random.default_rng(0).normal(size=(300, 2))
    wine = load_wine()
    for rows_, truth in ((X, y), (scale(wine.data), wine.target)):
        k = len(set(truth))
        model = KernelConvexClustering(k).fit(rows_)
        P = model.membership_
        match = [np.bincount(truth[model.labels_ == t], minlength=k).argmax() for t in range(k)]
        assert sorted(match) == list(range(k))
        soft, hard = (loss(Q[:, np.argsort(match)], truth) for Q in (P, np.eye(k)[model.labels_]))
        assert soft < 0.85 * hard


def test_walks_cross_valleys_with_the_whole_weight(tmp_path):
    """Edges across valleys are weak for the penalty, which would make every sample sure."""
    X, _ = make_blobs(150, 2, centers=[[0, 0], [4, 0]], random_state=0)
    model = KernelConvexClustering(2).fit(X)
    i, j = model.graph_.edges.T
    across = model.labels_[i] != model.labels_[j]
    whole = np.where(across, 1e3 * model.graph_.weights, model.graph_.weights)
    assert model.graph_.weights[across].max() < 0.01 * model.graph_.weights.max() < whole.max()
    expected = dense_walk(Graph(model.graph_.edges, whole), model.labels_)
    np.testing.assert_allclose(model.membership_, agreeing(expected, model.labels_), atol=1e-7)
    assert (model.probabilities_ < 0.9).any()
    model.save(tmp_path / "m", path=True)
    again = convexcluster.load(tmp_path / "m")
    np.testing.assert_array_equal(again.membership_, model.membership_)


def test_linked_samples_have_one_share():
    X, _ = make_blobs(90, 2, centers=[[0, 0], [3, 0]], random_state=0)
    groups = np.where(np.arange(90) % 10 == 0, np.arange(90) // 30, -1)
    P = KernelConvexClustering(2).fit(X, groups=groups).membership_
    for group in range(3):
        rows_ = P[groups == group]
        np.testing.assert_array_equal(rows_, rows_[:1].repeat(len(rows_), axis=0))
    assert (P[groups >= 0].max(axis=1) < 1 - 1e-6).all()


def loss(P, truth):
    P = np.clip(P, 1e-3, None)  # a sure mistake costs log 1000, not infinity
    return log_loss(truth, P / P.sum(axis=1, keepdims=True))


def test_planted_outliers_have_the_greatest_scores():
    X, _ = make_moons(300, noise=0.05, random_state=0)
    far = np.random.default_rng(0).uniform([-3, -3], [4, 4], (30, 2))
    model = KernelConvexClustering(2).fit(np.concatenate([X, far]))
    assert roc_auc_score(np.arange(330) >= 300, model.outlier_score_) > 0.9


# Trees -------------------------------------------------------------------------------------------


@st.composite
def trees(draw):
    n = draw(st.integers(2, 14))
    X = draw(hnp.arrays(np.float64, (n, 1), elements=st.integers(0, 20)))
    return linkage(X, draw(st.sampled_from(["ward", "single", "average"])))


@many
@given(trees(), st.integers(1, 5))
def test_a_condensed_tree_holds_every_sample_once(tree, least):
    found = condense(tree, least)
    n = len(tree) + 1
    assert found.sizes[0] == n
    assert (found.sizes[1:] >= least).all()
    assert (found.parents[1:] < np.arange(1, len(found))).all()
    assert (found.births >= found.deaths).all()
    for b in range(len(found)):
        below = np.flatnonzero(found.parents == b)
        assert len(below) in (0, 2)
        if len(below):
            assert found.sizes[below].sum() == found.ends[b]
            np.testing.assert_array_equal(found.births[below], found.deaths[b])
        heights, samples = found.width(b)
        assert (np.diff(heights) <= 0).all()
        assert (np.diff(samples) <= 0).all()
        assert samples[0] == found.sizes[b]
        assert samples[-1] == found.ends[b]
    kept = np.bincount(found.owners, minlength=len(found))
    for b in range(len(found) - 1, 0, -1):
        kept[found.parents[b]] += kept[b]
    np.testing.assert_array_equal(kept, found.sizes)


@many
@given(trees())
def test_levels_are_nested_cuts(tree):
    found = condense(tree, 1)
    before = np.zeros(len(tree) + 1, dtype=int)
    for k in range(1, found.n_levels + 1):
        labels = found.level(k)
        assert labels.min() == 0
        assert labels.max() == k - 1
        assert all(len(set(before[labels == t])) == 1 for t in range(k))
        before = labels


@many
@given(trees(), st.data())
def test_the_tree_of_some_samples_has_their_cophenetic_distances(tree, data):
    from scipy.cluster.hierarchy import cophenet
    from scipy.spatial.distance import squareform

    n = len(tree) + 1
    members = np.array(sorted(data.draw(st.sets(st.integers(0, n - 1), min_size=2))))
    whole = squareform(cophenet(tree))[np.ix_(members, members)]
    np.testing.assert_array_equal(squareform(cophenet(restrict(tree, members))), whole)


def test_three_blobs_that_are_one_cluster_come_apart_again():
    X, y = make_blobs(300, 2, centers=4, cluster_std=0.8, random_state=1)
    model = KernelConvexClustering(2).fit(X)
    big = np.flatnonzero(model.labels_ == 0)
    assert len(set(y[big])) == 3
    for inner in (model.subcluster(0), model.subcluster(0, 3)):
        assert adjusted_rand_score(y[big], inner) > 0.85


def test_small_groups_do_not_count_unless_they_must():
    X = np.concatenate([np.zeros((30, 1)), np.full((30, 1), 3.0), [[50.0], [90.0]]])
    X[:60] += np.random.default_rng(0).normal(scale=0.1, size=(60, 1))
    tree = linkage(X, "single")
    labels = inside(tree, np.arange(62), None, None)
    assert labels[:60].tolist() in ([0] * 30 + [1] * 30, [1] * 30 + [0] * 30)
    assert labels[60:].tolist() == [-1, -1]
    assert inside(tree, np.arange(62), 4, None).max() == 3


def test_a_condensed_tree_goes_to_tables_and_graphs():
    model = KernelConvexClustering(3, min_cluster_size=10).fit(rows(copies=False))
    tree = model.condensed_tree_
    frame = tree.to_pandas()
    assert tree.min_size == 10
    assert frame["size"].tolist() == tree.sizes.tolist()
    graph = tree.to_networkx()
    assert graph.number_of_edges() == len(tree) - 1
    assert graph.nodes[0]["size"] == 60
    assert "60 samples" in repr(tree)
    assert "\n" not in repr(tree)


def test_the_condensed_tree_is_drawn():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from convexcluster.plots import CondensedTreeDisplay

    model = KernelConvexClustering(3).fit(rows(copies=False))
    display = CondensedTreeDisplay.from_estimator(model)
    below = np.flatnonzero(display.tree.parents == 0)
    assert set(display.ranks[display.ranks >= 0]) == {0, 1, 2}
    left, right, _ = display.outline(0)
    assert right.max() - left.min() == 60
    assert display.middles[below].min() > 0
    axes = display.plot()
    assert len(axes.collections) == len(display.tree)
    assert "at least 10" in axes.get_title()
    matplotlib.pyplot.close("all")


# Descriptions ------------------------------------------------------------------------------------


def test_effects_are_cohens_d():
    rng = np.random.default_rng(0)
    a, b = rng.normal(1.0, 2.0, 40), rng.normal(0.0, 2.0, 25)
    s = np.sqrt((((a - a.mean()) ** 2).sum() + ((b - b.mean()) ** 2).sum()) / 63)
    values = np.concatenate([a, b])[None]
    found = effects(values, np.arange(40), np.arange(40, 65))
    np.testing.assert_allclose(
        [v[0] for v in found], [a.mean(), b.mean(), (a.mean() - b.mean()) / s]
    )
    shifted = effects(values + 1e6, np.arange(40), np.arange(40, 65))[2]
    np.testing.assert_allclose(shifted, found[2], rtol=1e-6)
    assert effects(np.ones((1, 65)) * 0.1, np.arange(40), np.arange(40, 65))[2] == 0


def test_descriptions_name_the_features_that_matter():
    wine = load_wine(as_frame=True)
    model = KernelConvexClustering(3).fit(scale(wine.data))
    found = model.describe(wine.data)
    frame = found.to_frame()
    assert len(frame) == 3 * 13
    for label in range(3):
        own = frame[frame.cluster == label]
        size = own.effect.abs()
        assert (np.diff(size) <= 0).all()
        here = wine.data[model.labels_ == label]
        np.testing.assert_allclose(own["mean"].to_numpy(), here[own.feature].mean().to_numpy())
    table = found.to_frame("features")
    np.testing.assert_allclose(table.explained, np.sort(found.explained)[::-1])
    cuts = found.to_frame("splits")
    assert sorted(set(cuts.split)) == [0, 1]
    sides = [(set(a.split(", ")), set(b.split(", "))) for a, b in zip(cuts.left, cuts.right)]
    assert sides[0][0] | sides[0][1] == {"0", "1", "2"}
    assert "3 clusters by 13 features" in repr(found)


def test_splits_are_the_topmost_merges():
    X = np.array([[0.0], [0.2], [5.0], [5.1], [5.3]])
    tree = linkage(X, "ward")
    (height, left, right), *_ = splits(tree, 2)
    assert height == tree[-1, 2]
    assert left.tolist() == [2, 3, 4]
    assert right.tolist() == [0, 1]
    assert splits(tree, 1) == []


def test_the_report_and_the_table_explain_alike():
    X = rows(copies=False)
    model = KernelConvexClustering(3).fit(X)
    shares = explained(np.ascontiguousarray(X.T), model.labels_)
    np.testing.assert_array_equal(model.describe(X).explained, shares)


def test_the_report_has_a_line_of_each():
    from convexcluster.report.words import soft_facts

    X = rows()
    model = KernelConvexClustering(3).fit(X)
    border, lonely, medoids, tree = soft_facts(
        model, [f"s{i}" for i in range(len(X))], model.probabilities_, model.outlier_score_
    )
    assert f"{(model.probabilities_ < 2 / 3).sum()} sample" in border
    assert ", s67" in lonely
    assert ", ".join(f"s{i}" for i in model.medoid_indices_) in medoids
    assert "branches of at least 10 samples" in tree


MIXED = pd.DataFrame({"a": [1.0, 2.0, 9.0, 8.0], "kind": list("uvuv"), "flag": [True] * 4})


def test_columns_that_are_no_numbers_are_left_out():
    assert describe(MIXED, np.array([0, 0, 1, 1])).features == ["a", "flag"]
    found = describe(sparse.csr_array(MIXED[["a"]].to_numpy()), np.array([0, 0, 1, 1]))
    assert found.features == ["feature 0"]
    assert describe(MIXED, np.zeros(4, dtype=int)).to_frame().empty


# Scores ------------------------------------------------------------------------------------------


def test_grid_search_needs_no_scoring():
    X, y = make_moons(200, noise=0.06, random_state=0)
    grid = {"bandwidth": [0.02, 0.3], "n_clusters": [2]}
    for classes in (None, y):
        search = GridSearchCV(KernelConvexClustering(), grid, cv=3, error_score="raise")
        search.fit(X, classes)
        assert np.isfinite(search.cv_results_["mean_test_score"]).all()
        assert adjusted_rand_score(y, search.best_estimator_.labels_) > 0.95


def test_scores_of_new_samples():
    X, y = make_blobs(300, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    model = KernelConvexClustering(3).fit(X[:200])
    assert model.score(X[200:]) == pytest.approx(1.0)
    assert model.score(X[200:], y[200:]) == 1.0
    assert KernelConvexClustering(1).fit(X[:200]).score(X[200:]) == 0.0
    assert KernelConvexClustering(12).fit(X[:200]).score(X[200:]) < 0.9


# Bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda m, X: m.subcluster(3), r"label must be one of the clusters 0 … 2, got 3"),
        (lambda m, X: m.subcluster(-1), r"label must be one of the clusters 0 … 2"),
        (lambda m, X: m.subcluster("0"), r"label must be one of the clusters .* got '0'"),
        (lambda m, X: m.subcluster(0.0), r"label must be one of the clusters"),
        (lambda m, X: m.subcluster(0, 0), r"n_clusters must be in 1 … \d+, the samples of clust"),
        (lambda m, X: m.subcluster(0, 999), r"n_clusters must be in 1 … .* got 999"),
        (lambda m, X: m.subcluster(0, 1.5), r"n_clusters must be in 1 … .* got 1.5"),
        (lambda m, X: m.describe(X[:-1]), r"X has 59 rows for 60 samples"),
        (lambda m, X: m.describe(X, feature_names=["a"]), r"1 feature names for 2 features"),
        (lambda m, X: m.describe(X[:, 0]), r"X must be 2-D .*, got 1-D"),
        (
            lambda m, X: m.describe(np.where(X > 3, np.nan, X)),
            r"nan in row \d+, column 'feature 0'",
        ),
        (lambda m, X: m.describe(pd.DataFrame({"a": ["u"] * 60})), r"X has no column of numbers"),
        (lambda m, X: m.describe(X).to_frame("rows"), r'what must be "clusters", "splits" or'),
        (lambda m, X: condense(m.linkage_, 0), r"min_size must be a whole number ≥ 1, got 0"),
        (lambda m, X: m.condensed_tree_.level(999), r"n_clusters must be in 1 … \d+, the number"),
        (lambda m, X: m.score(X[:, :1]), r"1 features"),
        (lambda m, X: m.score(X, [0, 1]), r"inconsistent numbers of samples"),
    ],
)
def test_bad_input_gets_a_sentence(ask, sentence):
    X = rows(copies=False)
    model = KernelConvexClustering(3, gamma=[0.1, 1.0, 10.0]).fit(X)
    with pytest.raises(ValueError, match=sentence):
        ask(model, X)


@pytest.mark.parametrize(
    "name",
    ["membership_", "probabilities_", "outlier_score_", "medoid_indices_", "condensed_tree_"],
)
def test_unfitted_models_have_no_answers(name):
    with pytest.raises(AttributeError, match="not fitted yet"):
        getattr(KernelConvexClustering(), name)


def test_what_a_small_file_can_answer(tmp_path):
    X = rows()
    model = KernelConvexClustering(3).fit(X)
    model.save(tmp_path / "m")
    again = convexcluster.load(tmp_path / "m")
    np.testing.assert_array_equal(again.outlier_score_, model.outlier_score_)
    np.testing.assert_array_equal(again.subcluster(0, 2), model.subcluster(0, 2))
    np.testing.assert_array_equal(again.condensed_tree_.sizes, model.condensed_tree_.sizes)
    assert again.describe(X).to_frame().equals(model.describe(X).to_frame())
    for name in ("membership_", "probabilities_", "medoid_indices_"):
        with pytest.raises(AttributeError, match=rf"^{name} is not in the file"):
            getattr(again, name)
    model.save(tmp_path / "whole", path=True)
    np.testing.assert_array_equal(
        convexcluster.load(tmp_path / "whole").membership_, model.membership_
    )
