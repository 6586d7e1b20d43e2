"""Path averages, conductances and choices, on graphs small enough to count by hand."""

import numpy as np
import pytest
from convexcluster.selection.average import PathAverage, average_tree, refine
from convexcluster.selection.cuts import (
    NestedCuts,
    conductance_ratio,
    nested_labels,
    volume_entropy,
)
from convexcluster.selection.null import log_eigenvalues
from scipy.cluster import hierarchy
from scipy.spatial.distance import pdist, squareform
from sklearn.datasets import load_iris, make_circles, make_moons
from sklearn.metrics import normalized_mutual_info_score

from convexcluster import KernelConvexClustering, solve_path
from convexcluster.datasets import make_rings, make_spirals
from convexcluster.graph import Graph
from convexcluster.labels import cut, ward_tree
from convexcluster.numerics.linkage import expand
from convexcluster.selection import (
    SELECTORS,
    Null,
    null_sample,
    path_average,
    select,
    select_at,
    spread,
)
from convexcluster.selection.choose import best_count, runner_up
from convexcluster.selection.scores import lifetimes, rand_index
from convexcluster.weights import build_graph


def three_groups(seed=0, size=20):
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.2]])  # equally far apart
    X = np.concatenate([c + rng.normal(size=(size, 2)) for c in centers])
    return X, np.repeat(np.arange(3), size)


@pytest.fixture(scope="module")
def solved():
    X, y = three_groups()
    graph = build_graph(X, "local", n_neighbors=7, connect=True, normalize=True)
    return X, y, graph, solve_path(X, graph.edges, graph.weights)


def brute_inner(linkage, W, node):
    """Least conductance inside a node, straight from the definition."""
    n = len(linkage) + 1
    leaves = {i: {i} for i in range(n)}
    below = {i: [i] for i in range(n)}
    for row, (a, b) in enumerate(linkage[:, :2].astype(int)):
        leaves[n + row] = leaves[a] | leaves[b]
        below[n + row] = below[a] + below[b] + [n + row]
    degree, mean = W.sum(axis=1), 0.1 * W[W > 0].mean()
    best = 1.0
    for part in below[node]:
        if part != node:
            D, rest = sorted(leaves[part]), sorted(leaves[node] - leaves[part])
            crossing = W[np.ix_(D, rest)].sum()
            best = min(best, (crossing + mean) / min(degree[D].sum(), degree[rest].sum()))
    return best


def test_conductances_equal_their_definition():
    rng = np.random.default_rng(1)
    A = rng.normal(size=(14, 3))
    linkage = ward_tree(A)
    W = np.triu(rng.random((14, 14)) * (rng.random((14, 14)) < 0.4), 1)
    W = W + W.T
    i, j = np.nonzero(np.triu(W))
    cuts = NestedCuts.of(linkage, Graph(np.column_stack([i, j]), W[i, j]), np.arange(14))
    for node in range(14, 27):
        assert cuts.inner(node) == pytest.approx(brute_inner(linkage, W, node), rel=1e-12)
    member = cut(linkage, 2) == 0
    node = next(v for v in cuts.members(2) if cuts.high[v] - cuts.low[v] == member.sum())
    crossing = W[np.ix_(member, ~member)].sum()
    smaller = min(W[member].sum(), W[~member].sum())
    expected = (crossing + 0.1 * W[i, j].mean()) / smaller
    assert cuts.outer(node) == pytest.approx(expected, rel=1e-12)


def test_groups_of_samples_give_the_conductances_of_their_tree(solved):
    X, _, graph, _ = solved
    linkage = ward_tree(X)
    whole = conductance_ratio(NestedCuts.of(linkage, graph, np.arange(len(X))), 4)
    atoms = cut(linkage, 40)
    means = np.stack([X[atoms == a].mean(axis=0) for a in range(40)])
    grouped = NestedCuts.of(ward_tree(means, np.bincount(atoms) * 1.0), graph, atoms)
    # the same clusters; only descendants below the groups are missing, which can only raise inner
    for k in (2, 3):
        for node in grouped.members(k):
            assert grouped.inner(node) <= 1
    assert conductance_ratio(grouped, 4)[2] >= whole[2] - 1e-12


def test_entropy_of_the_volumes(solved):
    X, _, graph, _ = solved
    linkage = ward_tree(X)
    found = volume_entropy(NestedCuts.of(linkage, graph, np.arange(len(X))), 5)
    degree = np.bincount(graph.edges.ravel(), np.repeat(graph.weights, 2))
    for k in range(1, 6):
        v = np.bincount(cut(linkage, k), degree) / degree.sum()
        assert found[k - 1] == pytest.approx(-(v * np.log(v)).sum(), abs=1e-12)


