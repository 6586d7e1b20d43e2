"""Displays: each computes the right numbers, and draws them."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.cluster import hierarchy
from sklearn.datasets import make_blobs
from sklearn.metrics import normalized_mutual_info_score, silhouette_samples

from convexcluster import solve_path
from convexcluster.labels import cut
from convexcluster.plots import (
    ClusterCountDisplay,
    ClusterPathDisplay,
    ClusterSizesDisplay,
    DendrogramDisplay,
    ElbowDisplay,
    GapDisplay,
    HeatmapDisplay,
    HyperparameterDisplay,
    KernelMatrixDisplay,
    LabelScatterDisplay,
    NMIDisplay,
    SilhouetteDisplay,
    TSNEDisplay,
)
from convexcluster.plots.appearance import N_STYLES, plain, style
from convexcluster.plots.layout import Branches, Plane, cluster_ranks, colour_ranks, subsample
from problems import knn_edges

matplotlib = pytest.importorskip("matplotlib", reason="matplotlib is not installed")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def blobs():
    """Three blobs in three dimensions, their path, and what an estimator would hold."""
    X, y = make_blobs(60, 3, centers=3, cluster_std=0.6, random_state=1)
    edges, _ = knn_edges(X, 8)
    bridge = np.array([[np.flatnonzero(y == 0)[0], np.flatnonzero(y == c)[0]] for c in (1, 2)])
    edges = np.concatenate([edges, np.sort(bridge, axis=1)]).astype(np.int64)
    weights = np.concatenate([np.ones(len(edges) - 2), [0.05, 0.05]])
    path = solve_path(X, edges, weights)
    step = int(np.flatnonzero(path.n_clusters == 3)[0])
    estimator = SimpleNamespace(
        path_=path,
        labels_=path.labels(gamma=path.gammas[step]),
        n_clusters_=3,
        gamma_=float(path.gammas[step]),
        embedding_=X,
        linkage_=path.to_linkage(),
        _embedding=SimpleNamespace(kernel=SimpleNamespace(name="linear")),
    )
    return SimpleNamespace(X=X, y=y, path=path, estimator=estimator, step=step)


def random_linkage(n, seed=0):
    return hierarchy.linkage(np.random.default_rng(seed).normal(size=(n, 2)), "average")


def drawn_text(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# layout


def test_branches_are_runs_of_the_order():
    linkage = random_linkage(40)
    tree = Branches.of(linkage)
    leaves = hierarchy.to_tree(linkage, rd=True)[1]
    for node in range(2 * 40 - 1):
        assert tree.members(node).tolist() == sorted(leaves[node].pre_order())


def test_a_merged_cluster_keeps_the_colour_of_its_larger_parent():
    linkage = random_linkage(50, seed=3)
    ranks, tree = colour_ranks(linkage), Branches.of(linkage)
    assert sorted(ranks) == list(range(50))
    for i, (a, b) in enumerate(linkage[:, :2].astype(int)):
        larger = a if tree.size[a] >= tree.size[b] else b
        assert ranks[tree.members(50 + i)].min() == ranks[tree.members(larger)].min()
    for k in range(1, 51):  # a cut into k clusters has the first k ranks
        labels = cut(linkage, k)
        assert {int(ranks[labels == t].min()) for t in range(k)} == set(range(k))


def test_clusters_of_one_partition_have_different_ranks():
    linkage = random_linkage(30)
    ranks = cluster_ranks(cut(linkage, 7), colour_ranks(linkage))
    assert sorted(ranks) == list(range(7))


def test_plane_is_that_of_the_singular_vectors():
    Z = np.random.default_rng(0).normal(size=(30, 5)) * [5, 3, 1, 1, 1]
    plane = Plane.of(Z)
    _, s, Vt = np.linalg.svd(Z - Z.mean(axis=0), full_matrices=False)
    np.testing.assert_allclose(np.abs(plane.axes.T @ Vt[:2].T), np.eye(2), atol=1e-10)
    np.testing.assert_allclose(plane.share, s[:2] ** 2 / (s**2).sum(), rtol=1e-10)
    twice = np.repeat([1.0, 2.0], 15)
    weighted, repeated = Plane.of(Z, twice), Plane.of(np.concatenate([Z, Z[15:]]))
    np.testing.assert_allclose(weighted.axes, repeated.axes, atol=1e-9)


@pytest.mark.parametrize("Z", [np.zeros((4, 3)), np.arange(5.0)[:, None], np.zeros((1, 2))])
def test_plane_of_degenerate_data_is_finite(Z):
    plane = Plane.of(Z)
    assert plane.project(Z).shape == (len(Z), 2)
    assert np.isfinite(plane.project(Z)).all()


def test_a_subset_keeps_every_label():
    labels = np.zeros(5_000, dtype=int)
    labels[4_321] = 1
    keep = subsample(5_000, 100, labels)
    assert len(keep) == 100
    assert 4_321 in keep


def test_twelve_colours_and_eight_markers_come_before_any_repeats():
    styles = [style(rank) for rank in range(N_STYLES)]
    assert len(set(styles)) == N_STYLES
    assert len({c for c, _ in styles[:12]}) == 12
    assert len({m for _, m in styles[:8]}) == 8


def test_neighbouring_colours_differ_in_lightness():
    from matplotlib.colors import to_rgb

    grey = [np.dot(to_rgb(style(rank)[0]), [0.2126, 0.7152, 0.0722]) for rank in range(4)]
    assert np.abs(np.diff(grey)).min() > 0.1


# points


def test_scatter_keeps_two_features_and_projects_more(blobs):
    flat = LabelScatterDisplay.from_data(blobs.X[:, :2], blobs.y)
    np.testing.assert_array_equal(flat.points, blobs.X[:, :2])
    deep = LabelScatterDisplay.from_estimator(blobs.estimator, blobs.X)
    np.testing.assert_allclose(deep.points, Plane.of(blobs.X).project(blobs.X))
    np.testing.assert_array_equal(deep.labels, blobs.estimator.labels_)


def test_scatter_draws_every_sample_once_under_its_name(blobs):
    ax = LabelScatterDisplay.from_data(blobs.X, np.array(["a", "b", "c"])[blobs.y]).plot()
    assert sum(len(c.get_offsets()) for c in ax.collections) == 60
    assert sorted(drawn_text(ax)) == ["a", "b", "c"]


def test_hostile_names_are_shown_letter_by_letter(blobs):
    names = np.array(["$\\frac{", "_hidden", "<b>&"])[blobs.y]
    ax = LabelScatterDisplay.from_data(blobs.X, names, axis_names=("$x", "y\n")).plot()
    ax.figure.canvas.draw()
    assert {t.replace("\u200b", "") for t in drawn_text(ax)} == {r"\$\frac{", "_hidden", "<b>&"}
    assert plain("a" * 100) == "a" * 39 + "…"


def test_more_clusters_than_styles_are_all_drawn():
    X = np.random.default_rng(0).normal(size=(100, 2))
    ax = LabelScatterDisplay.from_data(X, np.arange(100)).plot()
    assert sum(len(c.get_offsets()) for c in ax.collections) == 100
    assert ax.get_legend().get_title().get_text() == "largest 12 of 100"


def test_a_large_scatter_is_a_stated_subset():
    X = np.random.default_rng(0).normal(size=(30_000, 2))
    display = LabelScatterDisplay.from_data(X, np.zeros(30_000))
    assert len(display.points) == 20_000
    assert "20,000 of 30,000" in display.plot().get_title()


def test_tsne_keeps_blobs_together_and_labels_in_step(blobs):
    display = TSNEDisplay.from_estimator(blobs.estimator, blobs.X, perplexity=10)
    assert display.points.shape == (60, 2)
    gap = np.linalg.norm(display.points[:, None] - display.points[None], axis=-1)
    np.fill_diagonal(gap, np.inf)
    same = display.labels[gap.argmin(axis=1)] == display.labels
    assert same.mean() > 0.9


# curves


def within(Z, labels):
    return sum(((Z[labels == t] - Z[labels == t].mean(axis=0)) ** 2).sum() for t in set(labels))


def test_elbow_is_the_sum_of_squares_of_each_cut(blobs):
    display = ElbowDisplay.from_estimator(blobs.estimator, max_clusters=12)
    direct = [within(blobs.X, cut(blobs.estimator.linkage_, k)) for k in range(1, 13)]
    np.testing.assert_allclose(display.sse, direct, rtol=1e-10)
    assert display.chosen == 3
    np.testing.assert_allclose(display.plot().lines[0].get_ydata(), direct, rtol=1e-10)


def test_elbow_of_a_path_is_that_of_its_centroids(blobs):
    gamma = blobs.path.gammas[blobs.step // 2]
    A = blobs.path.centroids(gamma)[blobs.path.labels(gamma=gamma)]
    whole = ElbowDisplay.from_data(A)
    fused = ElbowDisplay.from_path(blobs.path, gamma)
    np.testing.assert_allclose(fused.sse, whole.sse[: len(fused.sse)], atol=1e-9 * whole.sse[0])


def test_nmi_is_that_of_each_partition(blobs):
    display = NMIDisplay.from_path(blobs.path, blobs.y, chosen=3, max_clusters=6)
    expected = [
        normalized_mutual_info_score(blobs.y, blobs.path.labels(n_clusters=k)) for k in range(1, 7)
    ]
    np.testing.assert_allclose(display.nmi, expected)
    assert display.nmi[2] == pytest.approx(1.0)
    assert drawn_text(display.plot()) == ["3 classes known", "3 clusters chosen"]


def test_lifetime_is_the_run_of_equal_partitions(blobs):
    path, step = blobs.path, blobs.step
    display = ClusterCountDisplay.from_estimator(blobs.estimator)
    same = [np.array_equal(path.labels(gamma=g), blobs.estimator.labels_) for g in path.gammas]
    assert display.lifetime is not None
    low, high = display.lifetime
    first = step
    while first and same[first - 1]:
        first -= 1
    last = step
    while last + 1 < len(same) and same[last + 1]:
        last += 1
    assert low == path.gammas[first]
    assert high == path.gammas[min(last + 1, len(same) - 1)]
    assert low <= blobs.estimator.gamma_ <= high
    np.testing.assert_array_equal(display.plot().lines[1].get_ydata(), path.n_clusters)


def test_one_hyperparameter_varies_at_a_time():
    from sklearn.base import BaseEstimator

    class Counter(BaseEstimator):
        def __init__(self, a=1.0, b=2.0):
            self.a, self.b = a, b

        def fit(self, X):
            self.n_clusters_ = int(10 * self.a + self.b)
            return self

    grid = {"a": [3.0, 1.0], "b": [1.0, 100.0]}
    display = HyperparameterDisplay.from_estimator(Counter(), np.zeros((3, 1)), grid)
    assert display.curves["a"][1].tolist() == [12, 32]
    assert display.curves["b"][1].tolist() == [11, 110]
    axes = display.plot()
    assert [ax.get_xscale() for ax in axes] == ["linear", "log"]
    assert axes[0].get_ylim()[0] == 0
    assert axes[0].get_ylim()[1] > 110  # the panels share their scale


def test_gap_of_zero_is_drawn_at_round_off():
    ax = GapDisplay.from_data({"ssnal": ([0.1, 0.2], [1e-3, 0.0])}).plot()
    assert ax.lines[0].get_ydata().tolist() == [1e-3, np.finfo(float).eps]
    assert ax.get_yscale() == "log"


def test_each_solver_is_timed_to_each_tolerance():
    Z, edges = np.array([[0.0], [1.0], [5.0]]), np.array([[0, 1], [1, 2]])
    display = GapDisplay.from_solvers(
        Z, edges, np.ones(2), 0.3, solvers=("admm", "ama"), tols=(1e-2, 1e-6)
    )
    assert list(display.traces) == ["admm", "ama"]
    for seconds, gaps in display.traces.values():
        assert (seconds > 0).all()
        assert (gaps <= [1e-2, 1e-6]).all()


# path and tree


def test_tracks_start_at_the_data_and_end_at_the_last_centroids(blobs):
    display = ClusterPathDisplay.from_estimator(blobs.estimator)
    plane = Plane.of(blobs.X)
    np.testing.assert_allclose(display.tracks[0], plane.project(blobs.X))
    last = blobs.path.gammas[-1]
    ends = plane.project(blobs.path.centroids(last))[blobs.path.labels(gamma=last)]
    np.testing.assert_allclose(display.tracks[-1], ends)
    assert "coloured by label" in display.plot().get_title()
    middle = ClusterPathDisplay.from_path(blobs.path, blobs.estimator.gamma_)
    np.testing.assert_array_equal(middle.labels, blobs.estimator.labels_)
    assert f"at γ = {blobs.estimator.gamma_:.3g}" in middle.plot().get_title()


def test_dendrogram_hides_the_lower_merges_in_its_leaves():
    linkage = random_linkage(200)
    display = DendrogramDisplay.from_linkage(linkage, gamma=linkage[-3, 2], max_leaves=20)
    assert len(display.leaves) == 20
    assert display.sizes.sum() == 200
    np.testing.assert_array_equal(display.heights, linkage[-19:, 2])
    tree = Branches.of(linkage)
    covered = np.concatenate([tree.members(node) for node in display.leaves])
    assert sorted(covered) == list(range(200))
    # each merge sits between its children, and γ cuts three branches of different colour
    np.testing.assert_allclose(display.joins[:, :, 1].mean(axis=1), display.positions)
    crossing = (display.heights[:, None] > linkage[-3, 2]) & (display.ranks >= 0)
    assert sorted(display.ranks[crossing]) == [0, 1, 2]


def test_dendrogram_names_samples_by_their_ids():
    display = DendrogramDisplay.from_linkage(random_linkage(6), ids=list("abcdef"))
    assert sorted(display.names) == list("abcdef")
    ax = display.plot()
    assert [t.get_text() for t in ax.get_yticklabels()] == display.names
    assert ax.get_xscale() == "log"


def test_dendrogram_of_duplicates_has_a_log_axis():
    linkage = np.array([[0.0, 1, 0, 2], [2, 3, 0, 3], [4, 5, 2, 4]])
    display = DendrogramDisplay.from_linkage(linkage)
    assert display.floor == 1.0
    assert (display.plot().lines[0].get_xdata() > 0).all()


def test_sizes_are_counts(blobs):
    display = ClusterSizesDisplay.from_path(blobs.path, blobs.estimator.gamma_)
    counts = np.bincount(blobs.estimator.labels_)
    np.testing.assert_array_equal(display.sizes, counts[display.clusters])
    heights = [bar.get_height() for bar in display.plot().patches]
    assert heights == sorted(counts, reverse=True)


@pytest.mark.parametrize("precomputed", [False, True])
def test_kernel_pixels_are_block_means_in_tree_order(precomputed):
    rng = np.random.default_rng(0)
    Z, order = rng.normal(size=(12, 3)), rng.permutation(12)
    labels = np.repeat([0, 1], 6)[np.argsort(order)]
    K = Z @ Z.T
    display = KernelMatrixDisplay.from_data(
        K if precomputed else Z, order, labels, precomputed=precomputed, max_pixels=4
    )
    means = K[np.ix_(order, order)].reshape(4, 3, 4, 3).mean(axis=(1, 3))
    np.testing.assert_allclose(display.image, means, atol=1e-12)
    assert display.bounds.tolist() == [6]
    assert "4 × 4 means" in display.plot().get_title()


def test_drawing_on_given_axes_makes_no_figure(blobs):
    import matplotlib.pyplot as plt

    _, ax = plt.subplots()
    before = plt.get_fignums()
    for display in (
        LabelScatterDisplay.from_estimator(blobs.estimator),
        ElbowDisplay.from_estimator(blobs.estimator),
        KernelMatrixDisplay.from_estimator(blobs.estimator),
        DendrogramDisplay.from_estimator(blobs.estimator),
    ):
        assert display.plot(ax) is ax
    assert plt.get_fignums() == before


# the data beside the tree, silhouettes


def test_a_heatmap_has_the_standardised_features_in_the_order_of_the_tree(blobs):
    model = blobs.estimator
    display = HeatmapDisplay.from_estimator(model, blobs.X, feature_names=["a", "b", "c"])
    order = Branches.of(model.linkage_).order
    scores = (blobs.X - blobs.X.mean(axis=0)) / blobs.X.std(axis=0)
    np.testing.assert_allclose(display.image, scores[order], atol=1e-12)
    np.testing.assert_array_equal(display.bands, model.labels_[order])
    for places, rank in display.lines:  # a branch ends at the height of a merge, in its colour
        assert places[1, 0] in model.linkage_[:, 2]
        if rank >= 0:
            assert display.bands[int(places[0, 1])] == rank
    ax = display.plot()
    assert [text.get_text() for text in ax.get_xticklabels()] == ["a", "b", "c"]


def test_a_heatmap_keeps_the_features_that_clusters_explain_and_means_of_rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_500, 30))
    labels = np.repeat([0, 1], 750)
    X[:, 7] += 9 * labels
    display = HeatmapDisplay.from_data(X, random_linkage(1_500), labels, max_features=3)
    assert "feature 7" in display.names
    assert display.image.shape == (600, 3)
    assert "3 of 30 features" in display.plot().get_title()
    np.testing.assert_allclose(display.image.mean(axis=0), 0, atol=0.1)


def test_silhouettes_are_those_of_scikit_learn_by_cluster(blobs):
    display = SilhouetteDisplay.from_estimator(blobs.estimator)
    labels = blobs.estimator.labels_
    found = silhouette_samples(blobs.X, labels)  # the kernel is linear
    for t, values in enumerate(display.values):
        np.testing.assert_allclose(values, np.sort(found[labels == t])[::-1])
    assert display.mean == pytest.approx(found.mean())
    ax = display.plot()
    assert len(ax.patches) == 60
    far = SilhouetteDisplay.from_data(
        np.abs(blobs.X[:, :1] - blobs.X[:, 0]), labels, metric="precomputed"
    )
    near = SilhouetteDisplay.from_data(blobs.X[:, :1], labels)
    assert far.mean == pytest.approx(near.mean)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 0, 0], "compare 2 … n − 1 clusters, got 1 of 3"),
        ([0, 1, 2], "compare 2 … n − 1 clusters, got 3 of 3"),
        ([0, 1], "2 labels for 3 samples"),
    ],
)
def test_silhouettes_refuse_what_they_cannot_compare(labels, words):
    with pytest.raises(ValueError, match=words):
        SilhouetteDisplay.from_data(np.arange(3.0)[:, None], labels)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"labels": [0, 1]}, "2 labels for 3 samples"),
        ({"labels": [0, -1, 1]}, "labels must be clusters 0 … k − 1, got -1"),
        ({"linkage": [[0, 1, 0.5]]}, r"linkage must have the shape \(n − 1, 4\), got \(1, 3\)"),
        ({"X": np.zeros((2, 2))}, "X has 2 rows for 3 samples"),
        ({"X": [[0.0], [np.nan], [1.0]]}, "nan in row 1, column 'feature 0'"),
        ({"feature_names": ["a", "b"]}, "2 feature names for 1 features"),
        ({"max_features": 0}, "max_features must be at least 1, got 0"),
    ],
)
def test_heatmaps_refuse_what_does_not_fit(changes, words):
    given = {"X": np.arange(3.0)[:, None], "linkage": [[0, 1, 0.5, 2], [2, 3, 1.0, 3]]}
    with pytest.raises(ValueError, match=words):
        HeatmapDisplay.from_data(**given | changes)
