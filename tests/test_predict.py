"""Prediction: the vote of the nearest training samples or cells, one rule for every entry."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.pairwise import rbf_kernel

from convexcluster import ConvexClustering, KernelConvexClustering, load
from convexcluster.out_of_core import fit_large
from convexcluster.partition import row_keys
from convexcluster.points import RowLabels, Vote
from convexcluster.weights.neighbors import tied_points

EPS = np.finfo(float).eps
THREE = [[0, 0], [10, 0], [0, 10]]


def agrees(model, X):
    """Labels of the training rows, and shares that say the same."""
    found, share = model.predict(X), model.predict_proba(X)
    np.testing.assert_array_equal(found, model.labels_)
    np.testing.assert_array_equal(share.argmax(axis=1), found)
    np.testing.assert_allclose(share.sum(axis=1), 1.0, rtol=1e-12)
    assert share.shape == (X.shape[0], model.n_clusters_)


def noisy(n=60, d=2, seed=0):
    """Two groups that overlap, so that a border runs through the rows."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)) + np.repeat([0.0, 1.5], n // 2)[:, None]


def whole_numbers(n=60, d=5, seed=0):
    """Rows of few values: many distances are tied, and rows are repeated."""
    return np.random.default_rng(seed).integers(3, size=(n, d)).astype(float)


@pytest.mark.parametrize("data", [noisy(), noisy(d=6), whole_numbers(), whole_numbers(d=2)])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "cosine", "polynomial"])
def test_training_rows_have_their_own_labels(kernel, data):
    agrees(KernelConvexClustering(4, kernel=kernel).fit(data), data)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 6), st.integers(2, 30), st.integers(1, 4))
def test_training_rows_have_their_own_labels_whatever_the_rows(seed, d, n, values):
    rng = np.random.default_rng(seed)
    scale = 10.0 ** rng.integers(-20, 20)
    X = rng.integers(values, size=(n, d)) * scale
    weight = rng.integers(3, size=n) + (np.arange(n) == 0)
    agrees(_quiet(ConvexClustering(gamma=0.1 * scale), X, weight), X)


def _quiet(model, X, weight=None):
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, sample_weight=weight)


@pytest.mark.parametrize(
    "how",
    [
        {"weight_space": "embedding"},
        {"weights": "full"},
        {"weights": "mst", "weight_bandwidth": 0.7},
        {"embedding": "rff", "rank": 20, "random_state": 0},
        {"coarsen": 15},
        {"coarsen": 15, "weight_space": "embedding"},
        {"gamma": 0.05},
        {"n_neighbors": 1},
        {"n_neighbors": 200},
    ],
)
def test_training_rows_have_their_own_labels_however_they_were_fitted(how):
    X = noisy(90, seed=3)
    agrees(_quiet(KernelConvexClustering(5, **how), X), X)


def test_a_given_graph_is_voted_on_by_the_automatic_one():
    X = noisy(seed=5)
    chain = np.column_stack([np.arange(59), np.arange(1, 60)]), np.ones(59)
    model = KernelConvexClustering(3, weights=chain).fit(X)
    agrees(model, X)


def test_of_copies_that_a_given_graph_sets_apart_the_first_has_the_word():
    X = np.array([[3.0], [0.0], [3.0], [3.0], [9.0]])
    vote = Vote.of(X, np.array([1, 0, 2, 0, 2]), np.ones(5), row_keys(X), n_neighbors=2)
    np.testing.assert_array_equal(vote.labels_of(X), [1, 0, 1, 1, 2])
    assert sorted(vote.masses) == [1.0, 1.0, 3.0]


def test_a_precomputed_kernel_is_predicted_from_its_rows():
    X, new = noisy(80, seed=1), noisy(40, seed=2)
    K = rbf_kernel(X, gamma=0.7)
    model = KernelConvexClustering(4, kernel="precomputed").fit(K)
    agrees(model, K)
    same = KernelConvexClustering(
        4, kernel=lambda a, b: rbf_kernel(a, b, gamma=0.7), weight_space="embedding"
    ).fit(X)
    np.testing.assert_array_equal(model.labels_, same.labels_)
    rows = rbf_kernel(new, X, gamma=0.7)
    assert (model.predict(rows) == same.predict(new)).mean() > 0.95
    share = model.predict_proba(rows)
    np.testing.assert_array_equal(share.argmax(axis=1), model.predict(rows))