def test_labels_of_nested_cuts_are_those_of_the_tree(solved):
    X, _, graph, _ = solved
    linkage = ward_tree(X)
    table = NestedCuts.of(linkage, graph, np.arange(len(X))).labels(6)
    for k, labels in enumerate(table, start=1):
        pairs = np.unique(np.column_stack([labels, cut(linkage, k)]), axis=0)
        assert len(pairs) == k


def test_tree_of_distances_is_wards_tree():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(30, 3))
    square = squareform(pdist(A, "sqeuclidean"))
    ours = average_tree(PathAverage(square, np.ones(30), np.arange(30), np.arange(1)))
    np.testing.assert_allclose(ours[:, 2], hierarchy.linkage(A, "ward")[:, 2], rtol=1e-9)


def test_masses_are_copies(solved):
    X, _, _, _ = solved
    A = np.concatenate([X, X[:7]])
    square = squareform(pdist(A, "sqeuclidean"))
    mass = np.ones(len(X))
    mass[:7] = 2
    heavy = average_tree(PathAverage(square[:60, :60], mass, np.arange(len(X)), np.arange(1)))
    copied = average_tree(PathAverage(square, np.ones(len(A)), np.arange(len(A)), np.arange(1)))
    np.testing.assert_allclose(heavy[:, 2], copied[7:, 2], rtol=1e-9)


def test_expanded_tree_keeps_the_cuts():
    atoms = np.array([0, 1, 0, 2, 1])
    tree = ward_tree(np.array([[0.0], [1.0], [5.0]]))
    for k in (1, 2, 3):
        assert (cut(expand(tree, atoms), k) == cut(tree, k)[atoms]).all()


def test_spread_falls_from_one_to_zero(solved):
    path = solved[-1]
    share = spread(path)
    assert share[0] < 1
    assert (np.diff(share) <= 1e-9).all()
    assert share[-1] == pytest.approx(0, abs=1e-6)


def test_average_does_not_depend_on_the_fineness_of_the_grid(solved):
    X, _, graph, path = solved
    coarse = solve_path(X, graph.edges, graph.weights, path.gammas[::2])
    fine, rough = path_average(path), path_average(coarse)
    a = fine.distances[np.ix_(fine.atoms, fine.atoms)]
    b = rough.distances[np.ix_(rough.atoms, rough.atoms)]
    # means over a grid and over every second point of it differ by a step's share at either end
    assert np.abs(a - b).max() < 2 / len(rough.steps)


def test_refine_lowers_the_sum_of_squares_and_empties_nothing(solved):
    X, y, _, _ = solved
    average = PathAverage(
        squareform(pdist(X, "sqeuclidean")), np.ones(60), np.arange(60), np.arange(1)
    )
    rng = np.random.default_rng(3)
    start = np.where(rng.random(60) < 0.2, rng.integers(0, 3, 60), y)

    def sse(labels):
        return sum(((X[labels == t] - X[labels == t].mean(axis=0)) ** 2).sum() for t in range(3))

    moved = refine(average, start)
    assert sse(moved) < sse(start)
    assert len(np.unique(moved)) == 3


@pytest.mark.parametrize("method", sorted(SELECTORS))
def test_every_selector_finds_three_clear_groups(solved, method):
    X, y, graph, path = solved
    chosen = select(X, graph, path, masses=np.ones(60), method=method)
    assert chosen.table["score"][2] == chosen.table["score"].max()
    if method == "stability":  # two of the three groups together are as stable
        return
    assert chosen.n_clusters == 3
    assert len(np.unique(np.column_stack([y, chosen.labels]), axis=0)) == 3
    assert chosen.runner_up not in (None, 3)
    assert {len(column) for column in chosen.table.values()} == {len(chosen.table["score"])}
    assert chosen.gamma in path.gammas


def test_a_callable_selects_too(solved):
    X, _, graph, path = solved

    def two(candidates):
        return 1 - np.abs(np.arange(1.0, candidates.k_max + 1) - 2)

    assert select(X, graph, path, masses=np.ones(60), method=two).n_clusters == 2


@pytest.mark.parametrize("labels", ["auto", "fusion"])
def test_given_number_of_clusters(solved, labels):
    X, _, graph, path = solved
    for k in (1, 2, 5, 60):
        chosen = select(X, graph, path, masses=np.ones(60), n_clusters=k, labels=labels)
        assert len(np.unique(chosen.labels)) == k
        assert chosen.method == "given"


def test_small_clusters_do_not_count(solved):
    X, _, graph, path = solved
    chosen = select(X, graph, path, masses=np.ones(60), min_cluster_size=25)
    assert np.bincount(chosen.labels).min() >= 25 or chosen.n_clusters == 1


