"""Choices on a path: cuts of trees of boundaries, layers, verdicts, and what they promise."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from convexcluster import ConvexClustering, KernelConvexClustering, solve_path
from convexcluster.datasets import make_rings, make_spirals
from convexcluster.labels import cut, ward_tree
from convexcluster.numerics.boundaries import FAINT, Boundaries
from convexcluster.numerics.linkage import expand, join, nested_labels
from convexcluster.partition import by_size, canonical
from convexcluster.selection import SELECTORS, select, select_at
from convexcluster.selection.choose import CLEAR, LAYERS, best_count, confidence, gamma_of, held
from convexcluster.selection.scores import lifetimes
from convexcluster.selection.tension import spread, tension
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
    path = solve_path(X, graph.edges, graph.weights)
    return X, y, path, tension(path, graph, 2.0)


def ladder(*heights, beside=1.0):
    """Boundaries between len(heights) + 1 points in a row, the clearest first."""
    n = len(heights) + 1
    rising = np.array(sorted(heights))
    pairs = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    return Boundaries(join(pairs, rising, n), "tension", beside)


def refines(fine, coarse):
    """Whether every cluster of ``fine`` lies inside one of ``coarse``."""
    return len(np.unique(np.column_stack([fine, coarse]), axis=0)) == len(np.unique(fine))


# Boundaries


@pytest.mark.parametrize(
    ("heights", "beside", "count"),
    [
        ([], 1.0, 1),
        ([0.9, 0.9, 0.1], 0.7, 1),  # none reaches the level, so that none beside it stands
        ([1.0], 0.7, 1),
        ([1.01], 0.7, 2),
        ([5.0, 3.0, 1.1, 0.9], 1.0, 4),
        ([5.0, 1.5, 0.9, 0.8, 0.3], 0.7, 5),  # the widest gap, .8 over .3, is below the level
        ([5.0, 3.0, 0.9, 0.6, 0.5], 0.7, 3),  # the widest gap is that below 3
        ([5.0, 0.72, 0.71, 0.1], 0.7, 2),
        ([5.0, 1.2, 0.01, 0.001], 0.7, 3),  # below FAINT all heights are alike
        ([2.0, 2.0], 1.5, 3),  # beside a boundary that stands, none needs more than the level
    ],
)
def test_count_is_where_the_widest_gap_is(heights, beside, count):
    tree = ladder(*heights, beside=beside)
    assert tree.count == count
    assert len(np.unique(tree.labels())) == count


def test_heights_and_clarities_by_hand():
    tree = ladder(4.0, 2.0, 0.5, 0.1)
    assert tree.heights.tolist() == [4.0, 2.0, 0.5, 0.1]
    assert [tree.height(k) for k in (1, 2, 3, 5, 6)] == [np.inf, 4.0, 2.0, 0.1, 0.0]
    assert tree.clarity(1) == 1 / 4  # the level over the clearest boundary
    assert tree.clarity(2) == 4 / 2
    assert tree.clarity(3) == 2 / 0.5
    assert tree.clarity(4) == 0.5 / FAINT
    assert tree.clarity(5) == FAINT / FAINT


def test_labels_of_another_number_are_cuts_of_the_same_tree():
    tree = ladder(4.0, 2.0, 0.5, 0.1)
    for k in range(1, 6):
        assert tree.labels(k).tolist() == cut(tree.linkage, k).tolist()
        assert tree.labels(k).max() + 1 == k
        assert k == 1 or refines(tree.labels(k), tree.labels(k - 1))


# Trees


def test_expanded_tree_keeps_the_cuts():
    atoms = np.array([0, 1, 0, 2, 1])
    tree = ward_tree(np.array([[0.0], [1.0], [5.0]]))
    for k in (1, 2, 3):
        assert (cut(expand(tree, atoms), k) == cut(tree, k)[atoms]).all()


def test_nested_labels_by_hand():
    tree = np.array([[0.0, 2.0, 1.0, 2.0], [1.0, 3.0, 2.0, 3.0]])
    assert nested_labels(tree, 2).tolist() == [[0, 0, 0], [1, 0, 1]]


def test_spread_falls_from_one_to_zero(solved):
    path = solved[2]
    share = np.array([spread(path, step) for step in range(len(path))])
    assert share[0] < 1
    assert (np.diff(share) <= 1e-9).all()
    assert share[-1] == pytest.approx(0, abs=1e-6)


def test_two_clusters_far_apart_live_longest():
    path = solve_path([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.4, 1.2, 9.0])
    assert int(lifetimes(path, 3)[1].argmax()) + 1 == 2


# Choices


@pytest.mark.parametrize("method", sorted(SELECTORS))
def test_every_selector_finds_three_clear_groups(solved, method):
    X, y, path, tree = solved
    chosen = select(X, path, tree, method=method)
    assert chosen.n_clusters == 3
    assert len(np.unique(np.column_stack([y, chosen.labels]), axis=0)) == 3
    assert {len(column) for column in chosen.table.values()} == {len(chosen.table["n_clusters"])}
    assert chosen.gamma in path.gammas
    assert chosen.method == ("tension" if method == "auto" else method)
    if method != "auto":
        assert chosen.table["score"][2] == chosen.table["score"].max()


@pytest.mark.parametrize(
    "returned", [None, 3, "many", [1.0, 2.0], [[1.0]], {"k": 1}, np.full(7, np.nan), object()]
)
def test_a_callable_that_returns_no_scores_is_refused(solved, returned):
    Z, _, path, tree = solved

    def mine(candidates):
        if isinstance(returned, np.ndarray):
            return np.full(candidates.k_max, np.nan)
        return returned

    with pytest.raises(ValueError, match=r"return one score for each k .* mine ret"):
        select(Z, path, tree, method=mine)


def test_a_callable_selects_too(solved):
    X, _, path, tree = solved

    def two(candidates):
        return 1 - np.abs(np.arange(1.0, candidates.k_max + 1) - 2)

    chosen = select(X, path, tree, method=two)
    assert (chosen.n_clusters, chosen.method) == (2, "two")


@pytest.mark.parametrize("by_fusion", [False, True])
def test_given_number_of_clusters(solved, by_fusion):
    X, _, path, tree = solved
    for k in (1, 2, 5, 60):
        chosen = select(X, path, None if by_fusion else tree, n_clusters=k)
        assert len(np.unique(chosen.labels)) == k
        assert chosen.method == "given"


@pytest.mark.parametrize("method", sorted(set(SELECTORS) - {"auto"}))
def test_small_clusters_are_not_chosen_by_a_score(solved, method):
    X, _, path, tree = solved
    chosen = select(X, path, tree, method=method, min_cluster_size=25)
    assert np.bincount(chosen.labels).min() >= 25


@pytest.mark.parametrize("features", [2, 5])
def test_small_clusters_do_not_stand(features):
    rng = np.random.default_rng(3)
    X = np.concatenate(
        [rng.normal(size=(n, features)) + c for n, c in ((60, 0), (60, 12), (20, 30))]
    )
    for least, found in ((None, 3), (25, 2)):
        model = KernelConvexClustering(min_cluster_size=least).fit(X)
        assert np.bincount(model.labels_).min() >= (least or 8)
        assert model.n_clusters_ == found


def test_equal_samples_are_one_cluster():
    Z = np.ones((4, 2))
    path = solve_path(Z, np.array([[0, 1], [1, 2], [2, 3]]), np.ones(3), [1.0])
    chosen = select(Z, path, None)
    assert (chosen.n_clusters, chosen.verdict) == (1, "one cluster")
    assert chosen.linkage.shape == (3, 4)


def test_one_gamma():
    A = np.array([[0.0], [0.0], [4.0], [4.1]])
    fused = np.array([0, 0, 1, 2])
    assert select_at(A, fused, 1.0, masses=np.ones(4)).n_clusters == 3
    cut_two = select_at(A, fused, 1.0, masses=np.ones(4), n_clusters=2)
    assert (cut_two.labels == [0, 0, 1, 1]).all()
    assert select_at(A, fused, 1.0, masses=np.ones(4), method="elbow").method == "elbow"


def test_best_count_is_the_least_of_equals():
    assert best_count(np.array([0.0, 1.0, 3.0, 3.0])) == 3
    assert best_count(np.array([0.0, -1.0])) == 1


def test_gamma_is_one_at_which_labels_are_fused_or_not_yet_undone(solved):
    _, y, path, _ = solved
    gamma = gamma_of(path, y)
    assert (path.labels(gamma=gamma) == canonical(y)).all()
    earlier = path.gammas[path.gammas < gamma]
    assert all((path.labels(gamma=g) != canonical(y)).any() for g in earlier)
    odd = y.copy()
    odd[0] = 1  # a sample of another group: the labels are never fused
    before = gamma_of(path, odd)
    assert refines(path.labels(gamma=before), odd)
    later = path.gammas[path.gammas > before]
    assert not any(refines(path.labels(gamma=g), odd) for g in later)


def test_what_has_fused_at_the_first_gamma_stays_together():
    path = solve_path([[0.0], [0.1], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [1.0, 9.0])
    assert path.labels(step=0).tolist() == [0, 0, 1]
    assert held(path, np.array([0, 1, 1])).tolist() == [0, 0, 1]


# Layers and verdicts


def test_layers_are_the_choice_and_what_else_is_clear():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(60, 2)) + c for c in ((0, 0), (8, 0), (60, 0), (68, 0))])
    model = KernelConvexClustering().fit(X)
    chosen = model.selection_
    assert chosen.layers[0].n_clusters == model.n_clusters_
    assert chosen.layers[0].confidence == chosen.confidence
    assert {layer.n_clusters for layer in chosen.layers} == {2, 4}
    assert len(chosen.layers) <= LAYERS + 1
    for layer in chosen.layers:
        assert 0 <= layer.confidence <= 1
        assert len(np.unique(layer.labels)) == layer.n_clusters
        assert (by_size(layer.labels, np.ones(240)) == model.cut(layer.n_clusters)).all()
        low, high = layer.gamma_range
        assert np.isnan(low) == np.isnan(high)
        if low == low:
            for gamma in (low, high):
                assert (model.path_.labels(gamma=gamma) == canonical(layer.labels)).all()
        assert f"{layer.n_clusters} clusters" in repr(layer)


def test_others_must_be_clear(solved):
    X, _, path, _ = solved
    pairs = np.column_stack([np.arange(59), np.arange(1, 60)])
    heights = np.concatenate([np.zeros(56), [2.0, 2.0 * CLEAR - 0.1, 9.0]])
    tree = Boundaries(join(pairs, heights, 60), "tension")
    assert [layer.n_clusters for layer in select(X, path, tree).layers] == [4, 2]


def test_confidence_rises_with_the_distance_from_the_level():
    sure = [confidence(ladder(h, 0.3), 2) for h in (0.5, 1.0, 2.0, 4.0)]
    assert sure == sorted(sure)
    assert sure[1] == pytest.approx(1 / (1 + np.exp(-0.2)))
    assert confidence(ladder(2.0, 0.3), 2, fused=8) < sure[2]
    none = [confidence(ladder(h, 0.1), 1) for h in (2.0, 1.0, 0.5)]
    assert none == sorted(none)
    assert confidence(ladder(1.2, 1.1), 2) < confidence(ladder(1.2, 0.3), 2) < 0.9
    assert confidence(ladder(5.0, 0.3), 2) > 0.9


@pytest.mark.parametrize("d", [2, 6])
def test_verdicts_of_fits(d):
    rng = np.random.default_rng(8)
    cloud = rng.normal(size=(120, d))
    groups = np.concatenate([cloud, rng.normal(size=(120, d)) + 10.0])
    for X, verdict, k in ((cloud, "no structure", 1), (groups, "structure", 2)):
        chosen = KernelConvexClustering().fit(X).selection_
        assert (chosen.verdict, chosen.n_clusters) == (verdict, k)
        assert 0 <= chosen.confidence <= 1
    told = KernelConvexClustering(3).fit(cloud).selection_
    assert (told.verdict, told.n_clusters, told.method) == ("no structure", 3, "given")


@pytest.mark.parametrize(
    ("settings", "why"),
    [({"gamma": 0.5}, "one γ shows no path"), ({"labels": "fusion"}, "no level for noise")],
)
def test_what_is_not_tested_says_so(settings, why):
    X, _ = three_groups()
    chosen = KernelConvexClustering(**settings).fit(X).selection_
    assert chosen.verdict.startswith("not tested: ")
    assert why in chosen.verdict
    assert np.isnan(chosen.confidence)
    assert chosen.layers == ()


# Promises of fits

KINDS = {
    "gaussian": {},
    "told k": {"n_clusters": 4},
    "laplacian": {"kernel": "laplacian"},
    "linear": {"kernel": "linear"},
    "polynomial, told k": {"kernel": "polynomial", "n_clusters": 2},
    "in the embedding": {"weight_space": "embedding"},
    "named selector": {"selection": "lifetime"},
    "fusion": {"labels": "fusion"},
}


@pytest.mark.parametrize("features", [1, 2, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_never_undo_what_has_fused_and_are_cut_from_the_tree(kind, features):
    rng = np.random.default_rng(features)
    X = np.concatenate([rng.normal(size=(30, features)) + c for c in (0, 3, 9)])
    X[1] = X[0]  # copies too
    model = KernelConvexClustering(**KINDS[kind]).fit(X)
    assert refines(model.path_.labels(gamma=model.gamma_), model.labels_)
    k = model.n_clusters_
    assert (cut(model.linkage_, k) == canonical(model.labels_)).all()
    assert (model.cut(k) == model.labels_).all()
    assert model.selection_.n_clusters == k


@pytest.mark.parametrize("k", [2, 3, 5])
def test_nearest_centroids_tell_the_chosen_clusters_apart(k):
    """The γ of the centroids is one at which no two of the clusters have met."""
    X = load_iris().data[::2]
    model = KernelConvexClustering(k).fit((X - X.mean(axis=0)) / X.std(axis=0))
    apart = np.linalg.norm(model.centroids_[:, None] - model.centroids_, axis=2)
    assert apart[~np.eye(k, dtype=bool)].min() > 1e-3
    nearest = model.transform((X - X.mean(axis=0)) / X.std(axis=0)).argmin(axis=1)
    assert (nearest == model.labels_).mean() > 0.9


def test_cut_gives_other_numbers_from_the_same_tree():
    X, _ = three_groups(size=60)
    model = KernelConvexClustering().fit(X)
    assert model.n_clusters_ == 3
    for k in (1, 2, 3, 7, 180):
        labels = model.cut(k)
        sizes = np.bincount(labels)
        assert len(sizes) == k
        assert (np.diff(sizes) <= 0).all()
    assert refines(model.cut(7), model.cut(2))
    assert model.n_clusters_ == 3


@pytest.mark.parametrize(
    ("k", "sentence"),
    [
        (0, "n_clusters must be between 1 and 60"),
        (61, "n_clusters must be between 1 and 60"),
        (2.0, "n_clusters must be a whole number, got 2.0"),
        (True, "n_clusters must be a whole number, got True"),
        ("3", "n_clusters must be a whole number, got '3'"),
    ],
)
def test_cut_refuses(k, sentence):
    model = ConvexClustering(2).fit(three_groups()[0])
    with pytest.raises(ValueError, match=sentence):
        model.cut(k)


CURVES = {
    "moons": lambda seed: make_moons(400, noise=0.05, random_state=seed),
    "circles": lambda seed: make_circles(400, factor=0.5, noise=0.05, random_state=seed),
    "spirals": lambda seed: make_spirals(random_state=seed),
    "rings": lambda seed: make_rings(random_state=seed),
}


# The ring around the blobs breaks at thin places in seven of the first twelve draws, and in this.
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


def test_a_proof_moves_gamma_to_none_at_which_labels_cut_what_has_fused():
    X, _ = make_blobs(120, 2, centers=4, cluster_std=2.0, random_state=0)
    model = KernelConvexClustering(6).fit(X)
    fused = model.path_.labels(gamma=model.gamma_)
    assert all(len(set(model.labels_[fused == t])) == 1 for t in range(fused.max() + 1))


def test_where_there_are_clusters_a_boundary_below_the_level_is_enough():
    tree = ladder(0.2, 0.3, 0.8, 0.85, beside=0.7)
    assert tree.count == 1
    assert tree.with_structure(False).count == 1
    assert tree.with_structure(True).count == 3  # 0.8 over 0.3 is the widest gap
    assert ladder(0.2, 0.3, 0.5, 0.6, beside=0.7).with_structure(True).count == 1
    clear = ladder(0.2, 0.3, 2.0, 3.0, beside=0.7)
    assert clear.with_structure(True).count == clear.count == 3


def test_told_k_the_path_is_asked_of_many_samples_too():
    """A dense disc in a sparse field: the field has valleys of chance that are deeper."""
    rng = np.random.default_rng(5)
    r = np.sqrt(np.concatenate([rng.uniform(0, 0.16, 900), rng.uniform(0.25, 2.0, 600)]))
    turn = rng.uniform(0, 2 * np.pi, 1500)
    X, y = np.column_stack([r * np.cos(turn), r * np.sin(turn)]), np.repeat([0, 1], [900, 600])
    assert adjusted_rand_score(y, KernelConvexClustering(2).fit_predict(X)) > 0.95