@pytest.mark.parametrize("small", [0, 1e8])
@pytest.mark.parametrize("X", [noisy(80, 4, seed=7), whole_numbers(80, 8, seed=7)])
def test_sparse_rows_are_predicted_like_dense_ones(X, small, monkeypatch):
    """Whether a sparse matrix is taken for its array, where that is small, or is left as it is."""
    monkeypatch.setattr("convexcluster.estimators.predict.SMALL", small)
    held = np.vstack([X[:20], X[:20] + X[20:40]])
    thin = csr_array(X)
    model = KernelConvexClustering(4).fit(thin)
    agrees(model, thin)
    np.testing.assert_array_equal(model.predict(csr_array(held)), model.predict(held))
    dense = KernelConvexClustering(4).fit(X)
    np.testing.assert_array_equal(dense.predict(csr_array(held)), dense.predict(held))


def test_rows_of_weight_zero_are_labelled_like_new_rows():
    X = noisy(120, seed=4)
    weight = np.arange(120) % 3
    model = KernelConvexClustering(4).fit(X, sample_weight=weight)
    agrees(model, X)
    without = KernelConvexClustering(4).fit(X[weight > 0], sample_weight=weight[weight > 0])
    np.testing.assert_array_equal(without.predict(X), model.labels_)


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_rows_of_any_scale_have_their_own_labels(scale):
    X, new = noisy(seed=14), noisy(80, seed=15)
    plain = KernelConvexClustering(3).fit(X)
    model = KernelConvexClustering(3).fit(X * scale)
    agrees(model, X * scale)
    np.testing.assert_array_equal(model.predict(new * scale), plain.predict(new))


def test_copies_and_weights_vote_alike():
    X, new = noisy(seed=8), noisy(200, seed=9)
    times = 1 + np.arange(60) % 3
    copies = KernelConvexClustering(3).fit(np.repeat(X, times, axis=0))
    weighted = KernelConvexClustering(3).fit(X, sample_weight=times)
    np.testing.assert_allclose(weighted.predict_proba(new), copies.predict_proba(new), rtol=1e-9)


def test_far_points_belong_to_the_nearest_cluster():
    X, y = make_blobs(60, 2, centers=[[0, 0], [10, 0]], random_state=0)
    for model in (
        KernelConvexClustering(2),
        ConvexClustering(2),
        KernelConvexClustering(2, coarsen=20),
    ):
        right = model.fit(X).labels_[y == 1][0]
        far = np.array([10, 15, 20, 50, 1e3, 1e6, 1e12])
        points = np.column_stack([far, np.zeros(7)])
        assert (model.predict(points) == right).all()
        assert (model.predict(10 - points) == 1 - right).all()
        np.testing.assert_allclose(model.predict_proba(points)[:, right], 1.0)


@pytest.mark.parametrize(
    ("n", "rank"), [(400, 20), pytest.param(6_000, None, marks=pytest.mark.slow)]
)
def test_held_out_rows_of_separated_blobs(n, rank):
    X, truth = make_blobs(5 * n, 2, centers=THREE, random_state=0)
    model = KernelConvexClustering(rank=rank).fit(X[:n])
    agrees(model, X[:n])
    assert adjusted_rand_score(truth[n:], model.predict(X[n:])) >= 0.999