def test_equal_samples_are_one_cluster():
    Z = np.ones((4, 2))
    edges, w = np.array([[0, 1], [1, 2], [2, 3]]), np.ones(3)
    path = solve_path(Z, edges, w, [1.0])
    chosen = select(Z, Graph(edges, w), path, masses=np.ones(4))
    assert (chosen.n_clusters, chosen.verdict) == (1, "one cluster")
    assert chosen.linkage.shape == (3, 4)


def test_one_gamma():
    A = np.array([[0.0], [0.0], [4.0], [4.1]])
    fused = np.array([0, 0, 1, 2])
    assert select_at(A, fused, 1.0, masses=np.ones(4)).n_clusters == 3
    cut_two = select_at(A, fused, 1.0, masses=np.ones(4), n_clusters=2)
    assert (cut_two.labels == [0, 0, 1, 1]).all()
    assert select_at(A, fused, 1.0, masses=np.ones(4), method="elbow").method == "elbow"


def test_runner_up_is_another_candidate():
    assert runner_up(np.array([0.0, 3.0, 2.0]), 2) == 3
    assert runner_up(np.array([0.0]), 1) is None


@pytest.mark.parametrize("k", [2, 3, 5])
def test_nearest_centroids_tell_the_chosen_clusters_apart(k):
    """The γ of the centroids is one at which no two of the clusters have met."""
    X = load_iris().data[::2]
    model = KernelConvexClustering(k).fit((X - X.mean(axis=0)) / X.std(axis=0))
    apart = np.linalg.norm(model.centroids_[:, None] - model.centroids_, axis=2)
    assert apart[~np.eye(k, dtype=bool)].min() > 1e-3
    nearest = model.transform((X - X.mean(axis=0)) / X.std(axis=0)).argmin(axis=1)
    assert (nearest == model.labels_).mean() > 0.9


def null_of(X):
    def graph(rows):
        return build_graph(rows, "local", n_neighbors=7, connect=True, normalize=True)

    return Null(X, graph(X), graph, planar=X.shape[1] <= 3)


def test_null_keeps_margins_and_correlation():
    rng = np.random.default_rng(5)
    X = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], 400)
    X[:, 1] = np.exp(X[:, 1])
    Y = null_sample(X, rng)
    # 400 samples: quantiles and rank correlations are known to within a few standard errors
    quantiles = np.quantile(X, [0.25, 0.5, 0.75], axis=0) - np.quantile(
        Y, [0.25, 0.5, 0.75], axis=0
    )
    assert np.abs(quantiles / X.std(axis=0)).max() < 4 * np.sqrt(2) * 1.4 / np.sqrt(400)
    ranks = [np.corrcoef(np.argsort(np.argsort(A, axis=0), axis=0).T)[0, 1] for A in (X, Y)]
    assert abs(ranks[0] - ranks[1]) < 4 * np.sqrt(2) / np.sqrt(400)


def test_null_of_more_features_than_samples_keeps_the_spread():
    rng = np.random.default_rng(6)
    X = rng.normal(size=(40, 90))
    Y = null_sample(X, rng)
    assert Y.shape == X.shape
    assert Y.var(axis=0).sum() == pytest.approx(X.var(axis=0).sum(), rel=0.3)


def test_structure_is_told_from_noise():
    X, _ = three_groups(size=30)
    assert null_of(X).has_structure()
    rng = np.random.default_rng(7)
    assert not null_of(rng.normal(size=(90, 2))).has_structure()
    assert not null_of(np.exp(rng.normal(size=(90, 2)))).has_structure()


def test_structure_is_seen_beside_a_few_samples_that_are_apart():
    """λ₂ belongs to the few, in the data and in the null; the groups are in λ₃ and beyond."""
    rng = np.random.default_rng(9)
    X = np.concatenate([rng.normal(c, 0.5, (60, 5)) for c in (0.0, 3.0)])
    X = np.column_stack([X, rng.permutation(np.arange(120) < 5) * 40.0])
    null = null_of(X)
    below, spread = null.below
    assert below[0] < 3 * spread[0]
    assert null.has_structure()


def test_eigenvalues_show_as_many_groups_as_there_are():
    rng = np.random.default_rng(8)
    X = np.concatenate([rng.normal(c, 0.5, (40, 6)) for c in (0.0, 2.5, 5.0)])
    null = null_of(X)
    shown, drop = null.shown(12), null.drop(12)
    assert not null.planar
    assert shown[0] == drop[0] == 0
    assert (shown[1:3] > 0.9).all()
    assert (shown[3:] < 0.5).all()
    assert (np.abs(shown) <= 1).all()
    assert drop.argmax() + 1 == 3
    assert null_of(X[:, :3]).planar


