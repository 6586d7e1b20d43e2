"""Weights: each against its definition by brute force; duplicates, bridges and bad graphs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import KDTree
from sklearn.datasets import make_blobs

from convexcluster.graph import components
from convexcluster.kernels import resolve_kernel
from convexcluster.loops.distances import nearest_rows, pair_lengths
from convexcluster.weights import (
    WEIGHTS,
    automatic_graph,
    build_graph,
    local_scales,
    neighbors,
    user_graph,
)
from convexcluster.weights.bridges import joining_edges
from convexcluster.weights.neighbors import Nearest, nearest_neighbors
from convexcluster.weights.search import tree_neighbors


def distances(X):
    return np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))


def dense(graph, n):
    W = np.zeros((n, n))
    i, j = graph.edges.T
    W[i, j] = W[j, i] = graph.weights
    return W


def neighbor_matrix(D, k):
    far = D + np.diag(np.full(len(D), np.inf))
    N = np.zeros_like(D)
    N[np.arange(len(D))[:, None], np.argsort(far, axis=1)[:, :k]] = 1
    return N


X = np.random.default_rng(0).normal(size=(40, 3))
D = distances(X)


def test_knn_is_the_papers():
    W = neighbor_matrix(D, 6) * np.exp(-(D**2) / (2 * 0.8**2))
    graph = build_graph(X, "knn", n_neighbors=6, bandwidth=0.8)
    np.testing.assert_allclose(dense(graph, 40), (W + W.T) / 2, rtol=1e-12)


def test_full_is_gaussian_on_all_pairs():
    graph = build_graph(X, "full", bandwidth=0.8)
    W = np.exp(-(D**2) / (2 * 0.8**2)) - np.eye(40)
    np.testing.assert_allclose(dense(graph, 40), W, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("metric", ["manhattan", "euclidean"])
def test_local_scaling(metric):
    E = D if metric == "euclidean" else np.abs(X[:, None] - X).sum(axis=2)
    s = np.sort(E, axis=1)[:, 7]
    N = neighbor_matrix(E, 7)
    W = (N + N.T) / 2 * np.exp(-((E**2 / np.outer(s, s)) ** 0.75))
    graph = build_graph(X, "local", n_neighbors=7, metric=metric)
    np.testing.assert_allclose(dense(graph, 40), W, rtol=1e-12)


def test_mutual_neighbors_alone():
    s = np.sort(D, axis=1)[:, 7]
    N = neighbor_matrix(D, 7)
    W = N * N.T * np.exp(-((D**2 / np.outer(s, s)) ** 0.75))
    graph = build_graph(X, "mutual", n_neighbors=7, metric="euclidean")
    np.testing.assert_allclose(dense(graph, 40), W, rtol=1e-12)


def test_bridges_are_weighted_like_one_sided_neighbors():
    Y = np.array([[0.0], [1.0], [2.0], [3.5], [4.5], [5.5]])
    graph = build_graph(Y, "mutual", n_neighbors=1, metric="euclidean", connect=True)
    # 2 and 3.5 are both one from their neighbours, and neither's neighbour
    bridge = graph.weights[(graph.edges == [2, 3]).all(axis=1)]
    assert bridge == pytest.approx(0.5 * np.exp(-(1.5**1.5)))


def test_places_may_be_turned():
    rng = np.random.default_rng(11)
    Y, turn = rng.normal(size=(80, 2)), np.array([[0.6, -0.8], [0.8, 0.6]])
    a, b = (automatic_graph(rows, n_neighbors=7, masses=np.ones(80)) for rows in (Y, Y @ turn))
    assert (a.edges == b.edges).all()
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-9)
    assert components(a.edges, 80).max() == 0
    assert 2 * a.weights.sum() / 80 == pytest.approx(1)


def test_automatic_graphs_of_places_and_of_many_features():
    rng = np.random.default_rng(12)
    for d, name, metric, k in ((3, "mutual", "euclidean", 10), (4, "local", "manhattan", 7)):
        Y = rng.normal(size=(60, d))
        found = automatic_graph(Y, n_neighbors=7, masses=np.ones(60))
        options = {"n_neighbors": k, "metric": metric, "connect": True, "normalize": True}
        np.testing.assert_array_equal(found.weights, build_graph(Y, name, **options).weights)


def test_manhattan_neighbors_from_a_shortlist_are_nearly_the_exact_ones(monkeypatch):
    Y = np.random.default_rng(5).normal(size=(300, 20))
    exact = nearest_neighbors(Y, 5, metric="manhattan")
    monkeypatch.setattr("convexcluster.weights.neighbors.MANHATTAN_WORK", 0)
    monkeypatch.setattr("convexcluster.weights.neighbors.TREE_SIZE", 0)
    near = nearest_neighbors(Y, 5, metric="manhattan")
    assert np.mean([len(set(a) & set(b)) / 5 for a, b in zip(exact, near)]) > 0.9


@pytest.mark.parametrize("d", [1, 3, 17, 50])
def test_manhattan_neighbors_are_the_nearest_by_distance_then_number(d):
    Y = np.random.default_rng(d).integers(0, 4, size=(90, d)).astype(float)  # many ties
    E = np.abs(Y[:, None] - Y).sum(axis=2)
    np.fill_diagonal(E, np.inf)
    order = np.argsort(E, axis=1, kind="stable")[:, :9]
    index, length = np.full((90, 9), 90), np.full((90, 9), np.inf)
    nearest_rows(Y, np.arange(len(Y)), index, length, 0, 1)
    np.testing.assert_array_equal(index, order)
    np.testing.assert_array_equal(length, np.take_along_axis(E, order, axis=1))
    i, j = np.divmod(np.arange(90 * 90), 90)
    np.testing.assert_array_equal(
        pair_lengths(Y, i, j), np.abs(Y[i] - Y[j]).sum(axis=1)
    )  # whole numbers: exact in any order


@pytest.mark.parametrize("k", [3, 40])  # fewer, and more, than a tile has rows
def test_neighbors_of_clusters_far_apart_are_those_without_leaving_out_tiles(k):
    rng = np.random.default_rng(4)
    Y = rng.normal(size=(500, 8)) + rng.integers(-9, 9, size=(6, 8))[rng.integers(0, 6, size=500)]
    Y[100:200] = np.round(Y[100:200])  # ties
    found = Nearest.of(Y, k, metric="manhattan")
    index, length = np.full(found.index.shape, 500), np.full(found.index.shape, np.inf)
    nearest_rows(Y, np.arange(500), index, length, 0, 1)
    np.testing.assert_array_equal(found.index, index)
    np.testing.assert_array_equal(found.length, length)


def test_two_threads_find_the_same_neighbors():
    Y = np.random.default_rng(2).integers(0, 5, size=(1_200, 6)).astype(float)  # many ties
    one, two = (Nearest.of(Y, 8, metric="manhattan", jobs=jobs) for jobs in (1, 2))
    np.testing.assert_array_equal(one.index, two.index)
    np.testing.assert_array_equal(one.length, two.length)


@pytest.mark.parametrize("n", [2, 20, 32, 33, 64])
def test_few_rows_are_compared_where_they_are(n, monkeypatch):
    X = np.random.default_rng(0).integers(0, 3, (n, 5)).astype(float)  # of many ties
    k = min(7, n - 1)
    with monkeypatch.context() as sorted_first:
        sorted_first.setattr(neighbors, "AS_GIVEN", 0)
        expected = Nearest.of(X, k, metric="manhattan")
    monkeypatch.delattr(neighbors, "KDTree")
    found = Nearest.of(X, k, metric="manhattan")
    np.testing.assert_array_equal(found.index, expected.index)
    np.testing.assert_array_equal(found.length, expected.length)


def test_manhattan_distances_are_the_same_from_both_ends():
    Y = np.random.default_rng(3).lognormal(sigma=3.0, size=(70, 31))
    index, length = np.full((70, 69), 70), np.full((70, 69), np.inf)
    nearest_rows(Y, np.arange(len(Y)), index, length, 0, 1)
    full = np.empty((70, 70))
    np.put_along_axis(full, index, length, axis=1)
    np.fill_diagonal(full, 0.0)
    np.testing.assert_array_equal(full, full.T)


def test_masses_multiply_weights():
    m = np.linspace(0.5, 2, 40)
    for name in ("knn", "local"):
        a, b = (build_graph(X, name, bandwidth=1.0, masses=masses) for masses in (None, m))
        np.testing.assert_allclose(b.weights, a.weights * np.sqrt(m[a.edges].prod(axis=1)))


def test_full_weights_of_merged_copies_are_sums():
    copies = np.repeat(X[:5], [1, 3, 2, 1, 1], axis=0)
    W = dense(build_graph(copies, "full", bandwidth=1.0), 8)
    member = np.repeat(np.eye(5), [1, 3, 2, 1, 1], axis=0)
    merged = member.T @ W @ member
    np.fill_diagonal(merged, 0)
    graph = build_graph(X[:5], "full", bandwidth=1.0, masses=np.array([1.0, 3, 2, 1, 1]))
    np.testing.assert_allclose(dense(graph, 5), merged, rtol=1e-12)


@pytest.mark.parametrize("name", WEIGHTS)
def test_gram_matrix_gives_the_graph_of_its_space(name):
    K = X @ X.T
    a = build_graph(X, name, connect=True, metric="euclidean")
    b = build_graph(K, name, connect=True, precomputed=True)
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-9)


@pytest.mark.parametrize("name", WEIGHTS)
def test_sparse_samples_give_the_graph_of_dense_ones(name):
    S = np.random.default_rng(7).normal(size=(40, 12))
    S[np.abs(S) < 0.8] = 0
    forms = (S, sparse.csr_matrix(S))
    a, b = (build_graph(form, name, connect=True, metric="euclidean") for form in forms)
    np.testing.assert_array_equal(a.edges, b.edges)
    np.testing.assert_allclose(a.weights, b.weights, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 40),
    distinct=st.integers(1, 12),
    k=st.integers(1, 8),
    name=st.sampled_from(sorted(WEIGHTS)),
    connect=st.booleans(),
)
def test_duplicates_do_no_harm(seed, n, distinct, k, name, connect):
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(distinct, 2))[rng.integers(0, distinct, n)]
    graph = build_graph(Y, name, n_neighbors=k, connect=connect)
    i, j = graph.edges.T
    assert (i < j).all()
    assert len(np.unique(i * n + j)) == len(i)
    assert np.isfinite(graph.weights).all()
    assert (graph.weights > 0).all()
    if connect or name == "mst":
        assert components(graph.edges, n).max() == 0
    if name in ("knn", "local", "mst"):
        neighbors = np.bincount(np.r_[i, j], minlength=n)
        assert (neighbors >= min(k, n - 1)).all()
        same = (Y[i] == Y[j]).all(axis=1)
        if name == "local":  # tied neighbours may share a place
            assert (graph.weights[same] <= 1).all()
        else:
            assert np.isin(graph.weights[same], [0.5, 1.0]).all()


@pytest.mark.parametrize(("k", "power", "jobs"), [(1, 2, 1), (4, 1, 2), (4, 2, 2)])
def test_a_tree_is_asked_in_parts(monkeypatch, k, power, jobs):
    monkeypatch.setattr("convexcluster.weights.search.LOOKED_UP", 7)
    Y = np.random.default_rng(0).normal(size=(50, 2))
    length, index = tree_neighbors(KDTree(Y), Y, k, power, jobs)
    want = KDTree(Y).query(Y, range(1, k + 1), p=power)
    np.testing.assert_array_equal(length, want[0])
    np.testing.assert_array_equal(index, want[1])


def test_a_sample_is_not_its_own_neighbor():
    Y = np.zeros((9, 2))
    index = nearest_neighbors(Y, 3)
    assert index.shape == (9, 3)
    assert (index != np.arange(9)[:, None]).all()


def test_local_scales_pass_over_copies():
    Y = np.repeat(np.array([[0.0], [1.0], [3.0]]), 5, axis=0)
    np.testing.assert_allclose(local_scales(Y, 1), np.repeat([1.0, 1.0, 2.0], 5))
    np.testing.assert_allclose(local_scales(np.ones((4, 2)), 3), 0)


@pytest.mark.parametrize("d", [2, 20])
@pytest.mark.parametrize("precomputed", [False, True])
def test_joining_edges_are_the_minimum_spanning_tree_of_components(d, precomputed):
    rng = np.random.default_rng(3)
    Y, labels = make_blobs(120, d, centers=11, cluster_std=0.3, random_state=4)
    _, labels = np.unique(labels, return_inverse=True)
    Y = Y + rng.normal(scale=1e-6, size=Y.shape)
    E = distances(Y)
    between = np.array(
        [[E[np.ix_(labels == a, labels == b)].min() for b in range(11)] for a in range(11)]
    )
    want = minimum_spanning_tree(between - np.diag(np.diagonal(between))).data
    edges = joining_edges(E if precomputed else Y, labels.astype(np.int64), precomputed=precomputed)
    assert (labels[edges[:, 0]] != labels[edges[:, 1]]).all()
    np.testing.assert_allclose(np.sort(E[edges[:, 0], edges[:, 1]]), np.sort(want), rtol=1e-12)


@pytest.mark.parametrize("d", [1, 2, 10, 40])
@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("spread", [0.5, 3.0])
def test_both_searches_find_the_same_joining_edges(monkeypatch, d, offset, spread):
    # components of very different size, apart or through one another
    Y, labels = make_blobs([200, 60, 30, 5, 2, 1, 1], d, cluster_std=spread, random_state=d)
    alone = joining_edges(Y + offset, labels.astype(np.int64))
    monkeypatch.setattr("convexcluster.weights.bridges.FEW_COMPONENTS", 0)
    by_bits = joining_edges(Y + offset, labels.astype(np.int64))
    assert set(map(tuple, alone)) == set(map(tuple, by_bits))


def test_joining_edges_with_ties():
    grid = np.stack(np.meshgrid(np.arange(5.0), np.arange(5.0)), axis=-1).reshape(-1, 2)
    edges = joining_edges(grid, np.arange(25))
    assert len(edges) == 24
    assert components(edges, 25).max() == 0
    np.testing.assert_allclose(np.linalg.norm(grid[edges[:, 0]] - grid[edges[:, 1]], axis=1), 1)


def test_the_search_for_joining_edges_ends_where_rounding_blurs_distances():
    """‖x‖² − 2x·y + ‖y‖² of rows that are equal in 13 digits led the search in circles."""
    Y = 1.0 + 1e-13 * np.random.default_rng(0).normal(size=(30, 2))
    edges = joining_edges(Y, np.arange(30) // 2)
    assert len(edges) == 14
    assert components(np.vstack([edges, np.arange(30).reshape(-1, 2)]), 30).max() == 0


def test_far_clusters_are_joined_though_the_gaussian_underflows():
    Y = np.r_[X[:20], X[20:] + 1e6]
    for name in ("knn", "local", "full"):
        apart = build_graph(Y, name, bandwidth=1.0)
        assert components(apart.edges, 40).max() == 1
        graph = build_graph(Y, name, bandwidth=1.0, connect=True)
        assert components(graph.edges, 40).max() == 0
        bridge = (graph.edges[:, 0] < 20) & (graph.edges[:, 1] >= 20)
        assert bridge.sum() == 1
        np.testing.assert_allclose(
            graph.weights[bridge], 1e-3 * np.median(graph.weights[~bridge]), rtol=0.05
        )


def test_normalized_graph_has_mean_degree_one():
    graph = build_graph(X, "local", normalize=True)
    assert dense(graph, 40).sum(axis=1).mean() == pytest.approx(1.0)


def test_a_users_graph_in_every_form():
    W = np.zeros((4, 4))
    W[0, 1] = W[1, 0] = 2.0
    W[1, 3] = W[3, 1] = 0.5
    want = [[0, 1], [1, 3]]
    forms = [W, sparse.csr_matrix(W), sparse.coo_array(W), (want, [2.0, 0.5]), W + np.eye(4)]
    for form in forms:
        graph = build_graph(X[:4], form)
        assert graph.edges.tolist() == want
        assert graph.weights.tolist() == [2.0, 0.5]
    assert len(build_graph(X[:4], W, connect=True).edges) == 3
    kept = build_graph(X[:4], lambda X, **_: user_graph(W, len(X)))
    assert kept.edges.tolist() == want


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("nope", "nope"),
        (np.array([[0, 1.0], [2.0, 0]]), "symmetric"),
        (np.array([[0, -1.0], [-1.0, 0]]), "≥ 0"),
        (np.array([[0, np.nan], [np.nan, 0]]), "finite"),
        (np.zeros((3, 3)), "2 × 2"),
        (([[0, 1]], [np.nan]), "finite"),
        (([[0, 1]], [-1.0]), "≥ 0"),
        (([[0, 2]], [1.0]), "out of range"),
        (([[1, 0]], [1.0]), "i < j"),
        (([[0, 1], [0, 1]], [1.0, 1.0]), "repeated"),
        (([[0, 1]], [1.0], 3), "tuple of 3"),
    ],
)
def test_bad_graphs_are_refused_by_a_sentence(weights, words):
    with pytest.raises(ValueError, match=words):
        build_graph(X[:2], weights)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n_neighbors": 0}, "n_neighbors"),
        ({"n_neighbors": 2.5}, "n_neighbors"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"bandwidth": "wide"}, "bandwidth"),
        ({"bandwidth": np.nan}, "bandwidth"),
        ({"masses": np.zeros(40)}, "masses"),
        ({"precomputed": True}, "square"),
    ],
)
def test_bad_arguments_are_refused_by_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        build_graph(X, **arguments)


def test_more_neighbors_than_samples_means_all():
    assert len(build_graph(X[:5], n_neighbors=99).edges) == 10
    assert len(build_graph(X[:1]).edges) == 0
    assert build_graph(X[:2]).edges.tolist() == [[0, 1]]


def test_all_pairs_of_a_million_samples_are_refused_before_allocating():
    with pytest.raises(MemoryError, match="knn"):
        build_graph(np.zeros((1_000_000, 1)), "full")


def test_memory_layout_and_type_do_not_matter():
    Y = np.round(8 * X)
    want = build_graph(Y, connect=True)
    frozen = np.asfortranarray(Y)
    frozen.flags.writeable = False
    for form in (Y.astype(np.float32), Y.astype(int), frozen):
        graph = build_graph(form, connect=True)
        np.testing.assert_array_equal(graph.edges, want.edges)
        np.testing.assert_array_equal(graph.weights, want.weights)
    K = resolve_kernel("rbf", 1.0)(Y)
    K.flags.writeable = False
    build_graph(K, precomputed=True)


@pytest.mark.slow  # pynndescent compiles for minutes on a slow core
def test_approximate_neighbors_are_nearly_the_exact_ones(monkeypatch):
    pytest.importorskip("pynndescent")
    Y = np.random.default_rng(5).normal(size=(400, 16))
    exact = nearest_neighbors(Y, 5)
    monkeypatch.setattr("convexcluster.weights.neighbors.APPROXIMATE_SIZE", 100)
    near = nearest_neighbors(Y, 5)
    assert near.shape == exact.shape
    assert (near != np.arange(400)[:, None]).all()
    found = np.mean([len(set(a) & set(b)) / 5 for a, b in zip(exact, near)])
    assert found > 0.9


def test_local_weights_of_tied_samples_do_not_depend_on_their_order():
    rng = np.random.default_rng(4)
    Y = np.unique(rng.integers(0, 2, (60, 7)), axis=0).astype(float)
    order = rng.permutation(len(Y))
    W, V = np.zeros((len(Y), len(Y))), np.zeros((len(Y), len(Y)))
    for matrix, rows in ((W, Y), (V, Y[order])):
        graph = build_graph(rows, "local", n_neighbors=3)
        matrix[tuple(graph.edges.T)] = graph.weights
    W, V = W + W.T, V + V.T
    np.testing.assert_allclose(V, W[np.ix_(order, order)], atol=1e-12)