@pytest.mark.parametrize(
    ("n", "how"),
    [
        (6_000, {"n_clusters": 3, "coarsen": 150, "rank": 20}),
        pytest.param(30_000, {}, marks=pytest.mark.slow),
    ],
)
def test_rows_of_cells_are_in_the_right_blob(n, how):
    X, truth = make_blobs(n, 2, centers=THREE, random_state=0)
    large = fit_large(X, KernelConvexClustering(**how))
    np.testing.assert_array_equal(np.bincount(large.predict(X)), [n // 3] * 3)
    assert adjusted_rand_score(truth, large.predict(X)) == 1.0
    np.testing.assert_array_equal(np.concatenate(list(large.labels(X))), large.predict(X))
    np.testing.assert_array_equal(large.predict_proba(X[:99]).argmax(axis=1), large.predict(X[:99]))
    cells = large.model
    np.testing.assert_array_equal(cells.predict(cells.points_.X), cells.labels_)


def test_every_entry_has_the_same_rule(tmp_path):
    X, _ = make_moons(900, noise=0.08, random_state=0)
    settings = {"n_clusters": 2, "coarsen": 200, "rank": 40}
    model = KernelConvexClustering(**settings).fit(X)
    large = fit_large(X, KernelConvexClustering(**settings), labels_to=tmp_path / "labels.npy")
    agrees(model, X)
    np.testing.assert_array_equal(np.load(tmp_path / "labels.npy"), large.predict(X))
    np.testing.assert_array_equal(large.predict(X), large.model.predict(X))
    assert (large.predict(X) == model.labels_).mean() > 0.99  # their graphs differ


def test_dask_rows_have_the_labels_of_the_vote():
    pytest.importorskip("distributed")
    from dask import array
    from distributed import Client

    from convexcluster.dask import KernelConvexClustering as OnDask

    X, _ = make_moons(900, noise=0.08, random_state=0)
    rows = array.from_array(X, chunks=(200, 2))
    with Client(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None
    ) as client:
        for space in ("input", "embedding"):
            how = {"coarsen": 200, "rank": 40, "weight_space": space}
            model = OnDask(2, client=client, **how).fit(rows)
            labels = model.labels_.compute()
            np.testing.assert_array_equal(model.predict(rows).compute(), labels)
            np.testing.assert_array_equal(model.predict(X), labels)
            share = model.predict_proba(rows)
            assert share.shape == (900, 2)
            np.testing.assert_array_equal(share.compute().argmax(axis=1), labels)
            rounding = 0.0 if np.__version__ >= "2" else 8 * EPS  # one share of NumPy 1.24 differed
            np.testing.assert_allclose(share.compute(), model.predict_proba(X), rtol=rounding)
            found = model.predict(model.points_.X)
            np.testing.assert_array_equal(found, model.point_labels_)


@pytest.mark.parametrize("how", [{}, {"weight_space": "embedding"}, {"coarsen": 30}])
def test_a_saved_model_predicts_alike(how, tmp_path):
    X, new = noisy(seed=10), noisy(300, seed=11)
    model = KernelConvexClustering(4, **how).fit(X)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    agrees(again, X)
    np.testing.assert_array_equal(again.predict_proba(new), model.predict_proba(new))


def test_a_row_is_predicted_alike_in_any_company():
    X, new = noisy(seed=12), noisy(50, seed=13)
    model = KernelConvexClustering(4).fit(X)
    alone = np.vstack([model.predict_proba(row[None]) for row in new])
    np.testing.assert_array_equal(alone, model.predict_proba(new))


def test_the_vote_is_the_weight_of_the_graph():
    # three points, one neighbour more than points: s_j the distance to the farther of the others
    X, labels = np.array([[0.0], [1.0], [4.0]]), np.array([0, 0, 1])
    vote = Vote.of(X, labels, np.array([1.0, 4.0, 1.0]), row_keys(X), n_neighbors=7)
    d, s_x = np.array([2.0, 1.0, 2.0]), 2.0
    s, b = np.array([4.0, 3.0, 4.0]), np.array([1.0, 1.0, 1.0])
    w = b * np.sqrt([1.0, 4.0, 1.0]) * np.exp(-((d**2 / (s_x * s)) ** 0.75))
    share = vote.shares(np.array([[2.0]]))
    np.testing.assert_allclose(share, [[w[:2].sum() / w.sum(), w[2] / w.sum()]])
    # beyond s_j the point would not return the choice, and its weight is a half
    d, s_x = np.array([9.0, 8.0, 5.0]), 9.0
    b = np.array([0.5, 0.5, 0.5])
    w = b * np.sqrt([1.0, 4.0, 1.0]) * np.exp(-((d**2 / (s_x * s)) ** 0.75))
    share = vote.shares(np.array([[9.0]]))
    np.testing.assert_allclose(share, [[w[:2].sum() / w.sum(), w[2] / w.sum()]])


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize("d", [2, 5, 20])
def test_neighbours_of_new_rows_are_the_nearest_and_ties_are_shared(d, metric):
    rng = np.random.default_rng(d)
    X = rng.integers(4, size=(70, d)).astype(float)
    X, rows, k = np.unique(X, axis=0), rng.integers(4, size=(25, d)) + 0.5, 5
    pairs, share, lengths, scale = tied_points(rows, X, k, metric=metric)
    order = 1 if metric == "manhattan" else 2
    for i, row in enumerate(rows):
        length = np.linalg.norm(X - row, ord=order, axis=1)
        radius = np.sort(length)[k - 1]
        closer, tied = length < radius * (1 - 1e-9), np.isclose(length, radius, rtol=1e-9)
        full = closer.sum() + tied.sum() <= 2 * k
        left = 1.0 if full else (k - closer.sum()) / tied.sum()
        mine = pairs[:, 0] == i
        found = np.zeros(len(X))
        found[pairs[mine, 1]] = share[mine]
        np.testing.assert_allclose(found, closer + left * tied, rtol=1e-9)
        np.testing.assert_allclose(lengths[mine], length[pairs[mine, 1]])
        assert scale[i] == pytest.approx(radius)


def test_keys_of_rows_tell_rows_apart():
    rng = np.random.default_rng(0)
    X = rng.integers(-2, 3, size=(3_000, 4)).astype(float)
    keys = row_keys(X)
    assert len(np.unique(keys)) == len(np.unique(X, axis=0))
    np.testing.assert_array_equal(row_keys(csr_array(X)), keys)
    np.testing.assert_array_equal(row_keys(np.where(X == 0, -0.0, X)), keys)
    np.testing.assert_array_equal(row_keys(X[7:8]), keys[7:8])


@pytest.mark.filterwarnings("ignore:row")
@pytest.mark.filterwarnings("ignore:distances hardly")
def test_no_cluster_of_few_cells_is_left_without_rows():
    """Five cells ask more neighbours than there are, and the largest outvoted all others."""
    for seed in (3, 6, 7, 8):
        X = np.random.default_rng(seed).standard_cauchy(size=(15, 4))
        model = KernelConvexClustering(3, coarsen=5).fit(X)
        assert np.unique(model.labels_).tolist() == list(range(model.n_clusters_))
        np.testing.assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.filterwarnings("ignore:row")
def test_no_cluster_of_few_cells_is_left_without_rows_where_rows_are_elsewhere(tmp_path):
    distributed = pytest.importorskip("distributed")
    from dask import array

    from convexcluster.dask import KernelConvexClustering as OnDask

    file, how = tmp_path / "x.npy", {"n_clusters": 3, "coarsen": 5}
    options = {"n_workers": 1, "threads_per_worker": 1, "processes": False}
    with distributed.Client(dashboard_address=None, **options) as client:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 2)) * np.exp(rng.normal(size=(400, 1)))
        np.save(file, X)
        large = fit_large(file, KernelConvexClustering(**how))
        assert len(np.unique(large.predict(X))) == large.n_clusters_ == 3
        rows = array.from_array(X, chunks=(100, 2))
        model = OnDask(client=client, **how).fit(rows)
        assert len(np.unique(model.labels_.compute())) == model.n_clusters_ == 3
        np.testing.assert_array_equal(model.predict(X), model.labels_.compute())