@pytest.mark.parametrize("d", [2, 6])
def test_auto_is_conductance_and_what_the_eigenvalues_say(d):
    rng = np.random.default_rng(8)
    X = np.concatenate([rng.normal(c, 1.0, (40, d)) for c in (0.0, 1.5, 3.0)])
    null, seen = null_of(X), []
    path = solve_path(X, null.own.edges, null.own.weights, tol=1e-3)
    select(
        X, null.own, path, masses=np.ones(120), null=null, method=lambda c: seen.append(c) or c.sse
    )
    found = SELECTORS["auto"](seen[0])
    bare, delta = SELECTORS["conductance"](seen[0]), null.below[0]
    told = volume_entropy(seen[0].cuts, seen[0].k_max)
    assert len(told) > 5
    assert found[0] == 0
    for k in range(2, len(told)):
        if d == 2:
            says = np.clip(delta[k - 2] - delta[k - 1], 0, 1)
        else:
            says = 0.6 * sum(
                (told[j - 1] - told[j - 2]) * np.clip(delta[j - 2], -1, 1) for j in range(2, k + 1)
            )
        assert found[k - 1] == pytest.approx(bare[k - 1] + says, abs=1e-12)


def test_nothing_is_shown_beyond_the_eigenvalues_that_are_known():
    X = np.random.default_rng(2).normal(size=(700, 4))
    null = null_of(X)  # 500 of them are drawn, which have 33 candidates
    assert (null.shown(60)[33:] == 0).all()
    assert (null.shown(60)[1:33] != 0).any()
    assert (null.drop(60)[32:] == 0).all()
    assert len(null.shown(1)) == len(null.drop(1)) == 1


CURVES = {
    "moons": lambda seed: make_moons(400, noise=0.05, random_state=seed),
    "circles": lambda seed: make_circles(400, factor=0.5, noise=0.05, random_state=seed),
    "spirals": lambda seed: make_spirals(random_state=seed),
    "rings": lambda seed: make_rings(random_state=seed),
}


@pytest.mark.parametrize("name", CURVES)
def test_curves_are_found_told_nothing(name):
    X, y = CURVES[name](5)
    model = KernelConvexClustering().fit(X)
    assert model.n_clusters_ == y.max() + 1
    assert normalized_mutual_info_score(y, model.labels_) == pytest.approx(1)
    assert model.selection_.verdict == "structure"


@pytest.mark.slow
@pytest.mark.parametrize("name", CURVES)
def test_curves_are_found_told_k(name):
    for seed in range(20):
        X, y = CURVES[name](seed)
        labels = KernelConvexClustering(int(y.max()) + 1).fit_predict(X)
        assert normalized_mutual_info_score(y, labels) == pytest.approx(1), seed


def test_no_structure_is_an_answer():
    X = np.random.default_rng(8).uniform(size=(80, 2))
    null = null_of(X)
    path = solve_path(X, null.own.edges, null.own.weights, tol=1e-3)
    chosen = select(X, null.own, path, masses=np.ones(80), null=null)
    assert (chosen.n_clusters, chosen.verdict) == (1, "no structure")
    assert select(X, null.own, path, masses=np.ones(80), n_clusters=3, null=null).n_clusters == 3


def test_best_count_is_the_least_of_equals():
    assert best_count(np.array([0.0, 1.0, 3.0, 3.0])) == 3
    assert best_count(np.array([0.0, -1.0])) == 1


def test_rand_index_does_not_see_the_names():
    assert rand_index(np.array([0, 0, 1]), np.array([1, 1, 0]), np.ones(3)) == 1.0


def test_nested_labels_by_hand():
    tree = np.array([[0.0, 2.0, 1.0, 2.0], [1.0, 3.0, 2.0, 3.0]])
    assert nested_labels(tree, 2).tolist() == [[0, 0, 0], [1, 0, 1]]


def test_two_clusters_far_apart_live_longest():
    path = solve_path([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.4, 1.2, 9.0])
    assert int(lifetimes(path, 3)[1].argmax()) + 1 == 2


def test_a_weak_bridge_lowers_the_second_eigenvalue():
    triangles = np.array([[0, 1], [0, 2], [1, 2], [2, 3], [3, 4], [3, 5], [4, 5]])
    weak = log_eigenvalues(Graph(triangles, np.array([1, 1, 1, 0.01, 1, 1, 1])))
    assert weak[0] < log_eigenvalues(Graph(triangles, np.ones(7)))[0]
