"""Tension of the path: loops against plain twins, its levels, and samples without clusters."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from convexcluster import KernelConvexClustering, solve_path
from convexcluster.graph import Graph
from convexcluster.loops.boundaries import add_unlike, in_levels, join_boundaries, lesser_sides
from convexcluster.partition import canonical
from convexcluster.selection.tension import (
    BESIDE,
    HOLD,
    LEAST,
    MOST_DIRECTIONS,
    PER_DIMENSION,
    SMALL,
    SURE,
    _counting_steps,
    _excess,
    _joined_background,
    dimension_of,
    tension,
)
from convexcluster.weights import automatic_graph

MODULE = sys.modules["convexcluster.selection.tension"]


def random_graph(n, seed):
    """Edges, each once, of a connected graph, with weights and tensions."""
    rng = np.random.default_rng(seed)
    i, j = np.triu_indices(n, 1)
    kept = (rng.random(len(i)) < 0.3) | (j == i + 1)
    tail, head = i[kept].astype(np.int64), j[kept].astype(np.int64)
    return tail, head, rng.random(len(tail)) + 0.1, rng.random(len(tail))


def plain_join(n, tail, head, w, tensions):
    """Joins by the lowest weighted mean over a boundary, from the definition."""
    part, joined = np.arange(n), []
    while part.max() > 0:
        edges = {}
        for e, pair in enumerate(zip(part[tail], part[head])):
            if pair[0] != pair[1]:
                edges.setdefault(tuple(sorted(pair)), []).append(e)
        means = {p: np.average(tensions[e], weights=w[e]) for p, e in edges.items()}
        lowest = min(means, key=lambda p: means[p])
        across = edges[lowest]
        joined.append((means[lowest], across[int(np.argmax(w[across]))]))
        part = canonical(np.where(part == lowest[1], lowest[0], part))
    return joined


@pytest.mark.parametrize("seed", range(5))
def test_boundaries_are_joined_by_their_mean_tension(seed):
    n = 16
    tail, head, w, tensions = random_graph(n, seed)
    pairs, heights = np.empty((n - 1, 2), dtype=np.int64), np.empty(n - 1)
    assert join_boundaries(tail, head, w, tensions, pairs, heights) == n - 1
    expected = plain_join(n, tail, head, w, tensions)
    np.testing.assert_allclose(heights, [height for height, _ in expected], rtol=1e-12)
    assert pairs.tolist() == [[tail[e], head[e]] for _, e in expected]
    assert (np.diff(heights) >= -1e-12).all()  # the mean of two is not below the lower one


def test_parts_that_no_edge_joins_are_not_joined():
    tail, head = np.array([0, 2]), np.array([1, 3])
    pairs, heights = np.empty((3, 2), dtype=np.int64), np.empty(3)
    assert join_boundaries(tail, head, np.ones(2), np.array([1.0, 2.0]), pairs, heights) == 2


def test_of_equal_tensions_the_heavier_boundary_is_joined_first():
    tail, head = np.array([0, 1]), np.array([1, 2])
    pairs, heights = np.empty((2, 2), dtype=np.int64), np.empty(2)
    join_boundaries(tail, head, np.array([1.0, 3.0]), np.ones(2), pairs, heights)
    assert pairs[0].tolist() == [1, 2]


def test_equal_tensions_are_equal_whatever_rounding_makes_of_them():
    """Of a complete graph one cluster grows: no two groups of several samples ever meet."""
    i, j = (np.ascontiguousarray(ends) for ends in np.triu_indices(30, 1))
    rng = np.random.default_rng(0)
    tensions = 1.23 * (1.0 + 1e-14 * rng.normal(size=len(i)))
    pairs, heights = np.empty((29, 2), dtype=np.int64), np.empty(29)
    join_boundaries(i, j, np.full(len(i), 0.1), tensions, pairs, heights)
    lesser = np.empty(29)
    lesser_sides(pairs, np.ones(30), lesser)
    assert (lesser == 1.0).all()
    np.testing.assert_allclose(heights, 1.23, rtol=1e-12)
    assert (np.diff(heights) >= 0).all()


def test_unlike_centroids_are_added_to_the_edges_below():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 3))
    A /= np.linalg.norm(A, axis=1)[:, None]
    A[4] = 0.0  # at the mean: unlike everything
    tail, head = np.array([0, 1, 3]), np.array([1, 2, 4])
    up, total = np.array([2, -1, 0, 0, 1]), np.ones(5)
    add_unlike(tail, head, up, A, 0.5, total)
    value = 0.5 * np.minimum(1.0, 1.0 - (A[tail] * A[head]).sum(axis=1))
    expected = 1.0 + np.where(up >= 0, value[up], 0.0)
    np.testing.assert_allclose(total, expected, rtol=1e-12)
    assert total[0] == 1.5


def leaves(pairs, n):
    """The two sides of every merge."""
    side = {i: {i} for i in range(n)}
    for i, j in pairs.tolist():
        a = next(s for s in side.values() if i in s)
        b = next(s for s in side.values() if j in s)
        yield sorted(a), sorted(b)
        side |= dict.fromkeys(a | b, a | b)


@pytest.mark.parametrize("seed", range(5))
def test_levels_equal_their_definition(seed):
    rng = np.random.default_rng(seed)
    n, least, level, small, inside = 15, 1.0, 0.3, 0.2, 0.5
    pairs = np.array([[t + 1, rng.integers(0, t + 1)] for t in range(n - 1)])
    heights, masses = np.sort(rng.random(n - 1)), rng.random(n)
    share, lesser = np.empty(n - 1), np.empty(n - 1)
    in_levels(pairs, heights, masses, least, level, small, inside, share)
    lesser_sides(pairs, masses, lesser)
    below = []  # (leaves, height) of merges that do not stand
    for t, (a, b) in enumerate(leaves(pairs, n)):
        mass = [masses[side].sum() for side in (a, b)]
        assert lesser[t] == pytest.approx(min(mass))
        if min(mass) < least:
            assert share[t] == 0
            continue
        inner = [h for joined, h in below if joined <= set(a) or joined <= set(b)]
        need = level + small / min(mass) + inside * max(inner, default=0.0)
        assert share[t] == pytest.approx(heights[t] / need)
        if share[t] <= 1:
            below.append((set(a) | set(b), heights[t]))


# Trees of paths


def cloud(n, d, seed, apart=None):
    X = np.random.default_rng(seed).normal(size=(n, d))
    if apart is not None:
        X[n // 2 :] += apart
    graph = automatic_graph(X, n_neighbors=7, masses=np.ones(n))
    return X, graph, solve_path(X, graph.edges, graph.weights, tol=1e-3)


def test_groups_that_are_apart_are_the_highest_boundary():
    X, graph, path = cloud(80, 5, 0, apart=8.0)
    tree = tension(path, graph, dimension_of(X))
    assert tree.kind == "tension"
    assert tree.count == 2
    assert tree.labels().tolist() == [0] * 40 + [1] * 40
    assert (np.diff(tree.linkage[:, 2]) >= 0).all()
    # in units of what the boundary needs: two sides of 40
    assert tree.heights[0] > 1
    assert HOLD + SMALL / 40 < 1.0 < SURE + PER_DIMENSION / 5


def test_a_cloud_has_no_boundary_that_stands():
    X, graph, path = cloud(120, 5, 1)
    tree = tension(path, graph, dimension_of(X))
    assert tree.count == 1
    assert tree.heights.max() <= 1


def test_fewer_samples_than_the_least_are_no_cluster():
    X = np.random.default_rng(2).normal(size=(60, 5))
    few = int(LEAST) - 1
    X[:few] += 15.0
    graph = automatic_graph(X, n_neighbors=7, masses=np.ones(60))
    path = solve_path(X, graph.edges, graph.weights, tol=1e-3)
    tree = tension(path, graph, dimension_of(X))
    assert tree.count == 1
    masses = np.ones(60)
    assert np.bincount(tension(path, graph, dimension_of(X), least=4).labels(2), masses).min() >= 4


def test_parts_without_an_edge_between_them_are_the_clearest():
    rng = np.random.default_rng(3)
    X = np.concatenate([rng.normal(size=(20, 4)), rng.normal(size=(20, 4)) + 3.0])
    edges = np.array([[i, i + 1] for i in range(39) if i != 19])
    path = solve_path(X, edges, np.ones(38))
    tree = tension(path, Graph(edges, np.ones(38)), 4.0)
    assert tree.labels(2).tolist() == [0] * 20 + [1] * 20


def test_a_numbering_of_the_samples_does_not_matter():
    X, graph, path = cloud(80, 4, 4, apart=3.0)
    order = np.random.default_rng(0).permutation(80)
    place = np.argsort(order)
    edges = np.sort(place[graph.edges], axis=1)
    other = solve_path(X[order], edges, graph.weights, path.gammas, tol=1e-3)
    a = tension(path, graph, 4.0)
    b = tension(other, Graph(edges, graph.weights), 4.0)
    assert a.count == b.count
    assert (canonical(a.labels(2)[order]) == canonical(b.labels(2))).all()


@pytest.mark.parametrize("d", [5, 10])
@pytest.mark.parametrize("law", ["normal", "uniform"])
def test_noise_of_many_features_is_one_cluster(law, d):
    rng = np.random.default_rng([23, d])
    for _ in range(3):
        X = rng.normal(size=(150, d)) if law == "normal" else rng.uniform(size=(150, d))
        model = KernelConvexClustering().fit(X)
        assert (model.n_clusters_, model.selection_.verdict) == (1, "no structure")
        assert model.selection_.method == "tension"


@pytest.mark.parametrize("share", [0.05, 0.2])
def test_background_between_clusters_of_many_features_is_no_cluster(share):
    rng = np.random.default_rng(0)
    few = round(300 * share)
    X, y = make_blobs(300 - few, 10, centers=3, center_box=(0.0, 20.0), random_state=0)
    X = np.vstack([X, rng.uniform(-5.0, 25.0, size=(few, 10))])
    model = KernelConvexClustering().fit(X)
    assert model.n_clusters_ == 3
    np.testing.assert_array_equal(canonical(model.labels_[: len(y)]), canonical(y))


def test_a_sparse_cluster_beside_a_dense_one_is_a_cluster():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(150, 10)), 8.0 * rng.normal(size=(150, 10)) + 16.0])
    assert KernelConvexClustering().fit(X).n_clusters_ == 2


@pytest.mark.parametrize("size", [1e-90, 1e90])
def test_the_dimension_does_not_depend_on_units(size):
    X = np.random.default_rng(0).normal(size=(20, 5))
    assert dimension_of(size * X) == pytest.approx(dimension_of(X))
    assert dimension_of(np.full((4, 5), size)) == 1.0


def test_of_boundaries_that_do_not_stand_the_longest_held_comes_next(monkeypatch):
    """A side of ten samples is below its level by more, and yet it is held apart for longer."""
    sizes = [100, 90, 10]
    atoms = np.repeat(np.arange(3), sizes)
    pairs, heights = np.array([[0, 1], [1, 2]]), np.array([0.5, 0.6])
    shares = heights / (HOLD + SMALL / np.array([90.0, 10.0]))
    assert shares[0] > shares[1]
    monkeypatch.setattr(MODULE, "_merges", lambda *_: (atoms, pairs, heights, heights))
    path = SimpleNamespace(masses=np.ones(200), complete=True)
    found = tension(path, None, 5)
    assert sorted(np.bincount(found.labels(2))) == [10, 190]
    assert found.heights[:2] == pytest.approx(sorted(shares)[::-1])  # as sure as before


def test_only_in_the_plane_is_less_enough_beside_a_boundary_that_stands():
    _, graph, path = cloud(80, 5, 0, apart=8.0)
    assert tension(path, graph, 5.0).beside == 1.0
    assert tension(path, graph, 2.0).beside == BESIDE < 1.0


def test_background_between_two_clusters_is_no_cluster():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(120, 10)), rng.normal(size=(120, 10)) + 12.0])
    X = np.vstack([X, rng.uniform(-10.0, 22.0, size=(40, 10))])
    model = KernelConvexClustering().fit(X)
    assert model.n_clusters_ == 2
    np.testing.assert_array_equal(model.labels_[:240] % 2, np.repeat(model.labels_[[0, 120]], 120))


class Fallen(SimpleNamespace):
    def __len__(self):
        return len(self.n_clusters)


def fallen(n_clusters, spreads):
    """A path that only says how many clusters and how much spread it has."""
    n = 12
    labels = [np.minimum(np.arange(n), k - 1) for k in n_clusters]
    centers = []
    for label, share in zip(labels, spreads):
        A = np.arange(label.max() + 1.0)[:, None]
        A -= np.bincount(label) @ A / n
        size = float(np.bincount(label) @ (A**2).sum(axis=1))
        centers.append(A * np.sqrt(2.0 * share / size) if size > 0 else A)
    return Fallen(
        n_clusters=np.array(n_clusters),
        n_samples=n,
        gammas=np.arange(1.0, len(n_clusters) + 1.0),
        masses=np.ones(n),
        scale=1.0,
        centers=centers,
        labels=lambda step: labels[step],
    )


@pytest.mark.parametrize(
    ("n_clusters", "spreads", "few", "steps"),
    [
        # in the plane from half as many groups as samples on, and while more than one is left
        ([12, 7, 6, 2, 1], [0.1] * 5, True, [2, 3]),
        # of many features from half the spread on as well, at the first γ already
        ([12, 11, 10, 2, 1], [0.4] * 5, False, [0, 1, 2, 3]),
        ([12, 11, 10, 2, 1], [0.9, 0.4, 0.4, 0.4, 0.0], False, [1, 2, 3]),
        ([12, 11, 10, 9, 1], [0.9, 0.8, 0.7, 0.6, 0.0], False, [4]),  # at least one
    ],
)
def test_gamma_counts_from_where_half_is_gone(n_clusters, spreads, few, steps):
    assert _counting_steps(fallen(n_clusters, spreads), few).tolist() == steps


def test_a_path_of_one_step_has_tensions():
    X, graph, path = cloud(80, 5, 0, apart=8.0)
    middle = path.gammas[int(np.argmin(np.abs(path.n_clusters - 2)))]
    one = solve_path(X, graph.edges, graph.weights, [middle], tol=1e-3)
    tree = tension(one, graph, 5.0)
    np.testing.assert_array_equal(tree.labels(2), one.labels(step=0))


@pytest.mark.parametrize("n", [40, 60, 300])
@pytest.mark.parametrize("given", ["rows", "kernel", "distances"])
def test_samples_that_are_all_equally_far_are_one_cluster(n, given):
    """Just before they meet all at once, what the solver leaves of their centroids is chance."""
    options = {
        "rows": {},
        "kernel": {"kernel": "precomputed"},
        "distances": {"metric": "precomputed"},
    }
    X = 1.0 - np.eye(n) if given == "distances" else np.eye(n)
    model = KernelConvexClustering(**options[given]).fit(X)
    assert (model.n_clusters_, model.selection_.verdict) == (1, "no structure")


def test_the_dimension_is_that_of_its_formula():
    X = np.random.default_rng(0).normal(size=(30, 4)) * [5.0, 2.0, 1.0, 0.1]
    for rows in (X, X[:3]):  # more rows than columns, and fewer
        values = np.linalg.eigvalsh(np.cov(rows.T))
        assert dimension_of(rows) == pytest.approx(values.sum() ** 2 / (values**2).sum(), rel=1e-5)


@pytest.mark.parametrize("d", [1.0, 2.0, 5.0, 200.0])
def test_how_far_the_surest_boundary_is_above_what_noise_has(d):
    pairs, heights = np.array([[0, 1], [1, 2], [2, 3]]), np.array([0.9, 1.5, 9.0])
    mass, lesser = np.array([30.0, 20.0, 10.0, 7.0]), np.array([20.0, 10.0])
    at_least = max(d, 2.0)
    level = SURE + PER_DIMENSION / min(at_least, MOST_DIRECTIONS)
    pull = heights[:2] + (0.5 - 1.0 / at_least) * np.log(2.0 * lesser / 67.0)
    above, found = _excess(pairs, heights, mass, d, 8.0)  # a side of seven is no cluster
    assert found == level
    assert above == pytest.approx(pull.max() - level)


def test_no_boundary_stands_where_none_is_above_what_noise_has(monkeypatch):
    """Two sides of a hundred, above the level of boundaries: there is structure if d is large."""
    atoms, height = np.repeat([0, 1], 100), np.array([1.2])
    monkeypatch.setattr(MODULE, "_merges", lambda *_: (atoms, np.array([[0, 1]]), height, height))
    path = SimpleNamespace(masses=np.ones(200), complete=True)
    assert 1.2 / (HOLD + SMALL / 100) > 1.0
    assert SURE + PER_DIMENSION / MOST_DIRECTIONS < 1.2 < SURE + PER_DIMENSION / 5
    assert tension(path, None, 5).count == 1
    assert tension(path, None, 5).heights[0] == 1.0
    assert tension(path, None, 5, 100.0).count == 2
    assert tension(path, None, 100).count == 2


@pytest.mark.parametrize(("n", "d"), [(30, 300), (60, 100), (100, 1_000)])
def test_noise_of_few_samples_in_many_features_is_one_cluster(n, d):
    found = [
        KernelConvexClustering(certify=False).fit(rng.uniform(size=(n, d))).n_clusters_
        for rng in map(np.random.default_rng, range(12))
    ]
    assert sum(k > 1 for k in found) <= 1


def test_background_joins_the_cluster_from_which_it_is_least_apart():
    """Two clusters of close samples, and sparse ones between them."""
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6]])
    lengths = np.array([1.0, 8.0, 10.0, 10.0, 9.0, 1.0])
    share = np.array([0.5, 0.5, 0.6, 1.0, 1.2, 1.5])
    pairs = edges[[0, 5, 2, 3, 4, 1]]
    graph = Graph(edges, np.ones(6))
    found = _joined_background(np.arange(7), pairs, share, graph, lengths)
    assert found.tolist() == [0.5, 0.5, 0.0, 0.0, 0.0, 1.5]  # inside the background as well
    # one cluster beside it: it is a cluster itself
    near = _joined_background(
        np.arange(5),
        pairs[[0, 2, 3, 5]],
        share[[0, 2, 3, 5]],
        *(Graph(edges[:4], np.ones(4)), lengths[:4]),
    )
    assert near.tolist() == [0.5, 0.6, 1.0, 1.5]
    # as dense as they are, or denser at its border than inside: no background
    for others in ([1.0, 1.2, 1.2, 1.2, 1.2, 1.0], [1.0, 12.0, 10.0, 10.0, 12.0, 1.0]):
        same = _joined_background(np.arange(7), pairs, share, graph, np.array(others))
        assert same.tolist() == share.tolist()


def test_lengths_of_edges_count_beyond_three_features_only():
    _, graph, path = cloud(80, 5, 0, apart=8.0)
    lengths = np.where(np.arange(len(graph.edges)) % 2, 1.0, 50.0)
    plane, lengthy = (tension(path, graph, 3.0, lengths=given) for given in (None, lengths))
    np.testing.assert_array_equal(plane.linkage, lengthy.linkage)
    assert plane.beside == BESIDE


def test_a_centroid_at_the_mean_of_all_is_unlike_all_others():
    Z = np.repeat([[-9.0], [0.0], [9.0]], 10, axis=0) + np.tile(np.linspace(-1, 1, 10), 3)[:, None]
    edges = np.array([[i, i + 1] for i in range(29)])
    path = solve_path(Z, edges, np.where(np.arange(29) % 10 == 9, 0.1, 1.0))
    tree = tension(path, Graph(edges, np.where(np.arange(29) % 10 == 9, 0.1, 1.0)), 5)
    assert np.isfinite(tree.linkage).all()
    assert np.bincount(tree.labels(3)).tolist() == [10, 10, 10]