def test_copies_that_a_graph_pulls_apart_have_one_label():
    """Given a bandwidth, copies are points of their own, whose neighbours differ."""
    for seed in (6, 10, 12):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(29, 3))[rng.integers(0, 9, 29)]
        model = KernelConvexClustering(weight_bandwidth=1e30, labels="fusion").fit(X)
        assert np.unique(model.labels_).tolist() == list(range(model.n_clusters_))
        np.testing.assert_array_equal(model.predict(X), model.labels_)


# Bad input ---------------------------------------------------------------------------------------

FOUR = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
APART = np.abs(FOUR[:, :1] - FOUR[:, 0])
NEW = {
    "too few columns": ({}, FOUR, FOUR[:, :1], "X has 1 features, but .* expecting 2"),
    "one row": ({}, FOUR, FOUR[0], "Expected 2D array, got 1D array"),
    "no row": ({}, FOUR, FOUR[:0], r"Found array with 0 sample\(s\)"),
    "missing": ({}, FOUR, [[np.nan, 0.0]], "nan in row 0, column 0: .* fills in what is missing"),
    "infinite": ({}, FOUR, [[0.0, np.inf]], "X holds inf in row 0, column 1"),
    "text": ({}, FOUR, np.array([["u", 1.0]], dtype=object), "column .* is text: encode or drop"),
    "some distances": ({"metric": "precomputed"}, APART, APART[:, :3], "expecting 4 features"),
    "negative distances": (
        {"metric": "precomputed"},
        APART,
        -APART,
        r"distances must be ≥ 0: X holds -0\.1 in row 0, column 1",
    ),
    "sparse distances": (
        {"metric": "precomputed"},
        APART,
        csr_array(APART),
        "new samples need theirs to every training sample",
    ),
    "some of a kernel": ({"kernel": "precomputed"}, FOUR @ FOUR.T, FOUR, "expecting 4 features"),
}


@pytest.mark.parametrize("case", NEW)
def test_new_samples_are_refused_by_a_sentence(case):
    parameters, X, new, sentence = NEW[case]
    model = KernelConvexClustering(2, **parameters).fit(X)
    for ask in (model.predict, model.predict_proba, model.transform):
        with pytest.raises(ValueError, match=sentence):
            ask(new)


@pytest.mark.parametrize(("d", "metric"), [(2, "euclidean"), (5, "manhattan"), (8, "manhattan")])
@pytest.mark.parametrize("apart", [3.0, 8.0, 40.0])  # touching, apart, far apart
def test_rows_that_know_their_label_have_the_label_of_the_vote(d, metric, apart):
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, d))
    centres *= apart / np.linalg.norm(centres, axis=1, keepdims=True)
    X = centres[rng.integers(4, size=4_000)] + rng.normal(size=(4_000, d))
    model = KernelConvexClustering(4, coarsen=200, rank=20, metric=metric).fit(X)
    rows = RowLabels.of(model._vote, model.points_)
    new = np.vstack([X, 3 * X[:500], np.zeros((1, d))])  # far out and in the middle as well
    asked = []
    vote = model._vote.labels_of
    counted = SimpleNamespace(
        **vars(model._vote), labels_of=lambda x: asked.append(len(x)) or vote(x)
    )
    np.testing.assert_array_equal(replace(rows, vote=counted).labels_of(new), vote(new))
    if apart >= 8.0:
        assert sum(asked) < 501 + 0.05 * len(X)  # the others have not looked for neighbours
    np.testing.assert_array_equal(rows.labels_of(X), model.labels_)


def by_hand(x, points, masses, scales, labels):
    """Shares of two labels in the vote on the row x, all points being neighbours."""
    d = np.abs(points - x)
    b = np.where(d <= scales, 1.0, 0.5)
    w = b * np.sqrt(masses) * np.exp(-((d**2 / (d.max() * scales)) ** 0.75))
    return np.bincount(labels, w, 2) / w.sum()


@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_points_that_would_not_return_the_choice_have_half_a_vote(unit):
    # from 5 the points are 5, 4 and 1 away, s = 4, 3 and 4: only the last would choose the row;
    # from −4 they are 4, 5 and 8 away, the first at exactly s
    points, labels = unit * np.array([0.0, 1.0, 4.0]), np.array([0, 0, 1])
    masses, scales = np.array([1.0, 4.0, 1.0]), unit * np.array([4.0, 3.0, 4.0])
    X = points[:, None]
    vote = Vote.of(X, labels, masses, row_keys(X), n_neighbors=7)
    np.testing.assert_allclose(vote.scales, scales, rtol=1e-15)
    scales = vote.scales  # 0.4 − 0.1 is not 0.3 to the last bit
    rows = unit * np.array([5.0, -4.0])
    wanted = [by_hand(x, points, masses, scales, labels) for x in rows]
    np.testing.assert_allclose(vote.shares(rows[:, None]), wanted, rtol=1e-12)


def test_votes_are_the_same_block_by_block(monkeypatch):
    X, labels = noisy(40), np.arange(40) % 3
    vote = Vote.of(X, labels, np.ones(40), row_keys(X), n_neighbors=3)
    rows = noisy(30, seed=1)
    whole, named = vote.shares(rows), vote.labels_of(rows)
    for length in (1, 7):  # rows of a block
        monkeypatch.setattr("convexcluster.points.vote.BLOCK", 64 * length)
        np.testing.assert_array_equal(vote.shares(rows), whole)
        np.testing.assert_array_equal(vote.labels_of(rows), named)


@pytest.mark.parametrize("metric", ["euclidean", "chebyshev"])
def test_no_rows_have_no_shares_and_one_row_has_some(metric):
    X = noisy(12)
    vote = Vote.of(X, np.arange(12) % 3, np.ones(12), row_keys(X), n_neighbors=3, metric=metric)
    assert vote.shares(X[:0]).shape == (0, 3)
    assert vote.labels_of(X[:0]).shape == (0,)
    assert vote.shares(X[:1] + 0.1).shape == (1, 3)


def test_some_of_the_points_vote_under_other_labels():
    X = np.array([[0.0], [1.0], [5.0], [6.0]])
    vote = Vote.of(X, np.array([0, 0, 1, 1]), np.ones(4), row_keys(X), n_neighbors=2)
    some = vote.among(np.array([0, 2, 3]), np.array([2, 0, 1]))
    assert some.n_clusters == 3
    np.testing.assert_array_equal(some.labels_of(np.array([[0.0], [5.0], [6.0]])), [2, 0, 1])
    np.testing.assert_array_equal(some.scales, vote.scales[[0, 2, 3]])


@pytest.mark.parametrize("k", [True, 2.5, "2", None])
def test_a_cut_into_no_whole_number_is_refused(k):
    model = KernelConvexClustering(2).fit(np.array([[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]]))
    with pytest.raises(ValueError, match="n_clusters must be a whole number, got"):
        model.cut(k)
    np.testing.assert_array_equal(model.cut(np.int64(3)), [0, 0, 1, 1, 2, 2])


def test_a_model_that_is_not_fitted_has_no_cut():
    with pytest.raises(NotFittedError):
        KernelConvexClustering(2).cut(2)
